"""The native decoders and encoders: one of each per type, made on first use.

Promise: a native lenient decode checks types, required members, closedness, tags, bounds and patterns; a native strict
decode also checks the known members of open objects, refuses retired members and checks the streams. What it refuses is
for the explaining reader, which may overrule it (`3.0` for an integer) but never the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import astuple

from evh.protocol import models
from evh.protocol._base import ArmValue, Overflow, SlowPath
from evh.protocol._open import PLAIN, OpenObject, known_check
from evh.protocol._streams import Stream, fits, stream_decoder
from evh.protocol._tensor import Tensor, WireObject
from evh.protocol.tables import CLASSES, UNIONS
from evh.protocol.wire import refuse_extension

__all__ = [
    "NATIVE_ERRORS",
    "attribute_of",
    "check_streams",
    "json_encoder",
    "json_reader",
    "known_checker",
    "msgpack_encoder",
    "msgpack_reader",
    "nodes_of",
    "parse_streams",
    "read_streams",
    "stream_names",
    "stream_plan",
    "strict_json_reader",
    "strict_msgpack_reader",
    "strict_read",
    "tagged",
]

NATIVE_ERRORS = (msgspec.MsgspecError, SlowPath, RecursionError, ValueError, TypeError, OverflowError)
"""What a native decode may raise for data it does not take (UnicodeError is a ValueError)."""


def _read(kind: Any, value: Any) -> Any:
    return kind.read(value)


def _read_strict(kind: Any, value: Any) -> Any:
    return kind.read_strict(value)


@cache
def tagged(kind: Any) -> Any:
    """The type that a record type is decoded as: a variant of a union stands beside the generic arm, since msgspec asks
    for a tag only where there is a choice."""
    for table in UNIONS.values():
        if any(getattr(models, name) is kind for name in table.variants.values()):
            return kind | getattr(models, table.arm)
    return kind


@cache
def json_reader(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(tagged(kind), dec_hook=_read)


@cache
def strict_json_reader(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(tagged(kind), dec_hook=_read_strict)


@cache
def msgpack_reader(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(tagged(kind), dec_hook=_read, ext_hook=refuse_extension)


@cache
def strict_msgpack_reader(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(tagged(kind), dec_hook=_read_strict, ext_hook=refuse_extension)


def _write_json(value: Any) -> Any:
    if isinstance(value, OpenObject):
        return value.plain()
    if isinstance(value, Overflow | Tensor | WireObject):
        raise SlowPath
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _write_msgpack(value: Any) -> Any:
    if isinstance(value, OpenObject | Tensor | WireObject):
        return value.plain()
    if isinstance(value, Overflow | ArmValue):
        raise SlowPath
    raise TypeError(f"{type(value).__name__} has no MessagePack form")


@cache
def json_encoder() -> msgspec.json.Encoder:
    return msgspec.json.Encoder(enc_hook=_write_json, decimal_format="number")


@cache
def msgpack_encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder(enc_hook=_write_msgpack)


def nodes_of(record: Any) -> list[models.MessageNode]:
    """All message nodes of an Episode, a Trace or a node; none of anything else."""
    if isinstance(record, models.Episode):
        return [node for trace in record.traces for node in trace.nodes]
    if isinstance(record, models.Trace):
        return list(record.nodes)
    return [record] if isinstance(record, models.MessageNode) else []


@cache
def _streams() -> tuple[Stream, ...]:
    attributes = vars(models.MessageNode)
    return tuple(
        attributes[name] for name in models.MessageNode.__struct_fields__ if isinstance(attributes[name], Stream)
    )


def check_streams(nodes: list[models.MessageNode]) -> None:
    """Check every raw stream against its type; msgspec.ValidationError when one does not fit."""
    first, end, empty, absent, kinds = stream_plan()
    common = (empty, absent)
    for node in nodes:
        values = astuple(node)[first:end]
        if values in common:
            continue
        for value, items in zip(values, kinds, strict=True):
            if type(value) is Raw and not fits(bytes(value), items):
                stream_decoder(items).decode(value)


@cache
def strict_read(kind: Any, name: str, wire: bool) -> Callable[[Any], Any]:
    """A native strict read of a type; it raises `NATIVE_ERRORS` for what it does not take."""
    decode = (strict_msgpack_reader if wire else strict_json_reader)(kind).decode
    check = known_checker(name)
    if kind is models.Episode and not wire:
        return _strict_episode(decode)
    has_nodes = isinstance(kind, type) and issubclass(kind, models.Episode | models.Trace | models.MessageNode)

    def read(data: Any) -> Any:
        record = decode(data)
        if check is not None:
            check(record)
        if has_nodes:
            nodes = nodes_of(record)
            if wire:
                parse_streams(nodes)
            else:
                check_streams(nodes)
        return record

    return read


def _strict_episode(decode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What `strict_read` does for any type, in one loop for the one that matters most."""
    data_of = attrgetter(f"task.{PLAIN}data")
    parts_of = attrgetter(f"task.{PLAIN}data", f"agent.{PLAIN}config", f"agent.{PLAIN}runtime", "calls", "nodes")
    settings_of = attrgetter(f"{PLAIN}sampling")
    from evh.protocol.models._known import KnownAgentConfig, KnownRuntime, KnownSampling, KnownTaskData

    convert = msgspec.convert

    def read(raw: Any) -> Any:
        episode = decode(raw)
        convert(data_of(episode), KnownTaskData)
        for trace in episode.traces:
            own, config, runtime, calls, nodes = parts_of(trace)
            convert(own, KnownTaskData)
            convert(config, KnownAgentConfig)
            if runtime is not None:
                convert(runtime, KnownRuntime)
            for call in calls:
                settings = settings_of(call)
                if settings is not None:
                    convert(settings, KnownSampling)
            if nodes:
                check_streams(nodes)
        return episode

    return read


@cache
def stream_plan() -> tuple[int, int, tuple[Any, ...], tuple[Any, ...], tuple[str, ...]]:
    """Where the streams stand in a node's fields, the two common rows without tokens, and the items of each."""
    streams = _streams()
    first = models.MessageNode.__struct_fields__.index(streams[0].name)
    absent = tuple(msgspec.UNSET for _ in streams)
    empty = tuple(Raw(b"[]") if stream.items in ("int", "bool", "float") else msgspec.UNSET for stream in streams)
    return first, first + len(streams), empty, absent, tuple(stream.items for stream in streams)


Check = Callable[[Any], None]


@cache
def known_checker(name: str) -> Check | None:
    """A function that checks the open members of a record of the type and of everything below it; None when it has
    none.

    msgspec.ValidationError says what does not fit. A generic arm has nothing that could be checked.
    """
    if name in CLASSES and not CLASSES[name].closed:
        return partial(_check_open, known_check(name))
    if all(CLASSES[each].closed for each in _reachable(name) if each in CLASSES):
        return None
    if name in UNIONS:
        checks = {getattr(models, each): known_checker(each) for each in UNIONS[name].variants.values()}
        return partial(_by_class, checks) if any(checks.values()) else None
    paths: list[tuple[str, Check]] = []
    deeper: list[tuple[Callable[[Any], Any], Check]] = []
    _collect(name, "", paths, deeper)
    if not paths and not deeper:
        return None
    get = attrgetter(*(path for path, _ in paths)) if paths else None
    return partial(_run, get, tuple(check for _, check in paths), tuple(deeper))


def _collect(
    name: str, prefix: str, paths: list[tuple[str, Check]], deeper: list[tuple[Callable[[Any], Any], Check]]
) -> None:
    """The open members of a type by dotted path, and getter and check of every member that leads to more."""
    cls = getattr(models, name)
    for wire, member in CLASSES[name].members.items():
        what, inner = member.kind[0], member.kind[1] if len(member.kind) > 1 else ""
        path = prefix + attribute_of(cls, wire)
        if what == "open" and wire not in cls.__struct_encode_fields__:
            continue
        if what == "open":
            paths.append((prefix + PLAIN + attribute_of(cls, wire), known_check(inner)))
        elif (
            what == "class"
            and inner not in _reachable(inner)
            and not member.nullable
            and "computed" not in member.marks
        ):
            _collect(inner, f"{path}.", paths, deeper)
        elif what in ("class", "union"):
            check = _below(inner)
            if check is not None:
                deeper.append((attrgetter(path), check))
        elif what in ("array", "map") and inner[0] in ("class", "union"):
            check = _below(inner[1])
            if check is not None:
                deeper.append((attrgetter(path), partial(_each_item if what == "array" else _each_value, check)))


def _below(name: str) -> Check | None:
    """The check of a type inside another; one that holds itself is looked up when it is met."""
    if name in _reachable(name):
        return partial(_check_later, name)
    return known_checker(name)


def _check_later(name: str, value: Any) -> None:
    check = known_checker(name)
    if check is not None:
        check(value)


@cache
def _reachable(name: str) -> frozenset[str]:
    """The types below a type; itself among them only when it holds itself."""
    found: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        for inner in UNIONS[current].variants.values() if current in UNIONS else _types_in(current):
            if inner not in found:
                found.add(inner)
                pending.append(inner)
    return frozenset(found)


def _types_in(name: str) -> Iterator[str]:
    for member in CLASSES[name].members.values():
        kind = member.kind
        while kind[0] in ("array", "map", "parts"):
            kind = kind[1]
        if kind[0] in ("class", "open", "union"):
            yield kind[1]


def _check_open(check: Callable[[dict[str, Any]], None], value: OpenObject) -> None:
    check(value.plain())


def _run(
    get: Callable[[Any], Any] | None,
    checks: tuple[Check, ...],
    deeper: tuple[tuple[Callable[[Any], Any], Check], ...],
    record: Any,
) -> None:
    if get is not None:
        values = get(record)
        if len(checks) == 1:
            if values is not None:
                checks[0](values)
        else:
            for value, check in zip(values, checks, strict=True):
                if value is not None:
                    check(value)
    for step, check in deeper:
        value = step(record)
        if value:
            check(value)


def _each_item(check: Check, values: list[Any]) -> None:
    for value in values:
        check(value)


def _each_value(check: Check, values: dict[str, Any]) -> None:
    for value in values.values():
        if value is not None:
            check(value)


def _by_class(checks: dict[Any, Check | None], value: Any) -> None:
    check = checks.get(type(value))
    if check is not None:
        check(value)


def attribute_of(cls: Any, wire: str) -> str:
    """The attribute of a struct class that holds a member."""
    return str(dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True)).get(wire, wire))


def parse_streams(nodes: list[models.MessageNode]) -> None:
    """Replace the MessagePack of every stream by its values, right after a native decode of MessagePack: it must never
    stay in memory, where raw streams are JSON. Raises a `NATIVE_ERRORS` for one that does not fit, a bare number too:
    its byte would pass for JSON text."""
    for node in nodes:
        for stream in _streams():
            value = stream.slot.__get__(node)
            if type(value) is Raw:
                values = _msgpack_decoder(stream.items).decode(value)
                stream.slot.__set__(node, msgspec.UNSET if values is None else values)


@cache
def stream_names() -> frozenset[str]:
    return frozenset(stream.name for stream in _streams())


def read_streams(nodes: list[models.MessageNode]) -> None:
    """Read every stream into its list, as the MessagePack encoder needs it; RecordError for one that does not fit."""
    for node in nodes:
        for stream in _streams():
            if type(stream.slot.__get__(node)) is Raw:
                stream.__get__(node)


@cache
def _msgpack_decoder(items: str) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(stream_decoder(items).type)
