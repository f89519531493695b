"""Records as plain values for the slow path of writing, with a note of what is written back as it was read.

The fast path is msgspec's own encoder. This one is for records that hold what it cannot write: members and variants
that only a newer writer knows, tensors in JSON, lone surrogates.
"""

from __future__ import annotations

from typing import Any

import msgspec

from evh.errors import Notice, RecordError
from evh.protocol._base import Overflow, UnknownArm
from evh.protocol._open import OpenObject
from evh.protocol._streams import Stream
from evh.protocol._tensor import Tensor, WireObject
from evh.protocol._walk import Trail, place
from evh.protocol.tables import CLASSES

__all__ = ["Apart", "is_within", "plain_record"]

MAX_DEPTH = 900


def is_within(pointer: str, pointers: frozenset[str] | set[str]) -> bool:
    """Whether a pointer is one of the pointers or leads below one of them."""
    while pointer:
        if pointer in pointers:
            return True
        pointer = pointer.rpartition("/")[0]
    return "" in pointers


class Apart:
    """What a lenient read set apart and writing leaves unchecked: pointers of unknown members, arms, untouched
    streams."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.arms: list[str] = []
        self.streams: list[str] = []
        self.wire_only: list[Notice] = []

    def pointers(self) -> frozenset[str]:
        return frozenset((*self.unknown, *self.arms, *self.streams))


def plain_record(record: Any, apart: Apart, *, wire: bool) -> Any:
    """Dicts, lists and scalars, untouched streams as raw JSON (their values, for the MessagePack wire)."""
    return _plain(record, None, apart, wire, 0)


def _plain(value: Any, trail: Trail, apart: Apart, wire: bool, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise RecordError(f"nested more than {MAX_DEPTH} levels deep, or within itself", pointer=place(trail))
    if isinstance(value, msgspec.Struct):
        if isinstance(value, UnknownArm):
            apart.arms.append(place(trail))
            return _plain(value.value.members, trail, apart, wire, depth + 1)
        return _struct(value, trail, apart, wire, depth)
    if isinstance(value, OpenObject | Overflow):
        value = value.plain() if isinstance(value, OpenObject) else value.members
    elif isinstance(value, Tensor):
        return value.plain() if wire else value.json()
    elif isinstance(value, WireObject):
        return value.plain()
    if isinstance(value, dict):
        return {key: _plain(each, (trail, key), apart, wire, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, (trail, index), apart, wire, depth + 1) for index, each in enumerate(value)]
    return value


def _refuse_broken_text(raw: msgspec.Raw, trail: Trail) -> None:
    try:
        bytes(raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"the stream holds bytes that are no UTF-8: {error.reason}", pointer=place(trail)) from error


def _may_be_none(name: str, member: str) -> bool:
    """Whether None stands for an absent member. In a required one it is its null, in any other a fault for the schema
    to refuse: both are written."""
    declared = CLASSES[name].members.get(member) if name in CLASSES else None
    return declared is None or (declared.nullable and not declared.required)


def _struct(record: msgspec.Struct, trail: Trail, apart: Apart, wire: bool, depth: int) -> dict[str, Any]:
    cls = type(record)
    config = cls.__struct_config__
    plain: dict[str, Any] = {}
    if config.tag_field is not None:
        plain[config.tag_field] = config.tag
    empty = getattr(cls, "omitted_when_empty", ())
    left_out = () if wire else getattr(cls, "left_out_of_json", ())
    for name, key in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        descriptor = cls.__dict__.get(name)
        value = descriptor.slot.__get__(record) if isinstance(descriptor, Stream) else getattr(record, name)
        if value is msgspec.UNSET or (value is None and _may_be_none(cls.__name__, key)):
            continue
        if name in empty and not value:
            continue
        if name in left_out:
            where = place((trail, key))
            apart.wire_only.append(Notice("wire-only", where, f"{key} has no JSON form and is left out"))
        elif name == "additional" and value is not None:
            for unknown, each in value.items():
                apart.unknown.append(place((trail, unknown)))
                plain[unknown] = _plain(each, (trail, unknown), apart, wire, depth + 1)
        elif isinstance(descriptor, Stream) and descriptor.holds_null(value):
            continue
        elif isinstance(descriptor, Stream) and type(value) is msgspec.Raw:
            _refuse_broken_text(value, (trail, key))
            apart.streams.append(place((trail, key)))
            plain[key] = descriptor.parse(value) if wire else value
        else:
            plain[key] = _plain(value, (trail, key), apart, wire, depth + 1)
    return plain
