"""Records on disk: durable files, one writer each."""

from __future__ import annotations

from evh.store.atomic import write_file
from evh.store.journal import Journal, Repair
from evh.store.lock import FileLock
from evh.store.writer import EpisodeWriter

__all__ = ["EpisodeWriter", "FileLock", "Journal", "Repair", "write_file"]
