"""Run directories made by hand, for tests of their readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORD: dict[str, Any] = {
    "run_id": "arm_r1",
    "dataset_id": "d",
    "config_id": "arm",
    "build": {"ref": "abc", "dirty": False, "source": "git"},
    "created_at": "2026-10-04T08:15:30Z",
    "scores": {},
    "n_items": 0,
}
MANIFEST: dict[str, Any] = {
    "run_id": "arm_r1",
    "dataset_id": "d",
    "config_id": "arm",
    "started_at": "2026-10-04T08:15:30Z",
    "harness_version": "0.4.0",
    "config": {},
}


def make_run(
    folder: Path, name: str, rows: list[dict[str, Any]], *, finished: bool = True, manifest: bool = True, **members: Any
) -> Path:
    """A run directory with these rows; `members` go into its record."""
    path = folder / name
    path.mkdir(parents=True)
    repeat = int(name.rpartition("_r")[2]) if name.rpartition("_r")[2].isdigit() else None
    known = {"run_id": name, "repeat_index": repeat} if repeat else {"run_id": name}
    if manifest:
        (path / "run.json").write_text(json.dumps(MANIFEST | known))
    if finished:
        (path / "metrics.json").write_text(json.dumps(RECORD | known | {"n_items": len(rows)} | members))
    (path / "predictions.jsonl").write_text("".join(json.dumps({"_extra": {}} | row) + "\n" for row in rows))
    return path
