"""The derived length of time spans (`TimeSpan`, `AgentSpan`). It is never stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.protocol.behaviour.numbers import as_float

__all__ = ["SpanBehaviour"]


class SpanBehaviour:
    """A span of wall-clock time between two instants in epoch seconds; an `end` of 0 means none."""

    __slots__ = ()

    if TYPE_CHECKING:
        start: Any
        end: Any

    @property
    def duration(self) -> float:
        """Seconds from `start` to `end`, never negative; 0.0 when the span has no end.

        Raises `RecordError` when a double can't hold an instant.
        """
        if not self.end:
            return 0.0
        return max(0.0, as_float(as_float(self.end, "/end") - as_float(self.start, "/start"), "/end"))
