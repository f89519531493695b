"""Calls of the platform as values: what is sent, how its answer is read, and whether it may be sent twice.

Promise: a `Call` does no input or output, so that one description serves the blocking and the async client alike.
`Paged` is a listing, page by page; `Steps` are calls that depend on each other's answers (ask, then create), written
as a generator that is given each answer, or the `PlatformError` in its place.
When it breaks: an argument that cannot be sent is a `UsageError`, before anything is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from evh.errors import EvhError, PlatformError, UsageError, cut
from evh.protocol.codec import decode, encode
from evh.protocol.jsontext import dumps

__all__ = [
    "Answer",
    "Call",
    "NoAnswer",
    "Paged",
    "Steps",
    "get",
    "query",
    "reading",
    "segment",
    "sending",
    "with_members",
]

T = TypeVar("T")
P = TypeVar("P")
I = TypeVar("I")  # noqa: E741 - the items of a page

GET_TRIES = 3
SEND_TRIES = 5
JSON = "application/json"


class Answer(NamedTuple):
    """What came back: the status, the headers under lower-case names, the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(NamedTuple):
    """Nothing came back, or not all of it. `reached` is false when the request certainly did not reach a service."""

    why: str
    reached: bool


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, `method` and `path` below the API's root, and how its answer is read.

    `what` says for messages what it is to do ("open the evaluation"). `again` is true when it may be sent again though
    nobody knows whether it was done; `tries` is how often it is sent at most. `service` is `platform` or `traces`, or
    `storage` for an address that stands for itself in `url` and is a secret.
    """

    what: str
    method: str
    path: str
    read: Callable[[Answer], T]
    params: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    again: bool = True
    tries: int = GET_TRIES
    timeout: float = 120.0
    service: str = "platform"
    url: str = ""

    def __repr__(self) -> str:
        return f"Call({self.method} {self.path})"

    def with_params(self, *pairs: tuple[str, str]) -> Call[T]:
        """The same call with other values of these parameters."""
        names = {name for name, _ in pairs}
        return replace(self, params=(*(each for each in self.params if each[0] not in names), *pairs))


@dataclass(frozen=True)
class Paged(Generic[P, I]):
    """A listing: its first page, the items of a page, and the call of the page after it (None after the last)."""

    first: Call[P]
    items: Callable[[P], list[I]]
    following: Callable[[P], Call[P] | None]


Steps = Generator[Call[Any], Any, T]


def reading(kind: type[T], what: str, *needed: str) -> Callable[[Answer], T]:
    """A reader of answers that are a document of a type, members that we do not know included; the `needed` ones have
    to be there."""

    def read(answer: Answer) -> T:
        try:
            found = decode(answer.body or b"{}", kind)
        except EvhError as error:
            raise PlatformError(
                f"{what}: the answer (HTTP {answer.status}) is no {kind.__name__}: is this the platform?",
                status=answer.status,
            ) from error
        return with_members(found, what, answer, *needed)

    return read


def with_members(record: T, what: str, answer: Answer, *needed: str) -> T:
    """The record of an answer, when it has these members."""
    members = record if isinstance(record, Mapping) else {}
    missing = [name for name in needed if not members.get(name)]
    if missing:
        raise PlatformError(f"{what}: the answer lacks {', '.join(missing)}", status=answer.status)
    return record


def get(
    what: str, path: str, kind: type[T], params: tuple[tuple[str, str], ...] = (), *, service: str = "platform"
) -> Call[T]:
    """A GET of a document."""
    return Call(what, "GET", path, reading(kind, what), params, service=service)


def sending(
    what: str, method: str, path: str, body: Any, read: Callable[[Answer], T], *, again: bool, timeout: float = 120.0
) -> Call[T]:
    """A call with a JSON body: a record, checked against its schema, or a plain value."""
    data = dumps(body) if isinstance(body, dict | list) else encode(body)
    headers = (("Content-Type", JSON),)
    return Call(what, method, path, read, (), headers, data, again=again, tries=SEND_TRIES, timeout=timeout)


def query(pairs: Iterable[tuple[str, Any]], context: Mapping[str, str] | None = None) -> tuple[tuple[str, str], ...]:
    """Query parameters as text: None left out, a list repeated, `context` as `context.<key>`."""
    made: list[tuple[str, str]] = []
    for name, value in pairs:
        values = value if isinstance(value, list | tuple | set | frozenset) else (value,)
        made += [(name, _text(name, each)) for each in values if each is not None]
    made += [(f"context.{key}", _text(f"context.{key}", value)) for key, value in (context or {}).items()]
    return tuple(made)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise UsageError(f"{name} is {cut(value)}: a filter is a text, a number, or true or false")


def segment(name: str, value: str) -> str:
    """An id as one segment of a path.

    A `/` is refused, because services take an escaped one for a separator; `.` and `..` are escaped, because clients
    take them out of a path.
    """
    if not isinstance(value, str) or not value or "/" in value:
        raise UsageError(f"{name} is {cut(value)}: an id in an address is a text without '/'")
    try:
        escaped = quote(value, safe="")
    except UnicodeEncodeError as error:
        raise UsageError(f"{name} is {cut(value)}: an id in an address has no lone surrogates") from error
    return escaped.replace(".", "%2E") if escaped in (".", "..") else escaped
