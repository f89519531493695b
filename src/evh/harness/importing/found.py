"""What a source holds: its items one by one, and what it says of the whole.

Promise: a `Reading` gives the same items each time it is read; the first time it looks at everything that could be
wrong and notes what has no place in a run directory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

from evh.harness.projection import Projected
from evh.protocol import models
from evh.store.masking import Masker
from evh.store.record import Declared

__all__ = ["Found", "Reading"]


class Found(NamedTuple):
    """An item (or one rollout of it) and where it stands."""

    row: Projected
    source: str
    line: int | None
    episode: models.Episode | None = None

    @property
    def place(self) -> str:
        """The line, for messages."""
        return f"line {self.line}" if self.line is not None else self.source


class Reading(ABC):
    """One source as items."""

    several = False
    """Whether an item may come more than once, as rollouts."""

    def __init__(self) -> None:
        self.lossy: set[str] = set()
        self.notices: list[str] = []
        self.tool: str | None = None
        self.build: models.Build | None = None
        self.params: dict[str, Any] = {}
        self.labels: dict[str, str] = {}
        """`goal`, `format` and `round` of the source's record."""
        self.declared = Declared()

    @abstractmethod
    def items(self, masker: Masker | None = None) -> Iterator[Found]:
        """The items, in the order of the source. With a `masker` it is the first reading: everything is checked, and
        secrets are learned. Raises `EvhError` with file and line."""
