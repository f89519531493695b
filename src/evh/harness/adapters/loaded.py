"""What was loaded from a user's file and is called for as long as a pass lasts: an adapter, a judge.

Promise: a call runs within the file's workplace, and what it gives is awaited when it has to be. `cancel` returns at
once and gives up what runs; `close` ends everything, and again does nothing. When it breaks: what the function raises
comes out as it is; whoever calls says whose fault it was (`line_in`).
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any, Self

from evh.harness.adapters.background import Background
from evh.harness.adapters.workplace import Workplace, entered

__all__ = ["Loaded", "line_in"]


class Loaded:
    """The life of a loaded file."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._background = Background()

    def cancel(self) -> None:
        """Give up the calls that run and refuse later ones; returns at once, the calls raise `Stopped` soon after."""
        self._workplace.cancel()
        self._background.cancel()

    def close(self) -> None:
        """Cancel, end the loop's thread, close connections. Again: nothing."""
        try:
            self._background.close()
        finally:
            self._workplace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settled(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """What the function gives, awaited if it has to be."""
        with entered(self._workplace):
            value = function(*arguments, **named)
            return self._background.run(value) if inspect.isawaitable(value) else value


def line_in(file: str, error: BaseException) -> int | None:
    """The last line of a file that an error passed through; None when it did not."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)
