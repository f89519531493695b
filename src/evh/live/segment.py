"""What one process writes of a live run: a file of episodes and a file of metrics, each its own.

Promise
    A line that `episode` or `step` returned for is on disk as far as the fsync policy goes, once. The run's owner
    writes `traces.jsonl` and `steps.jsonl`, any other process `traces/<writer>.jsonl` and `steps/<writer>.jsonl`, whose
    name nobody else has; so no process waits for another or can damage its rows. Files are made with their first line.
Policy
    A writer is named by its host, process and four random bytes. After a fault of the disk that ended a file's journal
    the file is opened anew once, which repairs and syncs it; a line that the fault left in it is not written again.
When it breaks
    `WriteError` for that line; the next one is tried all the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading
from pathlib import Path

from evh.errors import EvhError, WriteError
from evh.store import _os, layout
from evh.store.atomic import sync_folder, why
from evh.store.host import host_name
from evh.store.journal import FsyncPolicy, Journal
from evh.store.segments import count_lines

__all__ = ["Segment", "new_writer"]

NOT_IN_NAMES = re.compile(r"[^a-z0-9]")


def new_writer() -> str:
    """A name for this process that no other writer has."""
    host = NOT_IN_NAMES.sub("", host_name().lower())[:40]
    named = f"on{host}" if host in ("", "index") else host  # `index-…` would name an index, no rows
    return f"{named}-{os.getpid()}-{secrets.token_hex(4)}"


class Segment:
    """The files of one process; `writer` is None for the owner's. `repairs` says what opening them had to mend."""

    def __init__(self, directory: Path, writer: str | None, fsync: FsyncPolicy) -> None:
        self.directory = directory
        self.writer = writer
        self.repairs: list[str] = []
        self.episodes = 0
        """Rows of episodes that this process wrote."""
        self._rows: dict[str, int] = {}
        self._certain = True
        self._fsync: FsyncPolicy = fsync
        self._guard = threading.Lock()
        self._journals: dict[str, Journal] = {}
        self._closed = False

    def open(self) -> None:
        """Open the owner's files that are there already, which repairs their ends. Raises `LockedError`, `WriteError`
        or `SourceError`."""
        for name in (layout.TRACES, layout.STEPS):
            if (self.directory / name).exists():
                self._journal(name)
                self._rows[name] = count_lines(self.directory / name)

    def rows(self) -> dict[str, int]:
        """The rows of its files, where that is certain without counting them: no write ever failed."""
        return dict(self._rows) if self._certain else {}

    def episode(self, line: bytes) -> None:
        """Append an episode. Raises `WriteError`."""
        self._append(self._name(layout.TRACES, layout.SEGMENTS), line)
        with self._guard:
            self.episodes += 1

    def step(self, line: bytes) -> None:
        """Append metrics. Raises `WriteError`."""
        self._append(self._name(layout.STEPS, layout.STEP_SEGMENTS), line)

    def sync(self) -> None:
        """Return once everything written is on disk. Raises `WriteError`."""
        for journal in list(self._journals.values()):
            journal.sync()

    def close(self) -> list[EvhError]:
        """Sync and give the files back; closing twice does nothing. Returns what a file had not told yet."""
        faults: list[EvhError] = []
        with self._guard:
            self._closed = True
            journals = list(self._journals.values())
        for journal in journals:
            try:
                journal.close()
            except EvhError as error:
                faults.append(error)
        return faults

    def _name(self, single: str, folder: str) -> str:
        return single if self.writer is None else f"{folder}/{self.writer}.jsonl"

    def _append(self, name: str, line: bytes) -> None:
        journal = self._journals.get(name) or self._journal(name)
        try:
            journal.append(line)
        except WriteError:
            self._certain = False
            if not journal.failed:
                raise  # a full disk: nothing of the line was kept
            renewed, durable = self._renewed(name, journal)
            if not _holds(renewed.path, durable, line):
                renewed.append(line)
        with self._guard:
            self._rows[name] = self._rows.get(name, 0) + 1

    def _journal(self, name: str) -> Journal:
        with self._guard:
            found = self._journals.get(name)
            if found is None:
                found = self._journals[name] = self._open(name)
            return found

    def _renewed(self, name: str, broken: Journal) -> tuple[Journal, int]:
        """The journal in the place of a broken one, and up to where the broken one was durable."""
        with self._guard:
            current = self._journals.get(name)
            if current is broken:
                del self._journals[name]
                with contextlib.suppress(EvhError):
                    broken.close()
                current = None
            if current is None:
                current = self._journals[name] = self._open(name)
            return current, broken.durable_offset

    def _open(self, name: str) -> Journal:
        if self._closed:
            raise WriteError("the run is closed: nothing more is written to it here", source=str(self.directory))
        path = self.directory / name
        if path.parent != self.directory:
            self._make_folder(path.parent)
        if path.is_symlink():
            raise WriteError("is a link in the place of a file of the run: remove it", source=str(path))
        journal = Journal(path, fsync=self._fsync, note=False)
        if journal.repaired is not None:
            self.repairs.append(f"{name}: {journal.repaired}")
        return journal

    def _make_folder(self, folder: Path) -> None:
        try:
            with contextlib.suppress(FileExistsError):
                _os.mkdir(folder)
            if self._fsync != "never":
                sync_folder(self.directory)
        except OSError as error:
            raise WriteError(f"cannot be made: {why(error)}", source=str(folder)) from None


def _holds(path: Path, start: int, line: bytes) -> bool:
    """Whether a line stands in a file behind a byte at which a line begins."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            return any(found[:-1] == line for found in file if len(found) == len(line) + 1)
    except OSError as error:
        raise WriteError(f"cannot be read again: {why(error)}", source=str(path)) from None
