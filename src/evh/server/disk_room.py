"""Room on the disk, with a reserve that is never touched: the database beside the bodies must still be able to write.

Promise: `take` raises 503 `storage_unavailable` before a write that would touch the reserve; nothing is stored then.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from evh.server.faults import retry_later
from evh.store.atomic import why

__all__ = ["RESERVE", "DiskRoom", "free_bytes"]

RESERVE = 1 << 30


def free_bytes(folder: Path) -> int:
    """What the file system of a folder has left for whoever runs this. Raises OSError."""
    return shutil.disk_usage(folder).free


class DiskRoom:
    """The room of a folder's disk beyond `reserve` bytes; `free` is how it is asked."""

    def __init__(self, folder: Path, reserve: int = RESERVE, free: Callable[[Path], int] = free_bytes) -> None:
        self.folder = folder
        self.reserve = reserve
        self._free = free

    def left(self) -> int:
        """Bytes that may still be written; never negative."""
        try:
            return max(0, self._free(self.folder) - self.reserve)
        except OSError as error:
            raise retry_later("storage_unavailable", f"the disk cannot be asked for its room: {why(error)}") from None

    def take(self, size: int) -> None:
        """Refuse what does not fit."""
        if size > self.left():
            raise retry_later(
                "storage_unavailable",
                f"the server's disk is nearly full: {size} bytes would touch the {self.reserve} that stay free; "
                "nothing was stored",
                after=60.0,
            )
