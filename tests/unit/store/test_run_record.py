"""The run record: computed from rows, closed, whole or not there, and always the same bytes."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from made_runs import MANIFEST, RECORD

from evh.errors import NotWritable, SchemaError, SourceError, WriteError
from evh.protocol import models
from evh.protocol.codec import decode, decode_strict
from evh.store import _os
from evh.store.aggregate import aggregate
from evh.store.record import Declared, document_bytes, run_record, write_record
from evh.store.rows import MetricRow

GOLDEN = """\
{
  "adapter": "adapters/a.py",
  "build": {
    "ref": "unknown"
  },
  "config_id": "arm",
  "created_at": "2026-10-04T08:15:31.000Z",
  "dataset_id": "d",
  "metric_directions": {
    "score": "higher"
  },
  "metric_kinds": {
    "score": "quality"
  },
  "n_errors": 1,
  "n_items": 3,
  "params": {
    "prompt": "é\\u2028"
  },
  "primary_metric": "score",
  "providers_seen": {
    "a": 1,
    "b": 1
  },
  "reference_coverage": {
    "items": 3,
    "items_with_reference": 1
  },
  "run_id": "arm_r1",
  "scores": {
    "cost_usd": 0.1,
    "score": 0.5,
    "total_cost_usd": 0.1
  }
}
"""


def manifest(**members: Any) -> models.RunManifest:
    return decode(json.dumps(MANIFEST | members).encode(), models.RunManifest)


ROWS = [
    MetricRow("a", {"score": 1, "cost_usd": 0.1}, False, "b", 1),
    MetricRow("b", {"score": 0}, False, "a", 2),
    MetricRow("c", {}, True, None, 3),
]


def made(**options: Any) -> models.RunRecord:
    plan = manifest(config={"params": {"prompt": "é\u2028"}})
    declared = Declared("score", {"score": "quality"}, {"score": "higher"})
    return run_record(plan, aggregate(ROWS), **{"declared": declared, "adapter": "adapters/a.py", **options})


def test_the_bytes_are_sorted_closed_and_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evh.store.record.now", lambda: "2026-10-04T08:15:31.000Z")
    write_record(tmp_path, made(coverage=(1, 3)))
    data = (tmp_path / "metrics.json").read_bytes()
    assert data.decode() == GOLDEN
    assert document_bytes(decode_strict(data, models.RunRecord)) == data


def test_what_the_manifest_says_is_copied() -> None:
    imported = {"from": "x", "at": "2026-10-04T08:15:30Z", "sha256": "0" * 64}
    plan = manifest(
        config={"goal": "g", "format": "f", "round": "3"}, build={"ref": "abc"}, repeat_index=2, imported=imported
    )
    record = run_record(plan, aggregate([]), warmup_ms=1.5)
    assert (record.goal, record.format, record.round, record.repeat_index) == ("g", "f", "3", 2)
    assert record.build.ref == "abc"
    assert record.imported is not None
    assert record.warmup_ms == 1.5
    assert (record.scores, record.n_items, record.n_errors) == ({}, 0, None)


@pytest.mark.parametrize(("coverage", "written"), [((0, 3), False), ((1, 3), True), ((3, 3), False), (None, False)])
def test_e13_coverage_is_written_only_when_some_items_have_references(coverage: Any, written: bool) -> None:
    assert (made(coverage=coverage).reference_coverage is not None) is written


def test_a_run_without_dataset_or_config_has_no_record() -> None:
    with pytest.raises(SourceError, match="names no dataset and config"):
        run_record(manifest(kind="train", dataset_id=None, config_id=None), aggregate([]))


def test_b061_a_write_that_fails_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "metrics.json").write_text("old")
    for name in ("create", "write", "fsync", "replace"):
        with monkeypatch.context() as patch:

            def full(*_: Any) -> Any:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            patch.setattr(_os, name, full)
            with pytest.raises(WriteError, match=r"metrics\.json: cannot be written: No space left"):
                write_record(tmp_path, made())
        assert (tmp_path / "metrics.json").read_text() == "old"
        assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_b116_every_writer_refuses_what_is_not_finite(tmp_path: Path, number: float) -> None:
    record, plan = made(), manifest()
    record.scores["score"] = number
    plan.config["params"] = {"deep": [number]}
    for each in (record, plan):
        with pytest.raises(NotWritable, match=r"score|/config/params/deep/0"):
            document_bytes(each)
    with pytest.raises(NotWritable):
        write_record(tmp_path, record)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["rescored_from", "judged_with", "primary_metric_asc", "schema", "more"])
def test_the_record_is_closed(name: str) -> None:
    with pytest.raises(SchemaError, match=name):
        decode_strict(json.dumps(RECORD | {name: "x"}).encode(), models.RunRecord)
