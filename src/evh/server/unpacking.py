"""Packed bytes (gzip, zstd) unpacked in small steps, so that a few bytes never become many before somebody looks.

Promise: one step gives at most `STEP_LIMIT` bytes (zstd's largest possible expansion of a slice; gzip 1 MiB; a zstd
frame that says it holds at most `AT_ONCE` is unpacked in one step), whatever the input. Several members or frames after
each other are one stream. What ends early, what has something else after it and what is no such format is
`malformed_encoding`; so is a zstd window over 32 MiB.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import IO, Any

from evh.errors import cut
from evh.server.faults import ServerFault, refused

__all__ = ["ENCODINGS", "STEP_LIMIT", "Unpacker", "unpacked"]

ENCODINGS = ("zstd", "gzip")
"""The best first."""
PIECE = 1 << 20
SLICE = 1 << 10
"""A zstd block of 4 bytes may hold 128 KiB."""
STEP_LIMIT = SLICE // 4 * (128 << 10)
WINDOW = 32 << 20
AT_ONCE = 32 << 20


class Unpacker:
    """Takes packed bytes in pieces."""

    def __init__(self, encoding: str) -> None:
        if encoding not in ENCODINGS:
            raise refused("malformed_encoding", f"{cut(encoding)} is no encoding here: gzip, zstd or none")
        self._encoding = encoding
        self._stream: Any = None
        self._whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the bytes unpack to, piece by piece."""
        yield from (self._gzip(data) if self._encoding == "gzip" else self._zstd(data))

    def close(self) -> None:
        """The end of the input: it must be that of a member or frame."""
        if not self._whole or self._stream is None:
            raise self._fault("it ends early")

    def _gzip(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream is None or self._stream.eof:
                self._stream, self._whole = zlib.decompressobj(31), False
            try:
                piece = self._stream.decompress(data, PIECE)
            except zlib.error:
                raise self._fault("it is no gzip data") from None
            if piece:
                yield piece
            self._whole = self._stream.eof
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        while self._stream is not None and not self._stream.eof and (piece := self._rest()):
            yield piece
        self._whole = self._stream is None or self._stream.eof

    def _rest(self) -> bytes:
        """What the stream holds back of bytes that it has seen."""
        piece: bytes = self._stream.decompress(b"", PIECE)
        return piece

    def _zstd(self, data: bytes) -> Iterator[bytes]:
        import zstandard

        for start in range(0, len(data), SLICE):
            part = data[start : start + SLICE]
            while part:
                if self._stream is None or self._stream.eof:
                    self._stream = zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
                    self._whole = False
                try:
                    piece = self._stream.decompress(part)
                except zstandard.ZstdError:
                    raise self._fault("it is no zstd data that is taken here") from None
                if piece:
                    yield piece
                self._whole = self._stream.eof
                part = self._stream.unused_data if self._stream.eof else b""

    def _fault(self, why: str) -> ServerFault:
        return refused("malformed_encoding", f"the bytes do not unpack as {self._encoding}: {why}")


class _Reader(io.RawIOBase):
    """A file that unpacks another as it is read."""

    def __init__(self, source: IO[bytes], encoding: str) -> None:
        self._pieces = self._unpack(source, Unpacker(encoding))
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._piece:
            following = next(self._pieces, None)
            if following is None:
                return 0
            self._piece = memoryview(following)
        count = min(len(buffer), len(self._piece))
        buffer[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count

    @staticmethod
    def _unpack(source: IO[bytes], unpacker: Unpacker) -> Iterator[bytes]:
        while data := source.read(1 << 16):
            yield from unpacker.feed(data)
        unpacker.close()


def unpacked(source: IO[bytes], encoding: str) -> IO[bytes]:
    """The bytes that a packed file holds, unpacked as they are read; the file itself for `identity`."""
    if encoding == "identity":
        return source
    whole = _at_once(source) if encoding == "zstd" else None
    return whole if whole is not None else io.BufferedReader(_Reader(source, encoding), PIECE)


def _at_once(source: IO[bytes]) -> IO[bytes] | None:
    """What is one frame that says how little it holds, unpacked; None for anything else, which is left where it was.

    Zstandard gives an error, and no byte more, for a frame that holds more than it says.
    """
    import zstandard

    data = source.read()
    source.seek(-len(data), io.SEEK_CUR)
    try:
        about = zstandard.get_frame_parameters(data)
        if about.content_size > AT_ONCE or about.window_size > WINDOW:
            return None
        unpacker = zstandard.ZstdDecompressor(max_window_size=WINDOW)
        return io.BytesIO(unpacker.decompress(data, allow_extra_data=False))
    except zstandard.ZstdError:
        return None  # unknown, longer or broken: the reader that goes step by step finds out
