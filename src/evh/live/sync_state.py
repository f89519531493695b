"""What an uploader says of itself while it works: for people, for the run object, for `evh status`.

Promise: it is said before every wait, with the reason and the time of the next try. Whether the process that said it
still lives is told by the system, not by the file.
Policy: nothing is decided by it, so it is not synced.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evh.errors import SourceError
from evh.live.sync_folder import SyncFolder
from evh.live.uploaded_rows import count_on
from evh.protocol import models
from evh.store import host
from evh.store.clock import instant, now

__all__ = ["Reporter", "is_alive"]

LONGEST_ERROR = 4096
MOST_NOTES = 20
BEGINNING = 20.0
"""Seconds that an uploader may take until it says something."""


class Reporter:
    """Writes the state of the uploader that this process is."""

    def __init__(self, folder: SyncFolder) -> None:
        self._folder = folder
        pid = os.getpid()
        self._state = models.SyncState(
            state="starting",
            at=now(),
            host=host.host_name(),
            machine_id=host.machine_id(),
            boot_id=host.boot_id(),
            pid_space=host.pid_space(),
            pid=pid,
            pid_started=host.started(pid),
        )

    @property
    def state(self) -> models.SyncState:
        return self._state

    def say(self, state: str, error: str | None = None, seconds: float | None = None) -> None:
        """Say what it does now; `seconds` until the next try."""
        before = self._state
        if (state, error) == (before.state, before.error) and seconds is None and state in ("sending", "waiting"):
            return
        before.state, before.at = state, now()
        before.error = None if error is None else error[:LONGEST_ERROR]
        before.next_try_at = None if seconds is None else _in(seconds)
        self._folder.write_state(before)

    def note(self, text: str) -> None:
        """Keep a sentence about something odd; the same one once."""
        if text not in self._state.notes and len(self._state.notes) < MOST_NOTES:
            self._state.notes.append(text)
            self._folder.write_state(self._state)

    def see(self, files: dict[str, Path]) -> None:
        """Count the rows of the files, so that who asks for what is pending need not."""
        for name, path in files.items():
            seen = self._state.seen.get(name) or models.SeenRows(offset=0, rows=0)
            try:
                self._state.seen[name] = count_on(path, seen)
            except SourceError as error:
                self.note(str(error))


def is_alive(state: models.SyncState | None) -> bool:
    """Whether the uploader that said this is not known to be gone: a process of this machine is asked for; of one
    elsewhere nobody knows, so what it said counts. One that was started and never said anything is gone."""
    if state is None or state.state in ("finished", "stopped"):
        return False
    if state.state == "starting" and (instant(now()) - instant(state.at)).total_seconds() > BEGINNING:
        return False
    return not host.is_gone(state.host, state.boot_id, state.pid_space, state.pid, state.pid_started, state.machine_id)


def _in(seconds: float) -> str:
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
