"""The connection to the database: many readers, and writes that are whole transactions.

Promise
    `write` runs its function in one transaction, which is durable when `write` returns and undone when it raises. On
    SQLite (WAL, `synchronous=FULL`) all writes go through one thread of this process, so that it never waits for
    itself; other processes are waited for up to 10 s. On PostgreSQL a transaction that lost to another one is run
    again, so the function must change nothing but the database.
Policy
    SQLite is refused on file systems of several machines, where its locks and its shared memory do not work;
    PostgreSQL is refused before 15.
When it breaks
    503 `storage_unavailable` for a database that does not answer; `UsageError` and `SourceError` at opening.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from evh.errors import SourceError, UsageError
from evh.server.catalog.file_systems import refuse_shared
from evh.server.faults import ServerFault, retry_later

__all__ = ["Database"]

T = TypeVar("T")
BUSY_SECONDS = 10
OLDEST_POSTGRES = (15,)
ATTEMPTS = 8
LOST = frozenset({"40001", "40P01", "23505"})
"""SQLSTATE of a serialization failure, a deadlock, and of two who inserted the same key at once."""


class Database:
    """The catalog's database: a path is SQLite's file (made when missing), a `postgresql://` URL is PostgreSQL."""

    def __init__(self, where: str | Path) -> None:
        self.is_sqlite = isinstance(where, Path) or "://" not in where
        if self.is_sqlite:
            self.engine = _sqlite(Path(where))
        else:
            self.engine = _postgres(str(where))
        self._writer = ThreadPoolExecutor(1, "evh-writer") if self.is_sqlite else None
        try:
            with self.read() as connection:
                version = connection.dialect.server_version_info or ()
        except ServerFault as error:
            self.close()
            raise SourceError(error.message, source=_shown(where)) from None
        if not self.is_sqlite and version < OLDEST_POSTGRES:
            self.close()
            raise SourceError(
                f"this PostgreSQL is version {'.'.join(map(str, version))}: 15 is the oldest that serves",
                source=_shown(where),
            )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for statements that change nothing, which see one state."""
        try:
            with self.engine.connect() as plain:
                yield plain.execution_options(reading=True)
        except SQLAlchemyError as error:
            raise fault_of(error) from error

    def write(self, change: Callable[[Connection], T]) -> T:
        """What the function returns, once its transaction is durable."""
        if self._writer is not None:
            try:
                return self._writer.submit(self._transaction, change).result()
            except RuntimeError as error:  # the writer is shut down
                raise retry_later("storage_unavailable", "the server is stopping") from error
        return self._transaction(change)

    def _transaction(self, change: Callable[[Connection], T]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.engine.begin() as connection:
                    return change(connection)
            except SQLAlchemyError as error:
                if attempt == ATTEMPTS or getattr(getattr(error, "orig", None), "sqlstate", None) not in LOST:
                    raise fault_of(error) from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Wait for the writes that are under way, and give the connections back. Again: nothing."""
        if self._writer is not None:
            self._writer.shutdown()
        self.engine.dispose()


def fault_of(error: SQLAlchemyError) -> ServerFault:
    """What a failed statement means to whoever asked."""
    if isinstance(error, IntegrityError) or not isinstance(error, DBAPIError | PoolTimeout):
        return ServerFault(500, "internal_error", f"the database refused a statement: {reason(error)}")
    return retry_later("storage_unavailable", f"the database does not answer: {reason(error)}")


def reason(error: SQLAlchemyError) -> str:
    """The database's own words: no statement and no parameters, which may hold foreign data."""
    lines = str(getattr(error, "orig", None) or error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:300]


def _shown(where: str | Path) -> str:
    return str(where) if isinstance(where, Path) or "://" not in where else make_url(where).render_as_string()


def _sqlite(path: Path) -> Engine:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise SourceError("there is no such folder to keep the database in", source=str(folder))
    refuse_shared(folder)
    engine = create_engine(
        f"sqlite:///{path.absolute()}", connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}, pool_size=8,
        max_overflow=32,
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver's guess
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A write takes its lock at once: a transaction that reads first and is overtaken could not be saved.
        connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reading") else "BEGIN IMMEDIATE")

    return engine


def _postgres(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageError("the database is the path of a SQLite file or a URL `postgresql://…`") from None
    if parsed.drivername not in ("postgresql", "postgresql+psycopg"):
        raise UsageError(f"a database of {parsed.drivername} cannot serve: SQLite (a path) and `postgresql://…` can")
    return create_engine(
        parsed.set(drivername="postgresql+psycopg"), pool_size=8, max_overflow=24, pool_pre_ping=True,
        connect_args={"connect_timeout": BUSY_SECONDS, "application_name": "evh"},
    )  # fmt: skip
