"""The way to a platform for one uploader: its client, asked once for each try, and the patience of who waits.

Promise: `once` is one try, `run` as many as the patience has. A call may be cut short by `hurry`, for those who hold a
program up while they ask.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from evh.errors import PlatformError
from evh.live.patience import Patience
from evh.platform import Call, Platform, Policy, Steps

if TYPE_CHECKING:
    from evh.platform import Settings

__all__ = ["Wire"]

T = TypeVar("T")


class Wire:
    """`hurry`: the seconds that one call may take, where that is less than its own."""

    def __init__(
        self,
        settings: Settings,
        patience: Patience,
        *,
        hurry: float | None = None,
    ) -> None:
        self.settings = settings
        self.patience = patience
        self._hurry = hurry
        self.platform = Platform(settings, policy=Policy(tries=1))

    def once(self, work: Call[T] | Steps[T]) -> T:
        """One try. Raises `PlatformError`."""
        if self._hurry is None:
            return self.platform.run(work)
        if isinstance(work, Call):
            return self.platform.run(self._hurried(work))
        return self.platform.run(self._hurried_steps(work))

    def run(self, make: Callable[[], Call[T] | Steps[T]]) -> T:
        """As many tries as there is patience for. Raises `PlatformError`."""
        return self.patience.run(lambda: self.once(make()))

    def renewed(self, settings: Settings) -> Wire:
        """The same with other settings."""
        return Wire(settings, self.patience, hurry=self._hurry)

    def close(self) -> None:
        self.platform.close()

    def _hurried(self, call: Call[T]) -> Call[T]:
        assert self._hurry is not None
        return replace(call, timeout=min(call.timeout, self._hurry))

    def _hurried_steps(self, steps: Steps[T]) -> Generator[Call[Any], Any, T]:
        try:
            call = next(steps)
            while True:
                try:
                    answer = yield self._hurried(call)
                except PlatformError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as stop:
            made: T = stop.value
            return made
