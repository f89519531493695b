"""Foreign text as the catalog keeps it: bytes, so that NUL characters and lone surrogates survive in any database.

Promise: `to_bytes` and `to_text` are each other's opposite for every Python text. Text in a head is at most
`HEAD_TEXT_LIMIT` bytes: longer text is cut and ends in its digest, so that equal text stays equal and unequal unequal;
filters do the same to their values. The document itself is always whole. Ids are never cut: a long one is refused.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

__all__ = ["HEAD_TEXT_LIMIT", "head_text", "instant", "now_us", "rfc3339", "to_bytes", "to_text"]

HEAD_TEXT_LIMIT = 512
_MARK = "…sha256:"
_KEPT = HEAD_TEXT_LIMIT - len(_MARK.encode()) - 64


def to_bytes(text: str) -> bytes:
    """UTF-8, with lone surrogates passed through."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """The text that `to_bytes` was given."""
    return bytes(data).decode("utf-8", "surrogatepass")


def head_text(text: str) -> str:
    """A text as a head holds it."""
    if len(text) * 4 <= HEAD_TEXT_LIMIT:
        return text
    data = to_bytes(text)
    if len(data) <= HEAD_TEXT_LIMIT:
        return text
    return data[:_KEPT].decode("utf-8", "ignore") + _MARK + hashlib.sha256(data).hexdigest()


def now_us() -> int:
    """This instant, in microseconds since the epoch."""
    now = datetime.now(UTC)
    return int(now.timestamp()) * 1_000_000 + now.microsecond


def rfc3339(instant_us: int) -> str:
    """An instant as the wire writes it, UTC with `Z`."""
    seconds, micros = divmod(instant_us, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{micros:06d}Z"


def instant(text: str) -> int:
    """An RFC 3339 or ISO 8601 instant in microseconds; without an offset it is UTC. Raises ValueError."""
    value = datetime.fromisoformat(text)
    value = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return int(value.replace(microsecond=0).timestamp()) * 1_000_000 + value.microsecond
