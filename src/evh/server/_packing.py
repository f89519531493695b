"""Lines on their way into a segment: gathered into pieces of about 1 MiB and packed, before any file is touched.

Promise: a line that fits into a piece is never split; a longer one begins a piece of its own and straddles as few as it
can. Memory is bounded by the packed bytes of the batch and one piece.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

__all__ = ["PIECE", "Batch", "Packed"]

PIECE = 1 << 20
LEVEL = 1
"""Zstandard's quickest usual level: on lines of JSON twice as quick as level 3 for a tenth more bytes."""

_of_thread = threading.local()


class Packed(NamedTuple):
    """A packed frame and the length of what is in it."""

    data: bytes
    length: int


class Batch:
    """Lines that are to become durable together. Not for several threads at once."""

    def __init__(self) -> None:
        self.frames: list[Packed] = []
        self.spans: list[tuple[int, int]] = []
        """Offset within the batch and length of each line."""
        self.length = 0
        """Bytes of all lines with their LFs."""
        self._pending: list[bytes] = []
        self._waiting = 0

    def add(self, line: bytes) -> int:
        """Take a line, without its LF (the caller has seen to it that none is in it); its index."""
        size = len(line) + 1
        if self._waiting and self._waiting + size > PIECE:
            self._pack()
        self.spans.append((self.length, size - 1))
        self.length += size
        if size > PIECE:
            view = memoryview(line)
            for start in range(0, size, PIECE):
                part = view[start : start + PIECE]
                last = start + PIECE >= size
                self._emit(b"".join((part, b"\n")) if last else bytes(part))
        else:
            self._pending += (line, b"\n")
            self._waiting += size
        return len(self.spans) - 1

    def finish(self) -> list[Packed]:
        """The frames of everything that was added."""
        if self._waiting:
            self._pack()
        return self.frames

    def _pack(self) -> None:
        data = b"".join(self._pending)
        self._pending.clear()
        self._waiting = 0
        self._emit(data)

    def _emit(self, data: bytes) -> None:
        self.frames.append(Packed(_compressor().compress(data), len(data)))


def _compressor() -> Any:
    """This thread's own: a context serves one thread at a time."""
    held = getattr(_of_thread, "compressor", None)
    if held is None:
        import zstandard

        held = _of_thread.compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=True)
    return held


def unpacked(data: bytes, length: int) -> bytes:
    """What a frame held. Raises ValueError when it is not of that length."""
    import zstandard

    held = getattr(_of_thread, "decompressor", None)
    if held is None:
        held = _of_thread.decompressor = zstandard.ZstdDecompressor()
    try:
        whole: bytes = held.decompress(data, max_output_size=length)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(whole) != length:
        raise ValueError(f"{len(whole)} bytes where {length} were packed")
    return whole
