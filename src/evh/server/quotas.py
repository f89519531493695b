"""How much a project may send: a rate for a short while, and a total for ever.

Promise: what is over a limit is refused with 429 and the seconds after which it may work; nothing of it is stored. The
total is checked again in the transaction that commits, so that it holds whoever uploads at the same time.
Policy: a rate is a bucket that fills for `BURST_SECONDS`; one request may overdraw a full bucket, so that a large one
is not refused for ever, and the next ones wait for it. Rates are counted by each process on its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from evh.server.faults import ServerFault
from evh.server.records import ProjectRow, Usage

__all__ = ["Gate"]

BURST_SECONDS = 10.0


class Gate:
    """Admits uploads. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._buckets: dict[tuple[int, str], tuple[float, float]] = {}

    def admit(self, project: ProjectRow, used: Usage, *, size: int, episodes: int) -> None:
        """Count an upload in, or raise 429."""
        for limit, held, more, what in (
            (project.max_bytes, used.bytes, size, "bytes"),
            (project.max_episodes, used.episodes, episodes, "episodes"),
        ):
            if limit is not None and held >= limit:
                raise ServerFault(
                    429, "ingest_capacity_exceeded",
                    f"the project has stored the {limit} {what} that it may: {more} more do not fit",
                    retry_after=3600.0,
                )  # fmt: skip
        rates = [
            (project.bytes_per_second, size, "bytes"),
            (project.episodes_per_second, episodes, "episodes"),
        ]
        with self._guard:
            now = self._clock()
            after = {}
            for rate, amount, what in rates:
                if rate is None:
                    continue
                full = rate * BURST_SECONDS
                level, seen = self._buckets.get((project.id, what), (full, now))
                level = min(full, level + (now - seen) * rate)
                if level < min(amount, full):
                    wait = (min(amount, full) - level) / rate
                    raise ServerFault(
                        429, "rate_limited", f"the project may send {rate} {what} a second", retry_after=max(1.0, wait)
                    )
                after[project.id, what] = (level - amount, now)
            self._buckets |= after
