"""Records on disk: durable files, one writer each; run directories, written and read."""

from __future__ import annotations

from evh.store.arm import Arm, Value, read_arm
from evh.store.atomic import write_file
from evh.store.journal import Journal, Repair
from evh.store.lease import Lease
from evh.store.lock import FileLock
from evh.store.masking import Masker
from evh.store.run_dir import RunDir, open_run_dir
from evh.store.run_writer import RunWriter
from evh.store.runs import Listing, list_runs
from evh.store.writer import EpisodeWriter

__all__ = [
    "Arm",
    "EpisodeWriter",
    "FileLock",
    "Journal",
    "Lease",
    "Listing",
    "Masker",
    "Repair",
    "RunDir",
    "RunWriter",
    "Value",
    "list_runs",
    "open_run_dir",
    "read_arm",
    "write_file",
]
