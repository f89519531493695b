"""The directory of a new run, made.

Promise: it appears with its `run.json` durable in it, or not at all; two runs never get one name. When only the last
sync failed, the error says that the run is in place. What a killed process left half made (`.partial-*`, which readers
ignore) is removed by the next one that makes a run here, once it is older than an hour; a link is removed, never
followed.
When it breaks: `WriteError`; nothing but a hidden folder can be left behind.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

from evh.errors import WriteError
from evh.protocol import models
from evh.store import _os, layout
from evh.store.atomic import sync_folder, why, write_file
from evh.store.record import document_bytes

__all__ = ["make_run_directory"]

NAMES = 1000
PARTIAL = ".partial-"
ABANDONED_SECONDS = 3600


def make_run_directory(runs_dir: Path, manifest: models.RunManifest, *, exact: bool = False) -> Path:
    """Make the directory of a new run, with its manifest durable in it, and return its path.

    Its name is `manifest.run_id`; when that is taken, `-2`, `-3`, … is put before a repeat's suffix and the manifest's
    id is changed along, unless the name is to be `exact`. Raises `WriteError` when it is taken or the disk refuses.
    """
    wanted = manifest.run_id
    try:
        _make_folders(runs_dir)
        _clear_abandoned(runs_dir)
        part = runs_dir / f"{PARTIAL}{secrets.token_hex(8)}"
        _os.mkdir(part)
    except OSError as error:
        raise WriteError(f"no run can be made here: {why(error)}", source=str(runs_dir)) from None
    try:
        _os.mkdir(part / layout.OUTPUTS)
        for number in range(1, 2 if exact else NAMES):
            manifest.run_id = _numbered(wanted, manifest.repeat_index, number)
            target = runs_dir / manifest.run_id
            if os.path.lexists(target):
                continue
            write_file(part / layout.MANIFEST, document_bytes(manifest))  # syncs `part` too
            try:
                _os.rename(part, target)
            except OSError as error:
                if os.path.lexists(target):
                    continue  # another process was quicker
                raise WriteError(f"cannot be made: {why(error)}", source=str(target)) from None
            _sync_name(runs_dir, target)
            return target
        raise WriteError("is there already: name another run, or resume this one", source=str(runs_dir / wanted))
    except OSError as error:
        raise WriteError(f"no run can be made here: {why(error)}", source=str(runs_dir)) from None
    finally:
        steps = ((_os.unlink, layout.MANIFEST), (_os.rmdir, layout.OUTPUTS), (_os.rmdir, ""))
        for remove, name in steps if part.exists() else ():
            with contextlib.suppress(OSError):
                remove(part / name)


def _sync_name(runs_dir: Path, target: Path) -> None:
    try:
        sync_folder(runs_dir)
    except OSError as error:
        raise WriteError(
            f"the run is in place, but its folder could not be synced ({why(error)}): a power cut may take it away; "
            "resume it, or remove it and start anew",
            source=str(target),
        ) from None


def _numbered(run_id: str, repeat_index: int | None, number: int) -> str:
    if number == 1:
        return run_id
    suffix = f"_r{repeat_index}"
    if repeat_index is not None and run_id.endswith(suffix):
        return f"{run_id.removesuffix(suffix)}-{number}{suffix}"
    return f"{run_id}-{number}"


def _make_folders(folder: Path) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            _os.mkdir(each)
        sync_folder(each.parent)


def _clear_abandoned(runs_dir: Path) -> None:
    """Remove what was never finished and nobody touched for an hour. What cannot be removed is in nobody's way."""
    oldest = time.time() - ABANDONED_SECONDS
    for path in runs_dir.glob(f"{PARTIAL}*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_mtime < oldest:
                _remove(path)


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it. Raises OSError."""
    if path.is_symlink() or not path.is_dir():
        _os.unlink(path)
        return
    for each in list(path.iterdir()):
        _remove(each)
    _os.rmdir(path)
