"""Documents walked by what the generated tables say of them: where each closed object stands, what a round trip
lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from evh.errors import pointer
from evh.protocol import models
from evh.protocol.tables import CLASSES, ROOTS, UNIONS

ROOT_TYPES = sorted(ROOTS)
CLOSED_ROOTS = [name for name in ROOT_TYPES if name in UNIONS or CLASSES[name].closed]
Kind = tuple[Any, ...]
Path = tuple[str | int, ...]


class Place(NamedTuple):
    """A closed object of a document: the name of its type, itself, and its place."""

    type: str
    object: dict[str, Any]
    pointer: str


def class_of(name: str) -> Any:
    return getattr(models, name)


def text_of(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def same(one: Any, other: Any) -> bool:
    """Equal as JSON texts, so that 1 is not 1.0 and not true; the order of members does not count."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def kind_of(name: str) -> Kind:
    return ("union", name) if name in UNIONS else ("class" if CLASSES[name].closed else "open", name)


def closed_places(name: str, document: Any) -> list[Place]:
    """Every closed object of a valid document of a type, the document itself first."""
    return list(_closed(kind_of(name), document, ()))


def _closed(kind: Kind, value: Any, path: Path) -> Iterator[Place]:
    what = kind[0]
    if what == "union" and isinstance(value, dict):
        variant = UNIONS[kind[1]].variants.get(value.get(UNIONS[kind[1]].tag, ""))
        if variant is not None:
            yield from _closed(("class", variant), value, path)
    elif what == "class" and isinstance(value, dict):
        yield Place(kind[1], value, pointer(*path))
        for member, table in CLASSES[kind[1]].members.items():
            if member in value and not table.marks & {"stream", "wire"}:
                yield from _closed(table.kind, value[member], (*path, member))
    elif what in ("array", "parts") and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _closed(kind[1], item, (*path, index))
    elif what == "map" and isinstance(value, dict):
        for key, item in value.items():
            yield from _closed(kind[1], item, (*path, key))


def lost(name: str, before: Any, after: Any, *, wire: bool = False) -> list[str]:
    """Pointers of what the document written for a record lacks or has otherwise than the valid one that was read.

    Not written, by the contract: a null of a nullable member, what others compute, an empty value of a member that is
    left out when empty, and in JSON what is for the MessagePack wire.
    """
    return list(_lost(kind_of(name), before, after, (), wire))


def _lost(kind: Kind, before: Any, after: Any, path: Path, wire: bool) -> Iterator[str]:
    what = kind[0]
    if what == "union" and isinstance(before, dict):
        variant = UNIONS[kind[1]].variants.get(before.get(UNIONS[kind[1]].tag, ""))
        if variant is None:
            yield from _lost(("any",), before, after, path, wire)
            return
        what, kind = "class", ("class", variant)
    if what == "class" and isinstance(before, dict) and isinstance(after, dict):
        yield from _lost_members(kind[1], before, after, path, wire)
    elif what in ("array", "parts") and isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield pointer(*path)
        for index, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from _lost(kind[1], one, other, (*path, index), wire)
    elif what == "map" and isinstance(before, dict) and isinstance(after, dict):
        if list(before) != list(after):
            yield pointer(*path)
        for key in before.keys() & after.keys():
            yield from _lost(kind[1], before[key], after[key], (*path, key), wire)
    elif what == "open" and isinstance(before, dict) and isinstance(after, dict):
        if list(before) != list(after) or not same(before, after):
            yield pointer(*path)
    elif not (before == after if wire else same(before, after)):
        yield pointer(*path)


def _lost_members(name: str, before: dict[str, Any], after: dict[str, Any], path: Path, wire: bool) -> Iterator[str]:
    members = CLASSES[name].members
    for member, value in before.items():
        table = members.get(member)
        marks = table.marks if table is not None else frozenset()
        where = pointer(*path, member)
        left_out = (
            (table is not None and value is None)
            or "computed" in marks
            or ("wire" in marks and not wire)
            or ("omit-empty" in marks and not value)
        )
        if left_out:
            if member in after:
                yield where
        elif member not in after:
            yield where
        else:
            yield from _lost(("any",) if table is None else table.kind, value, after[member], (*path, member), wire)
