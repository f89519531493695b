"""The hub of environments: names that runs refer to. Asking for one makes it, so that a run needs no push before it."""

from __future__ import annotations

import uuid

from sqlalchemy import Connection, insert, select

from evh.server.catalog.database import Database
from evh.server.catalog.projects import locked
from evh.server.catalog.tables import environments
from evh.server.faults import not_found, refused
from evh.server.records import EnvironmentRow, Principal
from evh.server.text import HEAD_TEXT_LIMIT, now_us, to_bytes

__all__ = ["EnvironmentsTable"]

_COLUMNS = [environments.c[name] for name in EnvironmentRow.__struct_fields__]


class EnvironmentsTable:
    """`Environments` over the catalog's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def resolve(self, who: Principal, name: str, owner: str | None = None) -> EnvironmentRow:
        """The environment of that name, made when there is none. 400 `invalid_environment` for no name at all."""
        owner = who.project_name if owner is None else owner
        for text in (name, owner):
            if not text or len(to_bytes(text)) > HEAD_TEXT_LIMIT:
                raise refused("invalid_environment", f"the name of an environment has 1 to {HEAD_TEXT_LIMIT} bytes")
        query = select(*_COLUMNS).where(
            environments.c.project == who.project, environments.c.owner == owner, environments.c.name == name
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is not None:
            return EnvironmentRow(*row)

        def change(connection: Connection) -> EnvironmentRow:
            locked(connection, who.project)
            known = connection.execute(query).first()
            if known is not None:
                return EnvironmentRow(*known)
            made = EnvironmentRow(uuid.uuid4().hex, owner, name, now_us())
            connection.execute(
                insert(environments).values(
                    id=made.id, project=who.project, owner=owner, name=name, created_us=made.created_us
                )
            )
            return made

        return self._database.write(change)

    def get(self, who: Principal, environment_id: str) -> EnvironmentRow:
        """404 `environment_not_found`."""
        query = select(*_COLUMNS).where(
            environments.c.project == who.project, environments.c.id == ascii_id(environment_id, "environment")
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise not_found("environment", environment_id)
        return EnvironmentRow(*row)


def ascii_id(text: str, kind: str) -> str:
    """An id that may be one of ours; any other text is not found (a database may refuse to look for it)."""
    if not text.isascii() or not text.isprintable():
        raise not_found(kind, text)
    return text
