"""What the service refuses, with the status and the code that the wire has for it.

Promise: every refusal of the storage half is a `ServerFault`; `code` is one of the table in the platform's wire, or the
service's own where that has none (`internal_error`, `conflict`, `insufficient_scope` are not used for what has a name).
Policy: the text is for people and may change; status, code and `retry_after` may not.
"""

from __future__ import annotations

from evh.errors import EvhError

__all__ = ["ServerFault", "conflict", "not_found", "refused", "retry_later"]

RETRY_SECONDS = 5.0


class ServerFault(EvhError):
    """A request that is not carried out. `status` is HTTP's, `code` the wire's, `retry_after` seconds or None.

    `line` is the number of the line at fault within an upload, from 1.
    """

    def __init__(
        self, status: int, code: str, message: str, *, retry_after: float | None = None, line: int | None = None
    ) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.line = None
        self.upload_line = line


def refused(code: str, message: str, *, line: int | None = None) -> ServerFault:
    """A fault of the request itself: it fails the same way again."""
    return ServerFault(400, code, message, line=line)


def not_found(kind: str, name: str) -> ServerFault:
    """Nothing of that name within the project; what other projects hold is not told apart from what is nowhere."""
    return ServerFault(404, f"{kind}_not_found", f"there is no {kind} {name!r} in this project")


def conflict(code: str, message: str) -> ServerFault:
    """The request contradicts what is stored."""
    return ServerFault(409, code, message)


def retry_later(code: str, message: str, *, status: int = 503, after: float = RETRY_SECONDS) -> ServerFault:
    """Nothing was stored, and the same request may work later."""
    return ServerFault(status, code, message, retry_after=after)
