"""The catalog: what finds the stored bytes again, in SQLite or PostgreSQL by the same statements.

Promise: all SQL of the house is in this package, written with SQLAlchemy's expressions against one schema (`tables`).
Policy: a table of the wire has one module here; what crosses them (the lock of a project, its counter) is `projects`'.
"""

from __future__ import annotations

from pathlib import Path

from evh.server.catalog.database import Database
from evh.server.catalog.environments import EnvironmentsTable
from evh.server.catalog.evaluations import EvaluationsTable
from evh.server.catalog.heads import HeadsTable
from evh.server.catalog.projects import ProjectsTable
from evh.server.catalog.runs import RunsTable
from evh.server.catalog.tokens import TokensTable
from evh.server.catalog.training import TrainingTable
from evh.server.catalog.uploads import UploadsTable

__all__ = ["Catalog", "Database"]


class Catalog:
    """Every table of the catalog over one database, which must have the schema (`evh.server.migrations`)."""

    def __init__(self, where: str | Path) -> None:
        self.database = Database(where)
        self.projects = ProjectsTable(self.database)
        self.tokens = TokensTable(self.database)
        self.uploads = UploadsTable(self.database)
        self.heads = HeadsTable(self.database)
        self.runs = RunsTable(self.database)
        self.environments = EnvironmentsTable(self.database)
        self.evaluations = EvaluationsTable(self.database)
        self.training = TrainingTable(self.database)

    def ping(self) -> None:
        """Commit a real tiny write. Raises `ServerFault` when the database cannot."""
        self.projects.prove_writable()

    def close(self) -> None:
        """Wait for writes under way and give the connections back. Again: nothing."""
        self.database.close()
