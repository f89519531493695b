"""The MessagePack layer: bytes to plain values, with what JSON has no form for named.

Promise: for any bytes, a value with the faults met on the way, or a `DecodeError`. NaN and infinities are faults, as in
JSON; dates, extension types and members whose name is no text, which no record holds, are refused with their pointer.
Policy: bytes are left as they are, since tensors are made of them.
"""

from __future__ import annotations

import datetime
import math
import struct
from typing import Any, NoReturn

import msgspec

from evh.errors import DecodeError, UsageError, cut, pointer
from evh.protocol.jsontext import Fault, NonFinite, parse

__all__ = ["looks_odd", "parse_as", "parse_wire", "refuse_extension", "refuse_odd"]

_ODD = (
    *(struct.pack(">Bd", 0xCB, value)[:3] for value in (math.nan, -math.nan, math.inf, -math.inf)),
    *(struct.pack(">Bf", 0xCA, value)[:3] for value in (math.nan, -math.nan, math.inf, -math.inf)),
    b"\xd6\xff",
    b"\xd7\xff",
    b"\xc7\x0c\xff",
)
"""How numbers that are not finite, and dates, begin in MessagePack."""


def looks_odd(data: bytes) -> bool:
    """Whether the bytes may hold a number that is not finite, or a date; text and tensors may look so by chance."""
    return any(mark in data for mark in _ODD)


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
    """`parse` for JSON, `parse_wire` for MessagePack."""
    return parse(data) if format == "json" else parse_wire(data)


def _marked(value: Any, path: tuple[Any, ...], faults: list[Fault]) -> Any:
    if isinstance(value, dict):
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
