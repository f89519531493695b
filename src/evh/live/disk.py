"""The disk under a live run in one process: what it writes, under which lease, behind which mask.

Promise: an episode or a row of metrics that was written is masked, whole and, by the fsync policy, durable. The owner
holds the lease of the directory from `own` to `close`, and alone closes the run; a process that joined, and a forked
child, write segments of their own and are refused once the run was closed.
When it breaks: `LockedError` when somebody else holds the run or took it over, `RunFinishedError` when the owner closed
it, `WriteError` for a line that the disk refused.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from evh.errors import LockedError, RunFinishedError, UsageError, WriteError
from evh.live.ending import Asked, end_run
from evh.live.losses import Lost
from evh.live.segment import Segment, new_writer
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store import _os, layout
from evh.store.atomic import clear_temporary, why
from evh.store.clock import now
from evh.store.episode_masking import masked_line
from evh.store.journal import FsyncPolicy
from evh.store.lease import Lease
from evh.store.masking import Masker

__all__ = ["Disk"]

OWN_FILES = (layout.TRACES, layout.STEPS, layout.PREDICTIONS, layout.RECORD)


class Disk:
    """One process's hold on a run directory; made by `own` and `join`. `notes` says what opening it had to mend."""

    def __init__(
        self, directory: Path, manifest: models.RunManifest, masker: Masker, fsync: FsyncPolicy, lease: Lease | None
    ) -> None:
        self.directory = directory
        self.manifest = manifest
        self.masker = masker
        self.notes: list[str] = []
        self._fsync: FsyncPolicy = fsync
        self._lease = lease
        self._segment = Segment(directory, None if lease is not None else new_writer(), fsync)
        self._told_repairs = 0
        self._end = str(directory / layout.END)

    @classmethod
    def own(
        cls,
        directory: Path,
        manifest: models.RunManifest,
        masker: Masker,
        fsync: FsyncPolicy,
        *,
        take_over: bool = False,
    ) -> Disk:
        """Hold the run, new or left open by a process that is gone. Raises `LockedError`, `WriteError`, or `UsageError`
        for a run that has ended."""
        lease = Lease(directory, take_over=take_over)
        made = cls(directory, manifest, masker, fsync, lease)
        try:
            if os.path.lexists(made._end):
                raise UsageError(f"the run {manifest.run_id} has ended: {made._end} says how; open another run")
            if lease.taken_from is not None:
                made.notes.append(f"the lease of {lease.taken_from} was taken over")
            made._take_up()
        except BaseException:
            made._segment.close()
            lease.release()
            raise
        return made

    @classmethod
    def join(cls, directory: Path, manifest: models.RunManifest, masker: Masker, fsync: FsyncPolicy) -> Disk:
        """Write into a run that another process owns. Raises `RunFinishedError` for one that has ended."""
        made = cls(directory, manifest, masker, fsync, None)
        made._check_open()
        return made

    def of_child(self) -> Disk:
        """The same in a forked child."""
        return Disk(self.directory, self.manifest, self.masker, self._fsync, None)

    @property
    def owns(self) -> bool:
        return self._lease is not None

    @property
    def logged(self) -> int:
        """Episodes that this process wrote."""
        return self._segment.episodes

    def write_episode(self, episode: models.Episode) -> None:
        """Append an episode. Raises `NotWritable` for one that cannot be written, and what the disk raises."""
        self._check_open()
        self._segment.episode(masked_line(episode, self.masker))

    def write_step(self, step: int | None, metrics: dict[str, int | float]) -> None:
        """Append metrics. Raises like `write_episode`."""
        self._check_open()
        row = models.StepRow(step=step, metrics={self.masker.text(name): n for name, n in metrics.items()}, at=now())
        self._segment.step(encode(row))

    def sync(self) -> None:
        """Return once everything written is on disk. Raises `WriteError`."""
        self._segment.sync()

    def close(self, asked: Asked, lost: Lost) -> list[str]:
        """Close this process's files and, for the owner, the run; returns what was odd. Raises `WriteError`, after
        which it can be tried again."""
        notes = [*map(str, self._segment.close()), *self._repairs()]
        if self._lease is None:
            return notes
        if self._lease.lost is not None:
            raise self._replaced(self._lease.lost)
        notes += end_run(
            self.directory,
            self.manifest,
            asked,
            lost=lost,
            masker=self.masker,
            fsync=self._fsync,
            known=self._segment.rows(),
        )
        self._lease.release()
        return notes

    def _repairs(self) -> list[str]:
        """What was mended since it was asked last."""
        found = self._segment.repairs[self._told_repairs :]
        self._told_repairs += len(found)
        return found

    def _check_open(self) -> None:
        if self._lease is None:
            if os.path.lexists(self._end):
                raise RunFinishedError(f"the run {self.manifest.run_id} was closed by its owner; open another run")
        elif self._lease.lost is not None:
            raise self._replaced(self._lease.lost)

    def _replaced(self, by: str) -> LockedError:
        return LockedError(f"was taken over by {by}: nothing more is written to it here", source=str(self.directory))

    def _take_up(self) -> None:
        """Mend what the process before left, if there was one."""
        for name in (layout.TRACES, layout.STEPS, layout.RECORD, layout.PREDICTIONS):
            if (self.directory / name).is_symlink():
                raise WriteError(
                    "is a link in the place of a file of the run: remove it", source=str(self.directory / name)
                )
        try:
            if count := clear_temporary(self.directory):
                self.notes.append(f"{count} half-written files were removed")
            with contextlib.suppress(FileNotFoundError):
                _os.unlink(self.directory / layout.RECORD)  # of an end that was not reached: it is made again
        except OSError as error:
            raise WriteError(f"cannot be opened for writing: {why(error)}", source=str(self.directory)) from None
        self._segment.open()
        self.notes += self._repairs()
