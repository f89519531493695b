"""Tokens as rows: never the secret, only its digest.

Promise: `find` asks the database each time, so that a revocation in any process counts from its commit on.
Policy: when a token was last used is noted at most once a minute.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select, update

from evh.server.catalog.database import Database
from evh.server.catalog.tables import projects, tokens
from evh.server.records import TokenRow

__all__ = ["TokensTable"]

NOTED_US = 60 * 1_000_000


class TokensTable:
    """The table behind `evh.server.access`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, row: TokenRow, secret: str) -> None:
        """Keep a token with the digest of its secret."""
        values = {
            "prefix": row.prefix, "project": row.project, "name": row.name, "scopes": " ".join(sorted(row.scopes)),
            "secret": secret, "created_us": row.created_us, "expires_us": row.expires_us,
        }  # fmt: skip
        self._database.write(lambda connection: connection.execute(insert(tokens).values(**values)).close())

    def find(self, prefix: str) -> tuple[TokenRow, str] | None:
        """A token and the digest of its secret."""
        with self._database.read() as connection:
            row = connection.execute(_query().where(tokens.c.prefix == prefix)).first()
        return None if row is None else (_row(row), row.secret)

    def all(self, project: int | None = None) -> list[TokenRow]:
        """Oldest first, revoked ones too."""
        query = _query().order_by(tokens.c.created_us, tokens.c.prefix)
        if project is not None:
            query = query.where(tokens.c.project == project)
        with self._database.read() as connection:
            return [_row(row) for row in connection.execute(query)]

    def used(self, row: TokenRow, now: int) -> None:
        """Note that a token was used."""
        if row.last_used_us is None or now - row.last_used_us >= NOTED_US:
            self._set(row.prefix, last_used_us=now)

    def revoke(self, prefix: str, now: int) -> None:
        """From now on it opens nothing. Again: nothing changes."""
        self._set(prefix, revoked_us=now, only_active=True)

    def _set(self, prefix: str, *, only_active: bool = False, **values: int) -> None:
        def change(connection: Connection) -> None:
            query = update(tokens).where(tokens.c.prefix == prefix)
            connection.execute((query.where(tokens.c.revoked_us.is_(None)) if only_active else query).values(**values))

        self._database.write(change)


def _query() -> Any:
    columns = [column for column in tokens.c if column.name != "project"]
    return select(*columns, projects.c.id, projects.c.name.label("project_name")).join(
        projects, projects.c.id == tokens.c.project
    )


def _row(row: Any) -> TokenRow:
    return TokenRow(
        prefix=row.prefix, project=row.id, project_name=row.project_name, name=row.name,
        scopes=frozenset(row.scopes.split()), created_us=row.created_us, expires_us=row.expires_us,
        last_used_us=row.last_used_us, revoked_us=row.revoked_us,
    )  # fmt: skip
