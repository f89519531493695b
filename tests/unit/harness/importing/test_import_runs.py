"""Imports of run directories: this harness's own, its ancestors', and hostile ones."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evh.errors import EvhError
from evh.harness.importing import Imported
from evh.harness.project import Project
from evh.rules import validate
from evh.store import open_run_dir
from evh.store.layout import output_name

Make = Callable[..., Any]
RECORD = {
    "run_id": "old", "dataset_id": "qa", "config_id": "theirs",
    "build": {"ref": "abc", "dirty": False, "source": "git"},
    "created_at": "2026-01-01T00:00:00Z", "scores": {"f1": 0.5}, "n_items": 2, "params": {"temperature": 0.5},
    "primary_metric": "f1", "metric_kinds": {"f1": "quality"}, "goal": "g1", "warmup_ms": 12.5, "repeat_index": 2,
}  # fmt: skip


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A run as an ancestor wrote it: outputs named after the item, no `run.json`, rows without `_extra`."""
    folder = tmp_path / "old"
    (folder / "outputs" / "sub").mkdir(parents=True)
    rows = (
        {"item_id": "Q1", "f1": 0.25, "latency_ms": 8.5, "cost_usd": 0.5, "tokens_in": 3, "_meta": {"provider": "p"}},
        {"item_id": "sub/q2", "f1": 0.75, "_extra": {"truncated": 1}},
    )
    (folder / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "outputs" / "Q1.txt").write_text("one", "utf-8")
    (folder / "outputs" / "sub" / "q2.txt").write_text("two", "utf-8")
    (folder / "metrics.json").write_text(json.dumps(RECORD), "utf-8")
    (folder / "notes.md").write_text("hello", "utf-8")
    return folder


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_run_of_an_older_harness_becomes_one_of_ours(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    before = digests(old)
    made: Imported = bring_in(old)
    run = open_run_dir(made.directory)
    assert made.kind == "run"
    assert [run.output("Q1"), run.output("sub/q2")] == ["one", "two"]
    rows = {stored.row.item_id: stored.row.plain() for stored in run.rows()}
    assert rows["Q1"]["_extra"] == {}
    assert rows["sub/q2"]["_extra"] == {"truncated": 1}
    record = made.record
    assert record.scores == {
        "cost_usd": 0.5, "f1": 0.5, "latency_ms": 8.5, "output_words": 1.0, "tokens_in": 3.0, "total_cost_usd": 0.5,
        "total_tokens_in": 3, "truncated": 1.0,
    }  # fmt: skip
    assert (record.build.ref, record.params, record.goal) == ("abc", {"temperature": 0.5}, "g1")
    assert (record.primary_metric, record.metric_kinds) == ("f1", {"f1": "quality"})
    assert (record.warmup_ms, record.repeat_index) == (None, None)
    assert record.config_id == "arm"
    assert made.lossy == [
        "metrics.json#/config_id", "metrics.json#/repeat_index", "metrics.json#/run_id", "metrics.json#/warmup_ms",
        "notes.md",
    ]  # fmt: skip
    assert digests(old) == before


def test_rows_beside_outputs_are_enough(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    made = bring_in(old / "predictions.jsonl")
    assert made.kind == "run"
    assert made.record.build.ref == "unknown"
    assert made.lossy == []


def test_an_import_can_be_imported_again_and_keeps_its_own_record(
    freeze: Make, bring_in: Make, old: Path, tmp_path: Path
) -> None:
    freeze(["Q1", "sub/q2"])
    first = bring_in(old)
    copy = tmp_path / "copy"
    shutil.copytree(first.directory, copy)
    before = digests(copy)
    second = bring_in(copy)
    assert second.record.scores == first.record.scores
    assert "metrics.json#/imported" in second.lossy
    assert second.record.imported is not None
    assert (second.record.imported.tool or "").startswith("evh ")
    assert digests(copy) == before


def test_the_digest_of_a_folder_covers_its_files_in_name_order(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    imported = bring_in(old).record.imported
    found = hashlib.sha256()
    for name in sorted(digests(old)):
        found.update(name.encode() + b"\0" + (old / name).read_bytes() + b"\x1e")
    assert imported is not None
    assert imported.sha256 == found.hexdigest()


def test_e63_a_record_of_the_future_is_taken_with_a_notice(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    (old / "metrics.json").write_text(json.dumps(RECORD | {"created_at": "2999-01-01T00:00:00Z"}), "utf-8")
    made = bring_in(old)
    assert any("in the future" in notice for notice in made.notices)
    assert made.record.created_at == "2999-01-01T00:00:00Z"
    assert made.record.imported is not None
    assert made.record.imported.at < "2999"


def test_e63_an_import_was_made_when_its_source_was_and_imported_now(
    freeze: Make, bring_in: Make, project: Project, old: Path
) -> None:
    freeze(["Q1", "sub/q2"])
    record = bring_in(old).record
    assert record.created_at == "2026-01-01T00:00:00Z"
    assert record.imported is not None and record.imported.at > "2026-01-02"
    alone = bring_in(old / "predictions.jsonl").record  # rows without their record
    assert alone.imported is not None and alone.created_at >= alone.imported.at
    [outcome] = validate([project.root], {}, ["R5"])
    assert not [note for note in outcome.notes if "started_at" in note]


@pytest.mark.parametrize(
    ("said", "kept"),
    [("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z"), ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.5Z")],
)
def test_e22_the_time_of_a_source_is_taken_in_utc(
    freeze: Make, bring_in: Make, old: Path, said: str, kept: str
) -> None:
    freeze(["Q1", "sub/q2"])
    (old / "metrics.json").write_text(json.dumps(RECORD | {"created_at": said}), "utf-8")
    assert bring_in(old).record.created_at == kept


def test_ids_that_the_import_keeps_are_not_lossy(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    made = bring_in(old, run_id="old", config_id="theirs")
    assert (made.record.run_id, made.record.config_id) == ("old", "theirs")
    assert made.lossy == ["metrics.json#/repeat_index", "metrics.json#/warmup_ms", "notes.md"]


def test_a_record_of_another_dataset_is_told(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    (old / "metrics.json").write_text(json.dumps(RECORD | {"dataset_id": "other"}), "utf-8")
    made = bring_in(old)
    assert any("'other'" in notice for notice in made.notices)
    assert "metrics.json#/dataset_id" in made.lossy


def test_an_output_that_is_missing_is_refused(freeze: Make, bring_in: Make, project: Project, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    (old / "outputs" / "Q1.txt").unlink()
    with pytest.raises(EvhError, match=r"predictions\.jsonl:1: item 'Q1' has no output"):
        bring_in(old)
    assert not project.runs.exists()


def test_an_output_that_was_changed_is_refused(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["a"])
    row = {"item_id": "a", "_extra": {}, "_output_sha256": hashlib.sha256(b"other").hexdigest()}
    (old / "predictions.jsonl").write_text(json.dumps(row), "utf-8")
    (old / "outputs" / output_name("a")).write_text("mine", "utf-8")
    with pytest.raises(EvhError, match="was changed since its row"):
        bring_in(old)


@pytest.mark.skipif(os.name == "nt", reason="links and pipes")
@pytest.mark.parametrize("odd", ["link", "pipe", "folder"])
def test_e41_a_hostile_output_is_not_read(freeze: Make, bring_in: Make, project: Project, old: Path, odd: str) -> None:
    freeze(["Q1", "sub/q2"])
    path = old / "outputs" / "Q1.txt"
    path.unlink()
    if odd == "link":
        path.symlink_to("/etc/hostname")
    elif odd == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(EvhError, match=r"Q1\.txt"):
        bring_in(old)
    assert not project.runs.exists()


@pytest.mark.parametrize("item_id", ["../secret", "/etc/hostname", "a\\b", "sub/../../secret"])
def test_e38_hostile_ids_open_nothing_outside(
    freeze: Make, bring_in: Make, old: Path, tmp_path: Path, item_id: str
) -> None:
    freeze(["a"])
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    (old / "predictions.jsonl").write_text(json.dumps({"item_id": item_id, "_extra": {}}), "utf-8")
    with pytest.raises(EvhError, match="has no output"):
        bring_in(old)


def test_an_output_that_is_no_text_is_refused(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    (old / "outputs" / "Q1.txt").write_bytes(b"\xff")
    with pytest.raises(EvhError, match="not UTF-8"):
        bring_in(old)


def test_e6_two_rows_of_an_item_are_refused(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    path = old / "predictions.jsonl"
    path.write_text(path.read_text("utf-8") + json.dumps({"item_id": "Q1"}) + "\n", "utf-8")
    with pytest.raises(EvhError, match="lines 1 and 3"):
        bring_in(old)


def test_e10_a_nan_of_an_old_row_is_no_metric_and_is_told(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    path = old / "predictions.jsonl"
    path.write_text(path.read_text("utf-8").replace("0.25", "NaN"), "utf-8")
    made = bring_in(old)
    assert made.record.scores["f1"] == 0.75
    assert any("predictions.jsonl:1" in notice for notice in made.notices)


def test_e33_a_torn_last_row_leaves_its_item_owed(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    path = old / "predictions.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(EvhError, match="no row for 1 of the 2"):
        bring_in(old)
    made = bring_in(old, partial=True)
    assert made.missing == 1
    assert any("torn" in notice for notice in made.notices)


def test_outputs_of_no_row_are_left_out_and_told(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["Q1", "sub/q2"])
    (old / "outputs" / "stray.txt").write_text("x", "utf-8")
    made = bring_in(old)
    assert any("no row's output are left out: 1" in notice for notice in made.notices)


def test_a_run_of_failures_alone_needs_no_outputs(freeze: Make, bring_in: Make, old: Path) -> None:
    freeze(["a"])
    shutil.rmtree(old / "outputs")
    (old / "predictions.jsonl").write_text(json.dumps({"item_id": "a", "_extra": {}, "_error": "E: no"}), "utf-8")
    record = bring_in(old).record
    assert (record.n_items, record.n_errors) == (1, 1)
