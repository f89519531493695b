"""Batches: a range of whole lines cut into uploads, by bytes and by lines.

Promise: the cut depends on the bytes, the limits and where it begins alone. Every line of the range is in exactly one
batch, in order, whole; or it is blank; or it is told of by itself, because it is too long or broken: it is never split.
A batch knows its range in the source, so that a cursor can follow.
Policy: 5 MB of text a batch: small enough to be sent again without regret, large enough to compress well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evh.errors import EvhError, UsageError
from evh.platform.uploaded import Pieces, Rekeyed

if TYPE_CHECKING:
    from evh.protocol.models import Capabilities

__all__ = ["HOSTED_LIMITS", "Batch", "Broken", "Limits", "Oversized", "cut_batches"]

MIB = 1 << 20


class Limits(NamedTuple):
    """What a batch may hold, in uncompressed bytes and lines: `target_bytes` is what it is cut at (a single longer line
    makes a batch by itself), the others are what the service refuses. A line counts without its line end."""

    target_bytes: int = 5_000_000
    upload_bytes: int = 256 * MIB
    line_bytes: int = 64 * MIB
    lines: int = 1_000_000

    @classmethod
    def of(cls, said: Capabilities, *, target_bytes: int = 5_000_000) -> Limits:
        """The limits of a service that said them; the hosted service's where it did not."""
        upload = said.max_upload_bytes or HOSTED_LIMITS.upload_bytes
        return cls(
            target_bytes=min(target_bytes, upload),
            upload_bytes=upload,
            line_bytes=said.max_line_bytes or HOSTED_LIMITS.line_bytes,
            lines=said.max_lines or HOSTED_LIMITS.lines,
        )


HOSTED_LIMITS = Limits()


@dataclass(frozen=True)
class Batch:
    """Lines to send together. `start` and `end` are offsets in the source, `rows` the lines in `body`, the exact bytes
    that are sent (before compression), and `offsets` where each of them begins in the source."""

    start: int
    end: int
    rows: int
    body: bytes
    offsets: tuple[int, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the body: the upload's name."""
        return hashlib.sha256(self.body).hexdigest()

    @property
    def key(self) -> str:
        """What makes a second upload of the same bytes the first one again."""
        return f"sha256:{self.digest}"

    def __repr__(self) -> str:
        return f"Batch({self.start}-{self.end}, {self.rows} rows, {len(self.body)} bytes)"


class Oversized(NamedTuple):
    """A line that the service would refuse: where it stands in the source, its size as it would be sent, the limit."""

    start: int
    end: int
    size: int
    limit: int


class Broken(NamedTuple):
    """A line that `shape` could make nothing of: where it stands in the source, and why."""

    start: int
    end: int
    error: EvhError


def cut_batches(
    data: bytes, limits: Limits = HOSTED_LIMITS, *, offset: int = 0, shape: Callable[[bytes], bytes] | None = None
) -> Iterator[Batch | Oversized | Broken]:
    """The batches of `data`, whole lines that begin at `offset` of the source; what follows the last line end is left.

    `shape` makes the line that is sent of a line (both without a line end); sizes are those of what it makes.
    """
    if min(limits) < 1:
        raise UsageError("limits of a batch are 1 or more")
    most = min(limits.target_bytes, limits.upload_bytes)
    longest = min(limits.line_bytes, limits.upload_bytes - 1)
    view = memoryview(data)
    pieces: Pieces = []
    offsets: list[int] = []
    size, start, at = 0, 0, 0

    def batch(end: int) -> Batch:
        return Batch(offset + start, offset + end, len(offsets), b"".join(pieces), tuple(offsets))

    while (end := data.find(b"\n", at)) >= 0:
        if not _is_blank(data, at, end):
            told: Oversized | Broken | None = None
            try:
                line = [view[at:end]] if shape is None else _shaped(shape, data, at, end)
            except EvhError as error:
                line, told = [], Broken(offset + at, offset + end + 1, error)
            length = sum(map(len, line))
            if length > longest:
                told = Oversized(offset + at, offset + end + 1, length, longest)
            if offsets and (told is not None or size + length + 1 > most or len(offsets) >= limits.lines):
                yield batch(at)
                pieces, offsets, size, start = [], [], 0, at
            if told is None:
                pieces += (*line, b"\n")
                offsets.append(offset + at)
                size += length + 1
            else:
                yield told
                start = end + 1
        at = end + 1
    if offsets:
        yield batch(at)


def _shaped(shape: Callable[[bytes], bytes], data: bytes, start: int, end: int) -> Pieces:
    return shape.pieces(data, start, end) if isinstance(shape, Rekeyed) else [shape(data[start:end])]


def _is_blank(data: bytes, start: int, end: int) -> bool:
    return start == end or (data[start] <= 0x20 and data[start:end].isspace())
