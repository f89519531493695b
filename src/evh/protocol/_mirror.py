"""The quick check of `encode` for episodes and traces: the record itself, converted into a mirror of its classes.

Reading back what was written would prove the same and cost twice the writing. msgspec converts a record by its
attributes into structs of the same shape, checking types, bounds and tags on the way; the mirror also refuses what JSON
cannot hold (NaN, infinities) and a record of another class in a place. Free parts (task data, `info`, settings, tools)
are written and read back, because msgspec would turn dates, sets and integer keys in them into text without a word.

Promise: True only for a record whose JSON is valid and says what the record says. False says nothing: `encode` then
looks at every value.
"""

from __future__ import annotations

import types
from functools import cache, reduce
from operator import attrgetter, or_
from sys import float_info
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Raw
from msgspec.structs import astuple

from evh.protocol import models
from evh.protocol._native import NATIVE_ERRORS, stream_plan
from evh.protocol._open import PLAIN, OpenObject
from evh.protocol._streams import SAFE
from evh.protocol.tables import CLASSES

__all__ = ["FREE_PARTS", "is_sound"]

FREE_PARTS = frozenset(
    {
        "AgentInfo.config",
        "AgentInfo.runtime",
        "AssistantMessage.provider_state",
        "Episode.info",
        "MessageNode.tools",
        "ModelCall.sampling",
        "Trace.info",
        "Trace.tools",
        "TraceTask.data",
    }
)
"""The members below an Episode that hold free JSON: `is_sound` visits each of them; a test holds the two together."""

MARK = "record_name"
FINITE = Annotated[float, Meta(ge=-float_info.max, le=float_info.max)]
NUMBERS = list[int | FINITE]
STREAM_TYPES: dict[str, Any] = {
    "int": list[Annotated[int, Meta(ge=-SAFE, le=SAFE)]],
    "bool": list[bool],
    "float": NUMBERS,
    "optional": NUMBERS | None,
    "map": dict[str, NUMBERS] | None,
}
_NULL = Raw(b"null")


def is_sound(record: Any) -> bool:
    """Whether an Episode or Trace is certainly as its schema and JSON want it."""
    free: list[Any] = []
    kind = record.__class__
    try:
        _convert(record, _mirror(kind), from_attributes=True)
        if kind is _Trace:
            _collect_free(record, None, free)
        else:
            data = _data(record)
            free.append(data)
            if record.info:
                free.append(record.info)
            for trace in record.traces:
                _collect_free(trace, data, free)
        return bool(_decode(_encode(free)) == free)
    except (*NATIVE_ERRORS, AttributeError, KeyError):
        return False


_convert = msgspec.convert
_Trace, _AssistantMessage = models.Trace, models.AssistantMessage
_encode = msgspec.json.Encoder(decimal_format="number").encode
_decode = msgspec.json.Decoder().decode
_parts_of = attrgetter(
    f"task.{PLAIN}data", f"agent.{PLAIN}config", f"agent.{PLAIN}runtime", "info", "tools", "calls", "nodes"
)
_data = attrgetter(f"task.{PLAIN}data")
_sampling = attrgetter(f"{PLAIN}sampling")


def _collect_free(trace: Any, known_data: Any, free: list[Any]) -> None:
    """Append the free parts of a trace; tools and streams that are lists are checked on the way."""
    data, config, runtime, info, tools, calls, nodes = _parts_of(trace)
    if data != known_data:
        free.append(data)
    free.append(config)
    if runtime:
        free.append(runtime)
    if info:
        free.append(info)
    for tool in tools:
        free.append(_checked_tool(tool))
    for call in calls:
        settings = _sampling(call)
        if settings:
            free.append(settings)
    first, end, common, kinds, tools_at, message_at = _node_plan()
    for node in nodes:
        values = astuple(node)
        streams = values[first:end]
        if streams not in common:
            _check_streams(streams, kinds)
        for tool in values[tools_at]:
            free.append(_checked_tool(tool))
        message = values[message_at]
        if message.__class__ is _AssistantMessage and message.provider_state:
            free.append(message.provider_state)


def _checked_tool(tool: Any) -> Any:
    if not isinstance(tool, OpenObject):
        raise TypeError("expected a Tool")
    members = tool.plain()
    msgspec.convert(members, _known("Tool"))
    return members


def _check_streams(streams: tuple[Any, ...], kinds: tuple[str, ...]) -> None:
    """Lists must fit their type; an explicit null that was read is not written, which the quick way would do.

    msgspec does not look into the texts of what it keeps raw, so bytes that are no UTF-8 may hide there.
    """
    if _NULL in streams:
        raise ValueError("an explicit null")
    for values, items in zip(streams, kinds, strict=True):
        if type(values) is Raw:
            if not bytes(values).isascii():
                raise ValueError("text in a stream")
        elif values is not msgspec.UNSET:
            msgspec.convert(values, STREAM_TYPES[items])


@cache
def _node_plan() -> tuple[int, int, tuple[Any, ...], tuple[str, ...], int, int]:
    """Where a node's streams stand, the common rows of them without tokens, their items, and where tools and message
    are."""
    first, end, empty, absent, kinds = stream_plan()
    fields = models.MessageNode.__struct_fields__
    return first, end, (empty, absent), kinds, fields.index("tools"), fields.index("message")


@cache
def _known(name: str) -> Any:
    from evh.protocol.models import _known as known

    return getattr(known, f"Known{name}")


@cache
def _mirror(cls: Any) -> Any:
    """The mirror of a record's class: what is free, raw or only for MessagePack is left to others or must be absent."""
    name = cls.__name__
    table, hints, config = CLASSES[name], get_type_hints(cls, include_extras=True), cls.__struct_config__
    fields: list[Any] = [] if config.tag is not None else [(MARK, Literal[name])]
    for attribute, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        member = table.members.get(wire)
        if wire == "*" or (member is not None and "wire" in member.marks):
            fields.append((attribute, None))
        elif member is None or member.marks & {"stream", "computed"}:
            continue
        elif member.kind[0] == "open":
            known = _known(member.kind[1])
            fields.append((PLAIN + attribute, known | None if member.nullable else known))
        elif f"{name}.{wire}" not in FREE_PARTS:
            fields.append((attribute, _mapped(hints[attribute])))
    return msgspec.defstruct(f"Mirror{name}", fields, tag_field=config.tag_field, tag=config.tag, gc=False)


def _mapped(hint: Any) -> Any:
    """A hint with mirrors in the place of records, and floats that are finite."""
    if hint is float:
        return FINITE
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated and arguments[0] is not float:
        return hint
    if origin is Annotated:
        bounds = arguments[1]
        most = float_info.max if bounds.le is None else bounds.le
        if bounds.gt is not None:
            return Annotated[float, Meta(gt=bounds.gt, le=most)]
        return Annotated[float, Meta(ge=-float_info.max if bounds.ge is None else bounds.ge, le=most)]
    if origin in (Union, types.UnionType):
        return reduce(or_, [_mapped(each) for each in arguments if not _is_arm(each)])
    if origin is list:
        return list[_mapped(arguments[0])]  # type: ignore[misc]
    if origin is dict:
        return dict[str, _mapped(arguments[1])]  # type: ignore[misc]
    return _mirror(hint) if isinstance(hint, type) and issubclass(hint, msgspec.Struct) else hint


def _is_arm(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct) and hint.__struct_config__.tag == "*"
