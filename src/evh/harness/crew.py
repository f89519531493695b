"""Threads that do one job together, and the wait for all of them.

Promise: `wait` returns when the last of them has ended, also when only some could be started, or when an interrupt came
in the middle of starting them. The wait sees signals on every system.
Policy: they are daemons, so that a call nobody can interrupt does not keep the process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from evh.errors import UsageError

__all__ = ["Crew"]

POLL_SECONDS = 0.5


class Crew:
    """Up to `count` threads that each run `work` once."""

    def __init__(self, work: Callable[[], None], count: int, name: str) -> None:
        self._work = work
        self._count = count
        self._name = name
        self._guard = threading.Lock()
        self._alive = 0
        self._ended = threading.Event()

    def start(self) -> None:
        """Start the threads; those that the system refuses are done without. Raises `UsageError` when it
        refuses all."""
        self._alive = 1  # this one, until all are started: none that is quick ends the crew
        try:
            for number in range(self._count):
                thread = threading.Thread(target=self._run, name=f"{self._name} {number}", daemon=True)
                with self._guard:
                    self._alive += 1
                try:
                    thread.start()
                except RuntimeError:
                    self._leave()
                    if not number:
                        raise UsageError("the system starts no more threads: lower --concurrency") from None
                    break
                except BaseException:
                    if thread.ident is None:
                        self._leave()
                    raise
        finally:
            self._leave()

    def wait(self) -> None:
        """Return when all have ended."""
        while not self._ended.wait(POLL_SECONDS):  # a bound, so that signals are seen on every system
            pass

    def wait_briefly(self) -> None:
        """Return when all have ended, or soon."""
        self._ended.wait(POLL_SECONDS)

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._guard:
            self._alive -= 1
            if not self._alive:
                self._ended.set()
