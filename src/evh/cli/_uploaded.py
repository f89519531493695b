"""What `evh sync` and `evh status` know of a run: which runs are meant, and how far each one is uploaded.

Promise: nothing is sent and nothing is written by looking. Without names the runs are the live ones of the runs
directory, and the measured ones that were pushed before: a measured run that nobody pushed is not sent by accident.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evh.errors import EvhError, SourceError, UsageError

if TYPE_CHECKING:
    from evh.harness.project import Project
    from evh.live.uploaded_rows import Accounts
    from evh.platform import Settings
    from evh.store.run_dir import RunDir

__all__ = ["Uploaded", "as_data", "chosen_runs", "sending_settings", "settings_of", "uploaded"]


class Uploaded(NamedTuple):
    """A run and its upload. `open` says that something is left to do: rows to send, or the run to be closed there."""

    run_id: str
    directory: Path
    state: str
    mode: str
    counted: Accounts
    bytes_pending: int
    lost: int
    url: str | None
    remote: str | None
    """The state of the run on the platform; None before it was opened there."""
    uploader: str | None
    error: str | None
    notes: tuple[str, ...]
    unfinished: bool


def settings_of() -> Settings:
    """The platform's address and key, as every command has them."""
    from evh.platform import resolve

    try:
        home: Path | None = Path.home()
    except RuntimeError:
        home = None
    return resolve(environ=os.environ, home=home)


def sending_settings() -> Settings:
    """The same, for a command that sends. Raises `UsageError` when nothing may or can be sent."""
    from importlib.util import find_spec

    from evh.live.modes import resolve_mode

    if find_spec("httpx") is None:
        raise UsageError("sending needs the library httpx: pip install 'evh[live]'")
    settings = settings_of()
    resolved = resolve_mode("online", os.environ, settings)
    if resolved.mode != "online":
        raise UsageError(f"nothing is sent: {resolved.reason}")
    return settings


def chosen_runs(project: Project, names: list[str]) -> list[Path]:
    """The runs that are meant: by path or by id; without names, those that are for a platform."""
    from evh.store import layout
    from evh.store.runs import find_runs

    if not names:
        return [run.path for run in find_runs(project.runs) if _is_live(run) or (run.path / layout.SYNC).is_dir()]
    found: list[Path] = []
    for name in names:
        path = Path(name) if Path(name).is_dir() else project.runs / name
        if not path.is_dir():
            raise SourceError("is no run: name its folder or its id", source=name)
        if path not in found:
            found.append(path)
    return found


def uploaded(directory: Path) -> Uploaded:
    """How far a run is. Raises `EvhError` when its files cannot be read."""
    from evh.live.run_ending import ending_of
    from evh.live.sync_folder import read_remote, read_state
    from evh.live.sync_state import is_alive
    from evh.live.uploaded_rows import accounts_of, pending_bytes
    from evh.store.run_dir import open_run_dir

    run = open_run_dir(directory)
    manifest = run.manifest
    if manifest is None:
        raise SourceError("has no run.json: only runs that this harness began are uploaded", source=str(directory))
    remote, state = read_remote(directory), read_state(directory)
    counted = accounts_of(directory, manifest.kind)
    ending = ending_of(directory)
    alive = is_alive(state)
    closed = remote is not None and remote.state == "closed"
    opened = remote is not None and remote.remote_id is not None
    to_close = ending is not None and ending.word != "stopped" and not closed
    return Uploaded(
        run_id=manifest.run_id,
        directory=directory,
        state=run.state,
        mode="online" if remote is not None else "offline",
        counted=counted,
        bytes_pending=pending_bytes(directory, manifest.kind),
        lost=0 if run.end is None else run.end.lost,
        url=None if remote is None else remote.url,
        remote=None if remote is None else (remote.status or remote.state),
        uploader=state.state if state is not None and alive else None,
        error=None if state is None or not (counted.pending or to_close) else state.error,
        notes=() if state is None else tuple(state.notes),
        unfinished=bool(counted.pending or to_close or not opened),
    )


def as_data(found: Uploaded, project: Project) -> dict[str, Any]:
    """A run's upload as data."""
    return {
        "run_id": found.run_id,
        "path": project.portable(found.directory),
        "state": found.state,
        "mode": found.mode,
        "rows": found.counted.rows,
        "sent": found.counted.sent,
        "pending": found.counted.pending,
        "pending_bytes": found.bytes_pending,
        "refused": found.counted.refused,
        "lost": found.lost,
        "url": found.url,
        "remote": found.remote,
        "uploader": found.uploader,
        "error": found.error,
        "notes": list(found.notes),
    }


def _is_live(run: RunDir) -> bool:
    try:
        return run.is_live
    except EvhError:
        return False
