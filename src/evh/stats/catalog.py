"""The catalog: every arm of one or more runs directories under its address, with the numbers that the tests use.

Promise: an entry is an arm, `<runs dir>/<dataset_id>/<config_id>`: every repeat, averaged per item by the same `Arm`
that tests and tables read. The same run reached twice (a link, a folder that was named twice) is one run. Two runs
directories are two entries, never merged. What is no set of repeats or cannot be read is in `faults`, with the reason,
and hides no other. Policy: `per_pass` is the mean cost of one complete pass, `spent` what all runs cost together.
When it breaks: an address that is not there is a `SourceError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evh.errors import EvhError, SourceError, UsageError, cut
from evh.stats.cells import COST
from evh.stats.direction import direction_of, kinds_of
from evh.stats.provenance import MEASURED, provenance_of, records_of
from evh.store.arm import Arm, group_runs, not_repeats
from evh.store.clock import instant
from evh.store.run_dir import RunDir
from evh.store.runs import list_runs

__all__ = ["Entry", "Fault", "HarnessAdapter", "Metric"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of an arm: its mean over the `n` items that have it, and what it is."""

    value: float
    n: int
    kind: str
    direction: str
    """As the records of the arm declare it; commands ask the adapters of today first."""
    description: str | None
    spread: float | None
    """Largest minus smallest mean of a run."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An arm of the catalog."""

    address: str
    dataset_id: str
    config_id: str
    run_ids: list[str]
    n_items: int
    """Items that any repeat has."""
    on_all_repeats: int
    failed: int
    metrics: dict[str, Metric]
    primary: str | None
    tiers: list[str]
    kinds: list[str]
    """`measured`, `imported`, or how it was derived."""
    created_at: tuple[str, str]
    """Of the first and of the last run."""
    builds: list[str]
    providers: list[str]
    per_pass: float | None
    spent: float | None
    flags: list[str]
    """Why the repeats may not belong together."""
    notices: list[str]
    """What was odd about the files of its runs, such as other rows than a record counts."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is not in the catalog, and why."""

    path: str
    why: str


class HarnessAdapter:
    """The arms of runs directories. Folders are listed when it is made, rows are read when an arm is asked for."""

    def __init__(self, *runs_dirs: str | Path) -> None:
        if not runs_dirs:
            raise UsageError("a catalog is of at least one runs directory")
        self.faults: list[Fault] = []
        self.unfinished: list[str] = []
        self._runs: dict[str, list[RunDir]] = {}
        folders: set[str] = set()
        seen: set[str] = set()
        for each in runs_dirs:
            folder = Path(each)
            if not folder.is_dir():
                raise SourceError("is no folder of runs", source=str(each))
            real = os.path.realpath(folder)
            if real not in folders:
                folders.add(real)
                self._add(folder, seen)

    def __iter__(self) -> Iterator[Entry]:
        """All entries, as `entries` gives them."""
        return self.entries()

    def entries(self, dataset_id: str | None = None) -> Iterator[Entry]:
        """The entries, or those of one dataset, one arm in memory at a time; an arm that cannot be read goes to
        `faults`."""
        for address, runs in self._runs.items():
            record = runs[0].record
            if dataset_id is not None and record is not None and record.dataset_id != dataset_id:
                continue
            try:
                yield self.entry(address)
            except EvhError as error:
                fault = Fault(address, str(error))
                if fault not in self.faults:
                    self.faults.append(fault)

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def addresses(self) -> list[str]:
        """Of all arms, in the order of the folders and then of names."""
        return list(self._runs)

    def arm(self, address: str) -> Arm:
        """The arm of an address, as tests take it."""
        runs = self._runs.get(address)
        if runs is None:
            raise SourceError(f"the catalog has no arm {cut(address)}; it has {len(self._runs)}, in `addresses`")
        return Arm(runs)

    def values(self, address: str, metric: str) -> dict[str, float]:
        """Item to value, the mean over the repeats that have it; empty when no row has the metric."""
        return self.arm(address).values(metric)

    def entry(self, address: str) -> Entry:
        """Everything that the catalog says of an arm."""
        arm = self.arm(address)
        records = records_of([arm])
        kinds = kinds_of(arm.metrics, records=records)
        found = provenance_of(arm)
        metrics = {}
        for name in arm.metrics:
            value = arm.value(name)
            if value is not None:
                metrics[name] = Metric(
                    value=value.mean,
                    n=value.n,
                    kind=kinds[name],
                    direction=direction_of(name, records=records).value,
                    description=next((d for r in records if (d := r.metric_descriptions.get(name))), None),
                    spread=arm.spread(name),
                )
        primaries = {record.primary_metric for record in records}
        times = sorted((record.created_at for record in records), key=instant)
        flags = []
        if len(found.kinds) > 1 and found.kinds & MEASURED:
            flags.append("mixes measured and derived runs")
        if found.scorer_count > 1:
            flags.append(f"scored by {found.scorer_count} scorers")
        if len(found.parsers) > 1:
            flags.append(f"has outputs rebuilt by {len(found.parsers)} parsers")
        if len(primaries) > 1:
            flags.append("its runs declare different primary metrics")
        return Entry(
            address=address,
            dataset_id=arm.dataset_id,
            config_id=arm.config_id,
            run_ids=[record.run_id for record in records],
            n_items=arm.n_items,
            on_all_repeats=arm.n_on_all,
            failed=arm.n_errors,
            metrics=metrics,
            primary=primaries.pop() if len(primaries) == 1 else None,
            tiers=sorted(found.tiers),
            kinds=sorted(found.kinds),
            created_at=(times[0], times[-1]),
            builds=sorted({record.build.ref for record in records}),
            providers=sorted(found.providers),
            per_pass=arm.total(COST) if COST in metrics else None,
            spent=arm.spent(COST) if COST in metrics else None,
            flags=flags,
            notices=[notice.message for run in arm.runs for notice in run.notices],
        )

    def _add(self, folder: Path, seen: set[str]) -> None:
        listing = list_runs(folder)
        self.faults += [Fault(str(each.path), each.why) for each in listing.skipped]
        self.unfinished += [str(run.path) for run in listing.unfinished]
        fresh = []
        for run in listing.finished:
            real = os.path.realpath(run.path)
            if real not in seen:
                seen.add(real)
                fresh.append(run)
        for (dataset_id, config_id), runs in group_runs(fresh):
            address = f"{folder.as_posix()}/{dataset_id}/{config_id}"
            if why := not_repeats(runs):
                self.faults.append(Fault(address, why))
            elif address in self._runs:
                self.faults.append(Fault(address, "two arms have this address, one of them with a / in its ids"))
            else:
                self._runs[address] = runs
