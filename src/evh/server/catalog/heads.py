"""Episodes and traces by their heads: pages, single ones, versions, and the tombstones of what was deleted.

Promise: see `interfaces.Heads`. A page is one statement, found by an index that begins with the project.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, and_, insert, select, tuple_, update

from evh.server import cursors, filters
from evh.server.catalog.commits import known_receipt
from evh.server.catalog.conditions import condition, is_pinned
from evh.server.catalog.database import Database
from evh.server.catalog.projects import count_up, locked
from evh.server.catalog.tables import batches, episodes, tombstones, traces
from evh.server.faults import not_found, refused
from evh.server.filters import Filter, everything
from evh.server.interfaces import Order
from evh.server.records import BatchKey, EpisodeHead, Page, Placement, Principal, Receipt, TraceAggregate, TraceHead
from evh.server.text import now_us

__all__ = ["MOST", "HeadsTable"]

MOST = 1000
"""Heads in a page."""
_ORDERS: dict[str, tuple[str, bool]] = {
    "-created_at": ("created_us", True),
    "created_at": ("created_us", False),
    "-ingested_at": ("seq", True),
    "ingested_at": ("seq", False),
}
_JOINED = {"upload_id": batches.c.digest, "context": batches.c.context}
_PLACEMENT = ("segment", "offset", "length")


def _columns(kind: Any, table: Table, replaced: dict[str, Any]) -> list[Any]:
    names = [name for name in kind.__struct_fields__ if name != "placement"]
    chosen = [(replaced.get(name, _JOINED.get(name)), name) for name in names]
    return [
        *((table.c[name] if column is None else column).label(name) for column, name in chosen),
        *(table.c[name] for name in _PLACEMENT),
    ]


_EPISODE = _columns(EpisodeHead, episodes, {"versions": episodes.c.version})
_TRACE = _columns(TraceHead, traces, {})


class HeadsTable:
    """`Heads` over the catalog's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def episodes(
        self, who: Principal, where: Filter = everything, *, order: Order = "-created_at", limit: int = 50,
        cursor: str | None = None,
    ) -> Page[EpisodeHead]:  # fmt: skip
        """The newest versions that pass the filter."""
        filters.check(where, filters.EPISODES)
        shown = and_(episodes.c.latest, condition(where, episodes, who.project))
        return self._page(who, EpisodeHead, episodes, _EPISODE, shown, where, order, limit, cursor)

    def traces(
        self, who: Principal, where: Filter = everything, *, order: Order = "-created_at", limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TraceHead]:  # fmt: skip
        """The newest copies that pass the filter; nothing that was deleted."""
        filters.check(where, filters.TRACES)
        shown = and_(traces.c.latest, traces.c.deleted_us.is_(None), condition(where, traces, who.project))
        return self._page(who, TraceHead, traces, _TRACE, shown, where, order, limit, cursor)

    def episode(self, who: Principal, episode_id: str, run_id: str | None = None) -> EpisodeHead:
        """The newest of that id, of whichever run unless one is named."""
        query = _from(episodes, _EPISODE, who).where(episodes.c.episode_id == episode_id, episodes.c.latest)
        if run_id is not None:
            query = query.where(episodes.c.run_id == run_id)
        with self._database.read() as connection:
            row = connection.execute(query.order_by(episodes.c.seq.desc()).limit(1)).first()
        if row is None:
            raise not_found("episode", episode_id)
        head: EpisodeHead = _head(EpisodeHead, row)
        return head

    def episode_versions(self, who: Principal, episode_id: str, run_id: str | None) -> list[EpisodeHead]:
        """Every content that came under that id in that run, oldest first."""
        same_run = episodes.c.run_id.is_(None) if run_id is None else episodes.c.run_id == run_id
        query = _from(episodes, _EPISODE, who).where(episodes.c.episode_id == episode_id, same_run)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(episodes.c.version)).all()
        return [_head(EpisodeHead, row, versions=len(rows)) for row in rows]

    def episode_traces(self, who: Principal, head: EpisodeHead) -> list[TraceHead]:
        """The members that are not deleted, by position."""
        query = _from(traces, _TRACE, who).where(traces.c.episode_seq == head.seq, traces.c.deleted_us.is_(None))
        with self._database.read() as connection:
            return [_head(TraceHead, row) for row in connection.execute(query.order_by(traces.c.position))]

    def trace_aggregate(self, who: Principal, head: EpisodeHead) -> TraceAggregate:
        """The members that are not deleted, rolled up."""
        members = self.episode_traces(who, head)
        return TraceAggregate(
            trace_count=len(members),
            total_tokens=sum(each.total_tokens for each in members),
            total_duration_ms=sum(each.duration_ms for each in members),
            any_trace_error=any(each.has_error for each in members),
            agent_names=sorted({each.agent_name for each in members if each.agent_name is not None}),
        )

    def trace(self, who: Principal, trace_id: str) -> TraceHead:
        """The newest copy of that id."""
        query = _from(traces, _TRACE, who).where(
            traces.c.trace_id == trace_id, traces.c.latest, traces.c.deleted_us.is_(None)
        )
        with self._database.read() as connection:
            row = connection.execute(query.order_by(traces.c.seq.desc()).limit(1)).first()
        if row is None:
            raise not_found("trace", trace_id)
        head: TraceHead = _head(TraceHead, row)
        return head

    def delete_trace(self, who: Principal, trace_id: str, *, created_us: int | None = None) -> int:
        """Every stored copy becomes a tombstone; how many there were."""
        rows = traces.c.trace_id == trace_id
        if created_us is not None:
            # A hint: no copy of that time is as good as no trace, but all copies go.
            copy = traces.alias()
            hinted = select(copy.c.seq).where(
                copy.c.project == who.project, copy.c.trace_id == trace_id, copy.c.created_us == created_us,
                copy.c.deleted_us.is_(None),
            )  # fmt: skip
            rows = and_(rows, hinted.exists())
        return self._delete(who, "trace", trace_id, rows)

    def delete_run_traces(self, who: Principal, run_id: str) -> int:
        """All traces of a run; episodes stay."""
        return self._delete(who, "run", run_id, traces.c.run_id == run_id)

    def receipt(self, who: Principal, key: str) -> Receipt | None:
        """What an upload with that key was answered with."""
        with self._database.read() as connection:
            query = select(batches.c.digest, batches.c.line_format)
            row = connection.execute(query.where(batches.c.project == who.project, batches.c.key == key)).first()
            return None if row is None else known_receipt(connection, who.project, BatchKey(key, *row))

    def upload_context(self, who: Principal, upload_id: str) -> dict[str, str] | None:
        """The map that came with an upload."""
        digest = batches.c.key == f"sha256:{upload_id}"
        with self._database.read() as connection:
            query = select(batches.c.context).where(batches.c.project == who.project, digest)
            context: dict[str, str] | None = connection.execute(query).scalar()
            return context

    def _delete(self, who: Principal, kind: str, name: str, rows: Any) -> int:
        def change(connection: Connection) -> int:
            locked(connection, who.project)
            now = now_us()
            held = and_(traces.c.project == who.project, traces.c.deleted_us.is_(None), rows)
            count = connection.execute(update(traces).where(held).values(deleted_us=now)).rowcount
            if not count:
                raise not_found(kind, name)
            connection.execute(
                insert(tombstones).values(
                    project=who.project, seq=count_up(connection, who.project, 1), kind=kind, name=name, copies=count,
                    deleted_us=now,
                )
            )  # fmt: skip
            return count

        return self._database.write(change)

    def _page(
        self, who: Principal, kind: Any, table: Table, columns: list[Any], shown: Any, where: Filter, order: str,
        limit: int, cursor: str | None,
    ) -> Page[Any]:  # fmt: skip
        if order not in _ORDERS:
            raise refused("invalid_filter", f"the order is one of {', '.join(_ORDERS)}")
        if not 1 <= limit <= MOST:
            raise refused("invalid_filter", f"a page has from 1 to {MOST} items")
        name, down = _ORDERS[order]
        listing = filters.fingerprint(where, table.name, order, str(who.project))
        names = ["seq"] if name == "seq" else [name, "seq"]
        # Of one upload there are few: found by its index and sorted, not looked for along the whole listing.
        key = [table.c[each] + 0 if is_pinned(where) else table.c[each] for each in names]
        after = cursors.after(cursor, listing, (int,) * len(names))
        query = _from(table, columns, who).where(shown)
        if after is not None:
            here, there = tuple_(*key), tuple_(*after)
            query = query.where(here < there if down else here > there)
        query = query.order_by(*(column.desc() if down else column for column in key)).limit(limit + 1)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        items = [_head(kind, row) for row in rows[:limit]]
        follows = len(rows) > limit
        last = items[-1] if follows else None
        return Page(items, cursors.cursor(listing, [getattr(last, each) for each in names]) if follows else None)


def _from(table: Table, columns: list[Any], who: Principal) -> Any:
    joined = table.join(batches, and_(batches.c.project == table.c.project, batches.c.seq == table.c.batch))
    return select(*columns).select_from(joined).where(table.c.project == who.project)


def _head(kind: Any, row: Any, **more: Any) -> Any:
    members = dict(row._mapping)
    placement = Placement(*(members.pop(name) for name in _PLACEMENT))
    return kind(placement=placement, **(members | more))
