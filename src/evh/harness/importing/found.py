"""What a source holds: its items one by one, and what it says of the whole.

Promise: a `Reading` gives the same items each time it is read; the first time it looks at everything that could be
wrong and notes what has no place in a run directory. Of what is odd a hundred notices are kept, each once; the rest is
counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from evh.errors import Notice
from evh.protocol import models
from evh.store.projection import Projected
from evh.store.record import Declared

__all__ = ["Found", "Notices", "Reading"]

KEPT = 100


class Found(NamedTuple):
    """An item (or one rollout of it) and where it stands."""

    row: Projected
    source: str
    line: int | None
    episode: models.Episode | None = None
    document: Any = None
    """The row as it was read: the values of its secret tables are left out of all that is made of it."""

    @property
    def place(self) -> str:
        """The line, for messages."""
        return f"line {self.line}" if self.line is not None else self.source


class Notices:
    """What was odd about a source, in the order it was met."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}
        self._more = 0

    def add(self, said: str) -> None:
        """Keep a notice that was not kept before."""
        if said in self._said:
            return
        if len(self._said) < KEPT:
            self._said[said] = None
        else:
            self._more += 1

    def tell(self, found: Iterable[Notice], source: str) -> None:
        """Keep what a reader noticed about a file."""
        for notice in found:
            self.add(f"{source}: {notice.message}")

    def told(self) -> list[str]:
        """All that was kept, and how many were not."""
        return [*self._said, *([f"{self._more:,} more notices like these"] if self._more else [])]


class Reading(ABC):
    """One source as items."""

    several = False
    """Whether an item may come more than once, as rollouts."""

    def __init__(self) -> None:
        self.lossy: set[str] = set()
        self.notices = Notices()
        self.tool: str | None = None
        self.build: models.Build | None = None
        self.params: dict[str, Any] = {}
        self.labels: dict[str, str] = {}
        """`goal`, `format` and `round` of the source's record."""
        self.created_at: str | None = None
        """When the source's record was made; None without one."""
        self.declared = Declared()

    @abstractmethod
    def items(self, *, first: bool = False) -> Iterator[Found]:
        """The items, in the order of the source. The `first` reading checks everything and notes what is lossy and odd.
        Raises `EvhError` with file and line."""
