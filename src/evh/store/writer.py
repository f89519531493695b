"""`EpisodeWriter`: episodes appended to a file, durable as far as its policy says.

Promise: an episode that `write` returned for is whole in the file, whatever happens to this process; after a power cut,
as far as the fsync policy goes. A torn tail left by a crash is repaired at open and its bytes set aside. One writer a
file. A record that strict readers would refuse is not written: `NotWritable` says why and the file is as before.
Policy: `always` syncs each row before `write` returns, `group` (the default) within 20 ms or 1 MiB, `never` leaves it
to the system. The writer never masks anything: run directories and uploads do.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING

from evh.errors import UsageError, cut
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store.journal import Journal

if TYPE_CHECKING:
    from evh.store.journal import FsyncPolicy, Repair

__all__ = ["EpisodeWriter"]

PACKED = (".gz", ".zst")
WIRE = (".msgpack", ".msgpacks")


class EpisodeWriter:
    """Appends Episodes (or bare Traces) to a JSONL file, one a line; use it in a `with` block.

    Raises `LockedError` when another writer holds the file, `WriteError` when the disk refuses.
    """

    def __init__(self, path: str | os.PathLike[str], *, fsync: FsyncPolicy = "group", strict: bool = False) -> None:
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"expected a path, not {cut(path)}")
        if os.fspath(path).endswith(PACKED):
            raise UsageError(f"{os.fspath(path)}: packed files are not appended to; write plain and pack it afterwards")
        if os.fspath(path).endswith(WIRE):
            raise UsageError(f"{os.fspath(path)}: rows are JSON lines; name the file .jsonl")
        self._journal = Journal(path, fsync=fsync)
        self._strict = strict

    def write(self, episode: models.Episode | models.Trace) -> int:
        """Append one record; returns the byte offset of its row."""
        if not isinstance(episode, models.Episode | models.Trace):
            raise UsageError(f"expected an Episode or a Trace, not {cut(type(episode).__name__)}")
        return self._journal.append(encode(episode, strict=self._strict))

    @property
    def repaired(self) -> Repair | None:
        """What was done to a torn tail when the file was opened; None when there was none."""
        return self._journal.repaired

    @property
    def durable_offset(self) -> int:
        """Bytes of the file that an fsync has covered."""
        return self._journal.durable_offset

    def sync(self) -> None:
        """Return once everything written is on the disk."""
        self._journal.sync()

    def close(self) -> None:
        """Sync (unless the policy is `never`), close, and let others write; closing twice does nothing."""
        self._journal.close()

    def __enter__(self) -> EpisodeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
