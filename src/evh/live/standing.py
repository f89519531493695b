"""How a live run stands: what it is called, where it lies, what of it was sent, what is missing.

Promise: everything is read when it is asked for, from this process's counts and from what the uploader leaves on disk;
nothing is waited for, and nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from evh.live.disk import Disk
from evh.live.identity import Identity, Work
from evh.live.losses import Lost
from evh.live.modes import Mode
from evh.live.telling import OnError, Teller
from evh.live.uploading import Progress, Uploads
from evh.protocol import models

__all__ = ["Standing", "Status"]

Status = Literal["running", "completed", "failed", "cancelled", "crashed"]


class Standing:
    """The part of a `LiveRun` that is only read."""

    def __init__(
        self,
        identity: Identity,
        disk: Disk | None,
        *,
        mode: Mode,
        reason: str | None = None,
        uploads: Uploads | None = None,
        on_error: OnError = "warn",
        finish_timeout: float = 300.0,
        notify: Callable[[str], None],
    ) -> None:
        self._identity = identity
        self._disk = disk
        self._mode: Mode = mode
        self._reason = reason
        self._uploads = uploads
        self._finish_timeout = finish_timeout
        self._teller = Teller(identity.run_id, notify, on_error, str if disk is None else disk.masker.text)
        self._ended = False
        self._status: Status = "running"

    @property
    def id(self) -> str:
        """The run's own id: the same from its first byte to its last, whatever a platform calls it."""
        return self._identity.run_id

    @property
    def name(self) -> str | None:
        return self._identity.name

    @property
    def kind(self) -> str:
        """`eval` or `train`."""
        return self._identity.kind

    @property
    def dir(self) -> Path | None:
        """Its directory; None for a disabled run."""
        return None if self._disk is None else self._disk.directory

    @property
    def mode(self) -> Mode:
        """`online`, `offline` or `disabled`."""
        return self._mode

    @property
    def reason(self) -> str | None:
        """Why it is not online, or what keeps its upload from going on; None when nothing does."""
        return self._reason if self._mode != "online" else self._progress().error

    @property
    def status(self) -> Status:
        """How the run stands: `running` until this object closed it."""
        return self._status

    @property
    def finished(self) -> bool:
        return self._ended

    @property
    def url(self) -> str | None:
        """Where people look at it; None until the platform has it."""
        return self._progress().url

    @property
    def pending(self) -> int:
        """Records on disk that were not sent yet; offline, those that this process logged."""
        if self._mode == "online":
            return self._progress().pending
        return 0 if self._disk is None else self._disk.logged

    @property
    def refused(self) -> int:
        """Records that the platform refused for good. They are on disk, and `sync/refused.jsonl` names them."""
        return self._progress().refused

    @property
    def lost(self) -> Lost:
        """Records that this process was given and that are not on disk: 0, or how many, which and why."""
        return self._teller.lost

    @property
    def errors(self) -> list[str]:
        """What went wrong so far, in words, without what `lost` says."""
        return [*self._teller.errors]

    def info(self, work: Work | None = None) -> models.EvalRunInfo | models.TrainRunInfo:
        """What an episode of this run is stamped with: `episode.record_run(run.info(TrainWorkInfo(step=3)))`."""
        return self._identity.info(work)

    def __repr__(self) -> str:
        return f"<LiveRun {self.id} {self.mode} {self.status}>"

    def _progress(self) -> Progress:
        if self._uploads is None or self._disk is None:
            return Progress()
        return self._uploads.progress(self._disk.directory)
