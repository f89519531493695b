"""A parcel: rows of one file of a run that are sent together, and the exact bytes that are sent of them.

Promise: a parcel knows where its rows stand, so that a cursor can follow it and a refused row can be named. Its halves
hold its rows, in order, each once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

from evh.platform.batches import Batch
from evh.protocol import models

__all__ = ["METRICS", "SAMPLES", "TABLE", "TRACES", "Parcel", "of_batch", "of_books"]

TRACES, SAMPLES, METRICS, TABLE = "traces", "samples", "metrics", "table"


@dataclass(frozen=True)
class Parcel:
    """Rows from `start` to `end` of `segment`: `offsets` say where each begins, `pieces` what is sent of each, `source`
    is what stands there. A table is one piece of all of its rows. A `retry` is of a row that was refused before.
    `given` are the bytes where they are known as a whole; a parcel out of the books has no pieces."""

    kind: str
    segment: str
    start: int
    end: int
    offsets: tuple[int, ...]
    pieces: tuple[bytes, ...]
    source: bytes
    step: int | None = None
    retry: bool = False
    given: bytes | None = None

    @property
    def rows(self) -> int:
        return len(self.offsets)

    @cached_property
    def body(self) -> bytes:
        """The bytes that are sent, before compression."""
        if self.given is not None:
            return self.given
        if self.kind == SAMPLES:
            return b'{"samples":[' + b",".join(piece for piece in self.pieces if piece) + b"]}"
        if self.kind == TABLE:
            return self.pieces[0]
        return b"".join([part for piece in self.pieces for part in (piece, b"\n")])

    @cached_property
    def digest(self) -> str:
        return self.batch.digest if self.kind == TRACES else hashlib.sha256(self.body).hexdigest()

    @cached_property
    def batch(self) -> Batch:
        """The parcel as an upload of the traces API."""
        return Batch(self.start, self.end, self.rows, self.body, self.offsets)

    @property
    def context(self) -> dict[str, str]:
        """What an upload says of itself."""
        return {"evh.segment": self.segment, "evh.range": f"{self.start}-{self.end}"}

    def halves(self) -> tuple[Parcel, Parcel]:
        """The parcel in two, of at least one row each."""
        half = self.rows // 2
        middle = self.offsets[half]
        cut = middle - self.start
        first, second = slice(half), slice(half, None)
        return (
            replace(
                self,
                end=middle,
                offsets=self.offsets[first],
                pieces=self.pieces[first],
                source=self.source[:cut],
                given=None,
            ),
            replace(
                self,
                start=middle,
                offsets=self.offsets[second],
                pieces=self.pieces[second],
                source=self.source[cut:],
                given=None,
            ),
        )

    def __repr__(self) -> str:
        return f"Parcel({self.kind}, {self.segment} {self.start}-{self.end}, {self.rows} rows)"


def of_books(intent: models.SyncIntent, body: bytes, source: bytes) -> Parcel:
    """A parcel that may have been sent, as it was."""
    pieces = tuple(body.split(b"\n")[:-1]) if intent.kind == METRICS else ()
    offsets = (intent.start,) * intent.rows
    return Parcel(
        intent.kind, intent.segment, intent.start, intent.end, offsets, pieces, source, intent.step, intent.retry, body
    )


def of_batch(kind: str, segment: str, batch: Batch, source: bytes) -> Parcel:
    """The parcel of lines that were cut together."""
    pieces = tuple(batch.body.split(b"\n")[:-1])
    given = batch.body if kind == TRACES else None
    return Parcel(kind, segment, batch.start, batch.end, batch.offsets, pieces, source, given=given)
