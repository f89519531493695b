"""The storage half in one piece: opened, handed out by its parts, closed.

Promise: `open_storage` gives a store whose schema is the newest and whose crashed segments are whole, or says why not.
Policy: everything is below one folder (`catalog.db`, `segments/`, `blobs/`); the catalog alone may be elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from evh.errors import SourceError
from evh.server import migrations
from evh.server.access import CatalogAccess
from evh.server.blobs import FolderBlobs
from evh.server.catalog import Catalog
from evh.server.disk_room import RESERVE, DiskRoom
from evh.server.documents import Documents
from evh.server.ingest import Ingest
from evh.server.limits import DEFAULT, Profile
from evh.server.quotas import Gate
from evh.server.segments import FolderSegments
from evh.store import _os
from evh.store.atomic import sync_folder, why

__all__ = ["Storage", "open_catalog", "open_storage"]

DATABASE = "catalog.db"


class Storage:
    """Catalog, segments, blobs, access, ingest and documents over one folder."""

    def __init__(self, directory: Path, catalog: Catalog, profile: Profile, reserve: int) -> None:
        self.directory = directory
        self.catalog = catalog
        self.room = DiskRoom(directory, reserve)
        self.segments = FolderSegments(directory / "segments", room=self.room)
        self.blobs = FolderBlobs(directory / "blobs", room=self.room)
        self.access = CatalogAccess(catalog)
        self.gate = Gate()
        self.ingest = Ingest(catalog, self.segments, profile=profile, gate=self.gate)
        self.documents = Documents(self.segments)

    def ready(self) -> None:
        """Prove that an upload could be taken: room on the disk, and a write that the database commits."""
        self.room.take(1)
        self.catalog.ping()

    def close(self) -> None:
        """Seal the open segment and give everything back. Again: nothing."""
        self.segments.close()
        self.catalog.close()

    def __enter__(self) -> Storage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_catalog(directory: str | os.PathLike[str], *, database: str | None = None, migrate: bool = False) -> Catalog:
    """The catalog alone, for administration while a server runs. The folder is made when there is none (its parent
    must exist). Raises `SourceError` and `UsageError`."""
    folder = Path(directory)
    try:
        if not folder.is_dir():
            _os.mkdir(folder)
            sync_folder(folder.absolute().parent)
    except OSError as error:
        raise SourceError(f"the folder of the store cannot be made: {why(error)}", source=str(folder)) from None
    catalog = Catalog(folder / DATABASE if database is None else database)
    try:
        if migrate:
            migrations.migrate(catalog.database)
        else:
            migrations.prepare(catalog.database)
        catalog.projects.ensure("default")
    except BaseException:
        catalog.close()
        raise
    return catalog


def open_storage(
    directory: str | os.PathLike[str], *, database: str | None = None, profile: Profile = DEFAULT,
    reserve: int = RESERVE, migrate: bool = False,
) -> Storage:  # fmt: skip
    """A store: made when there is none, mended after a crash. `database` is a `postgresql://` URL, or a path of a
    SQLite file elsewhere; `reserve` the bytes that stay free on the disk."""
    catalog = open_catalog(directory, database=database, migrate=migrate)
    try:
        return Storage(Path(directory), catalog, profile, reserve)
    except BaseException:
        catalog.close()
        raise


if TYPE_CHECKING:
    from evh.server import interfaces as rooms

    def fits(
        store: Storage,
    ) -> tuple[
        rooms.Segments, rooms.BlobStore, rooms.Access, rooms.Projects, rooms.Heads, rooms.Runs, rooms.Environments,
        rooms.Evaluations, rooms.Training,
    ]:  # fmt: skip
        """The parts are what the interfaces say; the type checkers hold them to it."""
        house = store.catalog
        return (
            store.segments, store.blobs, store.access, house.projects, house.heads, house.runs, house.environments,
            house.evaluations, house.training,
        )  # fmt: skip
