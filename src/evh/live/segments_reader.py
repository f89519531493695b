"""A file of a live run as the uploader reads it: whole lines that are on disk, from the cursor on.

Promise: what is read was synced first, so nothing is sent that a power cut could take away. Only whole lines are given:
a last line that its writer is in the middle of waits. A file whose bytes before the cursor are not those that were
dealt with is refused by name: it was rewritten, and nothing more of it is sent.
Policy: of what lies before the cursor the last batch is compared, once for each file that the name stands for, and the
length at every look.
When it breaks: `SourceError` when the file cannot be read, is gone or was rewritten; `WriteError` when a sync fails.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from evh.errors import SourceError, WriteError
from evh.protocol import models
from evh.store import _os
from evh.store.atomic import sync_folder, why

__all__ = ["SegmentReader"]

PIECE = 1 << 20


class SegmentReader:
    """One file of a run, `name` its path below the run's directory."""

    def __init__(self, directory: Path, name: str) -> None:
        self.name = name
        self.path = directory / name
        self._directory = directory
        self._known: tuple[int, int] | None = None
        self._synced = 0

    def size(self) -> int:
        """The file's length now; 0 when there is none yet."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._unreadable(error) from None

    def lines(self, cursor: models.SegmentCursor | None, limit: int) -> tuple[bytes, bool]:
        """Whole lines behind the cursor, durable: about `limit` bytes, but one line at least; and whether more of them
        follow. Nothing when there is none."""
        start = 0 if cursor is None else cursor.offset
        try:
            descriptor = os.open(self.path, os.O_RDWR | _os.O_NOFOLLOW | _os.O_BINARY)
        except FileNotFoundError:
            if start:
                raise self._rewritten("it is gone") from None
            return b"", False
        except OSError as error:
            raise self._unreadable(error) from None
        try:
            self._verify(descriptor, cursor)
            end = os.fstat(descriptor).st_size
            if end <= start:
                return b"", False
            data = _read(descriptor, start, min(end, start + limit))
            while not (cut := data.rfind(b"\n") + 1) and start + len(data) < end:
                data += _read(descriptor, start + len(data), min(end, start + len(data) + max(limit, len(data))))
            if not cut:
                return b"", False
            self._sync(descriptor, start + cut)
            return data[:cut], start + len(data) < end
        except OSError as error:
            raise self._unreadable(error) from None
        finally:
            os.close(descriptor)

    def piece(self, start: int, end: int) -> bytes:
        """Bytes of the file that were looked at before. Raises `SourceError`."""
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                data = file.read(end - start)
        except OSError as error:
            raise self._unreadable(error) from None
        if len(data) < end - start:
            raise self._rewritten(f"it is shorter than {end} bytes")
        return data

    def torn(self, cursor: models.SegmentCursor | None) -> int:
        """The bytes of a last line that has no end, with nothing but it behind the cursor; 0 when there is none."""
        start = 0 if cursor is None else cursor.offset
        size = self.size()
        if size <= start:
            return 0
        tail = self.piece(start, size)
        return 0 if b"\n" in tail else len(tail)

    def _verify(self, descriptor: int, cursor: models.SegmentCursor | None) -> None:
        about = os.fstat(descriptor)
        identity = (about.st_dev, about.st_ino)
        if cursor is not None and about.st_size < cursor.offset:
            raise self._rewritten(f"it has {about.st_size} bytes, {cursor.offset} were dealt with")
        if identity == self._known:
            return
        if cursor is not None:
            data = _read(descriptor, cursor.last_start, cursor.offset)
            if hashlib.sha256(data).hexdigest() != cursor.last_digest:
                raise self._rewritten(f"bytes {cursor.last_start} to {cursor.offset} are others than were dealt with")
        self._known, self._synced = identity, 0

    def _sync(self, descriptor: int, end: int) -> None:
        """Make the first `end` bytes durable, and the name of the file with its first ones."""
        if end <= self._synced:
            return
        try:
            if not self._synced:
                sync_folder(self.path.parent)
                if self.path.parent != self._directory:
                    sync_folder(self._directory)
            _os.fsync(descriptor)
        except OSError as error:
            raise WriteError(
                f"cannot be synced, so nothing of it is sent: {why(error)}", source=str(self.path)
            ) from None
        self._synced = end

    def _unreadable(self, error: OSError) -> SourceError:
        return SourceError(f"cannot be read: {why(error)}", source=str(self.path))

    def _rewritten(self, what: str) -> SourceError:
        return SourceError(
            f"was rewritten since it was uploaded ({what}): nothing more is sent of this run; put the file back as it "
            "was, or upload a copy of the run under a new id",
            source=str(self.path),
        )


def _read(descriptor: int, start: int, end: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    pieces: list[bytes] = []
    while start < end:
        piece = os.read(descriptor, min(PIECE, end - start))
        if not piece:
            break
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)
