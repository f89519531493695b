"""R8: no row has both a verdict and the flag that its reply could not be read."""

from __future__ import annotations

import json
from pathlib import Path

from evh.protocol import models
from evh.rules.judged import r8
from evh.rules.outcome import Outcome
from evh.rules.tree import Tree
from evh.store.aggregate import Aggregate
from evh.store.derived import derived_record
from evh.store.record import write_record

ROW = {"item_id": "a", "cost_usd": 1.0, "size": 2, "_extra": {"size": 2}, "judge_cost_usd": 0.1}
SHA = "0" * 64


def checked(root: Path, *rows: dict[str, object]) -> Outcome:
    run = root / "data" / "runs-judged" / "j" / "x"
    run.mkdir(parents=True)
    source = models.RunRecord(
        run_id="x",
        dataset_id="d",
        config_id="c",
        build=models.Build(ref="v1"),
        created_at="2026-10-04T08:15:30Z",
        scores={},
        n_items=len(rows),
    )
    with_ = models.JudgeWith(scorer="j", sha256=SHA, model="m")
    block = models.JudgeDerived(from_="../runs/x", at="2026-10-05T08:15:30Z", with_=with_)
    write_record(run, derived_record(source, Aggregate(), block, run_id="x"))
    (run / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    outcome = Outcome("R8", "")
    r8(Tree.at([root], {}), outcome)
    return outcome


def test_b104_a_flag_and_a_score_in_one_row_are_found(tmp_path: Path) -> None:
    outcome = checked(
        tmp_path,
        ROW | {"judge_unparsed": 1.0},
        ROW | {"item_id": "b", "judge_unparsed": 1.0, "judge_score": 0},
        ROW | {"item_id": "c", "judge_unparsed": 0.0, "judge_score": 1},
        ROW | {"item_id": "d"},
    )
    assert (outcome.status, outcome.checked) == ("FAIL", 3)
    (finding,) = outcome.findings
    assert finding.line == 2 and "'b'" in finding.message and "judge_score" in finding.message


def test_rows_in_order_are_ok_and_none_are_nothing_to_check(tmp_path: Path) -> None:
    assert checked(tmp_path / "one", ROW | {"judge_unparsed": 1.0}).status == "ok"
    assert checked(tmp_path / "two", ROW).status == "nothing to check"
