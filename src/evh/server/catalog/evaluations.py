"""Evaluations: runs that a producer opened, from PENDING or RUNNING to a status that never changes again.

Promise: a second `create` with the same `metadata.evh.run_id` gives the first evaluation. `metadata` is replaced whole.
A status for a closed evaluation is refused with everything that came with it; documents may still be updated without
one. Members that are not named here are kept in `document` and given back.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from evh.server.catalog.database import Database
from evh.server.catalog.environments import ascii_id
from evh.server.catalog.projects import count_up, locked
from evh.server.catalog.tables import environments, evaluation_environments, evaluations, samples
from evh.server.faults import conflict, not_found, refused
from evh.server.records import CLOSED, EvaluationRow, Placement, Principal, SampleRow
from evh.server.text import head_text, now_us

__all__ = ["EvaluationsTable"]

_TABLE = evaluations.c
_NAMED = ("name", "status", "model_name", "suite_id", "team_id", "error_message", "metadata", "metrics", "tags")
_TEXTS = ("model_name", "suite_id", "team_id", "error_message")
_STATUSES = frozenset({"PENDING", "RUNNING"}) | CLOSED


class EvaluationsTable:
    """`Evaluations` over the catalog's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, who: Principal, body: dict[str, Any]) -> tuple[EvaluationRow, bool]:
        """A new one, RUNNING, or the one that was made for the same run of ours. True: made just now."""
        evh_run_id = _evh_run_id(body.get("metadata"))

        def change(connection: Connection) -> tuple[EvaluationRow, bool]:
            locked(connection, who.project)
            if evh_run_id is not None:
                known = connection.execute(
                    select(evaluations).where(_TABLE.project == who.project, _TABLE.evh_run_id == evh_run_id)
                ).first()
                if known is not None:
                    return _row(connection, known), False
            now = now_us()
            made = uuid.uuid4().hex
            columns = _columns({"status": "RUNNING", "tags": [], **body})
            connection.execute(
                insert(evaluations).values(
                    id=made, project=who.project, seq=count_up(connection, who.project, 1), evh_run_id=evh_run_id,
                    created_us=now, updated_us=now, total_samples=0, environments=body.get("environments") or [],
                    document={key: value for key, value in body.items() if key not in (*_NAMED, "environments")},
                    closed_us=now if columns["status"] in CLOSED else None,
                    **{"name": "", **columns},
                )
            )  # fmt: skip
            _name_environments(connection, who, made, body.get("environments") or [])
            return _row(connection, _one(connection, who, made)), True

        return self._database.write(change)

    def get(self, who: Principal, evaluation_id: str) -> EvaluationRow:
        """404 `evaluation_not_found`."""
        with self._database.read() as connection:
            return _row(connection, _one(connection, who, evaluation_id))

    def update(self, who: Principal, evaluation_id: str, body: dict[str, Any]) -> EvaluationRow:
        """Set what `body` has. 409 `evaluation_closed` for a status when it is closed; nothing is taken then."""

        def change(connection: Connection) -> EvaluationRow:
            locked(connection, who.project)
            row = _one(connection, who, evaluation_id)
            columns = _columns(body)
            if "status" in columns:
                _refuse_closed(row)
            now = now_us()
            if columns.get("status") in CLOSED:
                columns["closed_us"] = now
            if "metadata" in body and row.evh_run_id is None and (named := _evh_run_id(body["metadata"])) is not None:
                taken = select(_TABLE.id).where(_TABLE.project == who.project, _TABLE.evh_run_id == named)
                if connection.execute(taken).first() is None:
                    columns["evh_run_id"] = named
            others = {key: value for key, value in body.items() if key not in (*_NAMED, "environments")}
            if "environments" in body:
                columns["environments"] = body["environments"] or []
                connection.execute(
                    delete(evaluation_environments).where(evaluation_environments.c.evaluation == row.id)
                )
                _name_environments(connection, who, row.id, columns["environments"])
            connection.execute(
                update(evaluations)
                .where(_TABLE.id == row.id)
                .values(updated_us=now, document={**row.document, **others}, **columns)
            )
            return _row(connection, _one(connection, who, evaluation_id))

        return self._database.write(change)

    def finalize(self, who: Principal, evaluation_id: str, metrics: dict[str, Any] | None) -> EvaluationRow:
        """Close it as COMPLETED; without metrics those that it has stay."""
        return self.update(who, evaluation_id, {"status": "COMPLETED"} | ({} if not metrics else {"metrics": metrics}))

    def list(
        self, who: Principal, *, skip: int = 0, limit: int = 50, environment_name: str | None = None,
        suite_id: str | None = None, team_id: str | None = None, evh_run_id: str | None = None,
    ) -> tuple[list[EvaluationRow], int]:  # fmt: skip
        """Newest first, and how many there are in all."""
        shown = [_TABLE.project == who.project]
        for column, value in ((_TABLE.suite_id, suite_id), (_TABLE.team_id, team_id), (_TABLE.evh_run_id, evh_run_id)):
            if value is not None:
                shown.append(column == head_text(value))
        if environment_name is not None:
            named = evaluation_environments.c
            shown.append(
                _TABLE.id.in_(
                    select(named.evaluation).where(
                        named.project == who.project, named.name == head_text(environment_name)
                    )
                )
            )
        with self._database.read() as connection:
            total: int = connection.execute(select(func.count()).select_from(evaluations).where(*shown)).scalar_one()
            query = select(evaluations).where(*shown).order_by(_TABLE.seq.desc())
            rows = connection.execute(_paged(query, skip, limit)).all()
            return [_row(connection, row) for row in rows], total

    def add_samples(self, who: Principal, evaluation_id: str, placements: Sequence[Placement]) -> int:
        """Append; the number of samples that there are now. Also to one that is closed: they may come late."""

        def change(connection: Connection) -> int:
            locked(connection, who.project)
            row = _one(connection, who, evaluation_id)
            first = count_up(connection, who.project, len(placements))
            rows = [
                {
                    "project": who.project, "seq": first + index, "evaluation": row.id, "segment": each.segment,
                    "offset": each.offset, "length": each.length,
                }
                for index, each in enumerate(placements)
            ]  # fmt: skip
            if rows:
                connection.execute(insert(samples), rows)
            total: int = row.total_samples + len(rows)
            connection.execute(
                update(evaluations).where(_TABLE.id == row.id).values(total_samples=total, updated_us=now_us())
            )
            return total

        return self._database.write(change)

    def samples(self, who: Principal, evaluation_id: str, *, skip: int, limit: int) -> tuple[Sequence[SampleRow], int]:
        """In order of arrival, and how many there are in all."""
        with self._database.read() as connection:
            row = _one(connection, who, evaluation_id)
            query = select(samples).where(samples.c.evaluation == row.id).order_by(samples.c.seq)
            rows = connection.execute(_paged(query, skip, limit)).all()
            return [
                SampleRow(each.seq, Placement(each.segment, each.offset, each.length)) for each in rows
            ], row.total_samples


def _one(connection: Connection, who: Principal, evaluation_id: str) -> Any:
    query = select(evaluations).where(_TABLE.project == who.project, _TABLE.id == ascii_id(evaluation_id, "evaluation"))
    row = connection.execute(query).first()
    if row is None:
        raise not_found("evaluation", evaluation_id)
    return row


def _refuse_closed(row: Any) -> None:
    if row.status in CLOSED:
        raise conflict("evaluation_closed", f"the evaluation is closed as {row.status} already")


def _row(connection: Connection, row: Any) -> EvaluationRow:
    named = evaluation_environments.c
    names = select(named.name).where(named.evaluation == row.id).order_by(named.position)
    members = {name: value for name, value in row._mapping.items() if name in EvaluationRow.__struct_fields__}
    return EvaluationRow(environment_names=list(connection.execute(names).scalars()), **members)


def _columns(body: dict[str, Any]) -> dict[str, Any]:
    """The named members of a body, as columns."""
    columns = {name: body[name] for name in _NAMED if name in body}
    if columns.get("status", "RUNNING") not in _STATUSES:
        raise refused("invalid_status", f"the status is one of {', '.join(sorted(_STATUSES))}")
    for name in _TEXTS:
        if columns.get(name) is not None and name != "error_message":
            columns[name] = head_text(columns[name])
    for name in ("name", "tags"):
        if name in columns and columns[name] is None:
            del columns[name]
    return columns


def _evh_run_id(metadata: Any) -> str | None:
    """Our own id of the run, which a producer of ours puts into the metadata."""
    ours = metadata.get("evh") if isinstance(metadata, dict) else None
    run_id = ours.get("run_id") if isinstance(ours, dict) else None
    return head_text(run_id) if isinstance(run_id, str) and run_id else None


def _name_environments(connection: Connection, who: Principal, evaluation: str, listed: Any) -> None:
    """Note the names that the evaluation is found by: of environments of the hub, or as the producer gave them."""
    rows = []
    for position, each in enumerate(listed):
        given = each.get("id") or each.get("name") if isinstance(each, dict) else each
        if not isinstance(given, str):
            continue
        if given.isascii() and given.isprintable():
            known = select(environments.c.name).where(environments.c.project == who.project, environments.c.id == given)
            given = connection.execute(known).scalar() or given
        name = head_text(given)
        rows.append({"evaluation": evaluation, "position": position, "project": who.project, "name": name})
    if rows:
        connection.execute(insert(evaluation_environments), rows)


def _paged(query: Select[Any], skip: int, limit: int) -> Select[Any]:
    if not (0 <= skip < 2**62 and 0 <= limit <= 1000):
        raise refused("invalid_filter", "skip is 0 or more, limit from 0 to 1000")
    return query.offset(skip).limit(limit)
