"""Arithmetic on numbers that came out of JSON: `int | float`, an integer of any length.

Promise: a result is finite, or a `RecordError` names the place. Python's own rules would raise `OverflowError` for an
integer beyond a double, or return an infinity that no writer can save.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from evh.errors import RecordError, UsageError, cut

__all__ = ["as_float", "finite", "total"]


def as_float(value: float, place: str) -> float:
    """The number as a finite float; a `RecordError` at `place` when a double can't hold it."""
    try:
        result = float(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise RecordError(f"expected a number that a double can hold, not {cut(value)}", pointer=place) from error
    if not math.isfinite(result):
        raise RecordError(f"expected a finite number, not {cut(value)}", pointer=place)
    return result


def total(values: Iterable[float], place: str) -> float:
    """The sum of `values`, an int when all of them are; a `RecordError` at `place` when a double can't hold it."""
    try:
        result = sum(values)
    except (OverflowError, TypeError) as error:
        raise RecordError("the sum is too large for a double", pointer=place) from error
    if isinstance(result, float) and not math.isfinite(result):
        raise RecordError("the sum is not a finite number", pointer=place)
    return result


def finite(value: object, what: str) -> float:
    """An argument as a finite float (numpy's scalars are taken too), else a `UsageError` that names `what`."""
    if isinstance(value, str | bytes | bytearray) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise UsageError(f"{what} must be a number, not {cut(value)}")
    try:
        result = float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError) as error:
        raise UsageError(f"{what} must be a number that a double can hold, not {cut(value)}") from error
    if not math.isfinite(result):
        raise UsageError(f"{what} must be finite, not {result}: records hold no NaN and no infinities")
    return result
