"""The MessagePack layer: bytes to plain values, with what JSON has no form for named.

Promise: for any bytes, a value with the faults met on the way, or a `DecodeError`. NaN and infinities are faults, as in
JSON, and so are bytes outside of tensors; dates, extension types and members whose name is no text, which no record
holds, are refused with their pointer.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, NoReturn

import msgspec

from evh.errors import DecodeError, UsageError, cut, pointer
from evh.protocol.jsontext import Fault, NonFinite, parse

__all__ = ["looks_odd", "parse_as", "parse_wire", "refuse_extension", "refuse_odd", "unpackable"]

TENSOR = frozenset({"__nd__", "dtype", "shape", "data"})
_ODD = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]|\xca[\x7f\xff][\x80-\xff]|\xd6\xff|\xd7\xff|\xc7\x0c\xff", re.DOTALL)
"""How numbers that are not finite (doubles, singles), and dates, begin in MessagePack."""


def looks_odd(data: bytes) -> bool:
    """Whether the bytes may hold a number that is not finite, or a date; text and tensors may look so by chance."""
    return _ODD.search(data) is not None


def refuse_odd(data: bytes | bytearray | memoryview | str) -> None:
    """Raise ValueError, which sends a codec to its explaining path, for bytes that `looks_odd`."""
    if isinstance(data, str) or looks_odd(bytes(data)):
        raise ValueError("numbers or dates that JSON does not have")


def refuse_extension(code: int, data: memoryview) -> NoReturn:
    raise ValueError(f"extension type {code} has no place in a record")


def parse_wire(data: bytes | bytearray | memoryview | str) -> tuple[Any, list[Fault]]:
    """The value of a MessagePack document, numbers that are not finite as `NonFinite` with a fault each."""
    if isinstance(data, str):
        raise UsageError("MessagePack is bytes, not text")
    data = bytes(data)
    try:
        value = msgspec.msgpack.decode(data, ext_hook=refuse_extension)
    except RecursionError as error:
        raise DecodeError("nested too deeply") from error
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise DecodeError(f"not MessagePack of a record: {error}") from error
    faults: list[Fault] = []
    try:
        return _marked(value, (), faults), faults
    except RecursionError as error:
        raise DecodeError("nested too deeply") from error


def parse_as(data: bytes | bytearray | memoryview | str, format: str) -> tuple[Any, list[Fault]]:
    """`parse` for JSON, `parse_wire` for MessagePack; UsageError for another format."""
    if format not in ("json", "msgpack"):
        raise UsageError(f"format must be 'json' or 'msgpack', not {cut(format)}")
    return parse(data) if format == "json" else parse_wire(data)


def unpackable(value: Any) -> tuple[str, str] | None:
    """Where plain values hold the first thing that MessagePack cannot, and what it is; None when there is no such
    thing."""
    stack: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            if any(not isinstance(key, str) for key in item):
                return pointer(*path), "names of members are text"
            stack += ((each, (*path, key)) for key, each in reversed(item.items()))
        elif isinstance(item, list):
            stack += ((each, (*path, index)) for index, each in reversed(list(enumerate(item))))
        elif isinstance(item, int) and not -(2**63) <= item < 2**64:
            return pointer(*path), f"MessagePack holds integers of 64 bits, not {cut(item)}"
        elif isinstance(item, str) and any("\ud800" <= character <= "\udfff" for character in item):
            return pointer(*path), "MessagePack holds no lone surrogates"
        elif item is not None and not isinstance(item, bool | int | float | str | bytes):
            return pointer(*path), f"MessagePack has no form for a value of type {type(item).__name__}"
    return None


def _marked(value: Any, path: tuple[Any, ...], faults: list[Fault]) -> Any:
    if isinstance(value, bytes):
        faults.append(Fault("bytes", pointer(*path), "bytes, which JSON has no form for", value))
    if isinstance(value, dict):
        if value.keys() == TENSOR:
            return value
        for key in value:
            if not isinstance(key, str):
                where = pointer(*path)
                raise DecodeError(f"{where or '(root)'}: a member named {cut(key)}; names are text", pointer=where)
        return {key: _marked(each, (*path, key), faults) for key, each in value.items()}
    if isinstance(value, list):
        return [_marked(each, (*path, index), faults) for index, each in enumerate(value)]
    if isinstance(value, datetime.datetime):
        where = pointer(*path)
        raise DecodeError(f"{where or '(root)'}: a date of MessagePack; records hold dates as text", pointer=where)
    if isinstance(value, float) and not math.isfinite(value):
        token = NonFinite(repr(value).replace("inf", "Infinity").replace("nan", "NaN"))
        faults.append(Fault("non-finite", pointer(*path), f"{token.token} is not a number of JSON", token.token))
        return token
    return value
