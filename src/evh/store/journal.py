"""An append-only file of whole lines: what was acknowledged is still there after a crash.

Promise
    `append` writes a line and its LF with one call to the operating system and returns once it is written; from then
    on a kill of the process cannot lose it. A power cut loses nothing that the policy has synced:
    `always` syncs before `append` returns; `group` (the default) begins a sync within 20 ms of the line, or as soon
    as 1 MiB is waiting, in a thread that lives only while something is unsynced; `never` syncs on `sync()` alone.
    `durable_offset` is what is known to be on disk. `append`, `sync` and `close` may be called from any thread.
    (Not from a signal handler: it may interrupt the very call it would wait for.)
    If `append` raises, no part of its line stays in the file, unless the message says otherwise.
    At open the torn tail of an earlier crash is repaired, once, and nothing of it is deleted (`repaired`).

Policy
    One writer per file, held by `FileLock`. A file that another program changed beneath the writer is not fought
    over: a change of its length is seen by the next `append`, its removal or replacement by the next sync.

When it breaks
    A full disk or file size limit refuses that line and leaves the journal usable: append again when there is room.
    Any other fault of the disk, a failed sync above all (the system may have dropped what it could not write), ends
    the journal: it is told by the call that met it or by the next one, and every later `append` is refused.
    A forked child is refused: it opens a file of its own.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, get_args

from evh.errors import UsageError, WriteError
from evh.store import _os
from evh.store._tail import Repair, repair_tail
from evh.store.atomic import real_path, sync_folder, why, write_all
from evh.store.lock import FileLock

__all__ = ["FsyncPolicy", "Journal", "Repair"]

FsyncPolicy = Literal["group", "always", "never"]

GROUP_SECONDS = 0.02
GROUP_BYTES = 1 << 20
OPEN_ATTEMPTS = 5
NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


class Journal:
    """The one writer of a file of lines; see the module for what it promises.

    `path` is made if it does not exist (its folder must). Raises `LockedError` when another writer has it,
    `WriteError` when it is no regular file or cannot be opened, locked or repaired, `UsageError` for an unknown policy.
    `before_sync` makes durable what the lines refer to: it is called before each sync, from the thread that syncs, and
    an OSError of it counts as the sync's own. `note` says whether the holder is written beside the file for messages.
    """

    path: Path
    """The file, links followed."""
    repaired: Repair | None
    """What opening did to a torn last line; None if there was none."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        fsync: FsyncPolicy = "group",
        before_sync: Callable[[], None] | None = None,
        note: bool = True,
    ) -> None:
        if fsync not in get_args(FsyncPolicy):
            raise UsageError(f"fsync is one of {', '.join(get_args(FsyncPolicy))}, not {fsync!r}")
        self._policy = fsync
        self._before_sync = before_sync
        self._process = os.getpid()
        self._guard = threading.Lock()  # offset, thread, fault; held for a write, never for a sync
        self._syncing = threading.Lock()  # one sync at a time; taken before the guard
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None
        self._fault: str | None = None
        self._fault_told = False
        self._closed = False
        self.path = real_path(path)
        self._held = _open(self.path, note)
        try:
            self._begin()
        except OSError as error:
            self._held.release()
            raise WriteError(f"cannot be opened for appending: {why(error)}", source=str(self.path)) from None
        except BaseException:
            self._held.release()
            raise

    def _begin(self) -> None:
        descriptor = self._held.descriptor
        self.repaired = repair_tail(descriptor, self.path)
        about = os.fstat(descriptor)
        self._offset = about.st_size
        self._identity = (about.st_dev, about.st_ino)
        self._durable = 0
        if self._policy != "never":
            # An earlier writer may have died before its last sync, or right after it made the file.
            _os.fsync(descriptor)
            sync_folder(self.path.parent)
            self._durable = self._offset

    @property
    def offset(self) -> int:
        """The length of the file in bytes: where the next line will begin."""
        return self._offset

    @property
    def durable_offset(self) -> int:
        """Bytes from the start of the file that are known to survive a power cut."""
        return self._durable

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def failed(self) -> bool:
        """Whether a fault of the disk has ended the journal: the file has to be opened anew."""
        return self._fault is not None

    def append(self, line: bytes | bytearray | memoryview) -> int:
        """Write one line (without its LF, which is added) and return the byte offset at which it begins.

        Raises `WriteError` (see the module for what then holds), `UsageError` for a blank line or one with an LF in it.
        """
        try:
            data = b"".join((line, b"\n"))
        except TypeError:
            raise UsageError(f"a line is bytes, not {type(line).__name__}") from None
        if data.find(b"\n") != len(data) - 1:
            raise UsageError("a line holds no LF: it would be read as two rows")
        if data.isspace():
            raise UsageError("a blank line is no row")
        if os.getpid() != self._process:
            raise self._foreign()
        with self._guard:
            self._check_usable()
            descriptor = self._held.descriptor
            start = self._offset
            end = start + len(data)
            try:
                count = _os.write(descriptor, data)
                if count != len(data):
                    write_all(descriptor, memoryview(data)[count:])
                position = os.lseek(descriptor, 0, os.SEEK_CUR)
            except OSError as error:
                self._undo(start, end, error)
                raise self._refused(len(data), error) from None
            except BaseException:
                self._undo(start, end, None)
                raise
            if position != end:
                # Appending moves the position to the end of the file, so this is where the line really stands.
                self._break(
                    f"another program changed the file (it was {start} bytes long, a line went to byte "
                    f"{position - len(data)}): nothing was undone; keep others off it and open it anew"
                )
                raise self._told()
            self._offset = end
            at_once = self._policy == "always"
            if self._policy == "group":
                if self._thread is None:
                    at_once = not self._start_thread()
                elif end - self._durable >= GROUP_BYTES:
                    self._hurry.set()
        if at_once:
            self._sync_to(end)
            if self._durable < end:
                raise self._told()
        return start

    def sync(self) -> None:
        """Return when every line appended so far is on disk, whatever the policy. Raises `WriteError`."""
        if os.getpid() != self._process:
            raise self._foreign()
        with self._guard:
            self._check_usable()
            end = self._offset
        self._sync_to(end)
        if self._fault is not None:
            raise self._told()

    def close(self) -> None:
        """Sync (unless the policy is `never`), give the file back and raise what was not told yet. Again: nothing."""
        if os.getpid() != self._process:
            return
        with self._guard:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        self._hurry.set()
        try:
            if thread is not None:
                thread.join()
            if self._policy != "never":
                self._sync_to(self._offset)
            self._check_place()
        finally:
            with self._syncing:
                self._held.release()
        if self._fault is not None and not self._fault_told:
            raise self._told()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        held = getattr(self, "_held", None)
        if held is not None and held.descriptor >= 0:
            warnings.warn(f"journal {self.path} was not closed", ResourceWarning, source=self, stacklevel=2)
            held.release()

    def _check_usable(self) -> None:
        if self._fault is not None:
            raise self._told()
        if self._closed:
            raise WriteError("the journal is closed", source=str(self.path))

    def _undo(self, start: int, end: int, error: OSError | None) -> None:
        """Cut back what was written of a line. Whatever cannot be undone, or is no lack of room, ends the journal."""
        descriptor = self._held.descriptor
        try:
            size = os.fstat(descriptor).st_size
            if not start <= size <= end:
                self._break("another program changed the file: a line could not be undone; open it anew")
                return
            if size != start:
                _os.truncate(descriptor, start)
        except OSError as second:
            self._break(
                f"the disk failed ({why(error or second)}) and part of a line could not be cut off "
                f"({why(second)}): open the file anew, which repairs its end"
            )
            return
        if error is not None and error.errno not in NO_ROOM:
            self._break(f"the disk failed ({why(error)}): the line was cut off again; open the file anew")

    def _refused(self, length: int, error: OSError) -> WriteError:
        if self._fault is not None:
            return self._told()
        return WriteError(
            f"a line of {length} bytes was not written ({why(error)}) and nothing of it was kept; {self._standing()}; "
            "make room and append it again",
            source=str(self.path),
        )

    def _break(self, what: str) -> None:
        """End the journal; the first fault is the one that is told."""
        if self._fault is None:
            self._fault = f"{what}; {self._standing()}"

    def _told(self) -> WriteError:
        self._fault_told = True
        return WriteError(self._fault or "", source=str(self.path))

    def _standing(self) -> str:
        waiting = self._offset - self._durable
        return f"{self._durable} bytes are durable" + (
            f", {waiting} more are written but not synced" if waiting else ""
        )

    def _foreign(self) -> WriteError:
        return WriteError(
            f"the journal belongs to process {self._process}: a forked process opens a file of its own",
            source=str(self.path),
        )

    def _sync_to(self, end: int) -> None:
        """Make the first `end` bytes durable, or note the fault. Callers that wait find their lines synced along."""
        with self._syncing:
            with self._guard:
                if self._durable >= end or self._fault is not None:
                    return
                target = self._offset
            try:
                if self._before_sync is not None:
                    self._before_sync()
                _os.fsync(self._held.descriptor)
            except OSError as error:
                with self._guard:
                    self._break(f"a sync failed ({why(error)}): what was not durable may be lost; open the file anew")
                return
            self._durable = target
            self._check_place()

    def _check_place(self) -> None:
        try:
            about = self.path.stat()
            same = (about.st_dev, about.st_ino) == self._identity
        except OSError:
            same = False
        if not same:
            with self._guard:
                self._break("the file was removed or replaced while it was written: open it anew")

    def _start_thread(self) -> bool:
        """Begin a group sync, the guard held. False where no thread can start: at the interpreter's end, at a limit."""
        if not threading.main_thread().is_alive():
            return False  # the interpreter waits for no new thread any more
        self._hurry.clear()
        self._thread = threading.Thread(target=self._sync_in_groups, name=f"sync {self.path.name}")
        try:
            self._thread.start()
        except RuntimeError:
            self._thread = None
        return self._thread is not None

    def _sync_in_groups(self) -> None:
        due = time.monotonic() + GROUP_SECONDS
        while True:
            self._hurry.wait(max(0.0, due - time.monotonic()))
            self._hurry.clear()
            due = time.monotonic() + GROUP_SECONDS  # for the lines that come while this sync runs
            self._sync_to(self._offset)
            with self._guard:
                if self._durable >= self._offset or self._fault is not None:
                    self._thread = None
                    return


def _open(path: Path, note: bool) -> FileLock:
    """The file, locked; sure to be the one that the path names once the lock is held."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    for _ in range(OPEN_ATTEMPTS):
        try:
            if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                raise WriteError("is not a regular file: rows are appended to plain files only", source=str(path))
            descriptor = _os.create(path, flags)
        except FileNotFoundError:
            raise WriteError("its folder does not exist: make it first", source=str(path)) from None
        except OSError as error:
            raise WriteError(f"cannot be opened for appending: {why(error)}", source=str(path)) from None
        try:
            held = FileLock(descriptor, path, note=note)
        except BaseException:
            os.close(descriptor)
            raise
        try:
            named, ours = path.stat(), os.fstat(descriptor)
            if (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino):
                return held
        except OSError:
            pass  # gone already: as good as replaced
        held.release()
    raise WriteError("is being replaced again and again by another program", source=str(path))
