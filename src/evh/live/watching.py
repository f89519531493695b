"""A run that is uploaded while it is written: look, send, wait, until it is over and everything is sent.

Promise: while the run is open the upload is never given up: an answer that does not come is waited for, one that says
no to everything is told and asked for again, with settings read anew. It ends when the run is over and everything is
sent and closed there; or, the run being over, when the platform says no, or was not to be reached for an hour; or when
the run's directory is gone.
Policy: looks come every 0.1 s at first, every second in the end; rows that trickle in are sent twice a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from evh.errors import EvhError, LockedError, PlatformError
from evh.live.run_ending import Ending, ending_of, last_file
from evh.live.sync import Sync
from evh.store import layout

if TYPE_CHECKING:
    from evh.platform import Settings

__all__ = ["watch"]

FIRST_LOOK, LAST_LOOK, AFTER_SENDING, GROWTH = 0.1, 1.0, 0.5, 1.5
SLICE = 0.1
FIRST_PAUSE, LAST_PAUSE = 30.0, 300.0
OVER_LIMIT = 3600.0


def watch(
    sync: Sync,
    settings: Callable[[], Settings],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    told: Callable[[str], None] = lambda text: None,
) -> Ending | None:
    """Upload a run until it is over; returns how it ended, None when something is left to send. `settings` is called
    after a pause; `told` gets sentences for a log."""
    wait, pause, failing = FIRST_LOOK, FIRST_PAUSE, _Failing(sync, clock, told)
    sync.wire.patience.told = failing
    sync.tell("sending")
    while True:
        try:
            ending = ending_of(sync.directory)
            sent = sync.send(over=ending is not None)
            failing.began = None
            if ending is not None:
                sync.finish(ending)
                sync.tell("finished" if ending.word != "stopped" else "stopped")
                return ending
        except LockedError:
            raise
        except EvhError as error:
            over = _is_over(sync)
            told(f"paused: {error}")
            if over:
                sync.tell("paused", str(error))
                return None
            sync.tell("paused", str(error), pause)
            _wait(sync, pause, sleep)
            pause = min(pause * 2, LAST_PAUSE)
            try:
                sync.renew(settings())
            except EvhError as fault:
                told(f"the settings cannot be used: {fault}")
            continue
        pause = FIRST_PAUSE
        sync.tell("waiting")
        wait = AFTER_SENDING if sent else min(wait * GROWTH, LAST_LOOK)
        _wait(sync, wait, sleep)


class _Failing:
    """Told of each failure that is waited out; gives up when the run has been over for too long."""

    def __init__(self, sync: Sync, clock: Callable[[], float], told: Callable[[str], None]) -> None:
        self.began: float | None = None
        self._sync = sync
        self._clock = clock
        self._told = told

    def __call__(self, error: PlatformError, seconds: float) -> None:
        if self.began is None:
            self.began = self._clock()
            self._told(f"again in {seconds:.0f} s: {error}")
        elif (self._clock() - self.began > OVER_LIMIT and _is_over(self._sync)) or _is_gone(self._sync):
            raise error
        self._sync.tell("retrying", str(error), seconds)


def _is_over(sync: Sync) -> bool:
    if _is_gone(sync):
        return True
    try:
        return ending_of(sync.directory) is not None
    except EvhError:
        return False


def _is_gone(sync: Sync) -> bool:
    """Whether the run was moved away or removed: nothing is left to wait for."""
    return not (sync.directory / layout.MANIFEST).exists()


def _wait(sync: Sync, seconds: float, sleep: Callable[[float], None]) -> None:
    """Wait, but not after the run was closed."""
    end = sync.directory / last_file(sync.manifest.kind)
    there = end.exists()
    while seconds > 0:
        if not there and end.exists():
            return
        sleep(min(SLICE, seconds))
        seconds -= SLICE
