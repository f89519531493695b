"""Retries: what is tried again, how often, after which wait, and what comes out."""

from __future__ import annotations

import http.client
import urllib.error
from datetime import UTC, datetime
from email.message import Message
from types import SimpleNamespace

import httpx
import pytest

from evh.errors import RecordError, UsageError
from evh.harness.adapters import AdapterError
from evh.harness.adapters.errors import retry_after_seconds
from evh.harness.retry import GaveUp, RetryPolicy, Stopped, is_transient

REQUEST = httpx.Request("POST", "http://localhost/v1")


class Waits:
    """Stands for sleeping: remembers the seconds, and says when the run is stopping."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.seconds: list[float] = []
        self._stop_at = stop_at

    def __call__(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return len(self.seconds) == self._stop_at


def failing(*errors: BaseException) -> tuple[list[int], object]:
    """A call that raises each error in turn, then returns "done"; and how often it was made."""
    made: list[int] = []

    def call() -> str:
        made.append(1)
        if len(made) <= len(errors):
            raise errors[len(made) - 1]
        return "done"

    return made, call


def with_status(status: int, text: str = "") -> Exception:
    error = Exception(text)
    error.status_code = status  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (AdapterError("busy", status=429), True),
        (AdapterError("busy", status=503), True),
        (AdapterError("no", status=401), False),
        (AdapterError("rate limit", status=403), False),
        (AdapterError("odd", status=418), False),
        (AdapterError("you exceeded your quota: insufficient_quota", status=429), False),
        (AdapterError("prompt is over the context length", status=500), False),
        (AdapterError("anything", transient=True), True),
        (AdapterError("rate limit", transient=False), False),
        (AdapterError("line of adapter", source="adapter.py", line=503), False),
        (with_status(502), True),
        (with_status(404, "try again"), False),
        (httpx.ReadTimeout("late", request=REQUEST), True),
        (httpx.ConnectError("refused", request=REQUEST), True),
        (httpx.LocalProtocolError("bad header", request=REQUEST), False),
        (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(429, request=REQUEST)), True),
        (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(400, request=REQUEST)), False),
        (urllib.error.HTTPError("http://localhost", 503, "busy", Message(), None), True),
        (urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")), True),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (http.client.IncompleteRead(b""), True),
        (RuntimeError("Error code: 429 - slow down"), True),
        (RuntimeError('{"code":503}'), True),
        (RuntimeError("HTTP/1.1 503 Service Unavailable"), True),
        (RuntimeError("counted 5000 and 4290 tokens, 1.429 a second"), False),
        (RuntimeError("id-429-x"), False),
        (RuntimeError("helpers.py:503: no"), False),
        (RuntimeError("503 and then 401"), False),
        (RuntimeError("model not found, try again"), False),
        (RuntimeError("The server is OVERLOADED"), True),
        (RuntimeError("no idea"), False),
        (ValueError("bad"), False),
        (FileNotFoundError(2, "timeout.txt"), False),
        (UsageError("rate limit"), False),
        (RecordError("timeout"), False),
        (SystemExit("rate limit"), False),
        (KeyboardInterrupt(), False),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_only_what_looks_transient_is_and_fatal_signs_win(error: BaseException, transient: bool) -> None:
    assert is_transient(error) is transient


def test_markers_of_the_adapter_add_signs_and_never_beat_fatal_ones() -> None:
    assert is_transient(RuntimeError("GPU is warming up"), ["warming up"])
    assert not is_transient(RuntimeError("401 while warming up"), ["warming up"])
    assert is_transient(AdapterError("warming up", status=418), ["WARMING"])
    assert not is_transient(AdapterError("warming up", status=403), ["warming"])


def test_waits_double_up_to_the_cap_and_carry_jitter() -> None:
    errors = [TimeoutError() for _ in range(7)]
    made, call = failing(*errors)
    waits = Waits()
    assert RetryPolicy(max_delay=10).run(call, wait=waits, jitter=lambda: 0.5) == "done"  # type: ignore[arg-type]
    assert waits.seconds == [1.25, 2.25, 4.25, 8.25, 10.25, 10.25, 10.25]
    assert len(made) == 8


def test_the_last_error_comes_out_with_the_number_of_attempts() -> None:
    errors = [TimeoutError(str(number)) for number in range(3)]
    _, call = failing(*errors)
    with pytest.raises(GaveUp) as raised:
        RetryPolicy(attempts=3).run(call, wait=Waits())  # type: ignore[arg-type]
    assert raised.value.error is errors[2] and raised.value.attempts == 3
    assert str(raised.value) == "TimeoutError: 2"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3)])
def test_what_is_not_transient_is_tried_once(error: BaseException) -> None:
    made, call = failing(error)
    waits = Waits()
    with pytest.raises(GaveUp) as raised:
        RetryPolicy().run(call, wait=waits)  # type: ignore[arg-type]
    assert (raised.value.error, raised.value.attempts, len(made), waits.seconds) == (error, 1, 1, [])


def test_an_interrupt_passes_through() -> None:
    _, call = failing(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        RetryPolicy().run(call, wait=Waits())  # type: ignore[arg-type]


def test_a_stopping_run_is_not_tried_again_and_stopped_is_no_failure() -> None:
    made, call = failing(TimeoutError(), TimeoutError())
    with pytest.raises(Stopped):
        RetryPolicy().run(call, wait=Waits(stop_at=1))  # type: ignore[arg-type]
    assert len(made) == 1
    _, call = failing(Stopped("stopping"))
    with pytest.raises(Stopped):
        RetryPolicy().run(call, wait=Waits())  # type: ignore[arg-type]


def test_the_wait_a_service_asks_for_is_kept_up_to_ten_minutes() -> None:
    policy = RetryPolicy(max_delay=5)

    def delay(error: BaseException, attempt: int = 1) -> float:
        return policy.delay(attempt, error, lambda: 0.0)

    assert delay(AdapterError("", retry_after=30)) == 30
    assert delay(AdapterError("", retry_after=0)) == 1
    assert delay(AdapterError("", retry_after=86400)) == 600
    assert delay(AdapterError("", retry_after=3), attempt=4) == 5
    response = httpx.Response(429, headers={"Retry-After": "17"}, request=REQUEST)
    assert delay(httpx.HTTPStatusError("", request=REQUEST, response=response)) == 17
    foreign = Exception()
    foreign.response = SimpleNamespace(headers={"Retry-After": "9"})  # type: ignore[attr-defined]
    assert delay(foreign) == 9


def test_each_retry_is_told() -> None:
    error = TimeoutError()
    _, call = failing(error)
    told: list[object] = []
    RetryPolicy().run(call, wait=Waits(), jitter=lambda: 0.0, on_retry=lambda *about: told.append(about))  # type: ignore[arg-type]
    assert told == [(error, 1, 1.0)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None), ("", None), ("soon", None), ("nan", None), ("inf", None), ("7", 7.0), (" 1.5 ", 1.5), ("-3", 0.0),
        ("Sun, 01 Nov 2026 12:00:30 GMT", 30.0), ("Sun, 01 Nov 2026 11:00:00 GMT", 0.0),
        ("Sun, 01 Nov 2026 12:01:00 -0000", 60.0), ("Sun, 99 Nov 2026 12:01:00 GMT", None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(text: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(text, datetime(2026, 11, 1, 12, tzinfo=UTC)) == seconds


def test_the_policy_comes_from_the_environment() -> None:
    assert RetryPolicy.from_environment({}) == RetryPolicy(8, 60.0, ())
    assert RetryPolicy.from_environment({"EVAL_MAX_RETRIES": " ", "EVAL_RETRY_MAX_DELAY": ""}) == RetryPolicy()
    said = {"EVAL_MAX_RETRIES": "3", "EVAL_RETRY_MAX_DELAY": "0.5"}
    assert RetryPolicy.from_environment(said, ["busy"]) == RetryPolicy(3, 0.5, ("busy",))


@pytest.mark.parametrize("name", ["EVAL_MAX_RETRIES", "EVAL_RETRY_MAX_DELAY"])
@pytest.mark.parametrize("value", ["many", "-1", "nan", "inf", "1e999", "٣x"])
def test_bad_values_of_the_environment_are_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        RetryPolicy.from_environment({name: value})
