"""Projects: the only boundary. Their rows also hold what they used, their limits, and the counter of `seq`.

Promise: `locked` holds a project's row until the transaction ends, so that what is written to one project is written
one transaction after the other: `seq` has the order of arrival, and a look before an insert holds.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from evh.errors import UsageError, cut
from evh.server.catalog.database import Database
from evh.server.catalog.tables import projects
from evh.server.faults import not_found
from evh.server.records import ProjectRow, Usage
from evh.server.text import now_us

__all__ = ["LIMITS", "ProjectsTable", "count_up", "locked"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LIMITS = ("max_bytes", "max_episodes", "bytes_per_second", "episodes_per_second")
_COLUMNS = [projects.c[name] for name in ProjectRow.__struct_fields__]


def locked(connection: Connection, project: int) -> Row[Any]:
    """The project's row, nobody else's until the transaction ends."""
    row = connection.execute(select(projects).where(projects.c.id == project).with_for_update()).first()
    if row is None:
        raise not_found("project", str(project))
    return row


def count_up(connection: Connection, project: int, by: int) -> int:
    """Take `by` numbers from the counter; the first of them. The row must be locked."""
    first: int = connection.execute(select(projects.c.next_seq).where(projects.c.id == project)).scalar_one()
    connection.execute(update(projects).where(projects.c.id == project).values(next_seq=first + by))
    return first


class ProjectsTable:
    """`Projects` over the catalog's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(self, name: str) -> ProjectRow:
        """The project of that name, made when there is none. `UsageError` for a name that is none."""
        if not NAME.fullmatch(name):
            raise UsageError(f"{cut(name)} is no name of a project: letters, digits, `.`, `_`, `-`, at most 100")
        found = self._find(name)
        return found if found is not None else self._database.write(lambda connection: _ensure(connection, name))

    def get(self, name: str) -> ProjectRow:
        """404 `project_not_found`."""
        found = self._find(name)
        if found is None:
            raise not_found("project", name)
        return found

    def by_id(self, project: int) -> ProjectRow:
        """404 `project_not_found`."""
        with self._database.read() as connection:
            row = connection.execute(select(*_COLUMNS).where(projects.c.id == project)).first()
        if row is None:
            raise not_found("project", str(project))
        return ProjectRow(*row)

    def all(self) -> list[ProjectRow]:
        """By name."""
        with self._database.read() as connection:
            return [ProjectRow(*row) for row in connection.execute(select(*_COLUMNS).order_by(projects.c.name))]

    def limit(self, name: str, **limits: int | None) -> ProjectRow:
        """Set limits; None lifts one."""
        for key, value in limits.items():
            if key not in LIMITS or not (value is None or 0 < value < 2**62):
                raise UsageError(f"{key}={cut(value)} is no limit: {', '.join(LIMITS)} take a positive number or None")
        self.get(name)
        if limits:
            self._database.write(
                lambda connection: connection.execute(
                    update(projects).where(projects.c.name == name).values(**limits)
                ).close()
            )
        return self.get(name)

    def usage(self, project: int) -> Usage:
        """What the project has stored, counted as uploads were committed."""
        used = (projects.c.used_bytes, projects.c.used_episodes, projects.c.used_traces, projects.c.used_batches)
        with self._database.read() as connection:
            row = connection.execute(select(*used).where(projects.c.id == project)).first()
        if row is None:
            raise not_found("project", str(project))
        return Usage(*row)

    def prove_writable(self) -> None:
        """Commit a write that changes nothing anybody reads: proof that the database takes writes."""
        first = select(func.min(projects.c.id)).scalar_subquery()
        same = update(projects).where(projects.c.id == first).values(next_seq=projects.c.next_seq)
        self._database.write(lambda connection: connection.execute(same).close())

    def _find(self, name: str) -> ProjectRow | None:
        with self._database.read() as connection:
            row = connection.execute(select(*_COLUMNS).where(projects.c.name == name)).first()
        return None if row is None else ProjectRow(*row)


def _ensure(connection: Connection, name: str) -> ProjectRow:
    query = select(*_COLUMNS).where(projects.c.name == name)
    row = connection.execute(query).first()
    if row is None:
        counted = ("used_bytes", "used_episodes", "used_traces", "used_batches")
        connection.execute(
            insert(projects).values(name=name, created_us=now_us(), next_seq=1, **dict.fromkeys(counted, 0))
        )
        row = connection.execute(query).one()
    return ProjectRow(*row)
