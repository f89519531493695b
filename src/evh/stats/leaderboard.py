"""The table of all arms of a dataset, ranked by one metric, with intervals, coverage and what to beware of.

Promise: the rank, the order, the interval and the frontier of a row come from the same per-item values by the same
direction. Equal arms share a midrank and say so; names decide only in which order they stand. An arm without the metric
is last and has no rank. Every row says over how many of its items its value is, and how many rows failed.
Policy: the metric is the one asked for, else the primary one that most runs declare, else the first quality metric,
with a notice. The significance block is made for 2 to 40 arms unless asked otherwise.
When it breaks: a metric that no arm has, or arms of several datasets, are a `UsageError`; no metric at all is a
`SourceError`, a value of which there are no statistics a `RecordError`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import msgspec

from evh.errors import EvhError, SourceError, UsageError, cut
from evh.protocol import models
from evh.stats.cells import COST, ArmValues, Cell, values_of_arm
from evh.stats.clusters import Grouping, grouping
from evh.stats.comparison import check_one_dataset
from evh.stats.direction import Declares, Direction, Way, direction_of, kinds_of
from evh.stats.families import check_alpha
from evh.stats.frontier import Standing, dominated
from evh.stats.intervals import Interval, mean_interval
from evh.stats.pairing import check_range
from evh.stats.provenance import Provenance, provenance_of, records_of
from evh.stats.ranks import midranks, same_within
from evh.stats.streams import SEED, Stream
from evh.stats.table_notices import table_notices
from evh.stats.tables import TableTest, table_test
from evh.store.arm import Arm
from evh.store.collector import uncollected

__all__ = ["Leaderboard", "Row", "SortKey", "leaderboard", "sort_key"]

MOST_TESTED = 40


class Row(msgspec.Struct, frozen=True, gc=False):
    """An arm in the table."""

    config_id: str
    rank: float | None
    """1 is the best; arms that are equal share the mean of their places. None without the metric or a direction."""
    tied: int
    """How many other arms are equal."""
    value: Interval | None
    n: int
    """Items that have the metric, of `items`."""
    items: int
    failed: int
    """Rows that are accepted failures, over all runs."""
    unscored: int | None
    """Items that neither failed nor have the metric; None for several runs, where an item may have done both."""
    runs: int
    spread: float | None
    """Largest minus smallest value of a run."""
    cells: dict[str, Cell]
    cost: float | None
    """US dollars of one pass, over the `priced` items."""
    priced: int
    spent: float | None
    """US dollars of all runs together."""
    dominated: bool | None
    tiers: list[str]
    kinds: list[str]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rows, best first, and what they were ranked by."""

    dataset_id: str
    metric: str
    direction: Direction
    rows: list[Row]
    columns: dict[str, str]
    """Metric to its kind, in the order of names."""
    shared: int
    """Items that have the metric in every arm that has it at all."""
    significance: TableTest | None
    notices: list[str]


class SortKey(NamedTuple):
    """The metric of a table, and what to say about how it was chosen."""

    metric: str
    notices: list[str]


@uncollected()
def leaderboard(
    arms: Sequence[Arm],
    *,
    sort: str | None = None,
    asked: Way | None = None,
    declared: Sequence[Declares] = (),
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    alpha: float = 0.05,
    seed: int = SEED,
    significance: bool | None = None,
) -> Leaderboard:
    """The table of arms. `significance` is None for a block where it makes sense, True to insist, False for none."""
    check_alpha(alpha)
    if not arms:
        raise UsageError("a leaderboard needs at least one arm")
    check_one_dataset(arms)
    arms = sorted(arms, key=lambda arm: arm.config_id)
    for one, other in pairwise(arms):
        if one.config_id == other.config_id:
            raise UsageError(f"two arms are called {cut(one.config_id)}: a table is of one runs directory")
    records = records_of(arms)
    key = sort_key(arms, records, sort=sort, declared=declared)
    direction = direction_of(key.metric, asked=asked, declared=declared, records=records)
    columns = kinds_of(_metrics(arms), declared=declared, records=records)
    read = [values_of_arm(arm, columns, key.metric) for arm in arms]
    intervals = [_interval(each, key.metric, clusters, level) for each in read]
    found = [provenance_of(arm) for arm in arms]
    sign = 0 if direction.conflict else direction.sign or 1
    ranks = _ranks([None if each is None else each.estimate for each in intervals], sign)
    beaten = dominated([_standing(*each, direction) for each in zip(read, intervals, strict=True)])
    rows = [_row(*parts, metric=key.metric) for parts in zip(read, intervals, found, ranks, beaten, strict=True)]
    rows.sort(key=lambda row: (row.value is None, row.rank or 0.0, row.config_id))
    notices = key.notices + table_notices(read, found, records, key.metric, direction, columns)
    there = {each.arm.config_id: each.chosen for each in read if each.chosen}
    shared = _shared(list(there.values()))
    block = None
    if significance is not False:
        stream = Stream.of(seed, arms[0].dataset_id, tuple(there), key.metric)
        groups = grouping(shared, clusters)
        try:
            block = _significance(there, shared, direction.sign, groups, alpha, stream, bool(significance))
        except EvhError as error:
            if significance:
                raise
            notices.append(f"no significance block: {error.message}")
    return Leaderboard(arms[0].dataset_id, key.metric, direction, rows, {**columns}, len(shared), block, notices)


def sort_key(
    arms: Sequence[Arm],
    records: Sequence[models.RunRecord],
    *,
    sort: str | None = None,
    declared: Sequence[Declares] = (),
) -> SortKey:
    """The metric that a table is ranked by. Raises `UsageError` when no arm has the one asked for, `SourceError` when
    none has any."""
    metrics = _metrics(arms)
    if not metrics:
        raise SourceError("no arm has a metric to rank by: each row of theirs failed or was never scored")
    if sort is not None:
        if sort not in metrics:
            raise UsageError(f"no arm has the metric {cut(sort)}; there are {', '.join(metrics)}")
        return SortKey(sort, [])
    there = set(metrics)
    primaries = Counter(each.primary_metric for each in records if each.primary_metric in there)
    if primaries:
        chosen = min(primaries, key=lambda name: (-primaries[name], str(name)))
        notices = []
        if len(primaries) > 1:
            said = ", ".join(f"{name} ({count})" for name, count in sorted(primaries.items(), key=str))
            notices.append(f"runs declare different primary metrics: {said}; ranked by {chosen}")
        return SortKey(str(chosen), notices)
    kinds = kinds_of(metrics, declared=declared, records=records)
    for kind in ("quality", "descriptive"):
        for metric in metrics:
            if kinds[metric] == kind:
                return SortKey(metric, [f"no run declares a primary metric: ranked by {metric}, the first {kind} one"])
    return SortKey(metrics[0], [f"no run declares a primary metric: ranked by {metrics[0]}"])


def _metrics(arms: Sequence[Arm]) -> list[str]:
    """Names of the metrics that any arm has."""
    return sorted(set().union(*(arm.metrics for arm in arms)))


def _interval(read: ArmValues, metric: str, clusters: Mapping[str, str] | None, level: float) -> Interval | None:
    values = read.chosen
    if not values:
        return None
    try:
        if not clusters:  # sums are exact, so that the order of items changes nothing
            return mean_interval(list(values.values()), level=level)
        items = sorted(values)
        return mean_interval([values[item] for item in items], grouping(items, clusters), level=level)
    except UsageError:
        check_range(read.arm.config_id, metric, values.items())  # names the item that there are no statistics of
        raise


def _ranks(values: Sequence[float | None], sign: int) -> list[tuple[float | None, int]]:
    """The rank of each arm, and how many others share it."""
    there = [value for value in values if value is not None]
    if not sign or not there:
        return [(None, 0)] * len(values)
    tolerance = same_within(max(abs(value) for value in there))
    ranks = midranks([value * -sign for value in there], tolerance=tolerance)
    shared = Counter(ranks)
    following = iter(ranks)
    return [(None, 0) if value is None else (rank := next(following), shared[rank] - 1) for value in values]


def _standing(read: ArmValues, value: Interval | None, direction: Direction) -> Standing:
    """Quality, cost and time of an arm. Money that is known of some items only counts as unknown."""
    quality = None if value is None or not direction.sign else value.estimate * direction.sign
    price, time = read.cells.get(COST), read.cells.get("latency_ms")
    known = price is not None and price.n == price.of
    return Standing(quality, read.cost if known else None, None if time is None else time.mean)


def _row(
    read: ArmValues,
    value: Interval | None,
    found: Provenance,
    rank: tuple[float | None, int],
    beaten: bool | None,
    *,
    metric: str,
) -> Row:
    arm = read.arm
    once = len(arm.runs) == 1
    n = len(read.chosen)
    items = arm.n_items
    price = read.cells.get(COST)
    return Row(
        config_id=arm.config_id,
        rank=rank[0],
        tied=rank[1],
        value=value,
        n=n,
        items=items,
        failed=arm.n_errors,
        unscored=read.unscored,
        runs=len(arm.runs),
        spread=None if once else arm.spread(metric),
        cells=read.cells,
        cost=read.cost,
        priced=0 if price is None else price.n,
        spent=None if price is None else read.cost if once else arm.spent(COST),
        dominated=beaten,
        tiers=sorted(found.tiers),
        kinds=sorted(found.kinds),
    )


def _shared(values: Sequence[Mapping[str, float]]) -> list[str]:
    """The items that every arm has a value of."""
    if not values:
        return []
    smallest = min(values, key=len)
    shared = set(smallest)
    for each in values:
        shared &= each.keys()
    return sorted(shared)


def _significance(
    values: Mapping[str, Mapping[str, float]],
    shared: Sequence[str],
    sign: int,
    groups: Grouping | None,
    alpha: float,
    stream: Stream,
    insisted: bool,
) -> TableTest | None:
    """The block over the arms that have the metric; None for one arm alone."""
    if len(values) < 2 and not insisted:
        return None
    if len(values) > MOST_TESTED and not insisted:
        raise UsageError(f"{len(values)} arms are more than {MOST_TESTED}: choose some, or insist on it from Python")
    rows = [[each[item] for each in values.values()] for item in shared]
    return table_test(list(values), rows, groups, sign=sign, alpha=alpha, stream=stream)
