"""`join_run` writes into a live run that another process owns.

Promise: a process that joined has a segment of its own, so that it neither waits for others nor damages their rows; it
never closes the run. The same holds for a run object that was sent to another process (pickled).
When it breaks: `RunFinishedError` once the owner closed the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from evh.live.arguments import StrPath, check, live_run, masker_of, on_stderr
from evh.live.config_upload import snapshot
from evh.live.disk import Disk
from evh.live.identity import Identity
from evh.live.run import LiveRun
from evh.live.telling import OnError
from evh.store.journal import FsyncPolicy
from evh.store.masking import Masker
from evh.store.run_dir import RunDir

__all__ = ["join_run", "rejoin"]


def join_run(
    directory: StrPath,
    *,
    config: Any = None,
    on_error: OnError = "warn",
    fsync: FsyncPolicy = "group",
    secrets: Iterable[str] = (),
    notify: Callable[[str], None] | None = None,
) -> LiveRun:
    """Write into a live run that another process owns, on this machine or another one that sees the directory.

    The process gets a segment of its own; its owner closes the run. `config` and `secrets` say what must not be
    written, as for `open_run`: `run.json` does not say it any more. Raises `RunFinishedError` for a run that has ended.
    """
    check("eval", on_error, fsync, (), (), -1, None)
    run = live_run(directory)
    masker = masker_of(None, secrets)
    snapshot(config, masker, os.environ)
    return _joined(run, masker, on_error, fsync, on_stderr if notify is None else notify)


def rejoin(
    directory: Path | None, identity: tuple[str, str, str | None], secrets: tuple[str, ...], on_error: Any
) -> LiveRun:
    """A run that came from another process of the same program."""
    if directory is None:
        return LiveRun(Identity(*identity), None, mode="disabled", on_error=on_error, notify=on_stderr)
    return _joined(live_run(directory), masker_of(None, secrets), on_error, "group", on_stderr)


def _joined(
    run: RunDir, masker: Masker, on_error: OnError, fsync: FsyncPolicy, notify: Callable[[str], None]
) -> LiveRun:
    manifest = run.manifest
    assert manifest is not None
    disk = Disk.join(run.path, manifest, masker, fsync)
    identity = Identity(manifest.run_id, manifest.kind, manifest.name)
    return LiveRun(identity, disk, mode="offline", reason="its owner uploads it", on_error=on_error, notify=notify)
