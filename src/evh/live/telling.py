"""What goes wrong with a live run: counted, kept, told to whoever opened it, or raised when that was asked for.

Promise: nothing is told or kept with a secret in it. Whoever listens cannot break the run.
Policy: at most a hundred errors are kept. Of many losses the 1st, 2nd, 4th, 8th, … is told (`Losses`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Literal

from evh.errors import EvhError
from evh.live.losses import Losses, Lost

__all__ = ["OnError", "Teller"]

OnError = Literal["warn", "raise"]
KEPT = 100


class Teller:
    """The faults of one run in one process. `mask` takes the secrets out of a text."""

    def __init__(
        self, run_id: str, notify: Callable[[str], None], on_error: OnError, mask: Callable[[str], str]
    ) -> None:
        self.on_error: OnError = on_error
        self.errors: list[str] = []
        self._run_id = run_id
        self._notify = notify
        self._mask = mask
        self._losses = Losses()

    @property
    def lost(self) -> Lost:
        return self._losses.lost

    def anew(self) -> Teller:
        """The same for a forked child, which has lost nothing yet."""
        return Teller(self._run_id, self._notify, self.on_error, self._mask)

    def lose(self, error: EvhError, before: str = "") -> None:
        """A record is not in the run: count it, tell it, and raise the error if that was asked for."""
        why = self._mask(f"{before}{error}")
        if self._losses.add(why):
            self.tell(f"lost ({int(self.lost)} so far): {why}")
        if self.on_error == "raise":
            raise error

    def fail(self, error: EvhError) -> None:
        """Something failed that costs no record."""
        self.note(str(error))
        if self.on_error == "raise":
            raise error

    def note(self, text: str) -> None:
        """Keep and tell something that is odd."""
        if len(self.errors) < KEPT:
            self.errors.append(self._mask(text))
        self.tell(text)

    def tell(self, text: str) -> None:
        """Tell something and keep nothing."""
        with contextlib.suppress(Exception):
            self._notify(f"run {self._run_id}: {self._mask(text)}")
