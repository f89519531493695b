"""What a tree holds: projects with their datasets, configs and policies, and folders of runs.

Promise: a folder may be named as a project's root, as its `data`, as a folder of runs, or as one run; what is reached
in two ways is there once. Building a tree reads no record; one that cannot be read is None to every rule but V1, so it
hides no other. Nothing is written.
Policy: the names of the folders (`data/runs`, `data/runs-*`, `data/runs-judged/*`, and `EVAL_RUNS_DIR`). At most one
dataset is held at a time.
When it breaks: `SourceError` for a folder that is not there or holds nothing that any rule is about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from evh.errors import EvhError, SourceError
from evh.harness.dataset import Frozen, load_dataset
from evh.harness.project import Project
from evh.protocol import models
from evh.rules.outcome import KEPT
from evh.store import layout
from evh.store.atomic import why
from evh.store.run_dir import RunDir, State
from evh.store.runs import Skipped, find_runs

__all__ = ["FoundRun", "Progress", "RunsFolder", "Tree"]

Progress = Callable[[str, int], None]
"""Called now and then with the file that is being read and how many rows of it were."""
HOLDS = "data/datasets, data/configs, data/references, data/runs, data/runs-*, data/baselines or data/goals"


class FoundRun:
    """A run of the tree. What cannot be read of it is None; V1 says why."""

    def __init__(self, run: RunDir) -> None:
        self.run = run
        self.path = run.path

    @cached_property
    def record(self) -> models.RunRecord | None:
        try:
            return self.run.record
        except EvhError:
            return None

    @cached_property
    def manifest(self) -> models.RunManifest | None:
        try:
            return self.run.manifest
        except EvhError:
            return None

    @cached_property
    def end(self) -> models.RunEnd | None:
        try:
            return self.run.end
        except EvhError:
            return None

    @cached_property
    def state(self) -> State:
        return self.run.state

    @property
    def dataset_id(self) -> str | None:
        """The dataset by the record, else by the manifest."""
        said = self.record or self.manifest
        return None if said is None else said.dataset_id

    @property
    def rows_path(self) -> Path:
        return self.path / layout.PREDICTIONS


class RunsFolder:
    """A folder of runs, the project that it belongs to when there is one, and whether only one run of it was named."""

    def __init__(self, path: Path, project: Project | None, only: Path | None = None) -> None:
        self.path = path
        self.project = project
        self.only = only
        self.left_out: list[Skipped] = []
        """Links that are not followed, known when `runs` is."""

    @cached_property
    def runs(self) -> list[FoundRun]:
        """The runs by name. Raises `SourceError` when the folder cannot be listed."""
        if self.only is not None:
            return [FoundRun(RunDir(self.only))]
        try:
            return [FoundRun(run) for run in find_runs(self.path, self.left_out)]
        except OSError as error:
            raise SourceError(f"cannot be listed: {why(error)}", source=str(self.path)) from None


class Tree:
    """The projects and folders of runs that the rules look at; `most` findings of a file are kept."""

    def __init__(
        self,
        projects: list[Project],
        folders: list[RunsFolder],
        *,
        progress: Progress | None = None,
        most: int = KEPT,
    ) -> None:
        self.projects = projects
        self.folders = folders
        self.progress: Progress = progress or (lambda file, rows: None)
        self.most = most
        self._here = Path.cwd()
        self._dataset: tuple[Path, str, Frozen | None] | None = None

    @classmethod
    def at(
        cls,
        paths: Sequence[Path],
        environ: Mapping[str, str],
        *,
        progress: Progress | None = None,
        most: int = KEPT,
    ) -> Tree:
        """The tree below some folders (none: the current one). Raises `SourceError` when one holds nothing."""
        projects: dict[Path, Project] = {}
        folders: dict[Path, RunsFolder] = {}
        for path in paths or [Path()]:
            found_projects, found_folders = _held_by(path, environ)
            for project in found_projects:
                projects.setdefault(project.root.resolve(), project)
            for folder in found_folders:
                known = folders.setdefault(folder.only or folder.path.resolve(), folder)
                known.project = known.project or folder.project
        whole = {each.path.resolve() for each in folders.values() if each.only is None}
        kept = [each for each in folders.values() if each.only is None or each.path.resolve() not in whole]
        return cls(list(projects.values()), kept, progress=progress, most=most)

    def shown(self, path: Path) -> str:
        """A path as findings name it: from the current folder when it lies below that."""
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 (a link is named as it is, not as what it leads to)
        return absolute.relative_to(self._here).as_posix() if absolute.is_relative_to(self._here) else str(absolute)

    def runs(self) -> Iterator[tuple[RunsFolder, FoundRun]]:
        """Every run with its folder; a folder that cannot be listed is passed over (V1 says so)."""
        for folder in self.folders:
            try:
                runs = folder.runs
            except EvhError:
                continue
            for run in runs:
                yield folder, run

    def dataset(self, project: Project, dataset_id: str) -> Frozen | None:
        """A dataset of a project; None when there is none or it cannot be read. The last one is held."""
        if self._dataset is None or self._dataset[:2] != (project.root, dataset_id):
            self._dataset = None  # the old one goes before the new one comes
            try:
                found = load_dataset(project, dataset_id)
            except EvhError:
                found = None
            self._dataset = (project.root, dataset_id, found)
        return self._dataset[2]

    @staticmethod
    def files(folder: Path, pattern: str) -> list[Path]:
        """The files of a folder that match, by name; hidden ones are left out."""
        return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


# --- finding ---------------------------------------------------------------------------------------------------------


def _held_by(path: Path, environ: Mapping[str, str]) -> tuple[list[Project], list[RunsFolder]]:
    try:
        if not path.is_dir():
            raise SourceError("is no folder" if path.exists() else "there is no such folder", source=str(path))
        path = Path(os.path.abspath(path))  # noqa: PTH100
        if _is_run(path):
            return [], [RunsFolder(path.parent, _owner(path.parent), only=path)]
        root = path.parent if path.name == "data" else path
        if (root / "data").is_dir():
            project = Project.at(root, environ)
            folders = [RunsFolder(each, project) for each in _runs_folders(project)]
            if folders or any(each.is_dir() for each in _homes(project)):
                return [project], folders
        folders = [RunsFolder(each, _owner(each)) for each in _with_inner(path)]
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)[:200]) from None
    if not folders:
        raise SourceError(
            f"holds nothing to validate: it is no project ({HOLDS}), no folder of runs and no run "
            f"({layout.MANIFEST}, {layout.RECORD} or {layout.PREDICTIONS})",
            source=str(path),
        )
    return [], folders


def _homes(project: Project) -> tuple[Path, ...]:
    return project.datasets, project.configs, project.references, project.baselines, project.goals


def _runs_folders(project: Project) -> Iterator[Path]:
    """The folders of runs of a project; the one that `EVAL_RUNS_DIR` names counts beside `data/runs`."""
    seen: set[Path] = set()
    for path in (project.runs, project.data / "runs", *sorted(project.data.glob("runs-*"))):
        for each in _with_inner(path) if path.name.startswith("runs-") else [path]:
            if os.path.lexists(each) and not each.is_dir():
                raise SourceError("is no folder, and runs belong there: move it away", source=str(each))
            if each.is_dir() and each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _with_inner(path: Path) -> list[Path]:
    """A folder if it holds runs, and the folders directly below that hold some (judged runs lie by scorer)."""
    if not path.is_dir():
        return []
    inner = [each for each in sorted(path.iterdir()) if each.is_dir() and not each.name.startswith(".")]
    return [each for each in (path, *(each for each in inner if not _is_run(each))) if next(find_runs(each), None)]


def _is_run(path: Path) -> bool:
    return any((path / name).exists() for name in (layout.MANIFEST, layout.RECORD, layout.PREDICTIONS))


def _owner(folder: Path) -> Project | None:
    """The project whose `data` a folder of runs lies in: one that has datasets."""
    for data in (folder.parent, folder.parent.parent):
        if data.name == "data" and (data / "datasets").is_dir():
            return Project(data.parent)
    return None
