"""The database behind the catalog: its schema, where it may be, and what it says when it does not answer."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import inspect

from evh.errors import SourceError, UsageError
from evh.server import migrations
from evh.server.catalog import Catalog, Database
from evh.server.catalog.file_systems import file_system_of, refuse_shared
from evh.server.catalog.tables import metadata
from evh.server.faults import ServerFault
from evh.server.migrations import current, migrate, newest, prepare


def shape(engine: sqlalchemy.Engine) -> dict[str, Any]:
    """Everything that the database says about our tables."""
    seen = inspect(engine)
    found: dict[str, Any] = {}
    for table in seen.get_table_names():
        if table == "alembic_version":
            continue
        found[table] = {
            "columns": [(each["name"], str(each["type"]), each["nullable"]) for each in seen.get_columns(table)],
            "key": seen.get_pk_constraint(table),
            "foreign": sorted(str(sorted(each.items(), key=str)) for each in seen.get_foreign_keys(table)),
            "unique": sorted(map(str, seen.get_unique_constraints(table))),
        }
    return found


def indexes(engine: sqlalchemy.Engine) -> list[str]:
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql("select sql from sqlite_master where type = 'index' and sql is not null")
        else:
            rows = connection.exec_driver_sql("select indexdef from pg_indexes where schemaname = 'public'")
        return sorted(re.sub(r"\s+", " ", row[0]) for row in rows if "alembic" not in row[0])


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_migrated_schema_is_the_one_in_tables(make_database: Any) -> None:
    migrated = Database(make_database())
    straight = Database(make_database())
    with straight.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE alembic_version")
        metadata.drop_all(connection)
        metadata.create_all(connection)
    try:
        assert shape(migrated.engine) == shape(straight.engine)
        assert indexes(migrated.engine) == indexes(straight.engine)
        assert set(shape(migrated.engine)) == set(metadata.tables)
    finally:
        migrated.close()
        straight.close()


def test_a_database_is_migrated_once(make_database: Any) -> None:
    database = Database(make_database())
    try:
        assert current(database) == newest() and migrate(database) is False
        prepare(database)
    finally:
        database.close()


def test_a_new_store_is_made_by_whoever_comes_first(tmp_path: Path) -> None:
    databases = [Database(tmp_path / "c.db") for _ in range(4)]
    failures: list[BaseException] = []

    def work(database: Database) -> None:
        try:
            prepare(database)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(each,)) for each in databases]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert failures == [] and all(current(each) == newest() for each in databases)
    for each in databases:
        each.close()


def test_a_schema_of_a_newer_release_is_refused(make_database: Any) -> None:
    database = Database(make_database())
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    try:
        for call in (prepare, migrate):
            with pytest.raises(SourceError, match="'9999', which this release does not know"):
                call(database)
    finally:
        database.close()


def test_an_older_postgres_schema_waits_for_a_word(make_postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(make_postgres())
    monkeypatch.setattr(migrations, "newest", lambda: "0002")
    try:
        with pytest.raises(SourceError, match="has schema 0001, this release needs 0002: back it up"):
            prepare(database)
    finally:
        database.close()


MOUNTS = """\
22 1 8:1 / / rw - ext4 /dev/vda rw
30 22 0:40 / /mnt/shared rw shared:5 - nfs4 server:/x rw
31 30 8:2 / /mnt/shared/local rw - xfs /dev/vdb rw
32 22 0:41 / /mnt/with\\040space rw - fuse.sshfs x rw
broken line
"""


def test_shared_file_systems_are_refused_with_words(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert file_system_of(Path("/srv/x"), mounts) == "ext4"
    assert file_system_of(Path("/mnt/shared/local/x"), mounts) == "xfs"
    refuse_shared(Path("/mnt/shared-not"), mounts)
    for place, kind in (("/mnt/shared/a/b", "nfs4"), ("/mnt/with space/x", "fuse.sshfs")):
        with pytest.raises(SourceError, match=f"is on {kind}, a file system of several machines"):
            refuse_shared(Path(place), mounts)
    assert file_system_of(Path("/"), tmp_path / "none") is None


@pytest.mark.parametrize("where", ["mysql://x/y", "postgresql+asyncpg://x/y", "://", "sqlite:///x"])
def test_databases_of_other_kinds_are_a_usage_error(where: str) -> None:
    with pytest.raises(UsageError, match="postgresql://"):
        Database(where)


def test_a_database_that_is_not_there_is_said_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not answer") as caught:
        Database(f"postgresql://me:hunter2@/x?host={tmp_path}")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(SourceError, match="no such folder"):
        Database(tmp_path / "missing" / "c.db")
    (tmp_path / "text.db").write_text("this is no database, and long enough to be seen as none " * 99)
    with pytest.raises(SourceError, match="not a database"):
        Database(tmp_path / "text.db")


def test_a_failed_write_leaves_nothing(catalog: Catalog) -> None:
    def change(connection: sqlalchemy.Connection) -> None:
        from sqlalchemy import insert

        from evh.server.catalog.tables import projects

        counted = dict.fromkeys(("used_bytes", "used_episodes", "used_traces", "used_batches"), 0)
        connection.execute(insert(projects).values(name="half", created_us=0, next_seq=1, **counted))
        raise KeyError("changed my mind")

    with pytest.raises(KeyError):
        catalog.database.write(change)
    assert catalog.projects.all() == []


def test_a_stopped_catalog_says_so(make_sqlite: Any) -> None:
    catalog = Catalog(make_sqlite())
    catalog.close()
    catalog.close()
    with pytest.raises(ServerFault, match="is stopping") as caught:
        catalog.projects.ensure("p")
    assert (caught.value.status, caught.value.code) == (503, "storage_unavailable")


def test_a_locked_sqlite_is_a_fault_to_be_tried_again(make_sqlite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from evh.server.catalog import database as module

    monkeypatch.setattr(module, "BUSY_SECONDS", 0)
    path = make_sqlite()
    one, two = Catalog(path), Catalog(path)
    try:
        with one.database.engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")  # holds the write lock: a plain connection begins to write
            with pytest.raises(ServerFault, match="locked") as caught:
                two.projects.ensure("p")
            assert (caught.value.status, caught.value.code) == (503, "storage_unavailable")
    finally:
        one.close()
        two.close()
