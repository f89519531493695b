"""Ranks with ties, and the tests that stand on them: Wilcoxon's signed ranks, Spearman's correlation.

Promise: equal values share the mean of the ranks they cover; float noise does not part them. The exact distribution of
the signed ranks is used with ties and zeros too, up to 60 ranks; how zeros were treated is named in the method.
Policy: zeros are split between both signs by default (Demšar 2006). The exact test flips only the signs of differences
that are not 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from evh.errors import UsageError, cut
from evh.stats._numbers import above_zero, checked
from evh.stats.paired import TestOutcome

__all__ = ["Zeros", "midranks", "same_within", "spearman", "wilcoxon"]

Zeros = Literal["split", "drop", "pratt"]
EXACT_UP_TO = 60
EXACT_AT_MOST = 300
"""The most ranks that are counted on request: the work grows with their cube."""


def same_within(scale: float) -> float:
    """How far apart two values may be and still be equal, when the largest of their table is `scale`: 1e-9, less for
    small values (costs), and never less than float noise."""
    return max(1e-9 * min(1.0, scale), 1e-14 * scale)


def midranks(values: Sequence[float], *, tolerance: float | None = None) -> list[float]:
    """Rank 1 for the smallest; equal values share the mean of their ranks."""
    checked(values)
    if tolerance is None:
        tolerance = same_within(max((abs(value) for value in values), default=0.0))
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        stop = start
        while stop < len(order) and values[order[stop]] - values[order[start]] <= tolerance:
            stop += 1
        for at in order[start:stop]:
            ranks[at] = (start + 1 + stop) / 2
        start = stop
    return ranks


def wilcoxon(
    differences: Sequence[float], *, zeros: Zeros = "split", method: Literal["auto", "exact", "normal"] = "auto"
) -> TestOutcome:
    """Wilcoxon's signed-rank test, two-sided; the statistic is min(R+, R-)."""
    if zeros not in ("split", "drop", "pratt"):
        raise UsageError(f"zeros are split, drop or pratt, not {cut(zeros)}")
    if method not in ("auto", "exact", "normal"):
        raise UsageError(f"the method is auto, exact or normal, not {cut(method)}")
    n = len(checked(differences))
    if not n:
        raise UsageError("a paired test needs at least one difference")
    used = [each for each in differences if each] if zeros == "drop" else list(differences)
    name = f"Wilcoxon signed ranks, zeros {zeros}"
    if not any(differences):
        return TestOutcome(f"{name}, exact", 1.0, 0.0, n, smallest_p=1.0, note="no difference is other than 0")
    ranks = midranks([abs(each) for each in used], tolerance=1e-12 * max(abs(each) for each in used))
    of_zeros = sum(rank for rank, each in zip(ranks, used, strict=True) if not each)
    plus = sum(rank for rank, each in zip(ranks, used, strict=True) if each > 0)
    minus = sum(rank for rank, each in zip(ranks, used, strict=True) if each < 0)
    share = of_zeros / 2 if zeros == "split" else 0.0
    statistic = min(plus, minus) + share
    signed = [rank for rank, each in zip(ranks, used, strict=True) if each]
    if method == "exact" and len(signed) > EXACT_AT_MOST:
        raise UsageError(f"the exact distribution is for up to {EXACT_AT_MOST} ranks, not {len(signed):,}: take normal")
    if method == "exact" or (method == "auto" and len(signed) <= EXACT_UP_TO):
        p = _exact_tail(signed, min(plus, minus))
        return TestOutcome(f"{name}, exact", p, statistic, n, smallest_p=2 / 2 ** len(signed))
    counted = ranks if zeros == "split" else signed
    spread = math.sqrt(math.fsum(rank * rank for rank in counted) / 4)
    z = (statistic - (plus + minus + 2 * share) / 2) / spread
    p = above_zero(math.erfc(abs(z) / math.sqrt(2)))
    return TestOutcome(f"{name}, normal approximation", p, statistic, n)


def _exact_tail(ranks: list[float], smaller: float) -> float:
    """The chance that min(R+, R-) is at most `smaller` when every sign is a coin's: sums of doubled ranks, counted."""
    doubled = [round(2 * rank) for rank in ranks]
    counts = [1]
    for rank in doubled:
        longer = counts + [0] * rank
        for total, count in enumerate(counts):
            longer[total + rank] += count
        counts = longer
    tail = sum(counts[: round(2 * smaller) + 1])
    return float(min(1.0, 2 * tail / 2 ** len(doubled)))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation with ties: how far two orders agree. None when one of them orders nothing."""
    if len(first) != len(second) or len(first) < 2:
        raise UsageError(f"two lists of one length from 2 on, not of {len(first)} and {len(second)}")
    middle = (len(first) + 1) / 2
    one, other = ([rank - middle for rank in midranks(values)] for values in (first, second))
    squares = math.fsum(a * a for a in one) * math.fsum(b * b for b in other)
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / math.sqrt(squares) if squares else None
