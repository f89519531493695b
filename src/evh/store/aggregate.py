"""From rows to the numbers of a run record: means over the rows that have a metric, totals for money and tokens.

Promise: missing is not 0. A metric's mean is over exactly the rows that have it, whatever order they came in, and how
many that were is known (`counts`). Sums are exact before they are rounded once (`math.fsum`; integers as integers), so
ten rows of 0.1 give 0.1. Nothing is rounded further. A sum beyond a double is refused.
Policy: a value costs eight bytes while it is counted; nothing else of a row is kept.

The rules are those of the RFC: `scores[k]` is the mean of `k`; `total_cost_usd`, `total_tokens_in` and
`total_tokens_out` are sums, present when a row has the metric; members with a leading underscore never count, the
numbers of `_extra` do.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable

from evh.errors import RecordError, cut
from evh.store.rows import MetricRow

__all__ = ["Aggregate", "Series", "aggregate", "exact_sum"]

TOTALS = ("cost_usd", "tokens_in", "tokens_out")
WHOLE = 1 << 53


class Series:
    """The values of one metric, added one by one; `total` and `mean` are exact sums rounded once."""

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

    def total(self) -> int | float:
        """The sum: an int when every value was one. Raises OverflowError beyond a double."""
        return self._whole if not self._floats else exact_sum(self._floats, self._whole)

    def mean(self) -> float:
        """The sum over the count. Raises OverflowError beyond a double."""
        return self.total() / self.count


def exact_sum(floats: Iterable[float], whole: int = 0) -> float:
    """The sum of floats and an integer, rounded once. Raises OverflowError when it is beyond a double."""
    parts = []
    while whole:
        high = float(whole)
        parts.append(high)
        whole -= int(high)
    return math.fsum([*floats, *parts] if parts else floats)


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
            held.add(value)

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
