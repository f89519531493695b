"""`outputs/`: what the arm wrote for each item, a file an item.

Promise: a file has all its bytes or does not exist under its name; its bytes are synced before the row that names their
digest is written (unless the policy is `never`), its name with the sync that covers the row. The text that was written
is the text that is read: UTF-8, lone surrogates as their three bytes. A link, folder, device or pipe in the place of a
file is neither read nor written through.
When it breaks: `WriteError` or `SourceError` that names the file; the old file, if there was one, is as it was.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from evh.errors import SourceError, WriteError
from evh.store import _os
from evh.store.atomic import sync_folder, why, write_all
from evh.store.layout import output_name

__all__ = ["OutputFolder", "output_bytes", "read_regular"]

TEMPORARY = ".tmp"
READ_FLAGS = os.O_RDONLY | _os.O_BINARY | _os.O_NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
PIECE = 1 << 20


class OutputFolder:
    """The outputs of one run. `sync` makes the names of all files written so far durable."""

    def __init__(self, path: Path, *, synced: bool = True) -> None:
        self.path = path
        self._folder = str(path) + os.sep
        self._synced = synced
        self._fresh = False
        try:
            if not stat.S_ISDIR(path.lstat().st_mode):
                raise WriteError("is not a folder: move it away", source=str(path))
        except FileNotFoundError:
            raise WriteError("is missing", source=str(path)) from None

    def write(self, item_id: str, data: bytes) -> None:
        """Write an item's output (see `output_bytes`). From any thread, one at a time for an item."""
        name = output_name(item_id)
        target = self._folder + name
        temporary = f"{self._folder}.{name}{TEMPORARY}"
        try:
            _refuse_odd(target)
            descriptor = _os.create(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _os.O_NOFOLLOW)
            try:
                write_all(descriptor, data)
                if self._synced:
                    _os.fsync(descriptor)
            finally:
                os.close(descriptor)
            _os.replace(temporary, target)
        except OSError as error:
            with contextlib.suppress(OSError):
                _os.unlink(temporary)
            raise WriteError(f"cannot be written: {why(error)}", source=target) from None
        self._fresh = True

    def sync(self) -> None:
        """Make the names durable. Raises OSError."""
        if self._fresh:
            self._fresh = False
            try:
                sync_folder(self.path)
            except OSError:
                self._fresh = True
                raise

    def clear_temporary(self) -> int:
        """Remove what a killed writer left half written; returns how many files that were. Raises `WriteError` when an
        entry is no plain file: nothing may be read or written through it."""
        removed = 0
        try:
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if not entry.is_file(follow_symlinks=False):
                        raise WriteError(
                            "is a link, folder or device where an item's output belongs: remove it", source=entry.path
                        )
                    if entry.name.startswith(".") and entry.name.endswith(TEMPORARY):
                        _os.unlink(entry.path)
                        removed += 1
        except OSError as error:
            raise WriteError(f"cannot be listed: {why(error)}", source=str(self.path)) from None
        return removed


def _refuse_odd(target: str) -> None:
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise WriteError("is a link, folder or device where an item's output belongs: remove it", source=target)


def output_bytes(text: str) -> bytes:
    """A text as the bytes of its file."""
    return text.encode("utf-8", "surrogatepass")


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a plain file. Raises `SourceError` for anything else (a link, a folder, a device, a pipe)."""
    try:
        descriptor = os.open(path, READ_FLAGS)
    except FileNotFoundError:
        raise SourceError("is missing", source=str(path)) from None
    except OSError as error:
        raise SourceError(f"cannot be read (links are not followed): {why(error)}", source=str(path)) from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise SourceError("is not a plain file and is not read", source=str(path))
        data = os.read(descriptor, about.st_size + 1)
        if len(data) == about.st_size:
            return data
        pieces = [data]
        while piece := os.read(descriptor, PIECE):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
    finally:
        os.close(descriptor)
