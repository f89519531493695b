"""Calls that are tried again: when, how often, and after which wait.

Promise: only what looks transient is tried again, a sign of the opposite always wins, and no call is made more than
`attempts` times. What comes out in the end is the adapter's own exception inside `GaveUp`, which counts the attempts.
A run that is stopping is not kept waiting. `SystemExit` and `KeyboardInterrupt` are never tried again.
Policy
    Eight attempts, waits of 1, 2, 4, … seconds up to a minute, each with up to half a second on top so that calls that
    failed together don't come back together. A service that names its wait (`Retry-After`) gets at least that much, up
    to ten minutes: beyond, the answer is a refusal in all but name, and waiting on would look like a hang.
    The lists of signs below.
When it breaks: a run stops at the first failed call, and is resumable.
"""

from __future__ import annotations

import http.client
import random
import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, NoReturn, TypeVar

import msgspec

from evh.errors import EvhError, UsageError, cut
from evh.harness.adapters.errors import AdapterError, Stopped, retry_after_seconds

__all__ = ["GaveUp", "RetryPolicy", "Stopped", "is_transient"]

ATTEMPTS = 8
MAX_DELAY = 60.0
JITTER = 0.5
LONGEST_ASKED = 600.0

TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
FATAL_STATUS = frozenset({400, 401, 402, 403, 404, 405, 410, 413, 414, 415, 422, 431, 501})
ENDING_SIGNS = (
    "context length", "context_length", "maximum context", "context window", "insufficient_quota",
    "insufficient quota", "insufficient credits", "billing",
)  # fmt: skip
"""Beat a transient status too: some services answer 429 when the money is gone."""
FATAL_SIGNS = (
    "unauthorized", "forbidden", "invalid api key", "incorrect api key", "invalid_api_key", "authentication",
    "permission denied", "not found", "does not exist", "content_policy", "content policy", "invalid request",
    "invalid_request", "bad request",
)  # fmt: skip
TRANSIENT_SIGNS = (
    "rate limit", "rate_limit", "ratelimit", "too many requests", "overloaded", "over capacity", "at capacity",
    "timeout", "timed out", "temporar", "try again", "service unavailable", "bad gateway", "internal server error",
    "connection reset", "connection refused", "connection aborted", "connection error", "remote end closed",
    "server disconnected", "incomplete chunked read", "broken pipe",
)  # fmt: skip
LASTING = (FileNotFoundError, PermissionError, NotImplementedError)
PASSING = (TimeoutError, ConnectionError, http.client.IncompleteRead, http.client.BadStatusLine)
# By name: these libraries may be absent, and are not worth loading only to be compared with.
PASSING_NAMES = frozenset(
    {"TransportError", "ConnectionError", "Timeout", "APIConnectionError", "ClientConnectionError"}
)
LASTING_NAMES = frozenset({"UnsupportedProtocol", "LocalProtocolError"})
NUMBER = re.compile(r"(?<![\w.,/-])(?<!\.py:)(?<!line )[1-5]\d\d(?![\w/-]|[.,]\d)")

T = TypeVar("T")


class GaveUp(EvhError):
    """The last attempt failed too, or trying again was no use: `error` is what the call raised."""

    def __init__(self, error: BaseException, attempts: int) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error
        self.attempts = attempts


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often a call is made and how long it waits in between; `markers` are an adapter's own transient signs."""

    attempts: int = ATTEMPTS
    max_delay: float = MAX_DELAY
    markers: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], markers: Iterable[str] = ()) -> RetryPolicy:
        """The policy of `EVAL_MAX_RETRIES` (attempts in all, 1 or more) and `EVAL_RETRY_MAX_DELAY` (seconds).

        Empty is unset. Raises UsageError for a value that makes no sense.
        """
        attempts, delay = ATTEMPTS, MAX_DELAY
        if text := environ.get("EVAL_MAX_RETRIES", "").strip():
            if not text.isascii() or not text.isdigit() or int(text[:9]) < 1 or len(text) > 9:
                raise UsageError(f"EVAL_MAX_RETRIES is a number of attempts, 1 or more, not {cut(text)}")
            attempts = int(text)
        if text := environ.get("EVAL_RETRY_MAX_DELAY", "").strip():
            try:
                delay = float(text)
            except ValueError:
                delay = -1.0
            if not isfinite(delay) or delay < 0:
                raise UsageError(f"EVAL_RETRY_MAX_DELAY is a number of seconds, 0 or more, not {cut(text)}")
        return cls(attempts, delay, tuple(markers))

    def delay(self, attempt: int, error: BaseException, jitter: Callable[[], float] = random.random) -> float:
        """Seconds to wait after the failed attempt of that number, counted from 1."""
        usual = min(self.max_delay, 2.0 ** min(attempt - 1, 60))
        asked = min(_retry_after(error) or 0.0, LONGEST_ASKED)
        return max(usual, asked) + JITTER * jitter()

    def run(
        self,
        call: Callable[[], T],
        *,
        wait: Callable[[float], bool],
        jitter: Callable[[], float] = random.random,
        on_retry: Callable[[BaseException, int, float], None] | None = None,
    ) -> T:
        """What `call` returns, tried again as the policy says.

        `wait(seconds)` sleeps and returns True as soon as the run is stopping: then `Stopped` is raised. `on_retry` is
        told the error, the attempt's number and the seconds before each wait. Raises GaveUp with the call's exception.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return call()
            except Stopped:
                raise
            except SystemExit as error:
                _give_up(error, attempt)
            except Exception as error:
                if attempt >= self.attempts or not is_transient(error, self.markers):
                    _give_up(error, attempt)
                seconds = self.delay(attempt, error, jitter)
                if on_retry is not None:
                    on_retry(error, attempt, seconds)
            if wait(seconds):
                raise Stopped("the run is stopping: the call was not tried again")


def is_transient(error: BaseException, markers: Iterable[str] = ()) -> bool:
    """Whether the same call may succeed later. Fatal signs beat transient ones, the adapter's `markers` included.

    Asked in this order: an `AdapterError` that says so itself; signs that the money or the context is used up; the
    HTTP status, when the exception carries one; fatal signs in the text; the exception's type; transient signs in the
    text. A status in the text counts as a whole number only: 5000 is not 500. Errors of ours about data or settings
    never pass by themselves.
    """
    if not isinstance(error, Exception):
        return False
    if isinstance(error, AdapterError) and error.transient is not None:
        return error.transient
    if isinstance(error, EvhError) and not isinstance(error, AdapterError):
        return False
    text = (error.message if isinstance(error, EvhError) else str(error)).lower()
    own = any(marker.lower() in text for marker in markers if marker)
    status = _status(error)
    if any(sign in text for sign in ENDING_SIGNS):
        return False
    if status is not None:
        return status in TRANSIENT_STATUS or (own and status not in FATAL_STATUS)
    codes = {int(found) for found in NUMBER.findall(text)}
    if codes & FATAL_STATUS or any(sign in text for sign in FATAL_SIGNS):
        return False
    names = {each.__name__ for each in type(error).__mro__}
    if isinstance(error, LASTING) or names & LASTING_NAMES:
        return False
    if isinstance(error, PASSING) or names & PASSING_NAMES:
        return True
    return own or bool(codes & TRANSIENT_STATUS) or any(sign in text for sign in TRANSIENT_SIGNS)


def _give_up(error: BaseException, attempts: int) -> NoReturn:
    raise GaveUp(error, attempts) from error


def _status(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, under the names that the usual clients give it."""
    response = getattr(error, "response", None)
    for holder, name in ((error, "status"), (error, "status_code"), (response, "status_code"), (response, "status")):
        found: Any = getattr(holder, name, None)
        if isinstance(found, int) and not isinstance(found, bool) and 100 <= found < 600:
            return int(found)
    return None


def _retry_after(error: BaseException) -> float | None:
    found: Any = getattr(error, "retry_after", None)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return max(0.0, float(found)) if isfinite(found) else None
    for holder in (getattr(error, "response", None), error):
        headers = getattr(holder, "headers", None)
        if headers is not None and callable(getattr(headers, "get", None)):
            text = headers.get("retry-after") or headers.get("Retry-After")
            if isinstance(text, str):
                return retry_after_seconds(text)
    return None
