"""What a segment file is made of: Zstandard frames, each after a skippable one that says what follows.

Any Zstandard reader unpacks such a file to the lines in it. The skippable frame in front holds the length of the packed
bytes and their CRC-32, and where the unpacked ones stand, so that a torn tail is told from whole frames without
unpacking, and a damaged frame does not hide the ones behind it. A sealed file ends in the seek table of the seekable
Zstandard format; each of its entries covers one such pair.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["HEADER", "Frame", "Torn", "is_sealed", "read_at", "read_table", "read_whole", "table_of", "walk", "wrapped"]

_HEADER = struct.Struct("<IIHHIQQQ")
_CHECK = struct.Struct("<I")
HEADER = _HEADER.size + _CHECK.size
"""Bytes of the skippable frame before each frame."""
_MAGIC = 0x184D2A5A
_VERSION = 1
_START = struct.pack("<II", _MAGIC, HEADER - 8)

_TABLE_MAGIC = 0x184D2A5E
_TABLE_END = 0x8F92EAB1
_FOOTER = struct.Struct("<IBI")
_ENTRY = struct.Struct("<II")
_SEARCH = 1 << 20


class Frame(NamedTuple):
    """Where a frame's packed bytes are in the file, and what they are when unpacked."""

    start: int
    length: int
    at: int
    packed: int
    crc: int | None


class Torn(NamedTuple):
    """Where whole frames end before the file does; `damaged` says that whole ones follow: it is no torn tail."""

    at: int
    damaged: bool


def wrapped(packed: bytes, start: int, length: int) -> bytes:
    """A frame with what stands in front of it."""
    head = _HEADER.pack(_MAGIC, HEADER - 8, _VERSION, 0, zlib.crc32(packed), len(packed), length, start)
    return b"".join((head, _CHECK.pack(zlib.crc32(head)), packed))


def read_at(descriptor: int, offset: int, length: int) -> bytes:
    """Up to `length` bytes at an offset, fewer only at the end of the file."""
    pieces = []
    while length > 0:
        piece = os.pread(descriptor, length, offset)
        if not piece:
            break
        pieces.append(piece)
        offset += len(piece)
        length -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_whole(descriptor: int, frame: Frame) -> bytes | None:
    """The packed bytes of a frame, when they and their header are as they were written."""
    data = read_at(descriptor, frame.at - HEADER, HEADER + frame.packed)
    head = _header(data, frame.at - HEADER)
    packed = data[HEADER:]
    fits = head is not None and head[:4] == frame[:4] and zlib.crc32(packed) == head.crc
    return packed if fits else None


def _header(data: bytes, at: int) -> Frame | None:
    """The frame that a header announces, when it is one."""
    if len(data) < HEADER or _CHECK.unpack_from(data, _HEADER.size)[0] != zlib.crc32(data[: _HEADER.size]):
        return None
    magic, size, version, _, crc, packed, length, start = _HEADER.unpack_from(data)
    if (magic, size, version) != (_MAGIC, HEADER - 8, _VERSION):
        return None
    return Frame(start, length, at + HEADER, packed, crc)


def walk(descriptor: int, *, at: int = 0, whole: bool = True) -> Iterator[Frame | Torn]:
    """The frames from a place in the file on, in order; a `Torn` for what is no frame. Ends at a seek table.

    `whole` reads the packed bytes too and holds them against their CRC.
    """
    size = os.fstat(descriptor).st_size
    while at < size:
        frame = _header(read_at(descriptor, at, HEADER), at)
        if frame is not None and frame.at + frame.packed <= size and (not whole or _is_whole(descriptor, frame)):
            yield frame
            at = frame.at + frame.packed
            continue
        if frame is None and is_sealed(descriptor) and at == size - _table_size(descriptor):
            return
        following = _next_whole(descriptor, at + 1, size)
        yield Torn(at, following is not None)
        if following is None:
            return
        at = following


def _is_whole(descriptor: int, frame: Frame) -> bool:
    return zlib.crc32(read_at(descriptor, frame.at, frame.packed)) == frame.crc


def _next_whole(descriptor: int, at: int, size: int) -> int | None:
    """Where the next whole frame begins."""
    while at < size:
        block = read_at(descriptor, at, _SEARCH)
        found = block.find(_START)
        while found >= 0:
            frame = _header(read_at(descriptor, at + found, HEADER), at + found)
            if frame is not None and frame.at + frame.packed <= size and _is_whole(descriptor, frame):
                return at + found
            found = block.find(_START, found + 1)
        at += max(1, len(block) - len(_START) + 1)
    return None


def table_of(frames: list[Frame]) -> bytes:
    """The seek table that seals a file of these frames, which stand one after another."""
    body = b"".join(_ENTRY.pack(HEADER + frame.packed, frame.length) for frame in frames)
    footer = _FOOTER.pack(len(frames), 0, _TABLE_END)
    return struct.pack("<II", _TABLE_MAGIC, len(body) + len(footer)) + body + footer


def _table_size(descriptor: int) -> int:
    size = os.fstat(descriptor).st_size
    footer = read_at(descriptor, max(0, size - _FOOTER.size), _FOOTER.size)
    if len(footer) < _FOOTER.size:
        return 0
    count, flags, magic = _FOOTER.unpack(footer)
    length = int(8 + count * _ENTRY.size + _FOOTER.size)
    if magic != _TABLE_END or flags or length > size:
        return 0
    head = read_at(descriptor, size - length, 8)
    return length if head == struct.pack("<II", _TABLE_MAGIC, length - 8) else 0


def is_sealed(descriptor: int) -> bool:
    """Whether the file ends in a seek table."""
    return _table_size(descriptor) > 0


def read_table(descriptor: int) -> list[Frame]:
    """The frames of a sealed file, from its seek table (their CRCs stand before each of them)."""
    length = _table_size(descriptor)
    size = os.fstat(descriptor).st_size
    body = read_at(descriptor, size - length + 8, length - 8 - _FOOTER.size)
    frames, at, start = [], 0, 0
    for span, unpacked in _ENTRY.iter_unpack(body):
        frames.append(Frame(start, unpacked, at + HEADER, span - HEADER, None))
        at += span
        start += unpacked
    return frames
