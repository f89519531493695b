"""Runs as the traces of a project show them: no run is stored, so every figure is counted when it is asked for.

Promise: see `interfaces.Runs`. What was deleted or replaced by a newer copy is not counted.
Policy: a page walks the project's traces once (by the index of runs); a single run walks its own only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Integer, and_, cast, func, or_, select

from evh.server import cursors, filters
from evh.server.catalog.database import Database
from evh.server.catalog.tables import batches, traces
from evh.server.faults import not_found, refused
from evh.server.filters import everything
from evh.server.records import Page, Principal, RunStep, RunSummary

__all__ = ["RunsTable"]

MOST = 100
_TABLE = traces.c
_LAST = func.max(_TABLE.ingested_us)


class RunsTable:
    """`Runs` over the catalog's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(
        self, who: Principal, *, created_after: int | None = None, created_before: int | None = None, limit: int = 50,
        cursor: str | None = None,
    ) -> Page[RunSummary]:  # fmt: skip
        """Those ingested last first. The bounds choose which traces are counted."""
        if not 1 <= limit <= MOST:
            raise refused("invalid_filter", f"a page has from 1 to {MOST} runs")
        listing = filters.fingerprint(everything, "runs", str(who.project), str(created_after), str(created_before))
        after = cursors.after(cursor, listing, (int, str))
        counted = [_shown(who), _TABLE.run_id.is_not(None)]
        if created_after is not None:
            counted.append(_TABLE.created_us >= created_after)
        if created_before is not None:
            counted.append(_TABLE.created_us <= created_before)
        query = _totals().where(*counted)
        if after is not None:
            last, run = after
            query = query.having(or_(last > _LAST, and_(last == _LAST, _TABLE.run_id > run)))
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(_LAST.desc(), _TABLE.run_id).limit(limit + 1)).all()
            items = _summaries(connection, rows[:limit], counted)
        end = items[-1] if len(rows) > limit else None
        key = None if end is None else cursors.cursor(listing, [end.last_trace_ingested_us, end.run_id])
        return Page(items, key)

    def run(self, who: Principal, run_id: str) -> RunSummary:
        """404 `run_not_found` when the project has no trace of it."""
        counted = [_shown(who), _TABLE.run_id == run_id]
        with self._database.read() as connection:
            row = connection.execute(_totals().where(*counted)).first()
            if row is None:
                raise not_found("run", run_id)
            return _summaries(connection, [row], counted)[0]

    def steps(self, who: Principal, run_id: str) -> list[RunStep]:
        """Its training steps, oldest first; none for a run that has none, or is none."""
        query = (
            select(_TABLE.step, func.count(), func.count(_TABLE.episode_id.distinct()), func.avg(_TABLE.reward))
            .where(_shown(who), _TABLE.run_id == run_id, _TABLE.step.is_not(None))
            .group_by(_TABLE.step)
            .order_by(_TABLE.step)
        )
        with self._database.read() as connection:
            return [RunStep(*row) for row in connection.execute(query)]


def _shown(who: Principal) -> Any:
    return and_(_TABLE.project == who.project, _TABLE.latest, _TABLE.deleted_us.is_(None))


def _totals() -> Any:
    return select(
        _TABLE.run_id,
        func.min(_TABLE.created_us), func.max(_TABLE.created_us), _LAST,
        func.count(), func.count(_TABLE.episode_id.distinct()), func.avg(_TABLE.reward),
        func.min(_TABLE.step), func.max(_TABLE.step), func.count(_TABLE.step.distinct()),
        func.max(cast(_TABLE.has_error, Integer)),
    ).group_by(_TABLE.run_id)  # fmt: skip


def _summaries(connection: Connection, rows: Sequence[Any], counted: list[Any]) -> list[RunSummary]:
    """Runs' totals, with what cannot be summed: their environments and models, the context of their newest trace."""
    environments: dict[str, set[str]] = {row[0]: set() for row in rows}
    models: dict[str, set[str]] = {row[0]: set() for row in rows}
    columns = (_TABLE.run_id, _TABLE.environment_id, _TABLE.model_id)
    kinds = select(*columns).where(*counted, _TABLE.run_id.in_(list(environments))).distinct()
    for run_id, environment, model in connection.execute(kinds) if rows else ():
        environments[run_id] |= {environment} - {None}
        models[run_id] |= {model} - {None}
    return [
        RunSummary(
            run_id=run_id, first_trace_created_us=first, last_trace_created_us=last, last_trace_ingested_us=ingested,
            trace_count=count, episode_count=episodes, avg_reward=reward, step_min=low, step_max=high,
            step_count=steps, has_error=bool(failed), environment_ids=sorted(environments[run_id]),
            model_ids=sorted(models[run_id]), context=_newest_context(connection, run_id, counted),
        )
        for run_id, first, last, ingested, count, episodes, reward, low, high, steps, failed in rows
    ]  # fmt: skip


def _newest_context(connection: Connection, run_id: str, counted: list[Any]) -> dict[str, str]:
    query = (
        select(batches.c.context)
        .join(traces, and_(batches.c.project == _TABLE.project, batches.c.seq == _TABLE.batch))
        .where(*counted, _TABLE.run_id == run_id)
        .order_by(_TABLE.created_us.desc(), _TABLE.seq.desc())
        .limit(1)
    )
    return connection.execute(query).scalar() or {}
