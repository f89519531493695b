"""McNemar's test: two arms whose metric is 0 or 1, by the items on which they differ.

Promise: the exact test is the two-sided binomial one; the chi-squared ones say whether Yates' correction was made. No
item on which the arms differ gives 1. Metrics with other values are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from evh.errors import UsageError, cut
from evh.stats._libraries import load
from evh.stats._numbers import above_zero
from evh.stats.paired import TestOutcome

__all__ = ["mcnemar", "mcnemar_of"]

COUNTED_UP_TO = 1_000
"""Items that differ: beyond, scipy's binomial distribution takes over, for the integers get long."""


def mcnemar(
    only_first: int,
    only_second: int,
    *,
    method: Literal["exact", "yates", "uncorrected"] = "exact",
    n: int | None = None,
) -> TestOutcome:
    """The test from the discordant counts: items that only the first arm solved, and only the second. `n` is the
    number of all items, for the report."""
    if min(only_first, only_second) < 0:
        raise UsageError("counts of items are not negative")
    if method not in ("exact", "yates", "uncorrected"):
        raise UsageError(f"the method is exact, yates or uncorrected, not {cut(method)}")
    differing = only_first + only_second
    items = differing if n is None else n
    name = f"McNemar, {'exact' if method == 'exact' else method}"
    smallest = above_zero(math.ldexp(1.0, 1 - differing)) if differing else 1.0
    if not differing:
        return TestOutcome(name, 1.0, 0.0, items, smallest_p=1.0, note="the arms differ on no item")
    if method == "exact":
        smaller = min(only_first, only_second)
        p = above_zero(min(1.0, 2 * _tail(smaller, differing)))
        return TestOutcome(name, p, float(smaller), items, smallest_p=smallest)
    gap = abs(only_first - only_second) - (1 if method == "yates" else 0)
    squared = max(gap, 0) ** 2 / differing
    return TestOutcome(name, above_zero(math.erfc(math.sqrt(squared / 2))), squared, items)


def _tail(count: int, of: int) -> float:
    """The chance of at most `count` heads in `of` throws of a coin."""
    if of > COUNTED_UP_TO:
        return float(load("scipy.special").betainc(of - count, count + 1, 0.5))
    return float(sum(math.comb(of, each) for each in range(count + 1)) / 2**of)


def mcnemar_of(
    first: Sequence[float], second: Sequence[float], *, method: Literal["exact", "yates", "uncorrected"] = "exact"
) -> TestOutcome:
    """The test from the arms' values on the same items, each 0 or 1. Raises `UsageError` for other values."""
    for value in (*first, *second):
        if value not in (0, 1):
            raise UsageError(f"McNemar's test is for a metric of 0 and 1; one item has {cut(value)}: take sign flips")
    if len(first) != len(second):
        raise UsageError(f"the arms have values of {len(first)} and of {len(second)} items: they are not the same")
    pairs = list(zip(first, second, strict=True))
    wins, losses = (sum(1 for a, b in pairs if a - b == way) for way in (1, -1))
    return mcnemar(wins, losses, method=method, n=len(pairs))
