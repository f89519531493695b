"""Where one MessagePack document ends and the next begins.

Promise: only lengths are followed, iteratively, so neither depth nor size of the data can exhaust memory or the
stack; a document that is cut short is an error with its offset. Values are not looked at: that is the decoder's work.
"""

from __future__ import annotations

from collections.abc import Iterator

from evh.errors import DecodeError, UsageError

__all__ = ["split_msgpack"]

MAX_DEPTH = 512
MAP_END, ARRAY_END, STR_END, SIZED_END = 0x90, 0xA0, 0xC0, 0xE0
FIXED_INT_END = 0x80
UNUSED = 0xC1

# Tags 0xc0 to 0xdf of MessagePack: bytes of the length field, bytes of fixed payload, items per counted element.
_SIZES: tuple[tuple[int, int, int], ...] = (
    *((0, 0, 0),) * 4,  # nil, (never used), false, true
    *((1, 0, 0), (2, 0, 0), (4, 0, 0)),  # bin
    *((1, 1, 0), (2, 1, 0), (4, 1, 0)),  # ext: a length, a type byte
    *((0, 4, 0), (0, 8, 0)),  # float
    *((0, 1, 0), (0, 2, 0), (0, 4, 0), (0, 8, 0)) * 2,  # uint, int
    *((0, 2, 0), (0, 3, 0), (0, 5, 0), (0, 9, 0), (0, 17, 0)),  # fixext
    *((1, 0, 0), (2, 0, 0), (4, 0, 0)),  # str
    *((2, 0, 1), (4, 0, 1)),  # array
    *((2, 0, 2), (4, 0, 2)),  # map
)


def split_msgpack(data: bytes | bytearray | memoryview) -> Iterator[tuple[int, memoryview]]:
    """The documents of concatenated MessagePack: each one's byte offset and a view of its bytes, nothing copied.

    Only lengths are read, not values. Raises `DecodeError` with the offset where a document is cut short, holds the
    unused tag 0xc1, or nests deeper than 512; whole documents before it come first.
    """
    try:
        view = memoryview(data).cast("B")
    except TypeError:
        raise UsageError("MessagePack is taken as contiguous bytes") from None
    start = 0
    while start < len(view):
        end = _document_end(view, start)
        yield start, view[start:end]
        start = end


def _document_end(view: memoryview, start: int) -> int:
    position, size = start, len(view)
    left = 1
    outer: list[int] = []
    while True:
        while not left:
            if not outer:
                return position
            left = outer.pop()
        if position >= size:
            raise DecodeError("the MessagePack data ends inside a document", offset=size)
        tag = view[position]
        position += 1
        left -= 1
        items = 0
        if tag < FIXED_INT_END or tag >= SIZED_END:
            continue
        if tag < MAP_END:
            items = 2 * (tag & 15)
        elif tag < ARRAY_END:
            items = tag & 15
        elif tag < STR_END:
            position += tag & 31
        elif tag == UNUSED:
            raise DecodeError("not MessagePack: the tag 0xc1 has no meaning", offset=position - 1)
        else:
            width, fixed, per_item = _SIZES[tag - STR_END]
            count = int.from_bytes(view[position : position + width], "big")
            position += width + fixed
            if per_item:
                items = count * per_item
            else:
                position += count
        if position > size:
            raise DecodeError("the MessagePack data ends inside a document", offset=size)
        if items:
            outer.append(left)
            left = items
            if len(outer) > MAX_DEPTH:
                raise DecodeError(f"the MessagePack data nests deeper than {MAX_DEPTH}", offset=position - 1)
