"""Times: one parser, UTC, nothing assumed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import RecordError
from evh.store.clock import instant, now, run_stamp


def test_now_is_read_back_and_sorts_as_text() -> None:
    first, second = now(), now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first)
    assert first <= second
    assert abs(instant(first) - datetime.now(UTC)) < timedelta(minutes=1)
    assert re.fullmatch(r"\d{8}T\d{6}Z", run_stamp())


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.integers(-1439, 1439))
def test_e22_an_offset_is_converted_to_utc(local: datetime, minutes: int) -> None:
    there = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert instant(there.isoformat()) == there
    assert instant(there.isoformat()).tzinfo is UTC


@pytest.mark.parametrize("text", ["2026-10-04T08:15:30", "2026-10-04 08:15:30.5"])
def test_e22_a_time_without_a_zone_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="has no zone: end it in Z"):
        instant(text)


@pytest.mark.parametrize(
    ("text", "micro"),
    [
        ("2026-10-04T08:15:30Z", 0),
        ("2026-10-04t08:15:30.5z", 500_000),
        ("2026-10-04 08:15:30.123456Z", 123_456),
        ("2026-10-04T08:15:30.123456789Z", 123_456),
    ],
)
def test_e70_fractions_are_kept_to_the_microsecond(text: str, micro: int) -> None:
    assert instant(text) == datetime(2026, 10, 4, 8, 15, 30, micro, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-31T23:59:60Z", "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-10-04T24:00:00Z", "now", "",
        "2026-10-04", "2026-10-04T08:15Z", "2026-10-04T08:15:30+2:00", "2026-10-04T08:15:30+25:00",
        "0001-01-01T00:00:00+23:00",
        "２０２６-10-04T08:15:30Z", "2026-10-04T08:15:30Z\n", "2026-10-04T08:15:30.Z", "9999-12-31T23:59:59-10:00",
    ],
)  # fmt: skip
def test_e70_what_is_no_time_is_refused_by_one_error(text: str) -> None:
    with pytest.raises(RecordError):
        instant(text)
