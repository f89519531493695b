"""The numbers that statistics can be made of.

Promise: NaN, infinities and numbers whose squares no double holds are refused before anything is computed from them. A
p-value too small for a double is the smallest double, never 0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from evh.errors import UsageError, cut

LARGEST = 1e150


def checked(values: Sequence[float]) -> Sequence[float]:
    """The values. Raises `UsageError` naming the first one that is out of range."""
    # A NaN makes the sum NaN, wherever it stands; a huge integer never gets there.
    if values and not (max(map(abs, values)) <= LARGEST and math.isfinite(sum(values))):
        found = next(value for value in values if not abs(value) <= LARGEST)
        raise UsageError(f"statistics are of numbers between -1e150 and 1e150, not of {cut(found)}")
    return values


def above_zero(p: float) -> float:
    """A p-value: what a double rounded to 0 is not 0."""
    return max(p, sys.float_info.min)
