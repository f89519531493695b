"""Named immutable bytes in a folder: tables of samples, and whatever else is no line.

Promise
    `put_if_absent` stores whole or not at all, durably, and never replaces: of two who store under one key one gets
    True. A key names a file below the folder and nothing else: words of letters, digits, `.`, `_`, `-` between `/`,
    none of them all dots, at most 512 characters in all (`invalid_key` otherwise).
Policy
    The bytes go to a hidden file of unique name, which is synced and linked under the key; what a killed process left
    of these is never listed. A file system without hard links cannot hold blobs.
When it breaks
    503 `storage_unavailable`; nothing is stored under the key then.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from evh.errors import WriteError, cut
from evh.server.disk_room import DiskRoom
from evh.server.faults import not_found, refused, retry_later
from evh.server.records import BlobInfo
from evh.store import _os
from evh.store.atomic import sync_folder, why, write_all

__all__ = ["FolderBlobs"]

PIECE = 1 << 20
LONGEST = 512
WORD = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")


class FolderBlobs:
    """`BlobStore` over a folder, which is made (its parent must exist)."""

    def __init__(self, folder: Path, *, room: DiskRoom | None = None) -> None:
        self.folder = folder
        self.room = DiskRoom(folder) if room is None else room
        try:
            if not folder.is_dir():
                _os.mkdir(folder)
                sync_folder(folder.parent)
        except OSError as error:
            raise WriteError(f"the blobs cannot be opened: {why(error)}", source=str(folder)) from None

    def put_if_absent(self, key: str, source: bytes | IO[bytes]) -> bool:
        """Store durably; False, and nothing changed, when the key is taken."""
        target = self._path(key)
        if target.exists():
            return False
        try:
            self._make_folders(target.parent)
            temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
            descriptor = _os.create(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                try:
                    self._fill(descriptor, source)
                    _os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                taken = True
                try:
                    _os.link(temporary, target)
                except FileExistsError:
                    taken = False
            finally:
                with contextlib.suppress(OSError):
                    _os.unlink(temporary)
            sync_folder(target.parent)
        except OSError as error:
            raise retry_later("storage_unavailable", f"the server's disk refused a write: {why(error)}") from None
        return taken

    def open_range(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` to before `stop`, in pieces. 404 `blob_not_found` from the call itself."""
        found = self.stat(key)
        if found is None:
            raise not_found("blob", key)
        return _pieces(self._path(key), start, found.size if stop is None else min(stop, found.size))

    def stat(self, key: str) -> BlobInfo | None:
        """What is stored under the key."""
        try:
            about = self._path(key).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise retry_later("storage_unavailable", f"a blob cannot be looked at: {why(error)}") from None
        return BlobInfo(key, about.st_size, about.st_mtime_ns // 1000) if self._path(key).is_file() else None

    def list(self, prefix: str = "") -> Iterator[BlobInfo]:
        """By key, those that begin with `prefix`."""
        keys = sorted(
            key
            for path in self.folder.rglob("*")
            if not path.name.startswith(".")
            and (key := path.relative_to(self.folder).as_posix()).startswith(prefix)
            and path.is_file()
        )
        for key in keys:
            if (found := self.stat(key)) is not None:
                yield found

    def delete(self, key: str) -> bool:
        """Whether there was one."""
        path = self._path(key)
        try:
            if not path.is_file():
                return False
            _os.unlink(path)
            sync_folder(path.parent)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise retry_later("storage_unavailable", f"a blob cannot be removed: {why(error)}") from None
        return True

    def _path(self, key: str) -> Path:
        words = key.split("/")
        if len(key) > LONGEST or not all(WORD.fullmatch(word) for word in words):
            raise refused("invalid_key", f"{cut(key)} is no key of a blob")
        return self.folder.joinpath(*words)

    def _make_folders(self, folder: Path) -> None:
        if folder == self.folder or folder.is_dir():
            return
        self._make_folders(folder.parent)
        with contextlib.suppress(FileExistsError):
            _os.mkdir(folder)
        sync_folder(folder.parent)

    def _fill(self, descriptor: int, source: bytes | IO[bytes]) -> None:
        view = memoryview(source) if isinstance(source, bytes) else None
        at = 0
        while True:
            if view is not None:
                piece: bytes | memoryview = view[at : at + PIECE]
            else:
                assert not isinstance(source, bytes)
                piece = source.read(PIECE)
            if not piece:
                return
            self.room.take(len(piece))
            write_all(descriptor, piece)
            at += len(piece)


def _pieces(path: Path, at: int, stop: int) -> Iterator[bytes]:
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(at)
            while at < stop and (piece := file.read(min(PIECE, stop - at))):
                at += len(piece)
                yield piece
    except OSError as error:
        raise retry_later("storage_unavailable", f"a blob cannot be read: {why(error)}") from None
