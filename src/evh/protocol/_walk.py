"""The explaining reader's walk over a parsed document: what the structs cannot hold is set apart, and said.

Promise: retired members are dropped with their advice, unknown ones kept in the overflow slot, objects of unknown
variants kept whole in a generic arm, `3.0` becomes 3 where an integer is meant, streams become raw JSON again. Nothing
else changes, and nothing here refuses a document: `msgspec.convert` does, afterwards.

The document is changed in place: the walk owns it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from evh.errors import Notice, cut, pointer
from evh.protocol.jsontext import dumps
from evh.protocol.tables import CLASSES, RETIRED, UNIONS

__all__ = ["Trail", "place", "read_stream", "set_apart"]

Trail = tuple[Any, str | int] | None
"""Where the walk is: the trail of the parent and the last key; None at the root."""

Handler = Callable[[Any, Trail, list[Notice]], Any]


def place(trail: Trail) -> str:
    """The JSON Pointer of a trail."""
    parts: list[str | int] = []
    while trail is not None:
        trail, part = trail
        parts.append(part)
    return pointer(*reversed(parts))


def set_apart(document: Any, name: str, notices: list[Notice]) -> Any:
    """The document of a type as `msgspec.convert` with `_guided.fill` takes it."""
    kind = ("union", name) if name in UNIONS else ("class" if CLASSES[name].closed else "open", name)
    handler = _handler(kind)
    return document if handler is None else handler(document, None, notices)


@cache
def _handler(kind: tuple[Any, ...]) -> Handler | None:
    what = kind[0]
    if what == "class":
        return _class(kind[1])
    if what == "union":
        return _union(kind[1])
    if what == "integer":
        return _integer
    if what in ("array", "map", "parts"):
        inner = _handler(kind[1])
        if inner is None:
            return None
        return _map(inner) if what == "map" else _array(inner)
    return None


def _integer(value: Any, trail: Trail, notices: list[Notice]) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _array(inner: Handler) -> Handler:
    def walk(value: Any, trail: Trail, notices: list[Notice]) -> Any:
        if type(value) is not list:
            return value
        for index, item in enumerate(value):
            value[index] = inner(item, (trail, index), notices)
        return value

    return walk


def _map(inner: Handler) -> Handler:
    def walk(value: Any, trail: Trail, notices: list[Notice]) -> Any:
        if type(value) is not dict:
            return value
        for key, item in value.items():
            if item is not None:
                value[key] = inner(item, (trail, key), notices)
        return value

    return walk


_EMPTY = msgspec.Raw(b"[]")


def _stream(value: Any, trail: Trail, notices: list[Notice]) -> Any:
    return read_stream(value)


def read_stream(value: Any) -> msgspec.Raw:
    """The raw JSON of a parsed stream."""
    if type(value) is msgspec.Raw:
        return value
    if value == []:
        return _EMPTY
    try:
        return msgspec.Raw(msgspec.json.encode(value))
    except UnicodeEncodeError:
        return msgspec.Raw(dumps(value))


def _integer_stream(value: Any, trail: Trail, notices: list[Notice]) -> Any:
    if type(value) is list and float in set(map(type, value)):
        value = [_integer(item, trail, notices) for item in value]
    return _stream(value, trail, notices)


@cache
def _handlers(name: str) -> dict[str, Handler | None]:
    """What to do with each member of a class; None for those that are left as they are."""
    handlers: dict[str, Handler | None] = {}
    for wire, member in CLASSES[name].members.items():
        if "stream" in member.marks:
            handlers[wire] = _integer_stream if member.kind == ("array", ("integer",)) else _stream
        else:
            handlers[wire] = _handler(member.kind)
    return handlers


def _class(name: str) -> Handler:
    retired = RETIRED.get(name, {})

    def walk(value: Any, trail: Trail, notices: list[Notice]) -> Any:
        if type(value) is not dict:
            return value
        handlers = _handlers(name)
        streams = _nullable_streams(name)
        odd: list[str] = []
        absent: list[str] = []
        for key, item in value.items():
            if key not in handlers:
                odd.append(key)
            elif item is not None:
                handler = handlers[key]
                if handler is not None:
                    value[key] = handler(item, (trail, key), notices)
            elif key in streams:
                absent.append(key)
        for key in absent:
            _take_null(value, key, streams[key])
        return _take_out(value, odd, retired, name, trail, notices) if odd else value

    return walk


@cache
def _nullable_streams(name: str) -> dict[str, bool]:
    """The streams of a class, each with whether null may stand for it."""
    return {wire: each.nullable for wire, each in CLASSES[name].members.items() if "stream" in each.marks}


def _take_null(value: dict[str, Any], key: str, nullable: bool) -> None:
    """A null in a nullable stream is its absence; in another it stays, for whoever reads the stream to refuse."""
    if nullable:
        del value[key]
    else:
        value[key] = msgspec.Raw(b"null")


def _take_out(
    value: dict[str, Any], odd: list[str], retired: dict[str, str], name: str, trail: Trail, notices: list[Notice]
) -> dict[str, Any]:
    unknown: dict[str, Any] = {}
    for key in odd:
        item = value.pop(key)
        where = place((trail, key))
        if key in retired:
            notices.append(Notice("retired", where, f"{name}.{key} is retired: {retired[key]}", item))
        else:
            unknown[key] = item
            notices.append(Notice("unknown", where, f"{name} has no member {cut(key)}; kept as it is", item))
    if unknown:
        value["*"] = unknown
    return value


def _union(name: str) -> Handler:
    table = UNIONS[name]

    def walk(value: Any, trail: Trail, notices: list[Notice]) -> Any:
        if type(value) is not dict:
            return value
        tag = value.get(table.tag)
        variant = table.variants.get(tag) if type(tag) is str else None
        if variant is not None:
            handler = _handler(("class", variant))
            return value if handler is None else handler(value, trail, notices)
        if type(tag) is not str:
            return value
        known = ", ".join(table.variants)
        where = place((trail, table.tag))
        notices.append(
            Notice("unknown-tag", where, f"no {name} of {table.tag} {cut(tag)} (known: {known}); kept whole", tag)
        )
        return {table.tag: "*", "*": value}

    return walk
