"""The books of an upload: what is about to be sent, what the platform has, what it refuses, how far each file is done.

Promise
    Before a parcel is sent its bytes and range are on disk (`intend`); once it is answered the receipt or the refusal
    is on disk before the cursor moves, and the cursor before the intent goes. So a crash between any two of these is
    settled at the next opening: a parcel is either known to be done, or it is sent again under its name, and no row is
    counted twice or passed over.
Policy
    Receipts are found again by kind, range and digest.
When it breaks
    What `SyncFolder` raises; the books on disk stay coherent.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from evh.live.parcels import Parcel
from evh.live.refusals import Refusals
from evh.live.sync_folder import SyncFolder, read_cursor, read_receipts, read_refusals
from evh.protocol import models
from evh.store.clock import now

__all__ = ["Ledger", "Said", "Unsettled"]


class Said(NamedTuple):
    """What the platform said of a parcel that it took."""

    upload_id: str | None = None
    replayed: bool | None = None


class Unsettled(NamedTuple):
    """A parcel that may have been sent: what was intended, and its bytes."""

    intent: models.SyncIntent
    body: bytes


class Ledger:
    """The books of one run, held by its uploader."""

    def __init__(self, folder: SyncFolder) -> None:
        self._folder = folder
        self._cursor = read_cursor(folder.directory) or models.SyncCursor(at=now())
        self._receipts = {_key(each) for each in read_receipts(folder.directory)}
        self.refusals = Refusals(read_refusals(folder.directory), read_receipts(folder.directory))

    def cursor(self, segment: str) -> models.SegmentCursor | None:
        """How far a file was dealt with; None: not at all yet."""
        return self._cursor.segments.get(segment)

    def table_cursor(self, segment: str) -> models.SegmentCursor | None:
        """How far a file was dealt with for the tables of a training run."""
        return self._cursor.tables.get(segment)

    def tables_sent(self, step: int) -> int:
        """How many tables of a training step were sent."""
        return self._cursor.tables_sent.get(str(step), 0)

    @property
    def segments(self) -> list[str]:
        """The files that have a cursor."""
        return list(self._cursor.segments)

    def has_receipt(self, kind: str) -> bool:
        """Whether the platform ever took something of a kind."""
        return any(key[0] == kind for key in self._receipts)

    def has_intent(self) -> bool:
        """Whether something may be on its way."""
        return self._folder.has_intent()

    def unsettled(self) -> Unsettled | None:
        """The parcel that may have been sent; None when there is none. One whose answer is in the books is closed."""
        found = self._folder.read_intent()
        if found is None:
            return None
        intent, body = found
        held = self._cursor.segments if intent.kind != "table" else self._cursor.tables
        at = held.get(intent.segment)
        passed = at is not None and at.offset >= intent.end and not intent.retry
        refused = intent.rows == 1 and not intent.retry and self.refusals.holds(intent.segment, intent.start)
        if _key(intent) in self._receipts or passed or refused:
            if not passed and not intent.retry:
                self._advance_by(intent)
            self._folder.drop_intent()
            return None
        if hashlib.sha256(body).hexdigest() != intent.digest:
            self._folder.drop_intent()  # its bytes were not on disk yet, so it was not sent
            return None
        return Unsettled(intent, body)

    def intend(self, parcel: Parcel, place: str | None = None, *, anew: bool = True) -> None:
        """Say that a parcel is about to be sent; not `anew` when its bytes are in the books already."""
        self._folder.write_intent(
            models.SyncIntent(
                kind=parcel.kind,
                segment=parcel.segment,
                start=parcel.start,
                end=parcel.end,
                rows=parcel.rows,
                digest=parcel.digest,
                at=now(),
                retry=parcel.retry,
                step=parcel.step,
                place=place,
            ),
            parcel.body if anew else None,
        )

    def drop_intent(self) -> None:
        """Say that what was intended was certainly not done."""
        self._folder.drop_intent()

    def commit(self, parcel: Parcel, said: Said) -> None:
        """Note that the platform has a parcel."""
        receipt = models.SyncReceipt(
            kind=parcel.kind,
            segment=parcel.segment,
            start=parcel.start,
            end=parcel.end,
            rows=parcel.rows,
            digest=parcel.digest,
            bytes=len(parcel.body),
            upload_id=said.upload_id,
            replayed=said.replayed,
            retry=parcel.retry,
            step=parcel.step,
            at=now(),
        )
        self._folder.add_receipt(receipt)
        self._receipts.add(_key(receipt))
        if parcel.retry:
            self.refusals.taken(parcel.segment, parcel.start)
        elif parcel.kind == "table":
            if parcel.step is not None:
                self._cursor.tables_sent[str(parcel.step)] = self.tables_sent(parcel.step) + 1
            self.pass_table(parcel.segment, parcel.start, parcel.end, parcel.rows, parcel.source, keep=True)
        else:
            self._advance(parcel.segment, parcel.start, parcel.end, parcel.rows, parcel.source)
        self._folder.drop_intent()

    def refuse(
        self,
        parcel: Parcel,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        episode_id: str | None = None,
    ) -> None:
        """Note that the platform does not take a parcel of one row."""
        if not parcel.retry and not self.refusals.holds(parcel.segment, parcel.start):
            at = self.cursor(parcel.segment)
            refusal = models.SyncRefusal(
                segment=parcel.segment,
                start=parcel.start,
                end=parcel.end,
                row=(0 if at is None else at.rows) + 1,
                episode_id=episode_id,
                status=status,
                code=code,
                message=message,
                at=now(),
            )
            self._folder.add_refusal(refusal)
            self.refusals.add(refusal)
        if not parcel.retry:
            self._advance(parcel.segment, parcel.start, parcel.end, 1, parcel.source)
        self._folder.drop_intent()

    def pass_over(self, segment: str, start: int, end: int, source: bytes) -> None:
        """Move the cursor over lines without a row."""
        self._advance(segment, start, end, 0, source)

    def pass_table(self, segment: str, start: int, end: int, rows: int, source: bytes, *, keep: bool = False) -> None:
        """Move the cursor of the tables; written with the next batch unless it is to be kept: these rows can be looked
        at again."""
        self._cursor.tables[segment] = _moved(self.table_cursor(segment), start, end, rows, source)
        if keep:
            self._write()

    def _advance(self, segment: str, start: int, end: int, rows: int, source: bytes) -> None:
        self._cursor.segments[segment] = _moved(self.cursor(segment), start, end, rows, source)
        self._write()

    def _advance_by(self, intent: models.SyncIntent) -> None:
        """Move the cursor past a parcel whose receipt was written before a crash."""
        from evh.live.segments_reader import SegmentReader

        source = SegmentReader(self._folder.directory, intent.segment).piece(intent.start, intent.end)
        if intent.kind == "table":
            if intent.step is not None:
                self._cursor.tables_sent[str(intent.step)] = self.tables_sent(intent.step) + 1
            self.pass_table(intent.segment, intent.start, intent.end, intent.rows, source, keep=True)
        else:
            self._advance(intent.segment, intent.start, intent.end, intent.rows, source)

    def _write(self) -> None:
        self._cursor.at = now()
        self._folder.write_cursor(self._cursor)


def _moved(before: models.SegmentCursor | None, start: int, end: int, rows: int, source: bytes) -> models.SegmentCursor:
    return models.SegmentCursor(
        offset=end,
        rows=(0 if before is None else before.rows) + rows,
        last_start=start,
        last_digest=hashlib.sha256(source).hexdigest(),
    )


def _key(record: models.SyncReceipt | models.SyncIntent) -> tuple[str, str, int, int, str, bool]:
    return (record.kind, record.segment, record.start, record.end, record.digest, record.retry)
