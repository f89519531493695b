"""What is imported: a file, a folder or standard input, of one kind, read as often as it takes.

Promise: only read, never changed. Nothing below it is read through a link, from a device or a pipe: a folder that holds
one is refused. Its digest covers every byte that could matter, so a source that changes while it is read is noticed.
Standard input is kept in a file without a name that is gone with the process.
Policy: the kind is told by names, then by the first row (`run`, `episodes`, `jsonl`, `csv`).
When it breaks: `SourceError` or `UsageError`; nothing was written.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, get_args

from evh.errors import EvhError, SourceError, UsageError, cut
from evh.harness.project import Project
from evh.protocol._folders import row_files
from evh.protocol.jsontext import parse
from evh.protocol.sources import Line, iter_lines
from evh.protocol.upgrade.detect import detect
from evh.store import layout
from evh.store.atomic import why, write_all

__all__ = ["KINDS", "STANDARD", "Kind", "Source", "open_source"]

Kind = Literal["run", "episodes", "jsonl", "csv"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STANDARD = "-"
BLOCK = 1 << 20
IDS = ("item_id", "id")
OUTPUTS = ("output", "text", "completion", "response")


class Source:
    """One source. `kind` says what it is; `path` is None for standard input. Close it at the end."""

    def __init__(self, path: Path | None, spool: IO[bytes] | None, kind: Kind | None) -> None:
        self.path = path
        self._spool = spool
        self.label = "<stdin>" if path is None else str(path)
        self.kind: Kind = kind if kind is not None else self._told()

    @property
    def is_folder(self) -> bool:
        return self.path is not None and self.path.is_dir()

    @property
    def run_folder(self) -> Path:
        """The folder of the rows and outputs of a `run`."""
        if self.path is None:
            raise UsageError("a run is a folder with its outputs: name it, standard input holds none")
        return self.path if self.path.is_dir() else self.path.parent

    def binary(self) -> io.BufferedReader:
        """The bytes from their beginning; for sources that are no folder. Close what is returned."""
        if self.path is None:
            return io.BufferedReader(_Again(self._spool))
        try:
            return self.path.open("rb")
        except OSError as error:
            raise SourceError(f"cannot be opened: {why(error)}", source=self.label) from None

    def lines(self) -> Iterator[Line]:
        """The rows."""
        if self.path is None:
            with self.binary() as file:
                yield from iter_lines(file, label=self.label)
        else:
            yield from iter_lines(self.path)

    def files(self) -> list[str]:
        """The paths of all files that count, in the order of their bytes; relative, with forward slashes."""
        if self.path is None or not (self.is_folder or self.kind == "run"):
            return []
        top = self.run_folder
        names = [*_walk(top, top)] if self.is_folder else [layout.PREDICTIONS, *_walk(top / layout.OUTPUTS, top)]
        return sorted(names, key=os.fsencode)

    def digest(self) -> str:
        """The SHA-256 of what is read: of the file; of a folder, each file as name, 0x00, content, 0x1E."""
        found = hashlib.sha256()
        names = self.files()
        try:
            for name in names:
                found.update(os.fsencode(name) + b"\x00")
                with (self.run_folder / name).open("rb") as file:
                    _feed(found, file)
                found.update(b"\x1e")
            if not names:
                with self.binary() as file:
                    _feed(found, file)
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=self.label) from None
        return found.hexdigest()

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _told(self) -> Kind:
        path = self.path
        if path is not None:
            if path.is_dir():
                if (path / layout.PREDICTIONS).exists():
                    return "run"
                row_files(path)  # says what is missing when there is nothing to import
                return "episodes"
            if path.name == layout.PREDICTIONS and (path.parent / layout.OUTPUTS).is_dir():
                return "run"
            if path.suffix.lower() == ".csv":
                return "csv"
            if path.suffix.lower() in (".msgpack", ".msgpacks"):
                return "episodes"
        line = next(self.lines(), None)
        if line is None:
            raise SourceError("holds no rows: there is nothing to import", source=self.label)
        try:
            first: Any = parse(line.data)[0]
        except EvhError as error:
            raise error.at(line.source, line.line) from None
        if not isinstance(first, dict):
            raise SourceError(
                f"holds no objects (found {cut(first)}): name the kind with --kind", source=line.source, line=line.line
            )
        return "episodes" if detect(first) != "unknown" and not _is_plain(first) else "jsonl"


class _Again(io.RawIOBase):
    """A spool read from its beginning, under the name that messages use; closing it keeps the spool."""

    name = "<stdin>"

    def __init__(self, spool: Any) -> None:
        super().__init__()
        spool.seek(0)
        self._spool = spool

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._spool.readinto(buffer)
        return count


def open_source(project: Project, source: str | os.PathLike[str], kind: Kind | None = None) -> Source:
    """The source that a path or `-` names. Raises `UsageError` for a kind that there is none of or that it cannot be,
    `SourceError` for a source among the runs or one that cannot be read."""
    if kind is not None and kind not in KINDS:
        raise UsageError(f"--kind is one of {', '.join(KINDS)}, not {cut(kind)}")
    if source == STANDARD:
        spool = _spooled()
        try:
            return Source(None, spool, kind)
        except BaseException:
            spool.close()
            raise
    path = Path(source)
    try:
        there = path.exists()
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)[:200]) from None
    if not there:
        raise SourceError("there is no such file or folder", source=str(path))
    if not (path.is_file() or path.is_dir()):
        raise SourceError("is neither a file nor a folder and is not read", source=str(path))
    _refuse_runs(project, path)
    if kind not in (None, "run", "episodes") and path.is_dir():
        raise UsageError(f"{cut(str(path))} is a folder: --kind {kind} reads one file")
    return Source(path, None, kind)


def _is_plain(row: dict[str, Any]) -> bool:
    """A row of outputs, though it has members that episodes have as well (`prompt` and `completion`, say)."""
    named = any(name in row for name in IDS) and any(isinstance(row.get(name), str) for name in OUTPUTS)
    return named and row.keys().isdisjoint(("example_id", "traces", "nodes"))


def _refuse_runs(project: Project, path: Path) -> None:
    """Runs are not imported from where they are, nor a folder that holds them: by identity, not by name."""
    if not project.runs.exists():
        return
    real, runs = path.resolve(), project.runs.resolve()
    if any(each.samefile(runs) for each in (real, *real.parents)):
        raise SourceError(
            f"lies in the runs directory {project.portable(project.runs)}: it is a run already", source=str(path)
        )
    if any(each.samefile(real) for each in runs.parents):
        raise SourceError("holds the runs directory: name the run's own folder", source=str(path))


def _walk(folder: Path, top: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _walk(Path(entry.path), top)
                elif entry.is_file(follow_symlinks=False):
                    yield Path(entry.path).relative_to(top).as_posix()
                else:
                    raise SourceError(
                        "is a link or device, which is not read: remove it, or put the file in its place",
                        source=entry.path,
                    )
    except OSError as error:
        raise SourceError(f"cannot be listed: {why(error)}", source=str(folder)) from None


def _feed(digest: Any, file: IO[bytes]) -> None:
    while block := file.read(BLOCK):
        digest.update(block)


def _spooled() -> IO[bytes]:
    """Standard input in a file without a name."""
    stdin: Any = sys.stdin
    if stdin is None:
        raise SourceError("this process has no standard input: name a file", source="<stdin>")
    read = getattr(stdin, "buffer", stdin).read
    spool = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    try:
        while block := read(BLOCK):
            write_all(spool.fileno(), block)
    except BaseException as error:
        spool.close()
        if isinstance(error, OSError):
            raise SourceError(f"cannot be kept for two readings: {why(error)}", source="<stdin>") from None
        raise
    return spool
