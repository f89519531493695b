"""What can go wrong with a call, and what a service says about trying again.

Promise: an `AdapterError` says what failed, with the service's own words cut short and without keys or headers. Its
attributes, not its wording, decide whether the call is tried again.
Policy: the wording.
When it breaks: retries treat the failure like any unknown exception, by its text.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from evh.errors import EvhError

__all__ = ["AdapterError", "Stopped", "retry_after_seconds"]


class AdapterError(EvhError):
    """A call of the system, or a function of its adapter, failed.

    `status` is the HTTP status, `retry_after` the seconds the service asked to wait. `transient` says whether trying
    again can help; None leaves that to the status and the text.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        transient: bool | None = None,
        source: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, source=source, line=line)
        self.status = status
        self.retry_after = retry_after
        self.transient = transient


class Stopped(EvhError):
    """The run is stopping: the call was given up, not found wanting. Never a failure of the item."""


def retry_after_seconds(text: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a `Retry-After` header asks for: a number, or a date seen from `now`; None if it is neither."""
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if when.tzinfo is None:  # "-0000": the date is UTC, its writer's place unknown
            when = when.replace(tzinfo=UTC)
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None
