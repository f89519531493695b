"""The catalog's schema in steps, with Alembic; the steps are shipped with the package.

Promise: `migrate` brings a database to the newest schema, one process at a time, and changes nothing when it is there.
Policy: SQLite and an empty PostgreSQL are migrated when the server starts (`prepare`); a PostgreSQL that holds an older
schema only when somebody asks, since others may be using it. A schema newer than this release is refused.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from evh.errors import SourceError
from evh.server.catalog.database import Database, reason

__all__ = ["current", "migrate", "newest", "prepare"]

LOCK = 0x657668
"""The key of the advisory lock that one migration holds on PostgreSQL."""


def newest() -> str:
    """The revision that this release works with."""
    from alembic.script import ScriptDirectory

    head = ScriptDirectory(str(Path(__file__).parent)).get_current_head()
    assert head is not None
    return head


def current(database: Database) -> str | None:
    """The revision of a database; None for one that has no tables of ours."""
    from alembic.runtime.migration import MigrationContext

    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def prepare(database: Database) -> None:
    """Make a database usable at the start of a server. Raises `SourceError` when that needs a word from somebody."""
    held = current(database)
    if held == newest():
        return
    if database.is_sqlite or held is None:
        migrate(database)
        return
    _refuse_newer(database, held)
    raise SourceError(
        f"the database has schema {held}, this release needs {newest()}: back it up, then migrate it "
        "(`evh serve migrate`)",
        source=_name(database),
    )


def migrate(database: Database) -> bool:
    """Bring the schema up to date; whether there was anything to do. Raises `SourceError`."""
    held = current(database)
    if held is not None:
        _refuse_newer(database, held)
    if held == newest():
        return False
    try:
        database.write(_upgrade)
    except SQLAlchemyError as error:
        raise SourceError(f"the schema cannot be made: {reason(error)}", source=_name(database)) from None
    return True


def _upgrade(connection: Connection) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)

    def steps(revision: Any, context: Any) -> Any:
        return script._upgrade_revs("head", revision)

    logging.getLogger("alembic").setLevel(logging.WARNING)
    environment = EnvironmentContext(config, script)
    environment.configure(connection=connection, fn=steps, transactional_ddl=True)
    environment.run_migrations()


def _refuse_newer(database: Database, held: str) -> None:
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    try:
        ScriptDirectory(str(Path(__file__).parent)).get_revision(held)
    except CommandError:
        raise SourceError(
            f"the database has schema {cut_revision(held)}, which this release does not know: use the release that "
            "made it, or a newer one",
            source=_name(database),
        ) from None


def cut_revision(held: str) -> str:
    """A revision as it may be shown."""
    return repr(held[:40])


def _name(database: Database) -> str:
    return database.engine.url.render_as_string()
