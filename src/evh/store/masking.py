"""Masking: no credential reaches a run directory.

Promise
    What stands in a secret table (an object named `headers`, `env` or the like, wherever it is) is replaced by `***`,
    whatever its key and type. The same texts, 8 characters or longer, are replaced wherever they recur in anything that
    is written: prompts, outputs, errors, tracebacks, names of members. So are values that the caller names, such as the
    key that an adapter reads from a variable. Of `Bearer abc…` the part behind the scheme counts as well.
    Masking changes a copy, never what it was given, takes time linear in the text, and never fails.

Policy
    The names of the tables: those that a schema marks `x-secret`, and what clients call the same things. Texts shorter
    than 8 characters are masked in their table only: anywhere else they would be words. Forms of a value that are not
    its text (its base64, a hash) are not recognized.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from evh.protocol.jsontext import dumps

__all__ = ["MASK", "SECRET_TABLES", "Masker", "mask_tables"]

MASK = "***"
SECRET_TABLES = frozenset(
    {
        "headers", "extra_headers", "default_headers", "request_headers", "env", "environ", "environment",
        "verifier_env", "secrets", "credentials", "cookies",
    }
)  # fmt: skip
LEAST = 8
LEARNED = 100
SCHEMES = ("bearer ", "basic ", "token ", "apikey ", "api-key ")


class Masker:
    """The texts that a run must not write, and the way to leave them out."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: tuple[str, ...] = ()
        self._spelled: tuple[bytes, ...] = ()
        self._known: frozenset[str] | set[str] = frozenset()
        self._guard = threading.Lock()
        self.add(values)

    @property
    def active(self) -> bool:
        """Whether there is any text to look for."""
        return bool(self._values)

    def add(self, values: Iterable[str]) -> None:
        """Learn texts to mask; those shorter than 8 characters are passed over."""
        new = {part for value in values for part in _parts(value) if len(part) >= LEAST and part != MASK}
        if new <= self._known:
            return
        with self._guard:  # threads learn at the same time; none may lose what another found
            found = self._known | new
            self._known = found
            self._values = tuple(sorted(found, key=lambda value: (-len(value), value)))  # a whole before its parts
            self._spelled = tuple(dumps(value)[1:-1] for value in self._values)

    def learn(self, document: Any) -> None:
        """Learn the values of the secret tables of a JSON value."""
        self.add(_table_values(document))

    def knowing(self, document: Any) -> Masker:
        """A masker that also knows the secret tables of a JSON value: this one, which learns them, until it knows a
        hundred texts; from then on one for the row at hand alone, since a reply's headers are other texts each time."""
        values = list(_table_values(document))
        if not values:
            return self
        if len(self._values) < LEARNED:
            self.add(values)
            return self
        return Masker((*self._values, *values))

    def text(self, text: str) -> str:
        """A text without what was learned."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    def touches(self, line: bytes) -> bool:
        """Whether a line of JSON, as this package writes it, may hold what was learned."""
        return any(spelled in line for spelled in self._spelled)

    def value(self, document: Any) -> Any:
        """A JSON value with its secret tables masked and without what was learned: a copy where anything changed."""
        return _masked(document, self.text if self._values else None)


def mask_tables(document: Any) -> Any:
    """A JSON value with the values of its secret tables masked by their place alone."""
    return _masked(document, None)


def _masked(node: Any, text: Any) -> Any:
    if isinstance(node, str):
        return node if text is None else text(node)
    if isinstance(node, Mapping):
        return {
            _name(key, text): _blanked(value, text) if is_secret_table(key, value) else _masked(value, text)
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [_masked(item, text) for item in node]
    return node


def _name(key: Any, text: Any) -> Any:
    return text(key) if text is not None and isinstance(key, str) else key


def is_secret_table(key: Any, value: Any) -> bool:
    """Whether a member is a table of secrets: by its name, and by holding anything at all."""
    return isinstance(key, str) and key.lower() in SECRET_TABLES and isinstance(value, Mapping | list | tuple)


def _blanked(node: Any, text: Any) -> Any:
    if isinstance(node, Mapping):
        return {_name(key, text): _blanked(value, text) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_blanked(item, text) for item in node]
    return node if node is None else MASK


def _table_values(document: Any) -> Iterable[str]:
    stack: list[tuple[Any, bool]] = [(document, False)]
    while stack:
        node, secret = stack.pop()
        if isinstance(node, Mapping):
            stack.extend((value, secret or is_secret_table(key, value)) for key, value in node.items())
        elif isinstance(node, list | tuple):
            stack.extend((item, secret) for item in node)
        elif secret and isinstance(node, str):
            yield node
        elif secret and isinstance(node, int | float) and not isinstance(node, bool):
            yield str(node)


def _parts(value: str) -> Iterable[str]:
    stripped = value.strip()
    yield value
    yield stripped
    lowered = stripped.lower()
    for scheme in SCHEMES:
        if lowered.startswith(scheme):
            yield stripped[len(scheme) :].strip()
