"""Every exception and every finding that crosses a public function of `evh`.

Promise: no public function lets another library's exception through for a fault that data or a user can cause.
Policy: wording may change between releases; classes, attributes and keywords may not.

    EvhError
    ├─ DecodeError       the bytes are not JSON (or MessagePack), not UTF-8, or nested too deeply
    ├─ SchemaError       the document breaks its schema; `.violations` lists every break
    │  └─ NotWritable    the same, raised by a writer: nothing was written
    ├─ RecordError       a rule that a schema cannot say is broken (message graph, derived chain)
    ├─ SourceError       a file, stream or folder cannot be read or is not what it should be
    ├─ WriteError        the disk refused; says what is durable
    │  └─ LockedError    another process is writing this file
    ├─ UsageError        an argument makes no sense (unknown type, target, mode)
    ├─ RunFinishedError  a live run was written to after its end
    └─ PlatformError     a platform, or the way to it, did not do what it was asked; `.status`, `.code`, `.retry_after`
       ├─ Unauthorized       401: the key is not taken
       ├─ PaymentRequired    402
       ├─ Forbidden          403: the key may not do this
       │  └─ ServiceNotEnabled  the account has no such service
       ├─ NotFound           404
       ├─ Refused            400, 413, 422: the record's or the request's fault; sent again, refused again
       │  └─ Conflict        409: what is asked for is at odds with what the platform has
       ├─ Retryable          408, 429, 5xx: later it may work; nothing was changed, or sending it again is harmless
       ├─ TransportFault     no answer at all
       └─ Ambiguous          a call that must not be sent twice, and nobody knows whether it was done: ask first
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = [
    "Ambiguous",
    "Conflict",
    "DecodeError",
    "EvhError",
    "Forbidden",
    "LockedError",
    "NotFound",
    "NotWritable",
    "Notice",
    "PaymentRequired",
    "PlatformError",
    "RecordError",
    "Refused",
    "Retryable",
    "RunFinishedError",
    "SchemaError",
    "ServiceNotEnabled",
    "SourceError",
    "TransportFault",
    "Unauthorized",
    "UsageError",
    "Violation",
    "WriteError",
]

SHOWN_VIOLATIONS = 20
SHOWN_CHARACTERS = 60


class Violation(NamedTuple):
    """One break of a schema or of a rule.

    `pointer` is an RFC 6901 JSON Pointer into the document, `keyword` the JSON Schema keyword or the rule that was
    broken, `message` what was expected with values cut short, `schema_pointer` where the schema says so.
    """

    pointer: str
    keyword: str
    message: str
    schema_pointer: str = ""

    def __str__(self) -> str:
        return f"{self.pointer or '(root)'}: {self.message} [{self.keyword}]"


class Notice(NamedTuple):
    """Something a forgiving reader did or saw that is not an error.

    `kind` is one of `retired`, `unknown`, `unknown-tag`, `non-finite`, `surrogate`, `wire-only`, `bom`, `crlf`,
    `blank`, `torn`, `no-final-newline`, `duplicate-key`, `big-integer`, `depth`, `type`, `empty`, `filled-in`, `time`
    (an offset from UTC), `count` (a record and its rows disagree), `config-file` (passed over); `value` is the member
    or token concerned, where there is one.
    """

    kind: str
    pointer: str
    message: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.pointer or '(root)'}: {self.message} [{self.kind}]"


class EvhError(Exception):
    """The root of the tree. `source` and `line` say where the data came from, when that is known."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line

    def at(self, source: str | None, line: int | None) -> EvhError:
        """Note where the data came from, unless that is known already; returns itself, for `raise error.at(...)`."""
        self.source = self.source if self.source is not None else source
        self.line = self.line if self.line is not None else line
        return self

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class DecodeError(EvhError):
    """The bytes are not a document: `offset` is the byte where reading failed, when that is known."""

    def __init__(
        self,
        message: str,
        *,
        offset: int | None = None,
        pointer: str | None = None,
        source: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, source=source, line=line)
        self.offset = offset
        self.pointer = pointer


class SchemaError(EvhError):
    """A document breaks the schema of `root`. The text shows at most twenty violations, `.violations` has them all."""

    def __init__(
        self, root: str, violations: Iterable[Violation], *, source: str | None = None, line: int | None = None
    ) -> None:
        self.root = root
        self.violations = tuple(violations)
        super().__init__(self._text(), source=source, line=line)

    def _text(self) -> str:
        count = len(self.violations)
        if count == 1:
            return f"not a valid {self.root}: {self.violations[0]}"
        lines = [f"not a valid {self.root}: {count} violations"]
        lines += [f"  {violation}" for violation in self.violations[:SHOWN_VIOLATIONS]]
        if count > SHOWN_VIOLATIONS:
            lines.append(f"  … and {count - SHOWN_VIOLATIONS} more")
        return "\n".join(lines)


class NotWritable(SchemaError):
    """A record that a writer refused: its schema or a rule of writing (finite numbers, say) is broken."""

    def _text(self) -> str:
        return "refused to write what strict readers would refuse: " + super()._text()


class RecordError(EvhError):
    """A rule that no schema can say is broken: `pointer` names the place in the record."""

    def __init__(self, message: str, *, pointer: str = "", source: str | None = None, line: int | None = None) -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message, source=source, line=line)
        self.pointer = pointer


class SourceError(EvhError):
    """A file, stream or folder cannot be read, or is not of the kind that was asked for."""


class WriteError(EvhError):
    """The disk refused a write. The message says what stayed durable and what to do."""


class LockedError(WriteError):
    """Another process holds the file or run directory. The message names it when it is known."""


class UsageError(EvhError):
    """An argument that makes no sense: the message lists what would."""


class RunFinishedError(EvhError):
    """A live run was written to after its end. What was logged before is in it; open another run."""


class PlatformError(EvhError):
    """A platform, or the way to it, did not do what it was asked.

    `status` is the HTTP status and `code` the service's own code, where there was an answer with one; `retry_after`
    the seconds that the service asked to wait. No message holds a key.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        source: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, source=source, line=line)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class Unauthorized(PlatformError):
    """The platform does not take the key, or there is none (401)."""


class PaymentRequired(PlatformError):
    """The account has to pay first (402)."""


class Forbidden(PlatformError):
    """The key is taken and may not do this (403): the message names the scope that it lacks."""


class ServiceNotEnabled(Forbidden):
    """The account has no such service (403): another key does not help."""


class NotFound(PlatformError):
    """The platform has no such thing, or does not show it to this key (404)."""


class Refused(PlatformError):
    """The record or the request is at fault (400, 413, 422): sent again as it is, it is refused again."""


class Conflict(Refused):
    """What was asked for is at odds with what the platform has (409): a closed run, another body under the same key."""


class Retryable(PlatformError):
    """The platform cannot do it now (408, 429, 5xx). The call was sent as often as the policy allows."""


class TransportFault(PlatformError):
    """There was no answer: no connection, a time-out, an answer cut short."""


class Ambiguous(PlatformError):
    """A call that must not be sent twice got no clear answer: it may have been done. Ask the platform before anything
    else."""


def cut(value: object, limit: int = SHOWN_CHARACTERS) -> str:
    """A value as it may be shown in a message: its `repr`, at most `limit` characters long.

    Whole documents never reach a message: they may be huge and may hold secrets.
    """
    if isinstance(value, dict):
        return f"an object with {len(value)} members"
    if isinstance(value, list | tuple):
        return f"an array of {len(value)} items"
    if isinstance(value, str) and len(value) > limit:
        return f"{value[: limit - 1]!r}…"
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def pointer(*parts: str | int) -> str:
    """An RFC 6901 JSON Pointer from its unescaped parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
