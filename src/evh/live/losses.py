"""Records that were given to a run and are not in it: how many, which, and why.

Promise: none goes unnoticed: each is counted, the first twenty are named, and whoever opened the run is told.
Policy: of many the 1st, 2nd, 4th, 8th, … is told, so that a loop that loses every record does not drown what else is
said.
"""

from __future__ import annotations

import threading

__all__ = ["Losses", "Lost"]

KEPT = 20


class Lost(int):
    """How many records were lost: a number that says what and why. `reasons` are the first ones, in words."""

    reasons: tuple[str, ...]

    def __new__(cls, count: int = 0, reasons: tuple[str, ...] = ()) -> Lost:
        made = super().__new__(cls, count)
        made.reasons = reasons
        return made

    def __str__(self) -> str:
        count = int(self)
        if not self.reasons:
            return f"{count}"
        more = f"; and {count - len(self.reasons)} more" if count > len(self.reasons) else ""
        return f"{count}: {'; '.join(self.reasons)}{more}"

    __repr__ = __str__


class Losses:
    """The losses of one process. Safe from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._count = 0
        self._reasons: list[str] = []

    def add(self, why: str) -> bool:
        """Count a record; returns whether it is to be told."""
        with self._guard:
            self._count += 1
            if len(self._reasons) < KEPT:
                self._reasons.append(why)
            return self._count & (self._count - 1) == 0

    @property
    def lost(self) -> Lost:
        """What was lost so far."""
        with self._guard:
            return Lost(self._count, tuple(self._reasons))
