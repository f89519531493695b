"""Uploads: their receipts, the transaction that commits them, and every placement that the catalog cites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import select

from evh.server.catalog.commits import Line, commit, known_receipt
from evh.server.catalog.database import Database
from evh.server.catalog.tables import episodes, samples, traces
from evh.server.records import BatchKey, Placement, Principal, Receipt
from evh.server.text import now_us

__all__ = ["Line", "UploadsTable"]

CHUNK = 1000


class UploadsTable:
    """The write side of the catalog for episodes and traces."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, who: Principal, key: BatchKey) -> Receipt | None:
        """The receipt of an earlier upload with this key and these bytes; None for a new one. 409 with both digests
        when the key came with other bytes, 409 `line_format_conflict` with another format."""
        with self._database.read() as connection:
            return known_receipt(connection, who.project, key)

    def commit(
        self, who: Principal, key: BatchKey, lines: Sequence[Line], placements: Sequence[Placement],
        context: dict[str, str], size: int,
    ) -> Receipt:  # fmt: skip
        """Everything of an upload in one transaction; the lines must be durable at their placements."""
        return self._database.write(
            lambda connection: commit(connection, who.project, key, lines, placements, context, size, now_us())
        )

    def cited(self) -> Iterator[tuple[Placement, str | None]]:
        """The placement of every line of every project, with its digest where one is kept (samples have none)."""
        for table, digest in ((episodes, True), (traces, True), (samples, False)):
            at = (0, 0)
            columns = [table.c.project, table.c.seq, table.c.segment, table.c.offset, table.c.length]
            while True:
                project, seq = at
                after = (table.c.project > project) | ((table.c.project == project) & (table.c.seq > seq))
                query = select(*columns, *([table.c.digest] if digest else [])).where(after)
                if table is traces:
                    query = query.where(traces.c.position < 0)  # the others are in their episodes' lines
                with self._database.read() as connection:
                    rows = connection.execute(query.order_by(table.c.project, table.c.seq).limit(CHUNK)).all()
                if not rows:
                    break
                at = (rows[-1].project, rows[-1].seq)
                for row in rows:
                    yield Placement(row.segment, row.offset, row.length), row.digest if digest else None
