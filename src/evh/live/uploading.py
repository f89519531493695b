"""What the run object needs of the half that uploads: to start it, to ask it how far it is, to wait for it.

Promise: the run object sends nothing itself. It starts an uploader over its directory and reads what that leaves on
disk; an uploader that cannot be started makes the run an offline one, with the reason.
Policy: the uploader is `evh.live.uploads`, loaded when a run goes online; tests give another.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from evh.platform.settings import Settings

__all__ = ["Progress", "Uploads", "default_uploads"]


class Progress(NamedTuple):
    """How far the upload of a run is, as its directory says."""

    pending: int = 0
    """Records on disk that no receipt covers yet."""
    refused: int = 0
    """Records that the platform refused for good; they stay on disk and are named in `sync/refused.jsonl`."""
    url: str | None = None
    """Where people look at the run; None until the platform has it."""
    evaluation_id: str | None = None
    """The platform's own id of the run."""
    error: str | None = None
    """What keeps the upload from going on, if anything does."""


class Uploads(Protocol):
    """The half that uploads. None of the three raises for a fault of the network once a run was started."""

    def start(self, run_dir: Path, settings: Settings, /) -> object:
        """Begin to upload a run that was just opened. Raises an `EvhError` when that cannot be."""
        ...

    def progress(self, run_dir: Path, /) -> Progress:
        """How far it is. Reads the directory only, and never raises."""
        ...

    def wait(self, run_dir: Path, timeout: float, /) -> object:
        """Return when everything that is on disk was sent and, of a run that ended, closed; or after `timeout`
        seconds."""
        ...


def default_uploads() -> Uploads:
    """The uploader of this package."""
    return cast("Uploads", import_module("evh.live.uploads"))
