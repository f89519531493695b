"""The files of a live run that several processes write, each its own: segments of episodes and of metrics by step.

    traces.jsonl            episodes of the run's owner     traces/<writer>.jsonl   those of another process
    steps.jsonl             metrics of the run's owner      steps/<writer>.jsonl    those of another process

Promise: the order is that of `row_files`, the owner's file first, the same on every machine. Rows are counted by their
line ends, so a torn last line is none; a file is read in pieces. Readers take no lock and never block a writer.
Policy: a file of another suffix, a hidden one and a link are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evh.errors import SourceError
from evh.protocol import models
from evh.store import layout
from evh.store.atomic import why

__all__ = ["count_lines", "count_run", "segment_files", "step_files"]

PIECE = 1 << 20


def segment_files(directory: Path) -> list[Path]:
    """The files of a run's episodes that are there. Raises `SourceError` when they cannot be listed."""
    return _files(directory, layout.TRACES, layout.SEGMENTS)


def step_files(directory: Path) -> list[Path]:
    """The files of a run's metrics by step that are there. Raises `SourceError` when they cannot be listed."""
    return _files(directory, layout.STEPS, layout.STEP_SEGMENTS)


def count_lines(path: Path) -> int:
    """The whole lines of a file; 0 when there is no file. Raises `SourceError`."""
    count = 0
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                count += piece.count(b"\n")
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
    return count


def count_run(directory: Path, known: Mapping[str, int] | None = None) -> models.RunCounts:
    """What a live run holds, counted from its files; of those that are `known` (by their path below the directory) the
    rows are not counted again. Raises `SourceError`."""
    known = known or {}

    def rows(path: Path) -> int:
        counted = known.get(path.relative_to(directory).as_posix())
        return count_lines(path) if counted is None else counted

    segments = {path.relative_to(directory).as_posix(): rows(path) for path in segment_files(directory)}
    steps = sum(map(rows, step_files(directory)))
    return models.RunCounts(episodes=sum(segments.values()), steps=steps, segments=segments)


def _files(directory: Path, single: str, folder: str) -> list[Path]:
    found = [directory / single] if (directory / single).is_file() else []
    try:
        others = [
            path
            for path in (directory / folder).iterdir()
            if path.suffix == ".jsonl" and path.name[0] != "." and path.is_file() and not path.is_symlink()
        ]
    except (FileNotFoundError, NotADirectoryError):
        others = []
    except OSError as error:
        raise SourceError(f"cannot be listed: {why(error)}", source=str(directory / folder)) from None
    return found + sorted(others, key=lambda path: _natural(path.name))


def _natural(name: str) -> list[tuple[int, str]]:
    pieces = re.split(r"(\d+)", name)
    return [(int(piece), piece) if at % 2 else (-1, piece) for at, piece in enumerate(pieces)]
