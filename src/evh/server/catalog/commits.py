"""The one transaction that makes an upload count: its batch, its heads, its receipt.

Promise: either all of it is there or nothing. The same key with the same bytes gives the receipt of the first time; the
same content under an id (in one run of one project) is stored once and counted as a duplicate; other content under it
is a new version, which listings show from then on, while the old one stays.
Policy: the look for what is known and the insert are one transaction under the project's row, so that they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, insert, select, update

from evh.server.catalog.projects import locked
from evh.server.catalog.tables import batches, contexts, episodes, projects, traces
from evh.server.faults import ServerFault, conflict
from evh.server.records import BatchKey, Placement, Receipt
from evh.server.text import head_text

__all__ = ["Line", "commit", "known_receipt"]

CHUNK = 500
Columns = dict[str, Any]
_Identity = tuple[str, str | None]


class Line(Struct):
    """A line that was taken in: the columns of its episode (None for a bare trace) and of its traces."""

    digest: str
    episode: Columns | None
    traces: list[Columns]


class _Known(Struct):
    """What is stored under one id of one run."""

    current: list[int]
    digests: set[str]
    version: int = 0


def known_receipt(connection: Connection, project: int, key: BatchKey) -> Receipt | None:
    """The receipt of an earlier upload with this key. Raises 409 when it came with other bytes or another format."""
    row = connection.execute(select(batches).where(batches.c.project == project, batches.c.key == key.key)).first()
    if row is None:
        return None
    if row.digest != key.digest:
        raise conflict(
            "idempotency_conflict",
            f"the key {key.key[:80]!r} was used for bytes of digest {row.digest}, now for {key.digest}",
        )
    if row.line_format != key.line_format:
        raise conflict(
            "line_format_conflict",
            f"these bytes were uploaded as lines of format {row.line_format}, now as {key.line_format}",
        )
    return Receipt(
        row.digest, row.accepted, row.duplicates, row.new_versions, row.bytes, row.committed_us, replayed=True
    )


def commit(
    connection: Connection,
    project: int,
    key: BatchKey,
    lines: Sequence[Line],
    placements: Sequence[Placement],
    context: dict[str, str],
    size: int,
    now: int,
) -> Receipt:
    """Everything of one upload; see the module. The lines' placements are durable already."""
    owner = locked(connection, project)
    known = known_receipt(connection, project, key)
    if known is not None:
        return known
    batch = owner.next_seq
    work = _Work(connection, project, batch, now)
    if key.line_format == "episode":
        work.add_episodes(lines, placements)
    else:
        work.add_bare(lines, placements)
    _refuse_over_limit(owner, size, len(work.episodes))
    receipt = Receipt(key.digest, work.accepted, work.duplicates, work.new_versions, size, now)
    connection.execute(
        insert(batches).values(
            project=project, seq=batch, key=key.key, digest=key.digest, line_format=key.line_format,
            accepted=receipt.accepted, duplicates=receipt.duplicates, new_versions=receipt.new_versions, bytes=size,
            committed_us=now, context=context,
        )
    )  # fmt: skip
    entries = {head_text(name): head_text(value) for name, value in context.items()}
    _insert(connection, contexts, [_entry(project, batch, name, value) for name, value in entries.items()])
    _insert(connection, episodes, work.episodes)
    _insert(connection, traces, work.traces)
    work.retire()
    connection.execute(
        update(projects).where(projects.c.id == project).values(
            next_seq=work.next_seq, used_bytes=owner.used_bytes + size,
            used_episodes=owner.used_episodes + len(work.episodes), used_traces=owner.used_traces + len(work.traces),
            used_batches=owner.used_batches + 1,
        )
    )  # fmt: skip
    return receipt


def _entry(project: int, batch: int, name: str, value: str) -> Columns:
    return {"project": project, "batch": batch, "key": name, "value": value}


def _refuse_over_limit(owner: Any, size: int, added: int) -> None:
    for limit, used, more, what in (
        (owner.max_bytes, owner.used_bytes, size, "bytes"),
        (owner.max_episodes, owner.used_episodes, added, "episodes"),
    ):
        if limit is not None and used + more > limit:
            raise ServerFault(
                429, "ingest_capacity_exceeded",
                f"the project may store {limit} {what} and has {used}: {more} more do not fit; nothing was stored",
                retry_after=3600.0,
            )  # fmt: skip


class _Work:
    """The rows that an upload adds, and those that they take the place of."""

    def __init__(self, connection: Connection, project: int, batch: int, now: int) -> None:
        self.connection = connection
        self.common = {"project": project, "batch": batch, "ingested_us": now}
        self.project = project
        self.next_seq = batch + 1
        self.accepted = self.duplicates = self.new_versions = 0
        self.episodes: list[Columns] = []
        self.traces: list[Columns] = []
        self._old_episodes: list[int] = []
        self._old_traces: list[int] = []

    def add_episodes(self, lines: Sequence[Line], placements: Sequence[Placement]) -> None:
        known = self._known_episodes(line.episode["episode_id"] for line in lines if line.episode is not None)
        fresh: list[Columns] = []
        for line, placement in zip(lines, placements, strict=True):
            assert line.episode is not None
            before = known.get((line.episode["episode_id"], line.episode["run_id"]))
            if before is not None and line.digest in before.digests:
                self.duplicates += 1
                continue
            if before is not None:
                self.new_versions += 1
                self._old_episodes += before.current
            seq = self._count()
            place = _columns_of(placement) | self.common | {"digest": line.digest, "latest": True}
            version = 1 if before is None else before.version + 1
            self.episodes.append(line.episode | place | {"seq": seq, "version": version})
            fresh += [trace | place | {"episode_seq": seq} for trace in line.traces]
            self.accepted += 1
        self._add_traces(fresh, self._known_traces(trace["trace_id"] for trace in fresh))

    def add_bare(self, lines: Sequence[Line], placements: Sequence[Placement]) -> None:
        known = self._known_traces(line.traces[0]["trace_id"] for line in lines)
        fresh: list[Columns] = []
        for line, placement in zip(lines, placements, strict=True):
            trace = line.traces[0]
            before = known.get((trace["trace_id"], trace["run_id"]))
            if before is not None and line.digest in before.digests:
                self.duplicates += 1
                continue
            self.new_versions += before is not None
            place = _columns_of(placement) | self.common | {"digest": line.digest, "latest": True}
            fresh.append(trace | place | {"episode_seq": None})
            self.accepted += 1
        self._add_traces(fresh, known)

    def _add_traces(self, fresh: list[Columns], known: dict[_Identity, _Known]) -> None:
        for trace in fresh:
            trace |= {"seq": self._count(), "deleted_us": None}
            before = known.get((trace["trace_id"], trace["run_id"]))
            if before is not None:
                self._old_traces += before.current
        self.traces += fresh

    def retire(self) -> None:
        """Listings show the newest: mark what it takes the place of."""
        for table, old in ((episodes, self._old_episodes), (traces, self._old_traces)):
            for some in _chunks(old):
                rows = (table.c.project == self.project) & table.c.seq.in_(some)
                self.connection.execute(update(table).where(rows).values(latest=False))

    def _count(self) -> int:
        self.next_seq += 1
        return self.next_seq - 1

    def _known_episodes(self, ids: Iterable[str]) -> dict[_Identity, _Known]:
        found: dict[_Identity, _Known] = {}
        table = episodes.c
        for some in _chunks(ids):
            rows = select(table.episode_id, table.run_id, table.seq, table.digest, table.version, table.latest)
            for name, run, seq, digest, version, latest in self.connection.execute(
                rows.where(table.project == self.project, table.episode_id.in_(some))
            ):
                held = found.setdefault((name, run), _Known(current=[], digests=set()))
                held.version = max(held.version, version)
                held.digests.add(digest)
                if latest:
                    held.current.append(seq)
        return found

    def _known_traces(self, ids: Iterable[str]) -> dict[_Identity, _Known]:
        found: dict[_Identity, _Known] = {}
        table = traces.c
        for some in _chunks(ids):
            rows = select(table.trace_id, table.run_id, table.seq, table.digest, table.latest)
            for name, run, seq, digest, latest in self.connection.execute(
                rows.where(table.project == self.project, table.trace_id.in_(some), table.deleted_us.is_(None))
            ):
                held = found.setdefault((name, run), _Known(current=[], digests=set()))
                held.digests.add(digest)
                if latest:
                    held.current.append(seq)
        return found


def _columns_of(placement: Placement) -> Columns:
    return {"segment": placement.segment, "offset": placement.offset, "length": placement.length}


def _insert(connection: Connection, table: Any, rows: list[Columns]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while some := list(islice(rest, CHUNK)):
        yield some
