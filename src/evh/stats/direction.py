"""The direction rule: which way of a metric is better. Every command that ranks or judges asks here.

Promise: one answer for one table. In this order: what the user asked for; what the current adapters declare; what the
records declare; the kind of the metric; the built-in names; else higher. Declarations of one level that contradict each
other settle nothing: the direction is `none`, and `conflict` names both values.
Policy: the built-in names are the metrics that the harness itself writes.
When it breaks: a table sorted one way would stand above a test that was computed the other way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from evh.errors import UsageError, cut
from evh.protocol import models

__all__ = ["Change", "Declares", "Direction", "Way", "change", "direction_of", "kind_of", "kinds_conflicts", "kinds_of"]

Way = Literal["higher", "lower", "none"]
Kind = Literal["quality", "descriptive", "cost", "speed"]
Change = Literal["better", "worse", "changed", "identical", "noise"]

KINDS: tuple[Kind, ...] = ("quality", "descriptive", "cost", "speed")
MONEY = frozenset({"cost_usd", "tokens_in", "tokens_out", "judge_cost_usd"})
LOWER = MONEY | {f"total_{name}" for name in MONEY} | {"latency_ms"}
NEITHER = frozenset({"output_words", "output_chars", "lines", "chars", "n_items", "n_rollouts", "judge_unparsed"})
OF_DIRECTION: Mapping[str, Way] = {"higher": "higher", "lower": "lower", "none": "none"}
OF_KIND: Mapping[str, Way] = {"descriptive": "none", "cost": "lower", "speed": "lower", "quality": "higher"}


class Declares(Protocol):
    """What an adapter declares about its metrics today."""

    @property
    def metric_kinds(self) -> Mapping[str, str]: ...
    @property
    def metric_directions(self) -> Mapping[str, str]: ...


class Direction(NamedTuple):
    """Which way of a metric is better, why, and the contradiction that kept it from being settled."""

    value: Way
    why: str
    conflict: str | None = None

    @property
    def sign(self) -> int:
        """1 when more is better, -1 when less is, 0 when neither is."""
        return {"higher": 1, "lower": -1, "none": 0}[self.value]

    def __str__(self) -> str:
        return self.conflict or f"{self.value} ({self.why})"


def direction_of(
    metric: str,
    *,
    asked: Way | None = None,
    declared: Sequence[Declares] = (),
    records: Iterable[models.RunRecord] = (),
) -> Direction:
    """The direction of a metric in one table: `declared` are the current adapters of its arms, `records` its runs."""
    if asked is not None:
        way = OF_DIRECTION.get(asked)
        if way is None:
            raise UsageError(f"a direction is higher, lower or none, not {cut(asked)}")
        return Direction(way, "asked for")
    runs = list(records)
    for name, sources in (("adapter", declared), ("record", runs)):
        said = _said(sources, lambda each: each.metric_directions.get(metric), OF_DIRECTION, name)
        if said:
            return _settled(metric, f"the {name} declares it", said)
    for name, sources in (("adapter", declared), ("record", runs)):
        said = _said(sources, lambda each: each.metric_kinds.get(metric), OF_KIND, name)
        ways: set[Way] = {each for each, _ in said.values()}
        if len(ways) > 1:
            return _settled(metric, "", said)
        if said and ways != {"higher"}:
            kind = next(iter(said))
            return Direction(ways.pop(), f"its kind is {kind}")
        if said:
            break  # quality: the names below may still say that less is better
    if metric in LOWER:
        return Direction("lower", "built in: a cost or a time")
    if metric in NEITHER:
        return Direction("none", "built in: a description")
    return Direction("higher", "nothing declares it")


def _name(source: Declares, level: str) -> str:
    return source.config_id if isinstance(source, models.RunRecord) else f"an {level}"


def _said(
    sources: Iterable[Declares], given: Callable[[Declares], str | None], ways: Mapping[str, Way], level: str
) -> dict[str, tuple[Way, str]]:
    """Each value that somebody gave, with its direction and the first who gave it. Unknown values say nothing."""
    found: dict[str, tuple[Way, str]] = {}
    for each in sources:
        value = given(each)
        if value is not None and value not in found and value in ways:
            found[value] = (ways[value], _name(each, level))
    return found


def _settled(metric: str, why: str, said: dict[str, tuple[Way, str]]) -> Direction:
    if len(said) == 1:
        return Direction(next(iter(said.values()))[0], why)
    parts = " and ".join(f"{value} ({who})" for value, (_, who) in sorted(said.items()))
    conflict = f"{cut(metric)} is declared as {parts}: no verdict until they agree or a direction is asked for"
    return Direction("none", "contradictory declarations", conflict)


def kind_of(metric: str, *, declared: Sequence[Declares] = (), records: Iterable[models.RunRecord] = ()) -> Kind:
    """What a metric is: as the adapters say, else the records (the most common word of them), else by its name."""
    return kinds_of([metric], declared=declared, records=records)[metric]


def kinds_of(
    metrics: Collection[str], *, declared: Sequence[Declares] = (), records: Iterable[models.RunRecord] = ()
) -> dict[str, Kind]:
    """The kind of each metric."""
    counted = [_counted(declared), _counted(records)]
    return {metric: _kind([counts.get(metric) for counts in counted], metric) for metric in metrics}


def _counted(sources: Iterable[Declares]) -> dict[str, Counter[str]]:
    """Of each metric, how often it is said to be of which kind."""
    counts: dict[str, Counter[str]] = {}
    for each in sources:
        for metric, kind in each.metric_kinds.items():
            if metric not in counts:
                counts[metric] = Counter()
            counts[metric][kind] += 1
    return counts


def _kind(levels: Sequence[Counter[str] | None], metric: str) -> Kind:
    for counts in levels:
        known: list[Kind] = [kind for kind in KINDS if counts and counts[kind]]
        if counts and known:
            return min(known, key=lambda kind: (-counts[kind], kind))
    if metric == "latency_ms":
        return "speed"
    if metric in LOWER:
        return "cost"
    return "descriptive" if metric in NEITHER else "quality"


def kinds_conflicts(metrics: Collection[str], records: Iterable[models.RunRecord]) -> list[str]:
    """The kinds that records give a metric, where they are several."""
    counted = _counted(records)
    return [
        f"runs disagree on the kind of {cut(metric)}: {', '.join(sorted(counted[metric]))}"
        for metric in metrics
        if len(counted.get(metric, ())) > 1
    ]


def change(delta: float, direction: Direction, *, noise: float | None = None) -> Change:
    """A difference in a word. Exactly 0 is `identical`; at most `noise` away from it is `noise`, when that is given;
    without a direction it is only `changed`."""
    if noise is not None and not 0 <= noise < float("inf"):
        raise UsageError(f"the noise is a number from 0 on, not {cut(noise)}")
    if delta == 0:
        return "identical"
    if noise is not None and abs(delta) <= noise:
        return "noise"
    if not direction.sign:
        return "changed"
    return "better" if delta * direction.sign > 0 else "worse"
