"""Token streams that stay raw JSON until somebody reads them.

Promise: a stream in memory is either the raw JSON it was read from or a plain list; an untouched stream is written back
as the bytes it was read from, and one that was read is written as the list, edits in place included.
Policy: bad values inside a stream are found when it is read, by a strict read, and by `evh check`; not by a lenient
read.
When it breaks: reading a stream whose text does not fit its type is a `RecordError` that names the stream.

The struct's slot is declared as `msgspec.Raw`; the class attribute is replaced by a descriptor over the slot's own one.
msgspec's decoder, encoder and constructor use the slot itself, so untouched streams cost nothing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any

import msgspec

from evh.errors import RecordError

__all__ = ["Stream", "fits", "install_streams", "stream_decoder"]

SAFE = 2**53 - 1


@cache
def stream_decoder(items: str) -> msgspec.json.Decoder[Any]:
    """The typed decoder of a stream: `items` is int, bool, float, optional or map."""
    number = int | float
    integer = msgspec.Meta(ge=-SAFE, le=SAFE)
    types: dict[str, Any] = {
        "int": list[Annotated[int, integer]],
        "bool": list[bool],
        "float": list[number],
        "optional": list[number] | None,
        "map": dict[str, list[number]] | None,
    }
    return msgspec.json.Decoder(types[items])


_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_EXPONENT = re.compile(rb"[eE][+-]?[0-9]{3}")


def fits(text: bytes, items: str) -> bool:
    """Whether the JSON of a stream certainly holds one array of the right values; False means: decode it to know.

    msgspec has checked the syntax when it kept the text raw, so the characters tell the tokens: without letters and
    quotes there are only numbers, with those of true and false only these. A number with at most 15 digits is within
    the bounds of an integer, one with fewer than 200 digits and an exponent of at most two is finite.
    """
    if text.count(b"[") != 1:
        return items == "optional" and text == b"null"
    if items == "bool":
        return not text.translate(None, b"truefals, []")
    if items == "int":
        return not text.translate(None, b"0123456789-, []") and b"0" * 16 not in text.translate(_DIGITS_TO_ZERO)
    if items == "map":
        return False
    rest = text.translate(None, b"0123456789-., []")
    if rest and (rest.translate(None, b"eE+") or _LONG_EXPONENT.search(text)):
        return False
    return b"0" * 200 not in text.translate(_DIGITS_TO_ZERO)


class Stream:
    """The descriptor of one stream of a struct class."""

    __slots__ = ("items", "name", "slot")

    def __init__(self, name: str, items: str, slot: Any) -> None:
        self.name = name
        self.items = items
        self.slot = slot

    def __get__(self, node: Any, owner: Any = None) -> Any:
        if node is None:
            return self
        value = self.slot.__get__(node)
        if type(value) is list:
            return value
        if value is msgspec.UNSET:
            if self.items in ("optional", "map"):
                return None
            value = []
            self.slot.__set__(node, value)
        elif type(value) is msgspec.Raw:
            value = self.parse(value)
            self.slot.__set__(node, msgspec.UNSET if value is None else value)
        return value

    def __set__(self, node: Any, value: Any) -> None:
        self.slot.__set__(node, msgspec.UNSET if value is None and self.items in ("optional", "map") else value)

    def parse(self, raw: msgspec.Raw) -> Any:
        """The values of a raw stream; RecordError when its text does not fit."""
        try:
            return stream_decoder(self.items).decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            if self.items == "int" and (whole := _whole(raw)) is not None:
                return whole
            raise RecordError(f"the stream does not fit its type: {error}", pointer=f"/{self.name}") from error

    def holds_null(self, value: Any) -> bool:
        """Whether a slot's value is the explicit null of a stream that may be absent: it is not written."""
        return self.items in ("optional", "map") and type(value) is msgspec.Raw and bytes(value) == b"null"


def _whole(raw: msgspec.Raw) -> list[int] | None:
    """The integers of a stream in which some are spelled `2.0`, as the schema allows; None for any other."""
    try:
        values = msgspec.json.decode(raw, type=list[int | float])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    if not all(abs(value) <= SAFE and value == int(value) for value in values):
        return None
    return [int(value) for value in values]


def install_streams(cls: Any, streams: dict[str, str]) -> None:
    """Replace the class attribute of each stream by its descriptor."""
    for name, items in streams.items():
        setattr(cls, name, Stream(name, items, cls.__dict__[name]))
