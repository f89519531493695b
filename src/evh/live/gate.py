"""Who may still write: writes in progress are counted, and closing waits for them.

Promise: once `close` returned nobody is inside, and nobody comes in any more: `RunFinishedError`. A reset (in a forked
child) begins with nobody inside.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from evh.errors import RunFinishedError

__all__ = ["Gate"]


class Gate:
    """The entrance of one run object in one process."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._guard = threading.Condition()
        self._inside = 0
        self._closed = False

    def anew(self) -> Gate:
        """The same entrance with nobody inside: what a forked child has, in which the others do not run."""
        made = Gate(self._what)
        made._closed = self._closed
        return made

    @contextlib.contextmanager
    def admitted(self, verb: str) -> Iterator[None]:
        """Be inside for the length of the block. Raises `RunFinishedError` once the gate is closed."""
        with self._guard:
            if self._closed:
                raise RunFinishedError(f"{verb} came after the end: {self._what} is closed; open another run")
            self._inside += 1
        try:
            yield
        finally:
            with self._guard:
                self._inside -= 1
                if not self._inside:
                    self._guard.notify_all()

    def close(self) -> None:
        """Let nobody in any more and wait for those inside; closing twice does nothing."""
        with self._guard:
            self._closed = True
            self._guard.wait_for(lambda: not self._inside)
