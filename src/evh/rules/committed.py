"""V7 and V9: what is committed is whole.

Promise: V7, a run of which files are in the git index has its record there; V9, every committed file of a run is on
disk, and its rows are there and as many as the record says. Names are taken from git as they are, with blanks and line
ends in them. Where there is no git tree, or no git, both say that nothing was checked.
Policy: what git says within a minute counts. A training run is closed by `end.json` and needs no record.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from evh.errors import EvhError, cut
from evh.protocol._views import iter_views
from evh.rules.outcome import Outcome
from evh.rules.tree import Tree
from evh.store import layout
from evh.store.run_dir import RunDir

__all__ = ["v7", "v9"]

PARTS = frozenset(
    {
        layout.MANIFEST, layout.RECORD, layout.PREDICTIONS, layout.ATTEMPTS, layout.TRACES, layout.ERRORS,
        layout.OUTPUTS, layout.END, layout.SEGMENTS, layout.STEPS, layout.STEP_SEGMENTS,
    }
)  # fmt: skip
GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--")
SECONDS = 60
NO_TREE = "not a git tree"


def v7(tree: Tree, outcome: Outcome) -> None:
    """A committed run has its record in the index."""
    for run, names in _committed(tree, outcome):
        outcome.looked("committed runs")
        if layout.RECORD in names or layout.END in names:
            continue
        on_disk = (run / layout.RECORD).exists()
        outcome.found(
            tree.shown(run),
            f"is committed without {layout.RECORD}" + (", which is on disk" if on_disk else ""),
            f"`git add` the {layout.RECORD}" if on_disk else "finish the run with `evh run --resume`, or take it out",
        )


def v9(tree: Tree, outcome: Outcome) -> None:
    """Committed files of runs are on disk, their rows as many as the record says."""
    for run, names in _committed(tree, outcome):
        outcome.looked("committed files", len(names))
        for name in names:
            if not os.path.lexists(run / name):
                outcome.found(
                    tree.shown(run / name), "is committed and not on disk", "`git restore` it, or commit its removal"
                )
        if layout.PREDICTIONS in names:
            _check_rows(tree, outcome, run)


def _check_rows(tree: Tree, outcome: Outcome, run: Path) -> None:
    path = run / layout.PREDICTIONS
    try:
        record = RunDir(run).record
    except EvhError:
        record = None  # V1 names it
    if not path.exists():
        return
    try:
        rows = sum(1 for _ in iter_views(path))
    except EvhError as error:
        outcome.found(tree.shown(path), error.message, "make the file readable")
        return
    if not rows:
        advice = "restore the rows, or take the run out of git"
        outcome.found(tree.shown(path), "is committed and holds no row", advice)
    elif record is not None and rows != record.n_items:
        outcome.found(
            tree.shown(path),
            f"its rows number {rows:,}, n_items of the record is {record.n_items:,}",
            "restore the rows that were measured: `git log` tells where they went",
        )


def _committed(tree: Tree, outcome: Outcome) -> Iterator[tuple[Path, list[str]]]:
    """The runs that have files in the index, each with the names of those files below it."""
    places = {folder.path: folder.only for folder in tree.folders}
    for project in tree.projects:
        places.setdefault(project.data / "runs", None)  # all of it may be gone from the disk
    trees = found = False
    for folder, only in places.items():
        listed = _listed(folder, outcome)
        if listed is None:
            continue
        trees = True
        runs: dict[str, list[str]] = {}
        for name in listed:
            run, _, rest = name.partition("/")
            if rest and not run.startswith(".") and rest.partition("/")[0] in PARTS:
                runs.setdefault(run, []).append(rest)
        for run, names in sorted(runs.items()):
            if only is None or only.name == run:
                found = True
                yield folder / run, names
    if trees and not found:
        outcome.noted("no run is committed")


def _listed(folder: Path, outcome: Outcome) -> list[str] | None:
    """The names in the index below a folder, from the folder on; None, with a note, where git knows nothing of it."""
    inside = folder
    while not inside.is_dir() and inside != inside.parent:
        inside = inside.parent
    below = folder.relative_to(inside).as_posix()
    try:
        done = subprocess.run(
            (*GIT, below), cwd=inside, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except OSError:
        outcome.noted(f"{NO_TREE}: git cannot be started")
        return None
    except subprocess.TimeoutExpired:
        outcome.noted(f"git did not answer within {SECONDS} s")
        return None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        plain = not said or "not a git repository" in said[0]
        outcome.noted(NO_TREE if plain else f"{NO_TREE}: git says {cut(said[0], 200)}")
        return None
    start = "" if below == "." else f"{below}/"
    names = (os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
    return [name.removeprefix(start) for name in names if name.startswith(start)]
