"""What a pass tells while it goes on: numbers for a line on a terminal, or for a log.

Promise: listeners are called from the threads that measure, one call at a time; a listener that raises ends nothing but
its own line. Rates and the time left are over the items of this launch.
"""

from __future__ import annotations

import contextlib
import time
from typing import NamedTuple, Protocol

__all__ = ["Guarded", "Listener", "Quiet", "Snapshot", "Tally"]


class Snapshot(NamedTuple):
    """How far a pass is: `done` of `planned` items have rows, `resumed` of them from earlier launches."""

    done: int
    planned: int
    resumed: int
    failed: int
    running: int
    cost_usd: float
    priced: int
    seconds: float
    last_error: str | None

    @property
    def per_second(self) -> float | None:
        """Items of this launch by second; None before the first."""
        made = self.done - self.resumed + self.failed
        return made / self.seconds if made and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate; None while nobody can know."""
        rate = self.per_second
        return (self.planned - self.done - self.failed) / rate if rate else None


class Listener(Protocol):
    """What a pass tells. `notice` is one sentence for people."""

    def begun(self, directory: str, snapshot: Snapshot) -> None: ...
    def item(self, snapshot: Snapshot) -> None: ...
    def notice(self, text: str) -> None: ...


class Quiet:
    """A listener that says nothing."""

    def begun(self, directory: str, snapshot: Snapshot) -> None:
        pass

    def item(self, snapshot: Snapshot) -> None:
        pass

    def notice(self, text: str) -> None:
        pass


class Guarded:
    """Another listener, whose faults (a terminal that is gone, a pipe) end nothing but its own lines."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def begun(self, directory: str, snapshot: Snapshot) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._listener.begun(directory, snapshot)

    def item(self, snapshot: Snapshot) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._listener.item(snapshot)

    def notice(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._listener.notice(text)


class Tally:
    """The numbers of a pass as they grow; guarded by the pass's own lock."""

    def __init__(self, planned: int, resumed: int, failed: int = 0) -> None:
        self.planned = planned
        self.resumed = resumed
        self.done = resumed
        self.failed = failed
        self.running = 0
        self.cost = 0.0
        self.largest = 0.0
        self.sources: dict[str | None, int] = {}
        self.last_error: str | None = None
        self._began = time.monotonic()

    def paid(self, cost: float | None, source: str | None) -> None:
        self.sources[source] = self.sources.get(source, 0) + 1
        if cost is not None:
            self.cost += cost
            self.largest = max(self.largest, cost)

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self.done,
            self.planned,
            self.resumed,
            self.failed,
            self.running,
            self.cost,
            sum(count for source, count in self.sources.items() if source is not None),
            time.monotonic() - self._began,
            self.last_error,
        )
