"""The runs that a command compares: where they are, which arms they make, and what is to be said about them.

Promise: an arm is found by its config id, its address or the name of a run, in that order, never by the order of a
listing; a name that fits several datasets is refused with their names. What is left out (unreadable runs, unfinished
ones, arms that are no set of repeats) is told, with the reason.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import Once, closest
from evh.cli._choice import dataset_named
from evh.errors import EvhError, RecordError, SourceError, UsageError, cut

if TYPE_CHECKING:
    from evh.cli._choice import Choice
    from evh.harness.project import Project
    from evh.protocol import models
    from evh.stats.direction import Declares
    from evh.store.arm import Arm
    from evh.store.run_dir import RunDir
    from evh.store.runs import Listing

__all__ = ["Runs", "add_runs", "listed"]


def add_runs(parser: Any) -> None:
    """Where the runs are."""
    parser.add_argument("--runs-dir", action=Once)
    parser.add_argument("--root", action=Once)


@dataclass
class Runs:
    """The finished runs of one folder, and the project they belong to."""

    project: Project
    folder: Path
    listing: Listing
    notices: list[str] = field(default_factory=list)
    """What was left out, and why."""
    faults: int = 0
    """How much of that is a fault: runs that cannot be read, arms that are no set of repeats."""

    @classmethod
    def of(cls, options: argparse.Namespace) -> Runs:
        """The runs that `--runs-dir` and `--root` name."""
        from evh.harness.project import Project
        from evh.store.runs import list_runs

        project = Project.at(None if options.root is None else Path(options.root), os.environ)
        folder = project.runs if options.runs_dir is None else Path(options.runs_dir)
        if options.runs_dir is not None and not folder.is_dir():
            raise UsageError(f"--runs-dir {cut(options.runs_dir)} is no folder")
        made = cls(project, folder, list_runs(folder))
        if unfinished := made.listing.unfinished:
            made.notices.append(f"{_count(len(unfinished), 'unfinished run')} left out: {_names(unfinished)}")
        for each in made.listing.skipped:
            made.faults += 1
            made.notices.append(f"left out, it cannot be read: {project.portable(each.path)}: {each.why}")
        return made

    @property
    def shown(self) -> str:
        return self.project.portable(self.folder)

    def finished(self, dataset_id: str | None = None) -> list[RunDir]:
        """The finished runs, of one dataset if that is given. Raises `SourceError` when there are none."""
        runs = [run for run in self.listing.finished if dataset_id in (None, _record(run).dataset_id)]
        if not runs:
            there = {_record(run).dataset_id for run in self.listing.finished}
            more = f" of the dataset {cut(dataset_id)}{closest(str(dataset_id), sorted(there))}" if dataset_id else ""
            known = f" ({len(self.listing.unfinished)} unfinished, {len(self.listing.skipped)} unreadable)"
            raise SourceError(f"holds no finished run{more}{known}", source=self.shown)
        return runs

    def one_dataset(self, asked: str | None, match: str = "") -> str:
        """The dataset of a table: the one asked for, or the only one there is."""
        if asked is not None:
            return asked
        names = sorted({_record(run).dataset_id for run in self.finished() if match in _record(run).config_id})
        if not names:
            raise SourceError(f"holds no finished run of a config with {cut(match)} in its id", source=self.shown)
        if len(names) > 1:
            raise UsageError(f"there are runs of {len(names)} datasets: take one of --dataset-id {', '.join(names)}")
        return names[0]

    def arms(
        self, dataset_id: str, *, match: str = "", choice: Choice | None = None
    ) -> tuple[list[Arm], dict[str, str]]:
        """The arms of a dataset whose config id contains `match`, and those that could not be made, with the reason."""
        from evh.store.arm import Arm, group_runs, not_repeats

        made: list[Arm] = []
        unread: dict[str, str] = {}
        keep = None if choice is None or choice.everything else choice.keeps
        for (_, config_id), runs in group_runs(self.finished(dataset_id)):
            if match not in config_id:
                continue
            why = not_repeats(runs)
            try:
                if why is not None:
                    raise RecordError(why)
                made.append(Arm(runs, keep=keep))
            except EvhError as error:
                unread[config_id] = str(error)
                self.faults += 1
                self.notices.append(f"left out: {config_id}: {error}")
        return made, unread

    def with_items(self, arms: Iterable[Arm]) -> list[Arm]:
        """The arms that have an item to rank; the others are told."""
        found = list(arms)
        if empty := [arm.config_id for arm in found if not arm.n_items]:
            self.notices.append(f"left out, not one row of the items that count: {listed(empty)}")
        return [arm for arm in found if arm.n_items]

    def arm(self, name: str, dataset_id: str | None) -> Arm:
        """The arm that a word names: a config id, an address, or one run by its name."""
        from evh.store.arm import Arm, not_repeats, read_arm

        runs = [run for run in self.listing.finished if _record(run).config_id == name]
        if dataset_id is not None:
            runs = [run for run in runs if _record(run).dataset_id == dataset_id]
        datasets = sorted({_record(run).dataset_id for run in runs})
        if len(datasets) > 1:
            raise UsageError(f"{cut(name)} was run on {', '.join(datasets)}: name one by --dataset-id")
        if runs:
            if why := not_repeats(runs):
                raise RecordError(why, source=self.shown)
            return Arm(runs)
        if named := self.run(name):
            return Arm([named])
        if len(Path(name).parts) > 2:
            return read_arm(name)
        words = {_record(run).config_id for run in self.listing.finished} | {r.path.name for r in self.listing.finished}
        likely = closest(name, sorted(words), "`evh catalog` lists the arms")
        raise SourceError(f"holds no config, run or address {cut(name)}{likely}", source=self.shown)

    def run(self, name: str) -> RunDir | None:
        """The finished run of a name here, or of a path elsewhere; None when there is none."""
        from evh.store.run_dir import open_run_dir

        for run in self.listing.finished:
            if run.path.name == name:
                return run
        if Path(name).is_dir() and (Path(name) / "metrics.json").exists():
            return open_run_dir(name)
        return None

    def the_run(self, name: str) -> RunDir:
        """The same. Raises `SourceError` when there is none."""
        found = self.run(name)
        if found is None:
            left = [run.path.name for run in self.listing.unfinished]
            if name in left:
                raise SourceError(f"the run {cut(name)} is not finished: it has no record", source=self.shown)
            names = [run.path.name for run in self.listing.finished]
            likely = closest(name, names, "`evh runs` lists the runs")
            raise SourceError(f"holds no finished run {cut(name)}{likely}", source=self.shown)
        return found

    def clusters(self, dataset_id: str) -> dict[str, str] | None:
        """Item to cluster, by the tags of the dataset; None without a dataset file or tags."""
        from evh.stats.clusters import clusters_of

        dataset = dataset_named(self.project, dataset_id)
        return None if dataset is None else clusters_of(dataset) or None

    def declared(self, arms: Iterable[Arm]) -> list[Declares]:
        """What the adapters of the arms declare today, as far as their files are here and can be loaded."""
        from evh.harness.adapters import load_adapter
        from evh.harness.project import is_plain_path
        from evh.stats.provenance import records_of

        ids: dict[str, None] = {}
        for record in records_of(arms):
            # A judge's scorer is no adapter, and its record holds what it declared.
            if record.fingerprint is not None and getattr(record.derived, "kind", None) != "judge":
                ids.setdefault(record.fingerprint.instrument.adapter.id)
        found: list[Declares] = []
        for name in ids:
            if not is_plain_path(name) or not (self.project.root / name).is_file():
                continue
            try:
                with load_adapter(
                    str(self.project.root / name), config_dir=self.project.root, root=self.project.root
                ) as it:
                    found.append(_Declared(name, dict(it.metric_kinds), dict(it.metric_directions)))
            except EvhError as error:
                self.notices.append(f"{name} cannot be loaded, what the records declare counts: {error}")
        return found

    def told(self, arms: Sequence[Arm]) -> list[str]:
        """What was left out, and what was odd about the runs that count."""
        return self.notices + [notice.message for arm in arms for run in arm.runs for notice in run.notices]


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str
    metric_kinds: dict[str, str]
    metric_directions: dict[str, str]


def _record(run: RunDir) -> models.RunRecord:
    record = run.record
    if record is None:
        raise SourceError("has no record", source=str(run.path))
    return record


def _names(runs: Collection[RunDir]) -> str:
    return listed([run.path.name for run in runs])


def listed(names: Sequence[str]) -> str:
    """The first names of several, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _count(value: int, word: str) -> str:
    return f"{value:,} {word}" + ("" if value == 1 else "s")
