"""Which type of record a file holds: by its name, else by what its first row says or shows, else as the caller said.

Promise: the order is that; a type that only a guess could give is no type.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from evh.cli._args import closest
from evh.errors import UsageError
from evh.protocol import models
from evh.protocol.tables import CLASSES, ROOTS, UNIONS
from evh.protocol.upgrade.detect import detect

__all__ = ["EPISODES", "PACKED", "class_of", "missing_members", "type_by_content", "type_by_name", "type_named"]

EPISODES = frozenset({"Episode", "Trace"})
PACKED = (".gz", ".zst")
BY_NAME = {
    "traces.jsonl": "Episode",
    "results.jsonl": "Episode",
    "predictions.jsonl": "PredictionRow",
    "metrics.json": "RunRecord",
    "run.json": "RunManifest",
    "attempts.jsonl": "Attempt",
    "errors.jsonl": "ItemError",
    "lease.json": "Lease",
    "end.json": "RunEnd",
    "steps.jsonl": "StepRow",
}
BY_FOLDER = {"traces": "Episode", "steps": "StepRow"}
OF_SYNC = {
    "remote.json": "SyncRemote",
    "intent.json": "SyncIntent",
    "cursor.json": "SyncCursor",
    "receipts.jsonl": "SyncReceipt",
    "refused.jsonl": "SyncRefusal",
    "state.json": "SyncState",
}
STEMS = {stem: name for name, stem in ROOTS.items()}
TELLING = ("RunRecord", "RunManifest", "Baseline", "Dataset", "Config", "Goal", "PredictionRow")
"""Types that their required members tell apart; the ones that require more come first."""


def bare_name(source: str) -> str:
    """A file's name without what says that it is compressed."""
    name = PurePath(source).name
    return next((name.removesuffix(suffix) for suffix in PACKED if name.endswith(suffix)), name)


def type_by_name(source: str) -> str | None:
    """The type that a file's name stands for (`metrics.json`: RunRecord), or its folder for the segments of a run."""
    folder, name = PurePath(source).parent.name, bare_name(source)
    return (OF_SYNC if folder == "sync" else BY_NAME).get(name) or BY_FOLDER.get(folder)


def type_by_content(document: Any, *, traces: bool = False) -> str | None:
    """The type that a document declares (`schema`) or that only its members can mean.

    A bare trace counts as an episode, which is what an upgrade makes of it, unless `traces` are told apart.
    """
    if not isinstance(document, dict):
        return None
    declared = document.get("schema")
    if isinstance(declared, str) and declared.startswith("evh:"):
        found = STEMS.get(declared.rpartition(":")[2])
        if found is not None:
            return found
    fitting = [name for name in TELLING if required(name) <= document.keys()]
    if fitting:
        return max(fitting, key=lambda name: len(required(name)))
    kind = detect(document)
    return None if kind == "unknown" else "Trace" if traces and kind == "trace" else "Episode"


def required(name: str) -> set[str]:
    """The members that a type requires."""
    return {member for member, table in CLASSES[name].members.items() if table.required}


def missing_members(document: Any, name: str) -> list[str]:
    """The required members that are not there, when most of them are not: then it is no such record at all."""
    if name not in CLASSES or not isinstance(document, dict):
        return []
    missing = [member for member, table in CLASSES[name].members.items() if table.required and member not in document]
    return missing if len(missing) > 1 and 2 * len(missing) > len(required(name)) else []


def type_named(name: str) -> str:
    """The type that the user named, in any case, as class or as schema file. Raises `UsageError`."""
    by_lower = {each.lower(): each for each in (*CLASSES, *UNIONS)} | STEMS
    found = by_lower.get(name.lower().removesuffix(".json"))
    if found is None:
        likely = closest(name, list(by_lower.values()), "`evh schema` lists them")
        raise UsageError(f"there is no type {name!r}{likely}")
    return found


def class_of(name: str) -> Any:
    """The record class, or union of classes, that a type's name stands for."""
    return getattr(models, name)
