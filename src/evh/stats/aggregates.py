"""Metrics of a whole arm that no item has by itself, such as macro-F1: two arms compared by a paired bootstrap.

Promise: each draw takes the same items of both arms (whole clusters where there are clusters), and the metric is
computed anew from the rows of each. The interval is that of the percentiles of the differences; the p-value is never
below 1/draws. The same stream gives the same numbers.
Policy: 5,000 draws. p is twice the smaller share of the draws on one side of 0; those at 0 count on both. It rejects
too often when items or clusters are few: a metric with a value for each item has better tests.
When it breaks: `UsageError` for rows that are not paired, and for a draw whose metric is no finite number. What the
metric itself raises goes through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evh.errors import UsageError, cut
from evh.stats._libraries import load
from evh.stats._numbers import checked
from evh.stats._resampling import blocks, deviation
from evh.stats.clusters import Grouping
from evh.stats.intervals import TOLERANCE, Interval, check_level
from evh.stats.paired import FEW_DRAWN, TestOutcome
from evh.stats.streams import AGGREGATE_DRAWS, Stream, check_draws

__all__ = ["AggregateTest", "paired_bootstrap_of"]

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class AggregateTest:
    """A metric of two whole arms, and their difference, first minus second."""

    first: float
    second: float
    difference: Interval
    test: TestOutcome


def paired_bootstrap_of(
    metric: Callable[[Sequence[Row]], float],
    first: Sequence[Row],
    second: Sequence[Row],
    groups: Grouping | None = None,
    *,
    level: float = 0.95,
    draws: int = AGGREGATE_DRAWS,
    stream: Stream | None = None,
) -> AggregateTest:
    """Two arms by a metric of all their rows, which stand in one order of items; `groups` is the clusters of those."""
    if not len(first) or len(first) != len(second):
        raise UsageError(f"rows of the same items are compared, not {len(first)} with {len(second)}")
    check_level(level)
    check_draws(draws, 2)
    stream = stream or Stream()
    n = len(first)
    units = _units(n, groups)
    clusters = None if groups is None else groups.count
    ours, theirs = _value(metric, first), _value(metric, second)
    gap = ours - theirs
    kind = f"{'cluster ' if groups else ''}bootstrap, percentile"
    method = f"paired {'cluster ' if groups else ''}bootstrap of the metric"
    drawn = None
    if len(units) > 1:
        drawn = _differences(metric, first, second, units, draws, stream)
    noise = TOLERANCE * max(abs(ours), abs(theirs))
    if drawn is None or max(drawn) - min(drawn) <= noise:
        word = "item" if groups is None else "cluster"
        why = f"one {word} shows no spread" if drawn is None else f"all draws of {word}s are alike: they show no spread"
        undefined = Interval(gap, None, None, None, kind, level, n, clusters, undefined=why)
        p = 1.0 if drawn is not None and abs(gap) <= noise else None
        return AggregateTest(ours, theirs, undefined, TestOutcome(method, p, gap, n, clusters, note=why))
    np = load("numpy")
    low, high = (float(bound) for bound in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    side = min(sum(each <= noise for each in drawn), sum(each >= -noise for each in drawn))
    p = min(1.0, max(1, 2 * side) / draws)
    few = f"a bootstrap over {len(units)} {'items' if groups is None else 'clusters'} rejects too often"
    note = few if len(units) < FEW_DRAWN else None
    error = deviation(np.asarray(drawn))
    interval = Interval(gap, low, high, error, kind, level, n, clusters, None, draws, stream.seed)
    return AggregateTest(
        ours, theirs, interval, TestOutcome(method, p, gap, n, clusters, 1 / draws, draws, stream.seed, note)
    )


def _units(n: int, groups: Grouping | None) -> list[list[int]]:
    """What is drawn: positions of items, alone or by cluster."""
    if groups is None:
        return [[at] for at in range(n)]
    units: list[list[int]] = [[] for _ in range(groups.count)]
    groups.check(range(n))
    for at, code in enumerate(groups.codes):
        units[code].append(at)
    return units


def _differences(
    metric: Callable[[Sequence[Row]], float],
    first: Sequence[Row],
    second: Sequence[Row],
    units: Sequence[Sequence[int]],
    draws: int,
    stream: Stream,
) -> list[float]:
    generator = stream.generator("bootstrap of a metric")
    found = []
    for start, stop in blocks(draws, len(units)):
        for chosen in generator.integers(0, len(units), size=(stop - start, len(units))).tolist():
            places = [at for unit in chosen for at in units[unit]]
            ours, theirs = (_value(metric, [rows[at] for at in places]) for rows in (first, second))
            found.append(ours - theirs)
    return found


def _value(metric: Callable[[Sequence[Row]], float], rows: Sequence[Row]) -> float:
    value = metric(rows)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"a metric of drawn items is a finite number whatever is drawn, not {cut(value)}")
    return float(checked([number])[0])
