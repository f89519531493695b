"""Catalogs to test with: SQLite always, a real PostgreSQL where there is one. Each test gets a database of its own,
copied from one that was migrated once."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy
from server_support import principal
from sqlalchemy.engine import make_url

from evh.server.catalog import Catalog, Database
from evh.server.catalog.tables import metadata
from evh.server.migrations import migrate
from evh.server.records import Principal
from evh.server.storage import Storage, open_storage

_numbers = itertools.count()
Make = Callable[[], str | Path]


@pytest.fixture(scope="session")
def make_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Gives the path of a fresh migrated SQLite database."""
    folder = tmp_path_factory.mktemp("sqlite")
    database = Database(folder / "template.db")
    migrate(database)
    database.close()

    def make() -> Path:
        path = folder / f"{next(_numbers)}.db"
        shutil.copy(folder / "template.db", path)
        return path

    return make


@pytest.fixture(scope="session")
def make_postgres(postgres_url: str) -> Iterator[Make]:
    """Gives the URL of a fresh migrated PostgreSQL database."""
    server = make_url(postgres_url).set(drivername="postgresql+psycopg")
    administration = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)
    made: list[str] = []

    def say(statement: str) -> None:
        with administration.connect() as connection:
            connection.exec_driver_sql(statement)

    def url_of(name: str) -> str:
        return server.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    template = f"evh_test_{os.getpid()}_template"
    say(f"CREATE DATABASE {template}")
    made.append(template)
    database = Database(url_of(template))
    migrate(database)
    database.close()

    def make() -> str:
        name = f"evh_test_{os.getpid()}_{next(_numbers)}"
        say(f"CREATE DATABASE {name} TEMPLATE {template}")
        made.append(name)
        return url_of(name)

    yield make
    for name in made if "EVH_TEST_POSTGRES_URL" in os.environ else ():  # a server of our own goes with all of them
        say(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def make_database(request: pytest.FixtureRequest) -> Make:
    """Gives fresh databases, of each kind in turn."""
    made: Make = request.getfixturevalue(f"make_{request.param}")
    return made


@pytest.fixture(scope="session")
def reused_postgres(make_postgres: Make) -> Iterator[Catalog]:
    """One catalog on PostgreSQL, emptied for each test: a database for each would fill the disk."""
    made = Catalog(make_postgres())
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgres"])
def catalog(request: pytest.FixtureRequest) -> Iterator[Catalog]:
    """An empty catalog, of each kind in turn."""
    if request.param == "sqlite":
        made = Catalog(request.getfixturevalue("make_sqlite")())
        yield made
        made.close()
        return
    reused: Catalog = request.getfixturevalue("reused_postgres")
    with reused.database.engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    yield reused


@pytest.fixture
def who(catalog: Catalog) -> Principal:
    return principal(catalog, "default")


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    """A whole store over SQLite."""
    with open_storage(tmp_path / "store", reserve=0) as made:
        yield made
