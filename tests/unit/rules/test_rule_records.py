"""R1, R2, R3 and R5: a run agrees with itself."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from evh.store import layout
from tests.unit.rules.whole_tree import Made, said


@pytest.mark.parametrize(
    ("member", "value"), [("run_id", "other"), ("dataset_id", "other"), ("config_id", "other"), ("repeat_index", 7)]
)
def test_r1_ids_of_manifest_and_record(made: Made, member: str, value: object) -> None:
    record = made.run() / layout.RECORD
    assert made.check("R1").what == "1 run"
    made.change(record, **{member: value})
    [finding] = made.check("R1").findings
    assert finding.pointer == f"/{member}" and "in run.json it is" in finding.message


def test_r2_a_score_is_that_of_the_rows(made: Made) -> None:
    path = made.run()
    scores = json.loads((path / layout.RECORD).read_text())["scores"]
    assert scores["score"] == (1.0 + 0.5 + 0.1) / 3
    made.change(path / layout.RECORD, scores={**scores, "score": 0.533333, "novel": 1}, n_items=4, n_errors=2)
    del scores["cut"]
    text = said(made.check("R2"))
    assert "'score' is 0.533333, the rows give 0.5333333333333333" in text
    assert "no row has the metric 'novel'" in text
    assert "n_items is 4, the rows give 3" in text and "n_errors is 2, the rows give 0" in text
    made.change(path / layout.RECORD, scores=scores)
    assert "the rows give 'cut' 0.0, the record lacks it" in said(made.check("R2"))


def test_r2_a_mean_that_was_summed_otherwise_agrees(made: Made) -> None:
    record = made.run() / layout.RECORD
    scores = json.loads(record.read_text())["scores"]
    made.change(record, scores={**scores, "score": math.nextafter(scores["score"], 1)})
    assert made.check("R2").status == "ok"
    made.change(record, scores={**scores, "score": scores["score"] + 1e-9})
    assert "the rows give" in said(made.check("R2"))


def test_r2_rounded_scores_of_old_records_are_noted(made: Made) -> None:
    path = made.run()
    scores = json.loads((path / layout.RECORD).read_text())["scores"]
    made.change(path / layout.RECORD, scores={**scores, "score": 0.533333})
    (path / layout.MANIFEST).unlink()
    outcome = made.check("R2")
    assert outcome.status == "ok" and "rounded, as by harnesses before 0.4.0: 'score'" in outcome.notes[0]


def test_r2_a_record_without_its_rows(made: Made) -> None:
    (made.run() / layout.PREDICTIONS).unlink()
    assert "counts 3 rows, and there is no predictions.jsonl" in said(made.check("R2"))


@pytest.mark.parametrize("rows", ['{"item_id": "q1"}\n{"item_id": "q1"}\n', "[]\n{}\n"])
def test_r2_rows_that_cannot_be_counted_are_noted_and_not_ok(made: Made, rows: str) -> None:
    (made.run() / layout.PREDICTIONS).write_text(rows)
    outcome = made.check("R2")
    assert outcome.status == "nothing to check" and "V1 says which" in outcome.notes[0]


@pytest.mark.parametrize("finished", [True, False])
def test_r3_an_output_that_is_missing_or_changed_is_found(made: Made, *, finished: bool) -> None:
    outputs = made.run(finished=finished) / layout.OUTPUTS
    (outputs / "q1.txt").unlink()
    (outputs / "q3.txt").write_text("changed")
    outcome = made.check("R3")
    assert [each.line for each in outcome.findings] == [1, 3] and outcome.what == "3 outputs"
    assert "'q1': its output outputs/q1.txt is missing" in outcome.findings[0].message
    assert "was changed" in outcome.findings[1].message
    assert ("--resume" in outcome.findings[0].advice) is not finished


def test_r3_e41_an_output_that_is_a_link_is_not_followed(made: Made, tmp_path: Path) -> None:
    outputs = made.run() / layout.OUTPUTS
    content = (outputs / "q1.txt").read_bytes()
    (tmp_path / "outside").write_bytes(content)
    (outputs / "q1.txt").unlink()
    (outputs / "q1.txt").symlink_to(tmp_path / "outside")
    assert "links are not followed" in said(made.check("R3"))


def test_r3_e38_hostile_ids_are_looked_for_under_their_hashed_names(made: Made) -> None:
    ids = ["../../x", "/abs", "a\\b", "con", "A1", "a1", "…" * 200]
    made.run(scores=dict.fromkeys(ids, 1.0))
    assert made.check("R3").what == "7 outputs" and made.check("R3").status == "ok"


def test_r3_an_output_that_an_older_harness_named_by_hand_is_found(made: Made) -> None:
    path = made.run(scores={"Q1": 1.0})
    (path / layout.OUTPUTS / layout.output_name("Q1")).rename(path / layout.OUTPUTS / "Q1.txt")
    assert made.check("R3").status == "ok"
    (path / layout.OUTPUTS / "Q1.txt").write_text("changed")
    assert "its output outputs/Q1.txt was changed" in said(made.check("R3"))


def test_r3_rows_that_name_no_digest_are_noted(made: Made) -> None:
    path = made.run()
    made.rows(path, [{"item_id": "q1", "_extra": {}}, {"item_id": "q2", "_extra": {}, "_error": "E: no"}])
    outcome = made.check("R3")
    assert outcome.status == "nothing to check" and "name no digest of their output: 1" in outcome.notes[0]


def test_r5_e20_a_clock_that_was_set_back_is_noted(made: Made) -> None:
    made.run(created_at="2025-12-31T23:59:59Z")
    outcome = made.check("R5")
    assert outcome.status == "ok" and "the clock was set back" in outcome.notes[0]


def test_r5_e21_a_derived_run_that_is_older_than_its_source_is_noted(made: Made) -> None:
    derived = {"kind": "rescored", "from": "runs/a_1", "at": "2026-03-01T00:00:00Z"}
    path = made.run(created_at="2026-03-01T00:00:00Z", source_created_at="2026-02-28T00:00:00Z", derived=derived)
    assert made.check("R5").notes == []
    made.change(path / layout.RECORD, source_created_at="2026-03-02T00:00:00Z")
    outcome = made.check("R5")
    assert outcome.status == "ok" and "is before that of the run it was derived from" in outcome.notes[0]


def test_r5_e63_a_record_from_the_future_is_noted(made: Made) -> None:
    made.run(created_at="2999-01-01T00:00:00Z")
    assert "in the future" in made.check("R5").notes[0]


def test_r5_runs_that_are_not_finished_are_noted(made: Made) -> None:
    made.run(finished=False)
    stale = made.run("b_1", config_id="b", finished=False)
    at = "2026-01-01T00:00:00Z"
    made.write(stale / layout.LEASE, {"token": "t", "host": "another", "pid": 7, "acquired_at": at, "beat_at": at})
    notes = made.check("R5").notes
    assert "(stopped)" in notes[0] and "'another'" in notes[1] and "stale" in notes[1]
