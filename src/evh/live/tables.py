"""The Parquet tables of a training run: the samples of every tenth step, as its viewer shows them.

Promise: a table holds rows of one step that stand in one file, in their order; no row is in two tables. Rows of other
steps, and of evaluations inside the run, have no table. Tables of one step number their samples apart.
Policy: a table closes when a row of another step follows, at 20 MB of rows, or when the run is over.
When it breaks: rows that cannot be read are passed over: they are refused where episodes are sent. `UsageError` without
pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from evh.errors import EvhError
from evh.live.ledger import Ledger
from evh.live.parcels import TABLE, Parcel
from evh.live.segments_reader import SegmentReader
from evh.platform import sample_table
from evh.protocol import models
from evh.protocol.codec import decode

__all__ = ["next_tables"]

EVERY = 10
MOST_BYTES = 20_000_000
STRIDE = 1 << 32
"""Sample ids that one table of a step may use up."""


class _Work(msgspec.Struct, gc=False):
    type: str | None = None
    step: int | None = None


class _Run(msgspec.Struct, gc=False):
    type: str | None = None
    work: _Work | None = None


class _Row(msgspec.Struct, gc=False):
    run: _Run | None = None


_read = msgspec.json.Decoder(_Row).decode


def next_tables(reader: SegmentReader, ledger: Ledger, remote_id: str, *, over: bool) -> Iterator[Parcel]:
    """The tables of the rows that were sent and are in none yet. The cursor follows what is taken from the iterator."""
    while (sent := ledger.cursor(reader.name)) is not None:
        at = ledger.table_cursor(reader.name)
        start = 0 if at is None else at.offset
        if start >= sent.offset:
            return
        data = reader.piece(start, min(sent.offset, start + 2 * MOST_BYTES))
        while not (cut := data.rfind(b"\n") + 1):
            data += reader.piece(start + len(data), min(sent.offset, start + 2 * len(data)))
        data = data[:cut]
        whole = over or start + len(data) < sent.offset
        step, offsets, end = _leading(data, start, whole)
        if not offsets:
            if end == start:
                return  # what is there may go on
            ledger.pass_table(reader.name, start, end, 0, data[: end - start])
            continue
        assert step is not None
        source = data[: end - start]
        table = _table(source, start, offsets, remote_id, step, ledger.tables_sent(step) * STRIDE)
        if table is None:
            ledger.pass_table(reader.name, start, end, len(offsets), source)
            continue
        yield Parcel(TABLE, reader.name, start, end, tuple(offsets), (table,), source, step=step)
        after = ledger.table_cursor(reader.name)
        if after is None or after.offset < end:
            return  # it was not taken


def _leading(data: bytes, start: int, whole: bool) -> tuple[int | None, list[int], int]:
    """The first step with a table, the rows of it up to one of another, and where they end. Without a step: the end of
    what has none; without an end: the table may go on."""
    step: int | None = None
    offsets: list[int] = []
    at = 0
    while at < len(data):
        end = data.index(b"\n", at) + 1
        found = _step(data[at:end])
        if step is not None and found is not None and (found != step or at > MOST_BYTES):
            return step, offsets, start + at
        if found is not None and found % EVERY == 0:
            if step is None and at:
                return None, [], start + at
            step = found
            offsets.append(start + at)
        at = end
    if step is None:
        return None, [], start + at
    return (step, offsets, start + at) if whole else (None, [], start)


def _step(line: bytes) -> int | None:
    """The step that a row was made for training in; None for any other row."""
    try:
        run = _read(line).run
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if run is None or run.type != "train" or run.work is None or run.work.type != "train":
        return None
    return run.work.step


def _table(source: bytes, start: int, offsets: list[int], remote_id: str, step: int, first_id: int) -> bytes | None:
    episodes = []
    for offset in offsets:
        at = offset - start
        try:
            episodes.append(decode(source[at : source.index(b"\n", at)], models.Episode))
        except EvhError:
            continue
    return sample_table(episodes, remote_id, step, first_id=first_id)
