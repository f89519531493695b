"""The `sync/` of a run directory: what a platform has of the run, and what is on its way.

    lock            held by the one process that uploads         remote.json     what the platform calls the run
    intent.json     the batch that is about to be sent, and      cursor.json     how far each file was dealt with
    intent.body     its exact bytes                              receipts.jsonl  a line a batch that the platform has
    state.json      what the uploader does now                   refused.jsonl   a line a record that it does not take

Promise: one uploader at a time; another is refused with `LockedError`. What is written here is on disk when the call
returns, `state.json` apart. Readers take no lock. A file that cannot be read is an error that names it, never "nothing
was sent yet".
When it breaks: `WriteError` when the disk refuses, `SourceError`, `DecodeError` or `SchemaError` for a file that is not
what it should be.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from evh.errors import EvhError, LockedError, SourceError, WriteError
from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.protocol.sources import iter_lines
from evh.store import _os, layout
from evh.store.atomic import clear_temporary, sync_folder, why, write_all, write_file
from evh.store.journal import Journal
from evh.store.lock import FileLock
from evh.store.run_dir import read_document

__all__ = ["SyncFolder", "read_cursor", "read_receipts", "read_refusals", "read_remote", "read_state", "sync_path"]

LOCK, REMOTE, INTENT, BODY, CURSOR = "lock", "remote.json", "intent.json", "intent.body", "cursor.json"
RECEIPTS, REFUSED, STATE, LOG = "receipts.jsonl", "refused.jsonl", "state.json", "uploader.log"

T = TypeVar("T")


def sync_path(directory: Path, name: str = "") -> Path:
    """A file of the `sync/` of a run, or the folder itself."""
    return directory / layout.SYNC / name


def read_remote(directory: Path) -> models.SyncRemote | None:
    """What a platform calls the run; None before anybody asked one."""
    return _read(sync_path(directory, REMOTE), models.SyncRemote)


def read_cursor(directory: Path) -> models.SyncCursor | None:
    """How far the run was uploaded; None before its first batch."""
    return _read(sync_path(directory, CURSOR), models.SyncCursor)


def read_state(directory: Path) -> models.SyncState | None:
    """What the uploader last said that it does; None when it never did."""
    return _read(sync_path(directory, STATE), models.SyncState)


def read_receipts(directory: Path) -> Iterator[models.SyncReceipt]:
    """The batches that the platform has, oldest first."""
    return _lines(sync_path(directory, RECEIPTS), models.SyncReceipt)


def read_refusals(directory: Path) -> Iterator[models.SyncRefusal]:
    """The records that the platform refused, oldest first; some may have been taken since (`evh.live.refusals`)."""
    return _lines(sync_path(directory, REFUSED), models.SyncRefusal)


class SyncFolder:
    """The right to upload a run, from the constructor to `release`. Raises `LockedError` when somebody else has it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = sync_path(directory)
        self._journals: dict[str, Journal] = {}
        self._lock = _locked(self.path)
        try:
            with contextlib.suppress(OSError):  # what a killed uploader was writing
                clear_temporary(self.path)
        except BaseException:
            self._lock.release()
            raise

    def write_remote(self, remote: models.SyncRemote) -> None:
        """Say what the platform calls the run."""
        self._document(REMOTE, remote)

    def write_cursor(self, cursor: models.SyncCursor) -> None:
        """Say how far the run was uploaded."""
        self._document(CURSOR, cursor)

    def write_intent(self, intent: models.SyncIntent, body: bytes | None) -> None:
        """Say what is about to be sent; `body` None: the bytes are there already."""
        if body is not None:
            write_file(self.path / BODY, body)
        self._document(INTENT, intent)

    def has_intent(self) -> bool:
        """Whether something was about to be sent."""
        return os.path.lexists(self.path / INTENT)

    def read_intent(self) -> tuple[models.SyncIntent, bytes] | None:
        """What was about to be sent, with its bytes; None when nothing was."""
        intent = _read(self.path / INTENT, models.SyncIntent)
        if intent is None:
            return None
        try:
            return intent, (self.path / BODY).read_bytes()
        except FileNotFoundError:
            return intent, b""
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=str(self.path / BODY)) from None

    def drop_intent(self) -> None:
        """Say that nothing is on its way. The bytes go with the next intent's."""
        with contextlib.suppress(FileNotFoundError):
            self._change(lambda: _os.unlink(self.path / INTENT), INTENT)

    def add_receipt(self, receipt: models.SyncReceipt) -> None:
        """Note a batch that the platform has."""
        self._append(RECEIPTS, receipt)

    def add_refusal(self, refusal: models.SyncRefusal) -> None:
        """Note a record that the platform does not take."""
        self._append(REFUSED, refusal)

    def write_state(self, state: models.SyncState) -> None:
        """Say what the uploader does now. A power cut may lose it, and a full disk does: nothing is decided by it."""
        data = msgspec.json.encode(msgspec.to_builtins(state)) + b"\n"
        temporary = self.path / f".{STATE}.{os.getpid():016x}.tmp"
        with contextlib.suppress(OSError):
            descriptor = _os.create(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _os.O_NOFOLLOW)
            try:
                write_all(descriptor, data)
            finally:
                os.close(descriptor)
            _os.replace(temporary, self.path / STATE)

    def release(self) -> None:
        """Give the run's upload back; releasing twice does nothing."""
        try:
            if self._lock.descriptor >= 0 and not self.has_intent():
                with contextlib.suppress(OSError):  # bytes of a batch that is done: only their room matters
                    _os.unlink(self.path / BODY)
            for journal in self._journals.values():
                with contextlib.suppress(WriteError):  # each line was synced when it was written: nothing is lost here
                    journal.close()
        finally:
            self._journals.clear()
            self._lock.release()

    def __enter__(self) -> SyncFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _document(self, name: str, record: Any) -> None:
        write_file(self.path / name, encode(record) + b"\n")

    def _append(self, name: str, record: Any) -> None:
        journal = self._journals.get(name)
        if journal is None:
            journal = self._journals[name] = Journal(self.path / name, fsync="always", note=False)
        journal.append(encode(record))

    def _change(self, change: Any, name: str) -> None:
        try:
            change()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise WriteError(f"cannot be changed: {why(error)}", source=str(self.path / name)) from None


def _locked(path: Path) -> FileLock:
    lock = path / LOCK
    try:
        with contextlib.suppress(FileExistsError):
            _os.mkdir(path)
            sync_folder(path.parent)
        if path.is_symlink():
            raise WriteError("is a link in the place of the folder: remove it", source=str(path))
        descriptor = _os.create(lock, os.O_RDWR | os.O_CREAT | _os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise WriteError(f"cannot be made: {why(error)}", source=str(lock)) from None
    try:
        return FileLock(descriptor, lock, note=True)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, LockedError):
            who = error.message.partition(":")[0].replace("written", "uploaded")
            raise LockedError(f"{who}: one process uploads a run at a time", source=str(path.parent)) from None
        raise


def _read(path: Path, kind: type[T]) -> T | None:
    if not os.path.lexists(path):
        return None
    try:
        return read_document(path, kind)
    except EvhError:
        if not os.path.lexists(path):
            return None  # it went between two looks
        raise


def _lines(path: Path, kind: type[T]) -> Iterator[T]:
    if not path.exists():
        return
    for line in iter_lines(path):
        try:
            yield decode(line.data, kind)
        except EvhError as error:
            if line.torn:
                return  # its writer is in the middle of it, or a power cut was: it does not count
            raise error.at(line.source, line.line) from None
