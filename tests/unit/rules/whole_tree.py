"""A small project that every rule is content with, for tests to break one thing in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from evh.harness.dataset import create_dataset
from evh.harness.project import Project
from evh.protocol import models
from evh.rules import Outcome, validate
from evh.store import layout
from evh.store.aggregate import aggregate
from evh.store.record import run_record, write_record
from evh.store.rows import read_metric_rows

ITEMS = ("q1", "q2", "q3")
SCORES = {"q1": 1.0, "q2": 0.5, "q3": 0.1}


class Made:
    """The project at `root`, with one dataset `d` and whatever runs a test adds."""

    def __init__(self, root: Path) -> None:
        self.root = root
        source = root / "inputs"
        source.mkdir(parents=True)
        for item in ITEMS:
            (source / f"{item}.txt").write_text(f"the text of {item}")
        self.project = Project(root)
        create_dataset(self.project, source, "d")
        (root / "data" / "configs").mkdir()
        (root / "data" / "configs" / "a.yaml").write_text("config_id: a\ndataset_id: d\nparams: {k: 1}\n")
        self.runs = root / "data" / "runs"

    def run(
        self,
        run_id: str = "a_1",
        *,
        config_id: str = "a",
        params: Mapping[str, Any] | None = None,
        scores: Mapping[str, float] = SCORES,
        finished: bool = True,
        repeat_index: int | None = None,
        runs: Path | None = None,
        **changed: Any,
    ) -> Path:
        """A run as the harness leaves it; `changed` are members of its record."""
        path = (runs or self.runs) / run_id
        (path / layout.OUTPUTS).mkdir(parents=True)
        config = {"params": {"k": 1} if params is None else dict(params)}
        manifest = models.RunManifest(
            run_id=run_id, dataset_id="d", config_id=config_id, started_at="2026-01-01T00:00:00Z",
            harness_version="0.4.0", config=config, build=models.Build(ref="abc", dirty=False),
            repeat_index=repeat_index,
        )  # fmt: skip
        self.write(path / layout.MANIFEST, msgspec.json.decode(msgspec.json.encode(manifest)))
        lines = []
        for at, (item, score) in enumerate(scores.items()):
            output = f"answer to {item}".encode()
            (path / layout.OUTPUTS / layout.output_name(item)).write_bytes(output)
            lines.append(
                {
                    "item_id": item, "score": score, "latency_ms": 10.5 + at, "cost_usd": 0.25, "_extra": {"cut": 0},
                    "_output_sha256": hashlib.sha256(output).hexdigest(),
                }
            )  # fmt: skip
        self.rows(path, lines)
        if finished:
            record = run_record(manifest, aggregate(read_metric_rows(path / layout.PREDICTIONS)))
            write_record(path, record)
            if changed:
                self.change(path / layout.RECORD, **changed)
        return path

    @staticmethod
    def rows(path: Path, rows: list[dict[str, Any]]) -> None:
        """Write the rows of a run."""
        data = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        (path / layout.PREDICTIONS).write_bytes(data)

    @staticmethod
    def write(path: Path, document: Any) -> Path:
        """Write a document, in a folder that is made if need be."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=2) + "\n")
        return path

    @classmethod
    def change(cls, path: Path, **members: Any) -> None:
        """Change members of a document; None removes one."""
        document = {**json.loads(path.read_text()), **members}
        cls.write(path, {name: value for name, value in document.items() if value is not None})

    def goal(self, **changed: Any) -> Path:
        """A goal on the dataset that binds from 2026-06-01 on."""
        goal = {
            "goal_id": "g", "statement": "be right", "dataset_id": "d", "metric": "score", "direction": "higher",
            "cut_over": "2026-06-01T00:00:00Z", "requires": {}, **changed,
        }  # fmt: skip
        return self.write(self.root / "data" / "goals" / f"{goal['goal_id']}.json", goal)

    def check(self, rule: str, *paths: Path, environ: Mapping[str, str] | None = None) -> Outcome:
        """What one rule finds in the project, or in some folders."""
        [outcome] = validate(paths or [self.root], environ or {}, [rule])
        return outcome


def said(outcome: Outcome) -> str:
    """All findings of an outcome as one text."""
    return "\n".join(
        f"{each.file}:{each.line}:{each.pointer}: {each.message} -> {each.advice}" for each in outcome.findings
    )
