"""Bodies on disk: append-only files of lines, unpacked by any Zstandard tool, each line found again by its placement.

Promise
    `append` and `commit` return once the lines are fsynced, together; a placement stays true for ever. A reader gets
    exactly the bytes that were given, or a fault that names the segment, never others. Several threads may append at
    once and share a sync. Opening a folder cuts the torn tail that a crash left (its bytes are set aside in a file
    `.torn` beside it) and seals such segments; nothing that was acknowledged is ever cut: frames are checked by CRC,
    and a damaged place with whole frames after it is left as it is.
Policy
    A writer holds its own segment by `FileLock` and never continues another's, so several processes may share a folder.
    A segment is sealed (its seek table written) once it is `seal_at` bytes long. What a failed request leaves beyond
    the catalog's last commit is garbage that no placement names. Writes are refused while the disk has less than the
    reserve left, so that the database beside them still has room.
When it breaks
    503 `storage_unavailable`, nothing acknowledged. After a failed sync the segment is left alone and the next append
    begins another. 500 `stored_bytes_damaged` for bytes that do not fit their CRC.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from evh.errors import WriteError
from evh.server import _frames
from evh.server._frames import Frame
from evh.server._packing import Batch, Packed
from evh.server._recovery import recover
from evh.server._segment_reader import SegmentReader
from evh.server.disk_room import DiskRoom
from evh.server.faults import retry_later
from evh.server.records import Placement
from evh.store import _os
from evh.store.atomic import sync_folder, why, write_all
from evh.store.lock import FileLock

__all__ = ["NAME", "FolderSegments"]

NAME = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{12}\.jsonl\.zst")
SEAL_AT = 256 << 20


class _Open:
    """The segment that this process writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        descriptor = _os.create(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        try:
            self.lock = FileLock(descriptor, path, note=False)
        except BaseException:
            os.close(descriptor)
            raise
        self.opened_at = time.time()
        self.frames: list[Frame] = []
        self.size = 0
        self.length = 0
        self.durable = 0
        self.broken = False


class FolderSegments:
    """`Segments` over a folder, which is made (its parent must exist). See the module for what it promises."""

    def __init__(self, folder: Path, *, seal_at: int = SEAL_AT, room: DiskRoom | None = None) -> None:
        self.folder = folder
        self.room = DiskRoom(folder) if room is None else room
        self._seal_at = seal_at
        self._guard = threading.Lock()  # the open segment's end; held for a write, never for a sync
        self._syncing = threading.Lock()  # one sync at a time; taken before the guard
        self._open: _Open | None = None
        try:
            if not folder.is_dir():
                _os.mkdir(folder)
                sync_folder(folder.parent)
            for path in sorted(folder.iterdir()):
                if NAME.fullmatch(path.name):
                    recover(path)
        except OSError as error:
            raise WriteError(f"the segments cannot be opened: {why(error)}", source=str(folder)) from None
        self._reader = SegmentReader(folder, self._frames_of_open)

    def append(self, lines: Sequence[bytes]) -> list[Placement]:
        """Store the lines (without LF) durably, together, and say where each is."""
        batch = Batch()
        for line in lines:
            batch.add(line)
        return self.commit(batch)

    def commit(self, batch: Batch) -> list[Placement]:
        """Store what a batch has gathered; the same as `append`."""
        frames = batch.finish()
        if not frames:
            return []
        self.room.take(sum(len(frame.data) + _frames.HEADER for frame in frames))
        try:
            self._retire_stale()
            with self._guard:
                segment = self._open if self._open is not None else self._begin()
                start = segment.length
                end = self._write(segment, frames)
            self._sync_to(segment, end)
        except OSError as error:
            raise retry_later("storage_unavailable", f"the server's disk refused a write: {why(error)}") from None
        name = segment.path.name
        return [Placement(name, start + offset, length) for offset, length in batch.spans]

    def read(self, placement: Placement) -> bytes:
        """The line's bytes."""
        return self._reader.read(placement)

    def open_range(self, placement: Placement, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The line's bytes from `start` to before `stop`, in pieces of at most 1 MiB."""
        return self._reader.open_range(placement, start, stop)

    def scan(self, segment: str) -> Iterator[tuple[Placement, bytes]]:
        """Every whole line of a segment, acknowledged or not."""
        return self._reader.scan(segment)

    def names(self) -> list[str]:
        """The segments, oldest first."""
        return sorted(path.name for path in self.folder.iterdir() if NAME.fullmatch(path.name))

    def is_sealed(self, segment: str) -> bool:
        """Whether a segment is closed for good."""
        descriptor = self._reader.descriptor(segment)
        try:
            return _frames.is_sealed(descriptor)
        finally:
            os.close(descriptor)

    def opened_at(self) -> float | None:
        """When the segment that is being written was begun, in epoch seconds; None when there is none."""
        segment = self._open
        return None if segment is None else segment.opened_at

    def seal(self) -> None:
        """Close the segment that is being written; the next append begins another."""
        with self._syncing, self._guard:
            segment, self._open = self._open, None
            if segment is not None:
                self._close(segment)

    def close(self) -> None:
        """Seal and give up the folder. Again: nothing."""
        self.seal()

    def _retire_stale(self) -> None:
        """Leave the open segment when it is full or its disk failed. A sync of it may be on its way: that comes
        first."""
        segment = self._open
        if segment is not None and (segment.broken or segment.size >= self._seal_at):
            with self._syncing, self._guard:
                if self._open is segment:
                    self._open = None
                    self._close(segment)

    def _begin(self) -> _Open:
        """A new segment; the guard is held."""
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(6)}.jsonl.zst"
        try:
            segment = _Open(self.folder / name)
        except WriteError as error:  # no locks on this file system, or another process looks whether it is whole
            raise OSError(str(error)) from None
        try:
            sync_folder(self.folder)
        except BaseException:
            segment.lock.release()
            raise
        self._open = segment
        return segment

    def _write(self, segment: _Open, frames: list[Packed]) -> int:
        """Append frames; the file's length after them. What cannot be written whole is cut off again."""
        size, length = segment.size, segment.length
        made = []
        try:
            if segment.broken:
                raise OSError("an earlier write to the same segment could not be undone")
            for frame in frames:
                made.append(Frame(length, frame.length, size + _frames.HEADER, len(frame.data), None))
                write_all(segment.lock.descriptor, _frames.wrapped(frame.data, length, frame.length))
                size += _frames.HEADER + len(frame.data)
                length += frame.length
        except BaseException:
            try:
                _os.truncate(segment.lock.descriptor, segment.size)
            except OSError:
                segment.broken = True
            raise
        segment.frames += made
        segment.size, segment.length = size, length
        return size

    def _sync_to(self, segment: _Open, end: int) -> None:
        """Make a segment durable up to `end`. Callers that wait find that the sync before took theirs along."""
        with self._syncing:
            with self._guard:
                if segment.durable >= end:
                    return
                if segment.broken or segment.lock.descriptor < 0:
                    raise OSError("an earlier sync of the same segment failed")
                target = segment.size
            try:
                _os.fsync(segment.lock.descriptor)
            except BaseException:
                segment.broken = True  # the system may have dropped what it could not write
                raise
            segment.durable = target

    def _close(self, segment: _Open) -> None:
        """Write the seek table and give the file back. A disk that refuses leaves it to the next open."""
        try:
            with contextlib.suppress(OSError):
                if not segment.broken:
                    write_all(segment.lock.descriptor, _frames.table_of(segment.frames))
                    _os.fsync(segment.lock.descriptor)
                    segment.durable = segment.size
        finally:
            segment.lock.release()

    def _frames_of_open(self, name: str) -> list[Frame] | None:
        with self._guard:
            segment = self._open
            return list(segment.frames) if segment is not None and segment.path.name == name else None
