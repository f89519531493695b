"""Gzip and Zstandard data, unpacked block by block while it is read.

Promise: memory stays bounded whatever the data claims (no output larger than a buffer is made at once; Zstandard
windows beyond 128 MiB are refused). All that can be unpacked is handed out before the `SourceError` that tells of a
broken or cut stream. Several members or frames one after another are one stream; Zstandard's skippable frames
(a seek table) are passed over.
Policy: the first bytes decide, not the name; a name that promises compression over other data is an error.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from evh.errors import SourceError

__all__ = ["unpack"]

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
MAGIC_SIZE = 4
OUTPUT = 1 << 18
_WITH_GZIP_HEADER = 31
_NAMES = {".gz": "gzip", ".zst": "zstd"}
_DICTIONARY_ID = (0, 1, 2, 4)
_CONTENT_SIZE = (0, 2, 4, 8)
_RLE, _RESERVED = 1, 3


def unpack(blocks: Iterator[bytes], label: str, *, suffix: str = "") -> Iterator[bytes]:
    """The blocks as they are, or unpacked if they begin as gzip or Zstandard data.

    `suffix` is that of the file's name: `.gz` or `.zst` over anything else raises `SourceError`.
    """
    head = b""
    while len(head) < MAGIC_SIZE:
        block = next(blocks, None)
        if block is None:
            break
        head += block
    whole = chain((head,), blocks) if head else blocks
    if head.startswith(GZIP):
        yield from _gzip(whole, label)
    elif head.startswith(ZSTD) or is_skippable(head):
        yield from _zstd(whole, label)
    elif suffix in _NAMES:
        what = "is empty" if not head else "does not begin as one"
        raise SourceError(
            f"is named as a {_NAMES[suffix]} file but {what}: fetch it again, or rename it if it is plain text",
            source=label,
        )
    else:
        yield from whole


def _gzip(blocks: Iterator[bytes], label: str) -> Iterator[bytes]:
    decoder: Any = None
    for block in blocks:
        data = block
        while data:
            if decoder is None:
                data = data.lstrip(b"\0")  # padding between members is allowed
                if not data:
                    break
                decoder = zlib.decompressobj(_WITH_GZIP_HEADER)
            before = decoder.copy()
            try:
                out = decoder.decompress(data, OUTPUT)
            except zlib.error as error:
                yield from _salvage(before, data)
                raise SourceError(
                    f"is broken gzip data ({error}): rows before the fault were read; fetch the file again",
                    source=label,
                ) from None
            if out:
                yield out
            if decoder.eof:
                data, decoder = decoder.unused_data, None
            else:
                data = decoder.unconsumed_tail
    if decoder is None:
        return
    while out := decoder.decompress(b"", OUTPUT):
        yield out
    if not decoder.eof:
        raise SourceError("ends inside a gzip member: it was cut short; rows before the cut were read", source=label)


def _salvage(decoder: Any, data: bytes, step: int = 1024) -> Iterator[bytes]:
    """What a failed call would have given before its fault: the same again from a copy, in ever smaller steps."""
    for start in range(0, len(data), step):
        piece = rest = data[start : start + step]
        before = decoder.copy()
        try:
            full = True
            while rest or full:
                out = decoder.decompress(rest, OUTPUT)
                yield out
                full = len(out) == OUTPUT
                rest = decoder.unconsumed_tail
        except zlib.error:
            if step > 1:
                yield from _salvage(before, piece, step // 32)
            return


def _zstd_decoder() -> tuple[Callable[[], Any], type[Exception]]:
    try:
        import zstandard
    except ImportError:
        pass
    else:
        context = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        return context.decompressobj, zstandard.ZstdError
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14
    except ImportError:
        raise SourceError("is Zstandard data: install the package `zstandard` to read it") from None
    return zstd.ZstdDecompressor, zstd.ZstdError


class _Taker:
    """Exact pieces of a stream of blocks."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._held = b""
        self._at = 0
        self.position = 0

    def take(self, size: int) -> bytes:
        while len(self._held) - self._at < size:
            block = next(self._blocks, None)
            if block is None:
                raise EOFError
            self._held = self._held[self._at :] + block
            self._at = 0
        piece = self._held[self._at : self._at + size]
        self._at += size
        self.position += size
        return piece

    def skip(self, size: int) -> None:
        while size > 0:
            size -= len(self.take(min(size, OUTPUT)))

    def at_end(self) -> bool:
        while self._at == len(self._held):
            block = next(self._blocks, None)
            if block is None:
                return True
            self._held, self._at = block, 0
        return False


def is_skippable(head: bytes) -> bool:
    return len(head) >= MAGIC_SIZE and head[0] & 0xF0 == 0x50 and head[1:4] == b"\x2a\x4d\x18"


def _zstd(blocks: Iterator[bytes], label: str) -> Iterator[bytes]:
    """Frames are walked block by block: each block gives at most 128 KiB, and a cut is seen where it is."""
    try:
        make, fault = _zstd_decoder()
    except SourceError as error:
        raise error.at(label, None) from None
    source = _Taker(blocks)
    try:
        while not source.at_end():
            start = source.position
            magic = source.take(MAGIC_SIZE)
            if magic == ZSTD:
                yield from _zstd_frame(source, make())
            elif is_skippable(magic):
                source.skip(int.from_bytes(source.take(4), "little"))
            else:
                raise SourceError(
                    f"has data at byte {start} that is no zstd frame: rows before it were read", source=label
                )
    except EOFError:
        raise SourceError(
            "ends inside a zstd frame: it was cut short; rows before the cut were read", source=label
        ) from None
    except fault as error:
        raise SourceError(
            f"is broken zstd data near byte {source.position} ({error}): rows before the fault were read; "
            "fetch the file again",
            source=label,
        ) from None


def _zstd_frame(source: _Taker, decoder: Any) -> Iterator[bytes]:
    descriptor = source.take(1)
    flags = descriptor[0]
    single = flags & 0x20
    content_size = _CONTENT_SIZE[flags >> 6] or (1 if single else 0)
    header = source.take((0 if single else 1) + _DICTIONARY_ID[flags & 3] + content_size)
    if out := decoder.decompress(ZSTD + descriptor + header):
        yield out
    last = False
    while not last:
        mark = source.take(3)
        block = int.from_bytes(mark, "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        body = source.take(0 if kind == _RESERVED else 1 if kind == _RLE else size)
        if out := decoder.decompress(mark + body):
            yield out
    if flags & 4 and (out := decoder.decompress(source.take(4))):
        yield out
