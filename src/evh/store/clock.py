"""Instants of run records: RFC 3339 in UTC with a `Z`, written by `now`, read by `instant`.

Promise: one parser for every timestamp that is compared. An offset is converted to UTC, a time without a zone is
refused (it would be read differently on another machine), nanoseconds are kept to the microsecond. Durations never come
from here: they are differences of the monotonic clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from evh.errors import RecordError, cut

__all__ = ["instant", "now", "run_stamp"]

_FORM = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)


def now() -> str:
    """This instant by the wall clock, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_stamp() -> str:
    """This second as run ids have it: `20261004T081530Z`."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def instant(text: str) -> datetime:
    """The instant that a timestamp names, in UTC. Raises `RecordError` for one without a zone or that is none."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise RecordError(f"expected a time such as 2026-10-04T08:15:30Z, found {cut(text)}")
    day, time, fraction, zone = found.groups()
    if zone is None:
        raise RecordError(f"{cut(text)} has no zone: end it in Z, for UTC")
    try:
        micro = (fraction or "0")[:6].ljust(6, "0")
        return datetime.fromisoformat(f"{day}T{time}.{micro}{zone.upper().replace('Z', '+00:00')}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise RecordError(f"{cut(text)} is no time of the calendar") from None
