"""The runs of a runs directory: found by looking, never by an index that a later writer could overwrite.

Promise: every folder directly below that holds a run is listed, in the order of names, once (a link to a run that is
there already is the same run). One that cannot be read is listed as skipped, with its reason; it hides no other. A link
that leads outside or nowhere is not followed and is listed as skipped too. Hidden folders, of unfinished copies, are
passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from evh.errors import EvhError, SourceError
from evh.store import layout
from evh.store.atomic import why
from evh.store.collector import uncollected
from evh.store.run_dir import RunDir

__all__ = ["Listing", "Skipped", "find_runs", "list_runs"]


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


def find_runs(folder: Path, left_out: list[Skipped] | None = None) -> Iterator[RunDir]:
    """The run directories directly below a folder, by name; nothing for a folder that does not exist. Reads no file of
    them. Links that are not followed are added to `left_out`. Raises `SourceError` when the folder cannot be listed."""
    return (RunDir(path) for path in _folders(folder, left_out) if _is_run(path))


def _folders(folder: Path, left_out: list[Skipped] | None) -> Iterator[str]:
    """The folders directly below that may be runs, and those that links lead to, each once."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=attrgetter("name"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise SourceError(f"cannot be listed: {why(error)}", source=str(folder)) from None
    linked: set[Path] = set()
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            inside = folder.resolve()
            fault, real = _led_to(folder / entry.name, inside)
            if fault is not None and left_out is not None:
                left_out.append(Skipped(folder / entry.name, fault))
            if fault is not None or real.parent == inside or real in linked:
                continue  # not followed, or listed under its own name
            linked.add(real)
        if entry.is_dir():
            yield entry.path


def _is_run(folder: str) -> bool:
    """Whether one of the files that make a run is there."""
    return any(os.path.exists(os.path.join(folder, name)) for name in layout.RUN_FILES)  # noqa: PTH110, PTH118


def _led_to(link: Path, inside: Path) -> tuple[str | None, Path]:
    """Why a link is not followed, if it is not, and where it leads."""
    try:
        real = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link that leads nowhere: remove it", link
    if real.is_dir() and not real.is_relative_to(inside):
        return "is a link that leads out of the runs directory and is not followed: move or copy the run here", real
    return None, real


@uncollected()
def list_runs(folder: Path) -> Listing:
    """The runs of a folder, told apart by whether they have a record that loads."""
    listing = Listing([], [], [])
    for path in _folders(folder, listing.skipped):
        run = RunDir(path)
        try:
            if run.record is not None:
                listing.finished.append(run)
            elif _is_run(path):
                listing.unfinished.append(run)
        except EvhError as error:
            listing.skipped.append(Skipped(run.path, str(error)))
    return listing
