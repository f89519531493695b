"""The numbers that statistics can be made of.

Promise: NaN, infinities and numbers whose squares no double holds are refused before anything is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evh.errors import UsageError, cut

LARGEST = 1e150


def checked(values: Sequence[float]) -> Sequence[float]:
    """The values. Raises `UsageError` naming the first one that is out of range."""
    if values and not (math.isfinite(sum(values)) and max(map(abs, values)) <= LARGEST):
        found = next(value for value in values if not abs(value) <= LARGEST)
        raise UsageError(f"statistics are of numbers between -1e150 and 1e150, not of {cut(found)}")
    return values
