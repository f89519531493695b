"""The directory of an import while it is made: hidden, and given its name when it is whole.

Promise: nobody who lists runs sees half an import. A process that is killed leaves a hidden folder, which a later
import removes: once its writer is provably gone, or, where there is no lease to tell, when nothing in it changed for an
hour. A link is left alone. Two imports never get one name.
When it breaks: `WriteError`; the hidden folder is removed, the source was never touched. When only the sync of the
runs directory failed, the error says that the run is in place.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

from evh.errors import EvhError, WriteError
from evh.harness.project import make_folders, remove_folder
from evh.protocol import models
from evh.store import _os, layout
from evh.store.atomic import sync_folder, why, write_file
from evh.store.lease import holder_of
from evh.store.record import document_bytes, write_record
from evh.store.run_writer import make_run_directory

__all__ = ["Draft", "taken"]

HIDDEN = ".importing-"
NAMES = 1000
ABANDONED_S = 3600


class Draft:
    """A run directory below a hidden folder of `runs_dir`, until `publish`."""

    def __init__(self, runs_dir: Path, manifest: models.RunManifest) -> None:
        self._runs = make_folders(runs_dir)
        _clear_left_over(runs_dir)
        self._hidden = runs_dir / f"{HIDDEN}{secrets.token_hex(8)}"
        self._manifest = manifest
        try:
            _os.mkdir(self._hidden)
        except OSError as error:
            raise WriteError(f"no run can be made here: {why(error)}", source=str(runs_dir)) from None
        try:
            self.directory = make_run_directory(self._hidden, manifest, exact=True)
        except BaseException:
            self.discard()
            raise

    def publish(self, record: models.RunRecord, *, exact: bool) -> Path:
        """Write the record and give the directory its name: the manifest's run id, which gets a number behind it when
        it is taken, unless the name is to be `exact`. Raises `WriteError`."""
        wanted = self._manifest.run_id
        for number in range(1, 2 if exact else NAMES):
            name = wanted if number == 1 else f"{wanted}-{number}"
            target = self._runs / name
            if os.path.lexists(target):
                continue
            if self._manifest.run_id != name:
                self._manifest.run_id = name
                write_file(self.directory / layout.MANIFEST, document_bytes(self._manifest))
            record.run_id = name
            write_record(self.directory, record)
            try:
                _os.rename(self.directory, target)
            except OSError as error:
                if os.path.lexists(target):
                    continue  # another process was quicker
                raise WriteError(f"cannot be made: {why(error)}", source=str(target)) from None
            try:
                sync_folder(self._runs)
            except OSError as error:
                raise WriteError(
                    f"the run is in place, complete, but its folder could not be synced ({why(error)}): "
                    "a power cut may take it away; then import it again",
                    source=str(target),
                ) from None
            return target
        raise taken(self._runs / wanted)

    def discard(self) -> None:
        """Remove what is left of the hidden folder; what was published is not in it any more."""
        remove_folder(self._hidden)


def taken(path: Path) -> WriteError:
    """The error for a run's name that another run has."""
    return WriteError("is there already: import under another --run-id", source=str(path))


def _clear_left_over(runs_dir: Path) -> None:
    for hidden in runs_dir.glob(f"{HIDDEN}*"):
        with contextlib.suppress(EvhError, OSError):  # it is in nobody's way
            if not hidden.is_symlink() and _is_abandoned(hidden):
                remove_folder(hidden)


def _is_abandoned(hidden: Path) -> bool:
    """Whether nobody can be at work in a hidden folder. Raises what the system or a lease says."""
    inner = [each for each in hidden.iterdir() if each.is_dir() and not each.is_symlink()]
    holders = [holder for each in inner if (holder := holder_of(each)) is not None]
    if holders:
        return all(holder.state == "gone" for holder in holders)
    # Before the writer takes its lease and after it gives it back: then the time of the last change has to tell.
    latest = max(each.stat().st_mtime for each in (hidden, *inner))
    return time.time() - latest > ABANDONED_S
