"""The ways out of a process, and what they mean for the runs that are open in it.

Promise: a process that ends without closing a run leaves it `crashed`; one that SIGTERM ends leaves it `cancelled`. A
forked child is told at once, before it can touch a file of its parent's. Nothing is registered before a run is opened.
Policy
    SIGTERM is handled only when the first run is opened in the main thread and the program has no handler of its own;
    the handler ends the program the usual way (`SystemExit`, code 143) so that blocks are left in order, and a second
    SIGTERM ends it at once. It is taken back with the last run, and in a forked child.
When it breaks: SIGKILL and a power cut tell nobody: the run stays open on disk, and whoever looks sees that its writer
is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
from functools import cache
from types import FrameType
from typing import Protocol

__all__ = ["Watched", "forget", "watch"]

STATUS = 128


class Watched(Protocol):
    """An open run, as the ways out see it."""

    def process_ends(self) -> None: ...
    def process_is_told_to_end(self, signal_name: str) -> None: ...
    def process_was_forked(self) -> None: ...


class _Exits:
    """The runs that are open in this process. They are held: one that nobody else holds any more was never closed."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._runs: dict[int, Watched] = {}
        self._handles = False
        atexit.register(self._at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def watch(self, run: Watched) -> None:
        with self._guard:
            self._runs[id(run)] = run
            if self._handles or threading.current_thread() is not threading.main_thread():
                return
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                with contextlib.suppress(ValueError, OSError):
                    signal.signal(signal.SIGTERM, self._told_to_end)
                    self._handles = True

    def forget(self, run: Watched) -> None:
        with self._guard:
            self._runs.pop(id(run), None)
            if not self._runs:
                self._stop_handling()

    def _stop_handling(self) -> None:
        if self._handles and threading.current_thread() is threading.main_thread():
            self._handles = False
            if signal.getsignal(signal.SIGTERM) == self._told_to_end:
                with contextlib.suppress(ValueError, OSError):
                    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _told_to_end(self, number: int, frame: FrameType | None) -> None:
        for run in list(self._runs.values()):
            run.process_is_told_to_end(signal.Signals(number).name)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._handles = False
        raise SystemExit(STATUS + number)

    def _at_exit(self) -> None:
        for run in list(self._runs.values()):
            run.process_ends()

    def _after_fork(self) -> None:
        self._guard = threading.RLock()
        self._stop_handling()
        for run in list(self._runs.values()):
            run.process_was_forked()


@cache
def _exits() -> _Exits:
    return _Exits()


def watch(run: Watched) -> None:
    """Have a run told of the ways out of this process."""
    _exits().watch(run)


def forget(run: Watched) -> None:
    """Have it told no more: it was closed."""
    _exits().forget(run)
