"""Trying again: until a platform answers, or until who asked has waited long enough.

Promise: only what can pass is tried again: no answer, an answer that says "later", one that nobody understands. The
pause is what the service asked for, else 1, 2, 4 … s, 30 at most, times a random factor between 0.5 and 1.5. Without a
limit it never gives up; with one it gives up when so many seconds went by without a success.
Policy: clock, dice and sleep are arguments, so that tests need none.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from evh.errors import Ambiguous, PlatformError, Retryable, TransportFault

__all__ = ["Patience", "can_pass"]

FIRST, LONGEST = 1.0, 30.0
JITTER = (0.5, 1.5)

T = TypeVar("T")


def can_pass(error: PlatformError) -> bool:
    """Whether a failure is one of now, not of the request: an answer that is no answer counts as lost."""
    if isinstance(error, Retryable | TransportFault | Ambiguous):
        return True
    return type(error) is PlatformError and error.status is not None and 200 <= error.status < 300


class Patience:
    """How long somebody waits for a platform: `limit` seconds without a success, None for ever. `told` is called before
    each pause with the failure and the seconds."""

    def __init__(
        self,
        limit: float | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
        first: float = FIRST,
    ) -> None:
        self.limit = limit
        self.told: Callable[[PlatformError, float], None] = lambda error, seconds: None
        self.sleep = sleep
        self._clock = clock
        self._uniform = uniform
        self._first = first

    def run(self, attempt: Callable[[], T]) -> T:
        """Do it until it succeeds. Raises the `PlatformError` that cannot pass, or the last one when it gives up."""
        began = self._clock()
        failures = 0
        while True:
            try:
                return attempt()
            except PlatformError as error:
                if not can_pass(error):
                    raise
                pause = error.retry_after
                if pause is None:
                    pause = min(self._first * 2.0 ** min(failures, 16), LONGEST) * self._uniform(*JITTER)
                failures += 1
                if self.limit is not None and self._clock() - began + pause > self.limit:
                    raise
                self.told(error, pause)
                self.sleep(pause)
