"""The one rule for what counts as a number in a row.

Promise: what `finite` returns is an int or a finite float that JSON carries exactly as it is; everything else is a
`RecordError` that names it. Nothing is clamped, rounded or guessed: a text is no number, `None` is no zero, and an
infinity is never the largest float.
Policy: truth values count as 1.0 and 0.0; whatever has numpy's `item()` counts as the float of what it holds, and is
refused where a float does not hold it.
When it breaks: scores that a scorer returns as numpy scalars are refused at the first item.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from evh.errors import RecordError, cut

__all__ = ["finite"]


def finite(value: Any, what: str, *, pointer: str = "") -> int | float:
    """`value` as a plain finite number; `what` (`item 'a', metric 'f1'`) and `pointer` say where it came from.

    Ints stay ints; truth values, numpy scalars (whole ones too), Decimals and Fractions become floats.
    Raises RecordError for anything else.
    """
    if type(value) is float or type(value) is int:
        plain: Any = value
    else:
        plain = _plain(value)
    try:
        if plain is not None and isfinite(plain):
            return plain  # type: ignore[no-any-return]
    except OverflowError:  # an int beyond every double
        pass
    raise RecordError(f"{what}: expected a finite number, found {cut(value)}", pointer=pointer)


def _plain(value: Any) -> int | float | None:
    """The int or float that a value stands for; None when it stands for none."""
    if isinstance(value, bool):
        return 1.0 if value else 0.0
    if isinstance(value, int):
        return int(value)
    try:
        if isinstance(value, float | Decimal | Fraction):
            return float(value)
        # An array is no number, even one of a single element: its scorer meant to return something else.
        if callable(getattr(value, "item", None)) and getattr(value, "shape", ()) == ():
            inner = value.item()
            return _same_float(inner) if isinstance(inner, int | float) else None
    except (ValueError, OverflowError, TypeError):
        return None
    return None


def _same_float(value: int | float) -> float | None:
    """The float that equals a scalar; None when there is none, as for most integers beyond 2^53."""
    found = float(value)
    return found if isinstance(value, float) or found == value else None
