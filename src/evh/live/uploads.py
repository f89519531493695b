"""The upload of a live run, as the program that runs it sees it: started, asked, waited for.

Promise: `start` opens the run on the platform, at most a few seconds long, and leaves an uploader process behind that
outlives the program; what keeps that from happening is an error, and the run stays on disk. `progress` and `wait` read
the directory alone, never raise for a fault of the network, and never send anything.
Policy: settings that were given as arguments reach the uploader through its environment; it inherits all others. Its
log is `sync/uploader.log`, begun anew when it is longer than 1 MiB.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evh.errors import EvhError, LockedError, WriteError
from evh.live.patience import Patience
from evh.live.run_ending import last_file
from evh.live.sync import Sync
from evh.live.sync_folder import LOG, read_remote, read_state, sync_path
from evh.live.sync_state import is_alive
from evh.live.uploaded_rows import accounts_of
from evh.live.uploading import Progress
from evh.protocol import models
from evh.store import _os
from evh.store.atomic import why
from evh.store.run_dir import open_run_dir

if TYPE_CHECKING:
    from evh.platform import Settings

__all__ = ["Handle", "progress", "start", "wait"]

OPEN_SECONDS, CALL_SECONDS, FIRST_PAUSE = 4.0, 10.0, 0.25
LOG_BYTES = 1 << 20
FIRST_LOOK, LAST_LOOK = 0.02, 0.25
VARIABLES = {
    "api_key": "PRIME_API_KEY",
    "team_id": "PRIME_TEAM_ID",
    "base_url": "PRIME_API_BASE_URL",
    "traces_url": "PRIME_TRACES_URL",
    "frontend_url": "PRIME_FRONTEND_URL",
}


class Handle(NamedTuple):
    """A run that is being uploaded; `pid` is the uploader's, None when somebody else's does it."""

    directory: Path
    pid: int | None


def start(run_dir: Path, settings: Settings, /) -> Handle:
    """Open the run on the platform and leave an uploader behind. Raises an `EvhError` when that cannot be."""
    try:
        with Sync(run_dir, settings, Patience(OPEN_SECONDS, first=FIRST_PAUSE), hurry=CALL_SECONDS) as sync:
            sync.open()
            sync.tell("starting")
    except LockedError:
        return Handle(run_dir, None)
    return Handle(run_dir, _spawn(run_dir, settings))


def progress(run_dir: Path, /) -> Progress:
    """How far it is."""
    try:
        manifest = open_run_dir(run_dir).manifest
        remote, state = read_remote(run_dir), read_state(run_dir)
        counted = accounts_of(run_dir, "eval" if manifest is None else manifest.kind)
    except (EvhError, OSError) as error:
        return Progress(error=str(error))
    return Progress(
        pending=counted.pending,
        refused=counted.refused,
        url=None if remote is None else remote.url,
        evaluation_id=None if remote is None else remote.remote_id,
        error=_fault(state, counted.pending),
    )


def wait(run_dir: Path, timeout: float, /) -> bool:
    """Return when everything that is on disk was sent and, of a run that ended, closed; or after `timeout` seconds, or
    when the upload stands still. Returns whether it is done."""
    due = time.monotonic() + timeout
    look = FIRST_LOOK
    while True:
        done, stands = _look(run_dir)
        left = due - time.monotonic()
        if done or stands or left <= 0:
            return done
        time.sleep(min(look, left))
        look = min(look * 1.5, LAST_LOOK)


def _look(run_dir: Path) -> tuple[bool, bool]:
    """Whether everything is sent, and whether nothing more will happen."""
    try:
        state, remote = read_state(run_dir), read_remote(run_dir)
        alive = is_alive(state)
        manifest = open_run_dir(run_dir).manifest
        kind = "eval" if manifest is None else manifest.kind
        over = (run_dir / last_file(kind)).exists()
        if over and state is not None and state.state not in ("finished", "paused") and alive:
            return False, False
        pending = accounts_of(run_dir, kind).pending
    except EvhError:
        return False, True
    closed = not over or (remote is not None and remote.state == "closed")
    return closed and not pending, state is None or not alive or state.state == "paused"


def _fault(state: models.SyncState | None, pending: int) -> str | None:
    """What keeps the upload from going on."""
    if state is None:
        return None
    if state.error is not None:
        return state.error
    if pending and state.state != "stopped" and not is_alive(state):
        return "the uploader is gone"
    return None


def _spawn(run_dir: Path, settings: Settings) -> int:
    if not sys.executable:
        raise WriteError("no uploader can be started: this Python does not say where it is", source=str(run_dir))
    given = {
        variable: str(getattr(settings, name))
        for name, variable in VARIABLES.items()
        if settings.sources.get(name) == "argument"
    }
    log = _log(sync_path(run_dir, LOG))
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "evh.live.uploader", str(run_dir.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_environment(os.environ, given),
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        raise WriteError(f"no uploader can be started: {why(error)}", source=str(run_dir)) from None
    finally:
        os.close(log)
    # Somebody has to take note of its end, if this program lives that long.
    threading.Thread(target=process.wait, name=f"uploader {run_dir.name}", daemon=True).start()
    return process.pid


def _environment(inherited: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The uploader's: where this program found its modules, the child finds them as well."""
    paths = [os.path.abspath(path) for path in sys.path if path]  # noqa: PTH100 (an entry may be no folder)
    return {**inherited, **given, "PYTHONPATH": os.pathsep.join(paths)}


def _log(path: Path) -> int:
    try:
        descriptor = _os.create(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _os.O_NOFOLLOW, 0o644)
        with contextlib.suppress(OSError):
            if os.fstat(descriptor).st_size > LOG_BYTES:
                _os.truncate(descriptor, 0)
    except OSError as error:
        raise WriteError(f"cannot be made: {why(error)}", source=str(path)) from None
    return descriptor
