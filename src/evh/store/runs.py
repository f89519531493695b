"""The runs of a runs directory: found by looking, never by an index that a later writer could overwrite.

Promise: every folder directly below that holds a run is listed, in the order of names, once (a link to a run that is
there already is the same run). One that cannot be read is listed as skipped, with its reason; it hides no other. A link
that leads outside, and the hidden folders of unfinished copies, are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from evh.errors import EvhError, SourceError
from evh.store import layout
from evh.store.atomic import why
from evh.store.run_dir import RunDir

__all__ = ["Listing", "Skipped", "find_runs", "list_runs", "runs_folder"]


class Skipped(NamedTuple):
    """A run that could not be read, and why."""

    path: Path
    why: str


class Listing(NamedTuple):
    """What a runs directory holds: `finished` runs (with a record that loads), `unfinished` ones, and what was
    skipped."""

    finished: list[RunDir]
    unfinished: list[RunDir]
    skipped: list[Skipped]


def runs_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Where runs are: `EVAL_RUNS_DIR` (`~` expanded, relative to the current folder; empty counts as unset), else
    `data/runs` below the project's root."""
    named = environ.get("EVAL_RUNS_DIR", "")
    if not named:
        return root / "data" / "runs"
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError:
        raise SourceError(f"EVAL_RUNS_DIR={named}: there is no such home folder") from None


def find_runs(folder: Path) -> Iterator[RunDir]:
    """The run directories directly below a folder, by name; nothing for a folder that does not exist. Reads no file of
    them. Raises `SourceError` when the folder cannot be listed."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
        inside = folder.resolve()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SourceError(f"cannot be listed: {why(error)}", source=str(folder)) from None
    seen: set[Path] = set()
    for name in names:
        path = folder / name
        if name.startswith(".") or not path.is_dir():
            continue
        if path.is_symlink():
            real = path.resolve()
            if not real.is_relative_to(inside) or real.parent == inside:
                continue  # outside, or listed under its own name
        if any((path / each).exists() for each in (layout.MANIFEST, layout.RECORD, layout.PREDICTIONS)):
            real = path.resolve()
            if real not in seen:
                seen.add(real)
                yield RunDir(path)


def list_runs(folder: Path) -> Listing:
    """The runs of a folder, told apart by whether they have a record that loads."""
    listing = Listing([], [], [])
    for run in find_runs(folder):
        try:
            (listing.finished if run.record is not None else listing.unfinished).append(run)
        except EvhError as error:
            listing.skipped.append(Skipped(run.path, str(error)))
    return listing
