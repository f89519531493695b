"""Reading segments: from a placement to the frames that hold it, and back to the line.

Promise: only bytes whose frame fits its CRC are handed out. What is kept in memory is bounded: the frames' places of
the segments last read, and a few unpacked frames.
Policy: the places of a sealed segment come from its seek table; those of one that another process writes, or that a
crash left damaged, from walking it, again when a placement lies beyond what was seen.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path

from evh.server import _frames
from evh.server._frames import Frame
from evh.server._packing import unpacked
from evh.server.faults import ServerFault, retry_later
from evh.server.records import Placement
from evh.store.atomic import why

__all__ = ["SegmentReader"]

KEPT_SEGMENTS = 256
KEPT_FRAMES = 16


class SegmentReader:
    """Reads the segments of a folder; `frames_of_open` gives those of the one that this process writes, else None."""

    def __init__(self, folder: Path, frames_of_open: Callable[[str], list[Frame] | None]) -> None:
        self._folder = folder
        self._frames_of_open = frames_of_open
        self._guard = threading.Lock()
        self._indexes: OrderedDict[str, list[Frame]] = OrderedDict()
        self._unpacked: OrderedDict[tuple[str, int], bytes] = OrderedDict()

    def descriptor(self, segment: str) -> int:
        """The segment opened for reading; a `ServerFault` when it is not there."""
        try:
            return os.open(self._folder / segment, os.O_RDONLY)
        except FileNotFoundError:
            raise damaged(segment, "the file is gone") from None
        except OSError as error:
            raise retry_later("storage_unavailable", f"a segment cannot be read: {why(error)}") from None

    def read(self, placement: Placement) -> bytes:
        return b"".join(self.open_range(placement))

    def open_range(self, placement: Placement, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The pieces of a line. A fault is raised by the call, not by the first step, when the segment is not there."""
        end = placement.length if stop is None else min(stop, placement.length)
        if start >= end:
            return iter(())
        frames = self._frames_for(placement)
        return self._pieces(placement.segment, frames, placement.offset + start, placement.offset + end)

    def scan(self, segment: str) -> Iterator[tuple[Placement, bytes]]:
        """Every whole line; what is damaged is passed over."""
        rest, at = b"", 0
        for frame in self._load(segment):
            if frame.start != at + len(rest):
                rest, at = b"", frame.start
            data = rest + self._frame(segment, frame)
            *lines, rest = data.split(b"\n")
            for line in lines:
                yield Placement(segment, at, len(line)), line
                at += len(line) + 1

    def _pieces(self, segment: str, frames: list[Frame], at: int, end: int) -> Iterator[bytes]:
        index = max(0, bisect_right(frames, at, key=lambda frame: frame.start) - 1)
        while at < end:
            frame = frames[index] if index < len(frames) else None
            if frame is None or not frame.start <= at < frame.start + frame.length:
                raise damaged(segment, f"nothing whole stands at byte {at}")
            whole = self._frame(segment, frame)
            piece = whole[at - frame.start : end - frame.start]
            yield piece
            at += len(piece)
            index += 1

    def _frames_for(self, placement: Placement) -> list[Frame]:
        name = placement.segment
        held = self._frames_of_open(name)
        if held is not None:
            return held
        with self._guard:
            known = self._indexes.get(name)
            if known is not None:
                self._indexes.move_to_end(name)
        if known and known[-1].start + known[-1].length >= placement.offset + placement.length:
            return known
        known = self._load(name)
        with self._guard:
            self._indexes[name] = known
            if len(self._indexes) > KEPT_SEGMENTS:
                self._indexes.popitem(last=False)
        return known

    def _load(self, name: str) -> list[Frame]:
        descriptor = self.descriptor(name)
        try:
            if _frames.is_sealed(descriptor):
                return _frames.read_table(descriptor)
            return [found for found in _frames.walk(descriptor, whole=False) if isinstance(found, Frame)]
        except OSError as error:
            raise retry_later("storage_unavailable", f"a segment cannot be read: {why(error)}") from None
        finally:
            os.close(descriptor)

    def _frame(self, segment: str, frame: Frame) -> bytes:
        """A frame unpacked, from memory when it was read lately."""
        key = (segment, frame.at)
        with self._guard:
            known = self._unpacked.get(key)
            if known is not None:
                self._unpacked.move_to_end(key)
                return known
        descriptor = self.descriptor(segment)
        try:
            data = _frames.read_whole(descriptor, frame)
        except OSError as error:
            raise retry_later("storage_unavailable", f"a segment cannot be read: {why(error)}") from None
        finally:
            os.close(descriptor)
        try:
            whole = unpacked(data, frame.length) if data is not None else None
        except ValueError:
            whole = None
        if whole is None:
            raise damaged(segment, f"the frame at byte {frame.at} does not fit its checksum")
        with self._guard:
            self._unpacked[key] = whole
            if len(self._unpacked) > KEPT_FRAMES:
                self._unpacked.popitem(last=False)
        return whole


def damaged(segment: str, what: str) -> ServerFault:
    """Bytes that were stored and are not there as they were."""
    return ServerFault(
        500, "stored_bytes_damaged", f"segment {segment}: {what}; run `evh serve verify` and restore it from a backup"
    )
