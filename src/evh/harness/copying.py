"""Plain files, copied.

Promise: a copy is a file of its own: neither does it change with the original, nor the original with it, so it is never
a link. Links are not followed, and no file that is there is written over.
Policy: a file takes the blocks of the other where the file system offers that (reflinks), else its bytes.
When it breaks: `SourceError` for what cannot be read, `WriteError` for what cannot be written.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from evh.errors import SourceError, WriteError
from evh.store import _os
from evh.store.atomic import why, write_all
from evh.store.outputs import READ_FLAGS

__all__ = ["copy_file", "write_at"]

PIECE = 1 << 20
FICLONE = 0x40049409
"""The request by which a file takes the blocks of another, on file systems that can (Linux)."""


def write_at(path: Path, offset: int, data: bytes) -> None:
    """Write a piece of a file that is there. Raises `WriteError`."""
    try:
        descriptor = _os.create(path, os.O_WRONLY)
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            write_all(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None


def copy_file(source: Path, target: Path, *, synced: bool = False, only_cloned: bool = False) -> bool:
    """Copy a plain file to a new one, by reference where the file system can. Raises `SourceError` or `WriteError`.

    With `only_cloned` no byte is copied: False then says that the new file is empty.
    """
    try:
        reading = os.open(source, READ_FLAGS)
    except OSError as error:
        raise SourceError(f"cannot be read (links are not followed): {why(error)}", source=str(source)) from None
    try:
        writing = _os.create(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            cloned = _cloned(reading, writing)
            if not cloned and not only_cloned:
                while piece := os.read(reading, PIECE):
                    write_all(writing, piece)
            if synced:
                _os.fsync(writing)
            return cloned or not only_cloned
        finally:
            os.close(writing)
    except OSError as error:
        raise WriteError(f"cannot be copied: {why(error)}", source=str(target)) from None
    finally:
        os.close(reading)


def _cloned(reading: int, writing: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return False
    with contextlib.suppress(OSError):
        fcntl.ioctl(writing, FICLONE, reading)
        return True
    return False
