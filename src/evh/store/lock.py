"""One writer per file.

Promise: while a `FileLock` is held, another one on the same file is refused at once, in this process or any other
that asks; it ends with its process, however that dies, and is never left behind. A forked child does not share it: its
copy of the descriptor is closed right after the fork, so that a surviving child cannot keep a dead parent's file.
Policy: the lock is the operating system's advisory one on the data file itself (`flock`; on Windows one byte far
beyond the end). Only those who ask are kept out. Who holds it is written beside it in `.<name>.writer`, for messages
alone: that file decides nothing, and one that a killed process left is overwritten by the next writer.
When it breaks: a platform or file system without such locks is refused with `WriteError`; nothing runs unlocked.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import sys
import threading
from functools import cache
from pathlib import Path

from evh.errors import LockedError, WriteError
from evh.store import _os
from evh.store.atomic import why

__all__ = ["FileLock"]

FAR_BYTE = 1 << 62
NOTE_LIMIT = 4096
TAKEN = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})


class FileLock:
    """The right to write the file behind `descriptor`, which the lock owns from then on.

    `path` names the file in messages and places the note about its holder, if one is to be left (`note`).
    `.descriptor` is -1 once the lock is released, and in a forked child. Raises `LockedError` if someone holds it,
    `WriteError` where there are no locks; the descriptor is then still the caller's.
    """

    def __init__(self, descriptor: int, path: Path, *, note: bool = True) -> None:
        self.descriptor = descriptor
        self._note = path.with_name(f".{path.name}.writer")
        self._noted = note
        about = os.fstat(descriptor)
        self._key = (about.st_dev, about.st_ino)
        held = _held()
        with held.guard:
            if self._key in held.locks:
                raise LockedError(
                    f"is being written by this process (pid {os.getpid()}) already: close that writer first",
                    source=str(path),
                )
            try:
                _take(descriptor)
            except OSError as error:
                raise self._refusal(error, path) from None
            held.locks[self._key] = self
        if note:
            self._write_note()

    def release(self) -> None:
        """Give the file back and close the descriptor. Again, or in a forked child: nothing happens."""
        held = _held()
        with held.guard:
            if self.descriptor < 0:
                return
            descriptor, self.descriptor = self.descriptor, -1
            held.locks.pop(self._key, None)
            if self._noted:
                with contextlib.suppress(OSError):  # the note is only for messages
                    _os.unlink(self._note)
            os.close(descriptor)  # the lock goes with it

    def _refusal(self, error: OSError, path: Path) -> WriteError:
        if error.errno in TAKEN:
            return LockedError(
                f"is being written by {self._holder()}: wait for it, stop it, or write another file", source=str(path)
            )
        return WriteError(
            f"cannot be locked ({why(error)}): its file system has no locks, and unlocked writing is refused; "
            "write to a local disk",
            source=str(path),
        )

    def _write_note(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _os.O_NOFOLLOW
        with contextlib.suppress(OSError):  # without the note a refused writer is told less, nothing else
            descriptor = _os.create(self._note, flags, 0o644)
            try:
                _os.write(descriptor, json.dumps({"pid": os.getpid(), "host": platform.node()}).encode())
            finally:
                os.close(descriptor)

    def _holder(self) -> str:
        try:
            with self._note.open("rb") as file:
                note = json.loads(file.read(NOTE_LIMIT))
            pid, host = note["pid"], note["host"]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return "another process"
        return f"the process {int(pid)} on {str(host)[:100]!r}" if isinstance(pid, int) else "another process"


class _Held:
    """The locks of this process: what flock cannot tell apart on some network file systems, and what a fork drops."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.locks: dict[tuple[int, int], FileLock] = {}

    def drop(self) -> None:
        """In a forked child: let go of the parent's files without unlocking them for the parent."""
        self.guard = threading.Lock()
        locks, self.locks = list(self.locks.values()), {}
        for lock in locks:
            descriptor, lock.descriptor = lock.descriptor, -1
            with contextlib.suppress(OSError):
                os.close(descriptor)


@cache
def _held() -> _Held:
    held = _Held()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=held.drop)
    return held


def _take(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, FAR_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        return
    try:
        import fcntl
    except ImportError:
        raise OSError(errno.ENOSYS, "this platform has no file locks") from None
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
