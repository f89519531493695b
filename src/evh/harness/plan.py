"""What a run still owes: read from its rows and outputs before anything is called.

Promise
    An item is done when it has one row, with `_extra`, whose output file is there with the digest that the row names
    (or a row that accepts a failure). Everything else is owed. A row whose output is missing or changed is told, taken
    out of `predictions.jsonl` and kept beside it in `predictions.jsonl.set-aside-<n>`; nothing is deleted.
    Refused, with the line: a row of an older version (without `_extra`), of an item that the dataset does not have, a
    second row of an item, a row that cannot be read and is not the last.

Policy: rows are streamed; what is held is a byte for each item of the dataset.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from evh.errors import Notice, RecordError, cut
from evh.harness.dataset import Frozen
from evh.store import _os, layout
from evh.store.atomic import sync_folder, write_all
from evh.store.outputs import READ_FLAGS
from evh.store.rows import RowHead, repeated, scan_heads

__all__ = ["Plan", "plan_run", "set_aside"]

OWED, DONE = 0, 1
PIECE = 1 << 16


class Plan:
    """What a run's rows say: `owed` are places in the dataset, in its order; `done` how many have a row; `lost` the ids
    whose output is missing or changed, with the reason; `spoilt` where their rows are, as (offset, length)."""

    def __init__(self, frozen: Frozen, limit: int) -> None:
        self.frozen = frozen
        self.state = bytearray(limit)
        self.lost: list[tuple[str, str]] = []
        self.spoilt: list[tuple[int, int]] = []

    @property
    def owed(self) -> list[int]:
        return [index for index, state in enumerate(self.state) if state == OWED]

    @property
    def done(self) -> int:
        return len(self.state) - self.state.count(OWED)


def plan_run(
    directory: Path,
    frozen: Frozen,
    limit: int,
    *,
    notices: list[Notice] | None = None,
) -> Plan:
    """What the run in `directory` owes of the first `limit` items. Reads only.

    Raises `RecordError` or `SourceError` for rows that no resume can go on from.
    """
    plan = Plan(frozen, limit)
    path = directory / layout.PREDICTIONS
    if not path.exists():
        return plan
    state, position = plan.state, frozen.position
    outputs = _Outputs(directory / layout.OUTPUTS)
    for head, line in scan_heads(path, notices):
        index = position.get(head.item_id)
        if index is None or index >= limit:
            raise RecordError(
                f"the item {cut(head.item_id)} is not among the {limit} items of this run: "
                "the dataset was replaced, or the row belongs to another run",
                source=line.source,
                line=line.line,
            )
        if head.extra is None:
            raise RecordError(
                "the row has no `_extra`: it was written before 0.4.0 and cannot be gone on from; start a new run "
                "(this one is left as it is)",
                source=line.source,
                line=line.line,
            )
        if state[index]:
            raise repeated(head.item_id, _line_of(path, head.item_id), line)
        why = None if head.error is not None else outputs.fault(head)
        if why is None:
            state[index] = DONE
        else:
            plan.lost.append((head.item_id, why))
            plan.spoilt.append((line.offset, len(line.data)))
            state[index] = DONE  # until all rows are read, so that a second row is still refused
    for item_id, _ in plan.lost:
        state[position[item_id]] = OWED
    return plan


class _Outputs:
    """The outputs of a run, looked at one after the other by their digests."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}{os.sep}"

    def fault(self, head: RowHead) -> str | None:
        """Why a row's output does not stand behind it; None when it does."""
        path = self._folder + layout.output_name(head.item_id)
        try:
            descriptor = os.open(path, READ_FLAGS)
        except FileNotFoundError:
            return "its output is missing"
        except OSError:
            return "its output is no plain file"
        digest = hashlib.sha256()
        try:
            while piece := os.read(descriptor, PIECE):
                digest.update(piece)
                if len(piece) < PIECE:
                    break  # a plain file gives all it has
        except OSError:
            return "its output is no plain file"
        finally:
            os.close(descriptor)
        if head.output_sha256 is not None and digest.hexdigest() != head.output_sha256:
            return "its output was changed"
        return None


def _line_of(path: Path, item_id: str) -> int:
    """The line of an item's first row, looked for again: only a refusal needs it."""
    return next((line.line for head, line in scan_heads(path) if head.item_id == item_id), 0)


def set_aside(directory: Path, plan: Plan) -> str:
    """Take the rows whose output is gone out of `predictions.jsonl`, keeping them beside it. The lease must be held and
    no journal open. Returns the name of the file that keeps them.

    Raises OSError; then the rows are all there still, and nothing else is.
    """
    path = directory / layout.PREDICTIONS
    number = 1
    while os.path.lexists(kept := path.with_name(f"{path.name}.set-aside-{number}")):
        number += 1
    rest = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")  # a name that `clear_temporary` knows
    with path.open("rb") as rows:
        _copy(kept, (_at(rows, offset, length) for offset, length in plan.spoilt))
        try:
            _copy(rest, _between(rows, plan.spoilt, path.stat().st_size))
            sync_folder(directory)
            _os.replace(rest, path)
        except OSError:  # an interrupt may come after the rename, so it removes nothing
            _remove(rest)
            _remove(kept)
            raise
    sync_folder(directory)
    return kept.name


def _copy(path: Path, pieces: Iterator[bytes]) -> None:
    """Make a file of these bytes, durable; one that fails is removed again."""
    descriptor = _os.create(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _os.O_NOFOLLOW)
    try:
        try:
            for piece in pieces:
                write_all(descriptor, piece)
            _os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _remove(path)
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        _os.unlink(path)


def _at(rows: BinaryIO, offset: int, length: int) -> bytes:
    rows.seek(offset)
    line: bytes = rows.readline()
    return line if line.endswith(b"\n") else line + b"\n"


def _between(rows: BinaryIO, spoilt: list[tuple[int, int]], size: int) -> Iterator[bytes]:
    """The file without its spoilt lines, in pieces."""
    at = 0
    for offset, _ in [*spoilt, (size, 0)]:
        rows.seek(at)
        left = offset - at
        while left > 0:
            piece: bytes = rows.read(min(left, 1 << 20))
            if not piece:
                break
            left -= len(piece)
            yield piece
        if offset < size:
            rows.seek(offset)
            at = offset + len(rows.readline())
