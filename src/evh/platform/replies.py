"""The errors of answers: a status and a body become one of the platform's exceptions.

Promise: what the service says is in the message, cut to a few lines, and in `.status` and `.code`; the secrets of the
call are not, even where the service repeats them. The body may be `{"error": {"code", "message"}}`, FastAPI's
`{"detail": …}`, or anything at all.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from evh.errors import (
    Conflict,
    Forbidden,
    NotFound,
    PaymentRequired,
    PlatformError,
    Refused,
    Retryable,
    ServiceNotEnabled,
    Unauthorized,
)
from evh.platform.call import Answer, Call

__all__ = ["error_of", "is_retryable"]

MASK = "***"
SHOWN = 500
LOOKED_AT = 65_536
ADVICE = {
    401: "check PRIME_API_KEY",
    402: "the account has to pay first",
    403: "the key may lack a scope",
}
CLASSES: dict[int, type[PlatformError]] = {
    400: Refused,
    401: Unauthorized,
    402: PaymentRequired,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Refused,
    422: Refused,
}
CODED: dict[str, type[PlatformError]] = {"service_not_enabled": ServiceNotEnabled, "trace_not_indexed": Retryable}
"""Codes that say more than the status. A trace that is not indexed yet will be."""
NEVER = frozenset({501, 505})


def is_retryable(status: int) -> bool:
    """Whether a status says that a later try may succeed."""
    return status in (408, 429) or (status >= 500 and status not in NEVER)


def error_of(
    call: Call[object], answer: Answer, *, at: str, retry_after: float | None = None, secrets: tuple[str, ...] = ()
) -> PlatformError:
    """The exception of an answer that is no success."""
    code, said = _said(answer.body)
    said = _clean(said, secrets)
    code = None if code is not None and any(secret and secret in code for secret in secrets) else code
    kind = CLASSES.get(answer.status, Retryable if is_retryable(answer.status) else PlatformError)
    kind = CODED.get(code or "", kind) if answer.status in (403, 409) else kind
    if 300 <= answer.status < 400:
        said = said or "the address has moved: set it to where the service is now"
    parts = [f"HTTP {answer.status}", *([code] if code else [])]
    text = f"{call.what}: {' '.join(parts)}"
    hint = said or ADVICE.get(answer.status, "")
    if answer.status == 401:
        hint = f"{said}; {ADVICE[401]}" if said else ADVICE[401]
    text += f": {hint}" if hint else ""
    return kind(f"{text} ({call.method} {call.path} at {at})", status=answer.status, code=code, retry_after=retry_after)


def _said(body: bytes) -> tuple[str | None, str]:
    """The code and the message of a body."""
    try:
        document: Any = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None, body[:LOOKED_AT].decode("utf-8", "replace")
    if isinstance(document, dict):
        error = document.get("error")
        if isinstance(error, dict):
            code, message = error.get("code"), error.get("message")
            code = code if isinstance(code, str) and re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", code) else None
            return code, message if isinstance(message, str) else ""
        for member in (document.get("detail"), error, document.get("message")):
            if member:
                return None, member if isinstance(member, str) else msgspec.json.encode(member).decode()
    return None, body[:LOOKED_AT].decode("utf-8", "replace")


def _clean(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
