"""An arm: every repeat of a config on a dataset, averaged per item. What tests, tables and the catalog read.

Promise: for a metric k and an item i, v(i) is the mean over the repeats that have k for i; the arm's value is the mean
of v(i) over the items that have it, with their number beside it. That is not the mean of the runs' means when repeats
cover different items. Each mean is exact and rounded once: an item that came out alike in every repeat has that value.
Runs that are no set of repeats are refused by name, never chosen by the order of a listing.
Policy: values are held as arrays, eight bytes for each repeat, metric and item. What no double can hold is refused.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from evh.errors import RecordError, SourceError, UsageError, cut
from evh.store import layout
from evh.store._columns import Columns, read_columns
from evh.store.aggregate import exact_mean
from evh.store.rows import read_metric_rows
from evh.store.run_dir import RunDir
from evh.store.runs import Listing, list_runs

__all__ = ["Arm", "Value", "group_runs", "read_arm", "repeat_stem"]

_REPEAT = re.compile(r"_r([0-9]{1,9})\Z")


class Value(NamedTuple):
    """A metric of an arm: its mean, over how many items, of how many the arm has."""

    mean: float
    n: int
    of: int

    def __str__(self) -> str:
        return f"{self.mean:g}" + ("" if self.n == self.of else f" over {self.n} of {self.of}")


class Arm:
    """The repeats of one config on one dataset. `items` are their ids in the order they were met. What was odd about a
    run, a record that counts other rows than there are among it, stands in the `notices` of the run. `keep` chooses the
    items that count at all."""

    def __init__(self, runs: list[RunDir], *, keep: Callable[[str], bool] | None = None) -> None:
        if not runs or runs[0].record is None:
            raise SourceError("an arm is made of finished runs")
        self.runs = runs
        self.dataset_id = runs[0].record.dataset_id
        self.config_id = runs[0].record.config_id
        self.n_errors = 0
        self.left_out = 0
        """Rows, over all repeats, of items that `keep` did not choose."""
        self._keep = keep
        self._met: array[int] | None = array("I") if len(runs) > 1 else None
        """Of each item, how many repeats have a row."""
        self._items: list[str] = []
        self._position: dict[str, int] = {}
        """Of each item, its place in `_items`; left empty for a run alone that is read at once."""
        self._columns = [self._read(run) for run in runs]

    @property
    def items(self) -> list[str]:
        return list(self._items)

    @property
    def n_items(self) -> int:
        return len(self._items)

    @property
    def n_on_all(self) -> int:
        """Items that every repeat has a row of."""
        return len(self._items) if self._met is None else sum(count == len(self.runs) for count in self._met)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that any row of any repeat has."""
        return sorted(set().union(*self._columns))

    def values(self, metric: str) -> dict[str, float]:
        """v(i) by item: the mean over the repeats that have the metric for the item."""
        columns = [each[metric] for each in self._columns if metric in each]
        if len(columns) == 1:  # the mean of one value is that value
            column = columns[0]
            if len(column) == len(self._items) and _is_whole(column):
                return dict(zip(self._items, column, strict=True))
            return {item: value for item, value in zip(self._items, column, strict=False) if value == value}
        found: dict[str, float] = {}
        for at, item in enumerate(self._items):
            values = [column[at] for column in columns if at < len(column) and column[at] == column[at]]
            if values:
                alike = values.count(values[0]) == len(values)
                found[item] = values[0] if alike else _mean(values, metric)
        return found

    def value(self, metric: str) -> Value | None:
        """The arm's value of a metric; None when no row has it."""
        values = self._numbers(metric)
        return Value(_mean(values, metric), len(values), len(self._items)) if values else None

    def total(self, metric: str) -> float:
        """The sum of v(i): for `cost_usd` the mean cost of one complete pass."""
        return _sum(self._numbers(metric), metric)

    def spent(self, metric: str) -> float:
        """The sum over all rows of all repeats: what was really spent."""
        return _sum([value for columns in self._columns for value in columns.get(metric, ()) if value == value], metric)

    def _numbers(self, metric: str) -> Collection[float]:
        """v(i) without the items: the column itself where it is whole and the only one."""
        if len(self._columns) == 1:
            column = self._columns[0].get(metric, ())
            return column if _is_whole(column) else [value for value in column if value == value]
        return self.values(metric).values()

    def means(self, metric: str) -> list[float | None]:
        """The mean of each run, in their order; None for a run without the metric."""
        means: list[float | None] = []
        for columns in self._columns:
            values = [value for value in columns.get(metric, ()) if value == value]
            means.append(_mean(values, metric) if values else None)
        return means

    def spread(self, metric: str) -> float | None:
        """Largest minus smallest mean of a run; None with fewer than two runs that have the metric."""
        means = [mean for mean in self.means(metric) if mean is not None]
        return max(means) - min(means) if len(means) > 1 else None

    def _read(self, run: RunDir) -> dict[str, array[float]]:
        if self._keep is None and (quick := read_columns(run.file(layout.PREDICTIONS))) is not None:
            run.compare_count(len(quick.items))
            self.n_errors += quick.failed
            return self._placed(quick)
        return self._read_by_row(run)

    def _placed(self, read: Columns) -> dict[str, array[float]]:
        """Columns in the order of the arm's items, which is that of the first run."""
        met = self._met
        if met is None:
            self._items = read.items
            return read.values
        places = [self._place(item) for item in read.items]
        for at in places:
            met[at] += 1
        if places == list(range(len(self._items))):
            return read.values
        columns = {}
        for name, values in read.values.items():
            column = columns[name] = array("d", [math.nan]) * len(self._items)
            for at, value in zip(places, values, strict=True):
                column[at] = value
        return columns

    def _place(self, item: str) -> int:
        """Where an item of several runs stands; a new one comes last."""
        items, met = self._items, self._met
        at = self._position.setdefault(item, len(items))
        if at == len(items):
            items.append(item)
            if met is not None:
                met.append(0)
        return at

    def _read_by_row(self, run: RunDir) -> dict[str, array[float]]:
        columns: dict[str, array[float]] = {}
        keep, met = self._keep, self._met
        rows = 0
        for row in read_metric_rows(run.path / layout.PREDICTIONS, run.notices):
            rows += 1
            if keep is not None and not keep(row.item_id):
                self.left_out += 1
                continue
            self.n_errors += row.failed
            at = self._place(row.item_id)
            if met is not None:
                met[at] += 1
            for name, value in row.metrics.items():
                column = columns.setdefault(name, array("d"))
                if len(column) <= at:
                    column.extend([math.nan] * (at + 1 - len(column)))
                try:
                    column[at] = value
                except OverflowError:
                    raise RecordError(
                        f"the metric {cut(name)} is beyond what a double can hold",
                        source=str(run.path / layout.PREDICTIONS),
                        line=row.line,
                    ) from None
        run.compare_count(rows)
        return columns


def _is_whole(column: Iterable[float]) -> bool:
    """Whether it is certain that no value is missing: a sum that no double holds may come out as NaN too."""
    return not math.isnan(sum(column))


def _sum(values: Iterable[float], metric: str) -> float:
    try:
        return math.fsum(values)  # exact, rounded once
    except OverflowError:
        raise _too_large(metric) from None


def _mean(values: Collection[float], metric: str) -> float:
    try:
        return exact_mean(values)
    except OverflowError:
        raise _too_large(metric) from None


def _too_large(metric: str) -> RecordError:
    return RecordError(f"the sum of the metric {cut(metric)} is beyond what a double can hold")


def read_arm(
    runs_dir: str | Path, dataset_id: str | None = None, config_id: str | None = None, *, listing: Listing | None = None
) -> Arm:
    """The arm of a config on a dataset, from the finished runs of a runs directory. Its address,
    `<runs dir>/<dataset_id>/<config_id>`, may stand alone for the three.

    Raises `SourceError` when there is no such run, `RecordError` when there are several that are no set of repeats,
    `UsageError` for half an address.
    """
    folder = Path(runs_dir)
    if dataset_id is None and config_id is None and len(folder.parts) > 1:
        folder, dataset_id, config_id = folder.parent.parent, folder.parent.name, folder.name
    if dataset_id is None or config_id is None:
        raise UsageError(
            "an arm is named by a runs directory, a dataset_id and a config_id, or by its address alone: "
            f"<runs dir>/<dataset_id>/<config_id>, not {cut(str(runs_dir))}"
        )
    found = listing or list_runs(folder)
    runs = [
        run
        for run in found.finished
        if run.record is not None and (run.record.dataset_id, run.record.config_id) == (dataset_id, config_id)
    ]
    if not runs:
        raise SourceError(
            f"holds no finished run of {cut(config_id)} on {cut(dataset_id)} "
            f"({len(found.finished)} finished, {len(found.unfinished)} unfinished, {len(found.skipped)} unreadable)",
            source=str(folder),
        )
    if why := not_repeats(runs):
        raise RecordError(why, source=str(folder))
    return Arm(runs)


def group_runs(runs: Iterable[RunDir]) -> Iterator[tuple[tuple[str, str], list[RunDir]]]:
    """Finished runs by (dataset, config), in the order of those names."""
    groups: dict[tuple[str, str], list[RunDir]] = {}
    for run in runs:
        if run.record is not None:
            groups.setdefault((run.record.dataset_id, run.record.config_id), []).append(run)
    yield from sorted(groups.items())


def not_repeats(runs: list[RunDir]) -> str | None:
    """Why several runs of one config on one dataset are no set of repeats; None when they are one, or there is one."""
    if len(runs) < 2:
        return None
    records = [run.record for run in runs if run.record is not None]
    # Records of before 0.4.0 have no index: when none has one, the names alone tell.
    by_name = all(record.repeat_index is None for record in records)
    indexes = [_index_in(record.run_id) if by_name else record.repeat_index for record in records]
    stems = {
        _REPEAT.sub("", record.run_id) if by_name else repeat_stem(record.run_id, record.repeat_index)
        for record in records
    }
    if len(stems) == 1 and None not in stems and None not in indexes and len(set(indexes)) == len(runs):
        return None
    names = ", ".join(run.path.name for run in runs[:6]) + (", …" if len(runs) > 6 else "")
    return (
        f"{len(runs)} runs claim the config {cut(records[0].config_id)} on {cut(records[0].dataset_id)} and are not "
        f"the repeats of one launch: {names}; keep one set, move the others to a runs directory of their own"
    )


def repeat_stem(run_id: str, repeat_index: int | None) -> str | None:
    """What the ids of the repeats of one launch have in common; None for a run that is no repeat."""
    suffix = f"_r{repeat_index}"
    return run_id.removesuffix(suffix) if repeat_index is not None and run_id.endswith(suffix) else None


def _index_in(run_id: str) -> int | None:
    found = _REPEAT.search(run_id)
    return None if found is None else int(found[1])
