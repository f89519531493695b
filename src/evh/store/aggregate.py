"""From rows to the numbers of a run record: means over the rows that have a metric, totals for money and tokens.

Promise: missing is not 0. A metric's mean is over exactly the rows that have it, whatever order they came in, and how
many that were is known (`counts`). Sums are exact before they are rounded once (`math.fsum`; integers as integers), and
a mean is the true one rounded once: rows of 0.1, however many, give 0.1. A sum beyond a double is refused.
Policy: a value costs eight bytes while it is counted; nothing else of a row is kept.

The rules are those of the RFC: `scores[k]` is the mean of `k`; `total_cost_usd`, `total_tokens_in` and
`total_tokens_out` are sums, present when a row has the metric; members with a leading underscore never count, the
numbers of `_extra` do.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain

from evh.errors import RecordError, cut
from evh.store.rows import MetricRow

__all__ = ["Aggregate", "Series", "aggregate", "exact_mean", "exact_sum"]

TOTALS = ("cost_usd", "tokens_in", "tokens_out")
WHOLE = 1 << 53


class Series:
    """The values of one metric, added one by one; `total` and `mean` are exact and rounded once."""

    __slots__ = ("_floats", "_whole", "count")

    def __init__(self) -> None:
        self.count = 0
        self._floats = array("d")
        self._whole = 0

    def add(self, value: int | float) -> None:
        self.count += 1
        if type(value) is int:
            self._whole += value
        else:
            self._floats.append(value)

    def merge(self, other: Series) -> None:
        """Take in the values of another."""
        self.count += other.count
        self._whole += other._whole
        self._floats.extend(other._floats)

    def total(self) -> int | float:
        """The sum: an int when every value was one. Raises OverflowError beyond a double."""
        return self._whole if not self._floats else exact_sum(self._floats, self._whole)

    def mean(self) -> float:
        """The sum over the count. Raises OverflowError when the sum is beyond a double."""
        if not self._floats:
            return self._whole / self.count
        return exact_mean(self._floats, self._whole, self.count - len(self._floats))


def exact_sum(floats: Iterable[float], whole: int = 0) -> float:
    """The sum of floats and an integer, rounded once. Raises OverflowError when it is beyond a double."""
    return math.fsum([*floats, *_floats_of(whole)] if whole else floats)


def exact_mean(floats: Collection[float], whole: int = 0, integers: int = 0) -> float:
    """The mean of floats and of so many `integers` whose sum is `whole`, rounded once: equal values are their mean,
    and no mean lies outside its values. Raises OverflowError when their sum is beyond a double."""
    parts = _floats_of(whole)
    count = len(floats) + integers
    total = math.fsum(chain(floats, parts) if parts else floats)
    if not math.isfinite(total):
        return total / count
    # A rounded sum, divided, would be rounded twice: 0.1 three times gives 0.10000000000000002. What the sum lost in
    # rounding is itself a sum, so the true one is that of a few doubles, each finer than the one before.
    lost = math.fsum(chain(floats, parts, (-total,)))
    if not lost:
        return total / count
    above, below = total.as_integer_ratio()
    taken = [-total]
    while lost:
        part, unit = lost.as_integer_ratio()  # powers of two: each unit is a multiple of the one before
        above, below = above * (unit // below) + part, unit
        taken.append(-lost)
        lost = math.fsum(chain(floats, parts, taken))
    return above / (below * count)


def _floats_of(whole: int) -> list[float]:
    """An integer as a sum of doubles. Raises OverflowError when it is beyond them."""
    parts = []
    while whole:
        high = float(whole)
        parts.append(high)
        whole -= int(high)
    return parts


class Aggregate:
    """Rows, counted. `counts` says over how many rows each metric's mean is."""

    def __init__(self) -> None:
        self.n_items = 0
        self.n_errors = 0
        self.providers: Counter[str] = Counter()
        self._series: dict[str, Series] = {}

    def add(self, row: MetricRow) -> None:
        """Count a row."""
        self.n_items += 1
        self.n_errors += row.failed
        if row.provider is not None:
            self.providers[row.provider] += 1
        series = self._series
        for name, value in row.metrics.items():
            held = series.get(name)
            if held is None:
                held = series[name] = Series()
            held.count += 1  # as `Series.add` does: rows are many
            if type(value) is int:
                held._whole += value
            else:
                held._floats.append(value)

    def merge(self, other: Aggregate) -> None:
        """Take in rows that were counted elsewhere: the same numbers as if all had been counted here."""
        self.n_items += other.n_items
        self.n_errors += other.n_errors
        self.providers.update(other.providers)
        for name, series in other._series.items():
            self._series.setdefault(name, Series()).merge(series)

    @property
    def counts(self) -> dict[str, int]:
        """Rows that have a metric, by its name."""
        return {name: series.count for name, series in sorted(self._series.items())}

    def scores(self) -> dict[str, int | float]:
        """The record's scores, by name. Raises `RecordError` for a sum beyond a double."""
        scores: dict[str, int | float] = {}
        for name, series in sorted(self._series.items()):
            try:
                scores[name] = series.mean()
            except OverflowError:
                raise _too_large(name) from None
            if name in TOTALS:
                scores[f"total_{name}"] = self.total(name)
        return dict(sorted(scores.items()))

    def total(self, name: str) -> int | float:
        """The sum of a metric over the rows that have it; 0 when none has. Raises like `scores`."""
        try:
            return self._series[name].total() if name in self._series else 0
        except OverflowError:
            raise _too_large(name) from None


def _too_large(name: str) -> RecordError:
    return RecordError(f"the sum of the metric {cut(name)} is beyond what a double can hold")


def aggregate(rows: Iterable[MetricRow]) -> Aggregate:
    """All rows, counted."""
    counted = Aggregate()
    add = counted.add
    for row in rows:
        add(row)
    return counted
