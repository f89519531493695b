"""V2, V4 and R4: runs and datasets fit together."""

from __future__ import annotations

import shutil
from pathlib import Path

from evh.store import layout
from tests.unit.rules.whole_tree import Made, said


def test_v2_a_run_of_a_dataset_that_is_not_there(made: Made) -> None:
    made.run()
    made.run("b_1", config_id="b", dataset_id="gone")
    made.run("c_1", config_id="c", dataset_id="../d")
    outcome = made.check("V2")
    assert outcome.checked == 3 and outcome.finding_count == 2
    assert "no dataset 'gone'" in said(outcome) and "'../d'" in said(outcome)


def test_v2_an_unfinished_run_counts_by_its_manifest(made: Made) -> None:
    path = made.run(finished=False)
    made.change(path / layout.MANIFEST, dataset_id="gone")
    assert "run.json" in said(made.check("V2"))


def test_v2_runs_without_datasets_beside_them_are_not_checked(made: Made, tmp_path: Path) -> None:
    path = made.run(runs=tmp_path / "elsewhere")
    for folder in (path, path.parent):
        assert made.check("V2", folder).status == "nothing to check"
    assert made.check("V2", made.run()).status == "ok"


def test_v4_a_changed_a_missing_and_a_linked_copy(made: Made) -> None:
    copies = made.project.materialized / "d"
    assert made.check("V4").what == "3 copies"
    (copies / "q1.txt").write_text("changed")
    (copies / "q2.txt").unlink()
    (copies / "q3.txt").unlink()
    (copies / "q3.txt").symlink_to(made.root / "inputs" / "q3.txt")
    outcome = made.check("V4")
    assert outcome.finding_count == 3
    assert "'q1': its copy was changed" in said(outcome) and "'q2': its copy is missing" in said(outcome)


def test_v4_a_dataset_that_is_not_materialized_here_is_noted_and_not_ok(made: Made) -> None:
    shutil.rmtree(made.project.materialized)
    outcome = made.check("V4")
    assert outcome.status == "nothing to check" and "not materialized" in outcome.notes[0]


def test_r4_a_row_of_an_item_that_the_dataset_does_not_have(made: Made) -> None:
    made.run(scores={"q1": 1.0, "q9": 0.0})
    outcome = made.check("R4")
    [finding] = outcome.findings
    assert finding.line == 2 and "has no item 'q9'" in finding.message and outcome.what == "2 rows"


def test_r4_goes_on_behind_rows_that_cannot_be_read(made: Made) -> None:
    path = made.run()
    (path / layout.PREDICTIONS).write_text('{"item_id": "q1"}\n{oops}\n{"item_id": "q2"}\n')
    made.run("b_1", config_id="b")
    outcome = made.check("R4")
    assert outcome.what == "4 rows" and "V1 says why" in outcome.notes[0]


def test_r4_e5_ids_that_differ_only_in_case_are_two_items(made: Made) -> None:
    made.run(scores={"Q1": 1.0})
    assert made.check("R4").finding_count == 1
