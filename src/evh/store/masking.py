"""Masking: no credential reaches a run directory.

Promise
    What stands in a secret table (an object named `headers`, `env` or the like, wherever it is) is replaced by `***`,
    whatever its key and type. The same texts, 8 characters or longer, are replaced wherever they recur in anything that
    is written: prompts, outputs, errors, tracebacks, names of members; so are numbers of 8 digits or more that recur as
    numbers, and what a message that was cut short leaves of a text (8 characters or more in front of an ellipsis). So
    are values that the caller names, such as the key that an adapter reads from a variable. Of `Bearer abc…` the part
    behind the scheme counts as well. Texts that overlap are replaced as one.
    What a document taught (`knowing`) counts for that document alone. Masking changes a copy, never what it was given,
    takes time linear in the text, and never fails.

Policy
    The names of the tables: those that a schema marks `x-secret`, and what clients call the same things. Headers that
    every reply has (`Content-Type`, `Date`, …) are masked in their table and not looked for elsewhere: `gzip, deflate`
    is no secret. Texts shorter than 8 characters are masked in their table only: anywhere else they would be words.
    A name that the schemas declare stays what it is. Of members whose masked names are the same each is kept.
    Forms of a value that are not its text (its base64, a hash) are not recognized.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evh.protocol.jsontext import dumps
from evh.protocol.tables import CLASSES

__all__ = ["MASK", "SECRET_TABLES", "Masker", "is_secret_table", "tables_in"]

MASK = "***"
SECRET_TABLES = frozenset(
    {
        "headers", "extra_headers", "default_headers", "request_headers", "env", "environ", "environment",
        "verifier_env", "secrets", "credentials", "cookies",
    }
)  # fmt: skip
PUBLIC_HEADERS = frozenset(
    {
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age",
        "alt-svc", "cache-control", "connection", "content-disposition", "content-encoding", "content-language",
        "content-length", "content-type", "date", "etag", "expires", "host", "keep-alive", "last-modified", "origin",
        "pragma", "referrer-policy", "retry-after", "server", "strict-transport-security", "te", "trailer",
        "transfer-encoding", "upgrade", "user-agent", "vary", "via", "x-content-type-options", "x-frame-options",
    }
)  # fmt: skip
DECLARED = frozenset(name for table in CLASSES.values() for name in table.members)
LEAST = 8
SCHEMES = ("bearer ", "basic ", "token ", "apikey ", "api-key ")
ELLIPSIS = "…"
_CUT = re.compile(rf"(?<=[^{ELLIPSIS}]{{{LEAST}}})['\"]?{ELLIPSIS}")
_TABLE = re.compile(r'":(?<=[sStTvVnN]":)[\[{](?![\]}])')
"""Where a table that is not empty begins, behind a name that may be one of `SECRET_TABLES`: they end in these letters.
A pattern that begins with a fixed text is found several times as fast as the name itself."""
_LONGEST_NAME = max(map(len, SECRET_TABLES))


class Masker:
    """The texts that a run must not write, and the way to leave them out."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: tuple[str, ...] = ()
        self._spelled: tuple[bytes, ...] = ()
        self._numbers: frozenset[int | float] = frozenset()
        self._guard = threading.Lock()
        self.add(values)

    @property
    def values(self) -> tuple[str, ...]:
        """The texts that were learned, to teach them to a masker in another process."""
        return self._values

    def add(self, values: Iterable[str]) -> None:
        """Learn texts to mask; those shorter than 8 characters are passed over."""
        with self._guard:  # threads learn at the same time; none may lose what another found
            self._take(values)

    def learn(self, document: Any) -> None:
        """Learn the values of the secret tables of a JSON value."""
        with self._guard:
            self._take(_table_values(document))

    def knowing(self, document: Any) -> Masker:
        """A masker that also knows the secret tables of a JSON value. This one learns nothing of it: what one row
        taught must not change how the next is written, or a run that was resumed would not be the one undisturbed."""
        made = Masker()
        with self._guard:
            made._values, made._spelled, made._numbers = self._values, self._spelled, self._numbers
        made._take(_table_values(document))
        return made

    def texts_only(self) -> Masker:
        """A masker that leaves numbers as they are."""
        made = self.knowing(None)
        made._numbers = frozenset()
        return made

    def text(self, text: str) -> str:
        """A text without what was learned."""
        spans = [span for value in self._values if value in text for span in _places(text, value)]
        if ELLIPSIS in text and (begun := [value for value in self._values if value[:LEAST] in text]):
            spans += _cut_short(text, begun)
        if not spans:
            return text
        spans.sort()
        pieces, at = [], 0
        start, end = spans[0]
        for begins, ends in spans:
            if begins > end:
                pieces += [text[at:start], MASK]
                at, start = end, begins
            end = max(end, ends)
        return "".join([*pieces, text[at:start], MASK, text[end:]])

    def touches(self, line: bytes) -> bool:
        """Whether a line of JSON, as this package writes it, may hold what was learned."""
        if any(spelled in line for spelled in self._spelled):
            return True
        if line.isascii() or not self._values:
            return False
        return ELLIPSIS.encode() in line and any(dumps(value[:LEAST])[1:-1] in line for value in self._values)

    def value(self, document: Any) -> Any:
        """A JSON value with its secret tables masked and without what was learned: a copy where anything changed."""
        if isinstance(document, str):
            return self.text(document)
        if isinstance(document, Mapping):
            return self._members(document, blank=False)
        if isinstance(document, list | tuple):
            return [self.value(item) for item in document]
        if type(document) in (int, float) and document in self._numbers:
            return MASK
        return document

    def names(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """An object whose names are masked; its values are as they were."""
        return dict(zip(self._names(members), members.values(), strict=True))

    def _members(self, members: Mapping[Any, Any], *, blank: bool) -> dict[Any, Any]:
        values = [
            self._blanked(value) if blank or is_secret_table(key, value) else self.value(value)
            for key, value in members.items()
        ]
        return dict(zip(self._names(members), values, strict=True))

    def _names(self, members: Iterable[Any]) -> list[Any]:
        """The names of an object, masked; of those that become the same, each stays a member."""
        names: dict[Any, None] = {}
        for key in members:
            name = masked = self.text(key) if isinstance(key, str) and key not in DECLARED else key
            number = 1
            while name in names:
                number += 1
                name = f"{masked}-{number}"
            names[name] = None
        return list(names)

    def _blanked(self, node: Any) -> Any:
        if isinstance(node, Mapping):
            return self._members(node, blank=True)
        if isinstance(node, list | tuple):
            return [self._blanked(item) for item in node]
        return node if node is None else MASK

    def _take(self, values: Iterable[str | int | float]) -> None:
        values = tuple(values)
        if not values:
            return
        known, new, numbers = set(self._values), list[str](), set[int | float]()
        for value in values:
            parts = _parts(value) if isinstance(value, str) else _spellings(value)
            for part in parts:
                if len(part) >= LEAST and part != MASK and part not in known:
                    known.add(part)
                    new.append(part)
            if not isinstance(value, str) and sum(map(str.isdigit, str(value))) >= LEAST:
                numbers.add(value)
        if new or numbers:
            self._values += tuple(new)
            self._spelled += tuple(dumps(value)[1:-1] for value in new)
            self._numbers |= numbers


def is_secret_table(key: Any, value: Any) -> bool:
    """Whether a member is a table of secrets: by its name, and by holding anything at all."""
    return isinstance(key, str) and key.lower() in SECRET_TABLES and isinstance(value, Mapping | list | tuple)


def tables_in(text: str) -> Iterator[tuple[str, int]]:
    """The secret tables in a JSON text that this package wrote, found without parsing it, empty ones left out: the name
    of each, and where its value begins."""
    for opened in _TABLE.finditer(text):
        at = opened.start()
        name = text[max(0, at - _LONGEST_NAME - 1) : at].rpartition('"')[2]
        if name.lower() in SECRET_TABLES:
            yield name, opened.end() - 1


def _places(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Where a value stands in a text, places that overlap included: what one occurrence leaves of the next would be a
    part of it."""
    length, period = len(value), _period(value)
    chain = None
    if period * 2 <= length:  # `abababab`: a long run of it is one place, found in one step
        chain = re.compile(f"{re.escape(value)}(?:{re.escape(value[-period:])})*")
    at = text.find(value)
    while at >= 0:
        run = None if chain is None else chain.match(text, at)
        end = at + length if run is None else run.end()
        yield at, end
        at = text.find(value, end - length + period)


def _cut_short(text: str, values: list[str]) -> Iterator[tuple[int, int]]:
    """Where a text that was cut off in front of an ellipsis (and perhaps a closing quote) ends with the beginning of a
    value."""
    heads = [(value, value[:LEAST], len(value) - 1) for value in values]
    for found in _CUT.finditer(text):
        end = found.start()
        for value, head, longest in heads:
            at = text.find(head, max(0, end - longest), end)
            while at >= 0 and not value.startswith(text[at:end]):
                at = text.find(head, at + 1, end)
            if at >= 0:
                yield at, end


def _period(text: str) -> int:
    """The least distance at which a text can overlap itself; its length when it cannot."""
    borders, border = [0], 0
    for char in text[1:]:
        while border and text[border] != char:
            border = borders[border - 1]
        border += text[border] == char
        borders.append(border)
    return len(text) - border


def _table_values(document: Any) -> Iterator[str | int | float]:
    stack: list[tuple[Any, bool, bool]] = [(document, False, False)]  # value, in a table, in one of headers
    while stack:
        node, secret, headers = stack.pop()
        if isinstance(node, Mapping):
            for key, value in node.items():
                if headers and _is_public(key):
                    continue
                opens = is_secret_table(key, value)
                stack.append((value, secret or opens, headers or (opens and "header" in key.lower())))
        elif isinstance(node, list | tuple):
            if headers and len(node) == 2 and _is_public(node[0]):
                continue  # a pair of name and value
            stack.extend((item, secret, headers) for item in node)
        elif secret and isinstance(node, str | int | float) and not isinstance(node, bool):
            yield node


def _is_public(name: Any) -> bool:
    return isinstance(name, str) and name.lower() in PUBLIC_HEADERS


def _parts(value: str) -> Iterator[str]:
    stripped = value.strip()
    yield value
    yield stripped
    lowered = stripped.lower()
    for scheme in SCHEMES:
        if lowered.startswith(scheme):
            yield stripped[len(scheme) :].strip()


def _spellings(number: int | float) -> Iterator[str]:
    yield str(number)
    yield dumps(number).decode()
    if isinstance(number, float) and number.is_integer():
        yield str(int(number))
