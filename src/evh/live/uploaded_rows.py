"""Which rows of a run are uploaded, and how many are where: on disk, with the platform, refused, on their way.

Promise: `pending + refused + sent` is the number of rows on disk; each number is counted from its own file. Counting
takes no lock and reads what lies behind the cursors only.
When it breaks: an error that names the file that cannot be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from evh.errors import EvhError, SourceError
from evh.live.refusals import Refusals
from evh.live.sync_folder import read_cursor, read_receipts, read_refusals, read_state
from evh.protocol import models
from evh.store.atomic import why
from evh.store.clock import now
from evh.store.segments import segment_files, step_files

__all__ = ["Accounts", "accounts_of", "count_on", "episode_id_of", "pending_bytes", "uploaded_files"]


PIECE = 1 << 20


class Accounts(NamedTuple):
    """Rows of a run: on disk, taken by the platform, refused by it, and not dealt with yet."""

    rows: int
    sent: int
    refused: int
    pending: int


class _Named(msgspec.Struct, gc=False):
    id: str | None = None


_read_id = msgspec.json.Decoder(_Named).decode


def uploaded_files(directory: Path, kind: str, known: list[str] | None = None) -> list[str]:
    """The files whose rows are uploaded, by their paths below the run's directory: episodes, and of a training run the
    metrics by step. Files that are `known` stay, be they there or not."""
    found = segment_files(directory) + (step_files(directory) if kind == "train" else [])
    names = [path.relative_to(directory).as_posix() for path in found]
    return names + [name for name in known or [] if name not in names]


def accounts_of(directory: Path, kind: str) -> Accounts:
    """The rows of a run, counted. Raises `EvhError`."""
    cursor = read_cursor(directory) or models.SyncCursor(at=now())
    receipts = [each for each in read_receipts(directory) if each.kind != "table"]
    refusals = Refusals(read_refusals(directory), receipts)
    seen = _seen(directory)
    pending = dealt = 0
    for name in uploaded_files(directory, kind, list(cursor.segments)):
        at = _dealt_with(name, cursor, receipts, refusals)
        dealt += at.rows
        there = seen.get(name)
        if there is None or there.offset < at.offset:
            there = at
        pending += count_on(directory / name, there).rows - at.rows
    return Accounts(dealt + pending, sum(each.rows for each in receipts), len(refusals), pending)


def _dealt_with(
    name: str, cursor: models.SyncCursor, receipts: list[models.SyncReceipt], refusals: Refusals
) -> models.SeenRows:
    """How far a file was dealt with: its cursor, and what was noted since the cursor was written."""
    at = cursor.segments.get(name)
    offset, rows = (0, 0) if at is None else (at.offset, at.rows)
    noted = [(each.end, each.rows) for each in receipts if _follows(each, name, offset) and not each.retry]
    noted += [(each.end, 1) for each in refusals if _follows(each, name, offset)]
    for end, count in noted:
        offset, rows = max(offset, end), rows + count
    return models.SeenRows(offset=offset, rows=rows)


def _follows(record: models.SyncReceipt | models.SyncRefusal, name: str, offset: int) -> bool:
    return record.segment == name and record.start >= offset


def pending_bytes(directory: Path, kind: str) -> int:
    """The bytes of the run that no batch covered yet. Raises `EvhError`."""
    cursor = read_cursor(directory)
    held = {} if cursor is None else cursor.segments
    total = 0
    for name in uploaded_files(directory, kind):
        at = held.get(name)
        try:
            size = (directory / name).stat().st_size
        except OSError:
            continue
        total += max(0, size - (0 if at is None else at.offset))
    return total


def count_on(path: Path, seen: models.SeenRows) -> models.SeenRows:
    """What was counted of a file, and its whole lines after that. Raises `SourceError`."""
    offset, rows, at = seen.offset, seen.rows, seen.offset
    try:
        with path.open("rb") as file:
            file.seek(at)
            while piece := file.read(PIECE):
                count = piece.count(b"\n")
                if count:
                    rows += count
                    offset = at + piece.rindex(b"\n") + 1
                at += len(piece)
    except FileNotFoundError:
        return seen
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
    return models.SeenRows(offset=offset, rows=rows)


def episode_id_of(line: bytes) -> str | None:
    """The id of a row, as far as it can be read."""
    try:
        return _read_id(line).id
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _seen(directory: Path) -> dict[str, models.SeenRows]:
    try:
        state = read_state(directory)
    except EvhError:
        return {}
    return {} if state is None else state.seen
