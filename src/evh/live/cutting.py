"""The rows behind a file's cursor as parcels: what is cut together, what each row becomes, what cannot be sent at all.

Promise: every row is in one parcel, or it is told as unsent by itself: a line that the service is known not to take, or
that is no row. A parcel that might grow, because lines follow that are not read yet, waits for them.
Policy: parcels of 5 MB of what is sent.
When it breaks: `SourceError` for a file that cannot be read or was rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from evh.errors import EvhError
from evh.live.ledger import Ledger
from evh.live.parcels import METRICS, SAMPLES, TRACES, Parcel, of_batch
from evh.live.remote import run_info
from evh.live.samples_upload import SampleMaker
from evh.live.segments_reader import SegmentReader
from evh.platform import HOSTED_LIMITS, Batch, Broken, Limits, Oversized, cut_batches, row_for_upload
from evh.platform.samples import MAX_BODY
from evh.protocol import models

__all__ = ["TARGET", "Cutter", "kind_of"]

TARGET = 5_000_000
READ = 4
"""How many parcels are read at once."""


class Unsent(Protocol):
    """Told of a row that cannot be sent: a parcel of it alone, why, and a code."""

    def __call__(self, parcel: Parcel, message: str, *, code: str) -> None: ...


def kind_of(name: str, remote: models.SyncRemote) -> str:
    """How the rows of a file are sent."""
    if name.startswith("steps"):
        return METRICS
    return SAMPLES if remote.transport == "samples" else TRACES


class Cutter:
    """Cuts the files of one run. `readers` gives all of them, for samples, which are numbered over the whole run."""

    def __init__(
        self,
        remote: models.SyncRemote,
        limits: Limits,
        ledger: Ledger,
        readers: Callable[[], list[SegmentReader]],
        unsent: Unsent,
    ) -> None:
        self._remote = remote
        self._limits = limits
        self._ledger = ledger
        self._readers = readers
        self._unsent = unsent
        self._samples: SampleMaker | None = None

    def behind_cursor(self, reader: SegmentReader) -> Iterator[Parcel]:
        """What is behind a file's cursor, until nothing is; the cursor follows what is taken from the iterator."""
        while True:
            cursor = self._ledger.cursor(reader.name)
            start = 0 if cursor is None else cursor.offset
            data, more = reader.lines(cursor, READ * self._limits.target_bytes)
            if not data:
                return
            yield from self.cut(reader.name, data, start, growing=more)
            after = self._ledger.cursor(reader.name)
            if after is None or after.offset <= start:
                self._ledger.pass_over(reader.name, start, start + len(data), data)  # blank lines

    def cut(self, name: str, data: bytes, start: int, *, growing: bool = False, told: bool = True) -> Iterator[Parcel]:
        """Lines that stand at `start` of a file as parcels; of several the last one waits when more lines follow
        (`growing`). Rows that cannot be sent are `told` on the way."""
        kind = kind_of(name, self._remote)
        run = run_info(self._remote)
        shape: Callable[[bytes], bytes] | None = (lambda line: row_for_upload(line, run)) if kind == TRACES else None
        limits = self._limits
        if kind != TRACES:
            limits = HOSTED_LIMITS._replace(target_bytes=limits.target_bytes)
        for item in cut_batches(data, limits, offset=start, shape=shape):
            if growing and start < item.start and item.end == start + len(data) and isinstance(item, Batch):
                return
            source = data[item.start - start : item.end - start]
            if isinstance(item, Batch):
                parcel = of_batch(kind, name, item, source)
                if kind == SAMPLES:
                    yield from self._sampled(parcel, told)
                else:
                    yield parcel
            elif told:
                self._tell(Parcel(kind, name, item.start, item.end, (item.start,), (b"",), source), item)

    def _tell(self, parcel: Parcel, item: Oversized | Broken) -> None:
        if isinstance(item, Oversized):
            said = f"{item.size} bytes, and the service takes lines of {item.limit} at most: it was not sent"
            self._unsent(parcel, said, code="line_too_long")
        else:
            self._unsent(parcel, str(item.error), code="not_a_row")

    def _sampled(self, lines: Parcel, told: bool) -> Iterator[Parcel]:
        """A parcel of lines as parcels of samples, each within what one call may have."""
        if self._samples is None:
            self._samples = SampleMaker(run_info(self._remote).id, self._ledger, self._readers())
        pieces: list[bytes] = []
        for line in lines.pieces:
            try:
                pieces.append(self._samples.piece(line))
            except EvhError:
                pieces.append(b"")
        for parcel in _within(replace(lines, pieces=tuple(pieces))):
            if parcel.pieces == (b"",):
                if told:
                    self._unsent(parcel, "no samples can be made of it: it is no row of an episode", code="not_a_row")
            elif len(parcel.body) > MAX_BODY:
                said = f"its samples have {len(parcel.body)} bytes, and a call takes {MAX_BODY}: they were not sent"
                if told:
                    self._unsent(parcel, said, code="sample_too_large")
            else:
                yield parcel


def _within(parcel: Parcel) -> Iterator[Parcel]:
    """A parcel of samples in parts that a call takes; a row without samples, or with too many, stands alone."""
    if parcel.rows > 1 and (len(parcel.body) > MAX_BODY or not all(parcel.pieces)):
        for half in parcel.halves():
            yield from _within(half)
    else:
        yield parcel
