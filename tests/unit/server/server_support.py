"""Episodes and uploads for the tests of the storage half."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from evh.server.catalog import Catalog
from evh.server.catalog.commits import Line
from evh.server.extract import read_line
from evh.server.limits import DEFAULT
from evh.server.records import SCOPES, BatchKey, LineFormat, Placement, Principal

START = 1_700_000_000.0


def trace(name: str = "t1", **members: Any) -> dict[str, Any]:
    """A small valid trace."""
    task = {"type": "Task", "data": {"idx": 7}}
    return {
        "id": name, "task": task, "agent": {"config": {"model": "m1", "client": {"type": "eval"}}}, "ok": True,
        "nodes": [
            {"message": {"role": "user", "content": "2+2?"}},
            {"parent": 0, "sampled": True, "message": {"role": "assistant", "content": "4"}},
        ],
        "calls": [{"node": 1, "model": "m1", "usage": {"prompt_tokens": 5, "completion_tokens": 2}}],
        "rewards": {"right": {"score": 1.0}},
        "timing": {"start": START, "agent": {"start": START, "end": START + 2.5}},
    } | members  # fmt: skip


def episode(
    name: str = "e1", run: str | dict[str, Any] | None = "r1", traces: list[Any] | None = None, **members: Any
) -> dict[str, Any]:
    """A small valid episode of an eval run."""
    made: dict[str, Any] = {
        "id": name, "env": {"id": "gsm8k"}, "task": {"type": "Task", "data": {"idx": 7}}, "ok": True,
        "traces": [trace(f"t-{name}")] if traces is None else traces,
    }  # fmt: skip
    if run is not None:
        made["run"] = {"type": "eval", "id": run} if isinstance(run, str) else run
    return made | members


def line(record: dict[str, Any]) -> bytes:
    """A record as a line, without its LF."""
    return json.dumps(record).encode()


def body(*records: dict[str, Any] | bytes) -> bytes:
    """Records as the bytes of an upload."""
    return b"".join((each if isinstance(each, bytes) else line(each)) + b"\n" for each in records)


def key(data: bytes) -> str:
    """The idempotency key of an upload."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def batch_key(data: bytes, line_format: LineFormat = "episode") -> BatchKey:
    return BatchKey(key(data), hashlib.sha256(data).hexdigest(), line_format)


def taken(data: bytes, line_format: LineFormat = "episode", *, now: int = 5) -> tuple[list[Line], list[Placement]]:
    """The lines of an upload and made-up placements, for tests of the catalog alone."""
    lines, places, at = [], [], 0
    for number, each in enumerate(data.splitlines(), 1):
        lines.append(read_line(each, number, line_format, DEFAULT, now))
        places.append(Placement("20260101T000000-0123456789ab.jsonl.zst", at, len(each)))
        at += len(each) + 1
    return lines, places


def principal(catalog: Catalog, name: str) -> Principal:
    """Somebody who may do everything in one project."""
    project = catalog.projects.ensure(name)
    return Principal(project.id, project.name, frozenset(SCOPES))
