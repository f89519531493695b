"""Outputs that are there whole or not at all, and sources that nothing touches.

Promise: a source is never touched: a target that is the source by any name (link, hard link, a place inside it) is
refused before anything is opened. An output is written beside its final place, synced and renamed when complete;
whatever interrupts leaves the final place as it was. Policy: an existing output needs `--overwrite`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from evh.cli._types import PACKED
from evh.errors import SourceError, UsageError, WriteError
from evh.protocol._folders import MSGPACK
from evh.store.atomic import sync_folder, why

__all__ = ["Output", "check_target", "moved_in", "need_source"]

ROW_FILES = (".json", ".jsonl", ".ndjson", *MSGPACK, *PACKED)
STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
LEVEL = 6


def need_source(source: str) -> None:
    """Raises `SourceError` when there is no such file or folder."""
    try:
        there = source == "-" or os.path.lexists(source)
    except (OSError, ValueError):
        there = False
    if not there:
        raise SourceError("no such file or folder", source=source[:200])


# --- where to --------------------------------------------------------------------------------------------------------


def check_target(source: str, target: str, *, overwrite: bool) -> None:
    """Refuse a target that would touch the source or destroy something. Raises `WriteError`."""
    if target == "-":
        return
    there = Path(target)
    if str(there) in STANDARD_OUTPUT:
        raise WriteError(f"{target} is standard output, which is called - here: say -o -")
    from_folder = source != "-" and Path(source).is_dir()
    if not target or (there.name in ("", "..") and not there.exists()):
        raise UsageError("-o needs the name of a file or folder")
    if source != "-":
        _refuse_source(Path(source), there)
    if from_folder:
        if target.endswith(ROW_FILES):
            raise WriteError(f"{source} is a folder, so a folder is written; {target!r} is the name of a file")
        if there.exists() and not there.is_dir():
            raise WriteError(f"{source} is a folder, so a folder is written; {target} is a file")
        if there.is_dir() and any(there.iterdir()) and not overwrite:
            raise WriteError(f"{target} exists and is not empty: choose another name, or give --overwrite")
        return
    if there.is_dir() or target.endswith(("/", os.sep)):
        raise WriteError(f"{target} is a folder: name the file to write")
    if os.path.lexists(there):
        if there.exists() and not there.is_file():
            raise WriteError(f"{target} is not a regular file and is left alone")
        if not overwrite:
            raise WriteError(f"{target} exists: choose another name, or give --overwrite")


def _refuse_source(source: Path, target: Path) -> None:
    try:
        origin, place = source.resolve(), target.resolve()
        same = origin == place or (target.exists() and source.exists() and target.samefile(source))
    except (OSError, RuntimeError, ValueError) as error:
        raise WriteError(f"is no usable path: {why(error)}", source=str(target)[:200]) from None
    if same:
        raise WriteError(f"{target} is the source itself, which is never touched: choose another name")
    if source.is_dir() and place.is_relative_to(origin):
        raise WriteError(f"{target} lies inside the source, which is never touched: choose a place outside of it")
    if source.is_dir() and origin.is_relative_to(place):
        raise WriteError(f"{target} holds the source, which is never touched: choose another name")


# --- outputs ---------------------------------------------------------------------------------------------------------


class Output:
    """A file being written (`-`: standard output): complete after `commit`, else as if nothing had happened.

    A name that ends in `.gz` or `.zst` is packed. Used in a `with` block: leaving it without `commit` drops what was
    written. Raises `WriteError`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._temporary: Path | None = None
        self._packer: Any = None
        self._file: Any = None
        if name == "-":
            self._file = getattr(sys.stdout, "buffer", None)
            return
        self._target = Path(name).resolve()
        if not self._target.parent.is_dir():
            raise WriteError(f"the folder {self._target.parent} does not exist: make it first", source=name)
        self._temporary = self._target.with_name(f".{self._target.name[:40]}.{secrets.token_hex(8)}.tmp")
        try:
            self._file = self._temporary.open("xb")
        except OSError as error:
            raise self._refused(error) from None
        self._packer = _packer(self._target.name, self._file)

    def write(self, data: bytes) -> None:
        """Add bytes."""
        try:
            if self._file is None:
                sys.stdout.write(data.decode("utf-8"))
            else:
                (self._packer or self._file).write(data)
        except BrokenPipeError:
            raise WriteError("standard output was closed before everything was written") from None
        except OSError as error:
            raise self._refused(error) from None

    def commit(self) -> None:
        """Put the file in its place, durably."""
        try:
            if self._temporary is None:
                (self._file or sys.stdout).flush()
                return
            if self._packer is not None:
                self._packer.close()
            self._file.flush()
            if self._target.exists():
                shutil.copymode(self._target, self._temporary)
            os.fsync(self._file.fileno())
            self._file.close()
            self._temporary.replace(self._target)
            self._temporary = None
            sync_folder(self._target.parent)
        except BrokenPipeError:
            raise WriteError("standard output was closed before everything was written") from None
        except OSError as error:
            raise self._refused(error) from None

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is None:
            return
        with contextlib.suppress(OSError):
            if self._packer is not None:
                self._packer.close()
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()

    def _refused(self, error: OSError) -> WriteError:
        return WriteError(f"cannot be written: {why(error)}; nothing there was changed", source=self.name)


def _packer(name: str, file: Any) -> Any:
    if name.endswith(".gz"):
        import gzip

        return gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=LEVEL, mtime=0)
    if name.endswith(".zst"):
        import zstandard

        return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).stream_writer(file, closefd=False)
    return None


@contextlib.contextmanager
def moved_in(target: Path) -> Iterator[Path]:
    """A folder to fill, which takes its place at `target` when the block ends well and is gone when it does not.

    Files of an existing folder are replaced one by one, each at once; others in it stay. Raises `WriteError`.
    """
    place = target.resolve()
    made = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        made.mkdir()
        try:
            yield made
            _settle(made, place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise WriteError(f"cannot be written: {why(error)}", source=str(target)) from None


def _settle(made: Path, place: Path) -> None:
    if not place.exists() or not any(place.iterdir()):
        made.replace(place)
        sync_folder(place.parent)
        return
    for file in sorted(path for path in made.rglob("*") if path.is_file()):
        final = place / file.relative_to(made)
        final.parent.mkdir(parents=True, exist_ok=True)
        file.replace(final)
        sync_folder(final.parent)
