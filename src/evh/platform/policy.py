"""What to do after a try: done, wait and try again, or give up. It does no input or output and no waiting.

Promise
    A call that may be sent again is, after 408, 429, 5xx and after no answer, `tries` times in all.
    A call that must not be sent twice is sent again only when it certainly was not done: it never reached a service,
    429, or a 503 with a code of the service. Every other failure of that kind is `Ambiguous`.
    The pause is what `Retry-After` says (seconds or a date), 60 s at most; else 1, 2, 4 … s, 30 at most, times a random
    factor between 0.5 and 1.5.
Policy
    The numbers. The clock and the dice are arguments, so that tests need neither.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite

from evh.errors import Ambiguous, PlatformError, Retryable, TransportFault
from evh.platform.call import Answer, Call, NoAnswer
from evh.platform.replies import error_of, is_retryable

__all__ = ["Policy", "retry_after"]

LONGEST_ASKED = 60.0
FIRST, LONGEST = 1.0, 30.0
JITTER = (0.5, 1.5)


@dataclass(frozen=True)
class Policy:
    """`tries`, when given, is the number of tries of every call. `now` is the time in seconds since 1970."""

    tries: int | None = None
    now: Callable[[], float] = time.time
    uniform: Callable[[float, float], float] = random.uniform

    def after(
        self, call: Call[object], tried: int, outcome: Answer | NoAnswer, *, at: str = "", secrets: tuple[str, ...] = ()
    ) -> float | None:
        """After try number `tried`, counted from 1: None when it succeeded, else the seconds to wait before the next.

        Raises the `PlatformError` of a call that is given up. `at` is the address for its message, and none of the
        `secrets` gets into it.
        """
        if isinstance(outcome, Answer) and 200 <= outcome.status < 300:
            return None
        error = self._error(call, outcome, at, secrets)
        if not isinstance(error, Retryable | TransportFault):
            raise error
        if not call.again and not _was_not_done(outcome, error):
            raise Ambiguous(
                f"{error.message}; it may have been done all the same: ask before sending it again",
                status=error.status,
                code=error.code,
                retry_after=error.retry_after,
            )
        if tried >= (self.tries or call.tries):
            raise error
        if error.retry_after is not None:
            return error.retry_after
        return min(FIRST * 2.0 ** min(tried - 1, 16), LONGEST) * self.uniform(*JITTER)

    def _error(
        self, call: Call[object], outcome: Answer | NoAnswer, at: str, secrets: tuple[str, ...]
    ) -> PlatformError:
        if isinstance(outcome, NoAnswer):
            return TransportFault(f"{call.what}: {outcome.why} ({call.method} {call.path} at {at})")
        wait = retry_after(outcome.headers, self.now()) if is_retryable(outcome.status) else None
        return error_of(call, outcome, at=at, retry_after=wait, secrets=secrets)


def _was_not_done(outcome: Answer | NoAnswer, error: PlatformError) -> bool:
    """Whether a failed call certainly changed nothing. A 503 without a code may come from a gateway that had passed
    the call on."""
    if isinstance(outcome, NoAnswer):
        return not outcome.reached
    return outcome.status == 429 or (outcome.status == 503 and error.code is not None)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that an answer asks to wait, 60 at most; None when it does not ask in a form that is known."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
        except (TypeError, ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_ASKED) if isfinite(seconds) else None
