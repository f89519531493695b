"""What a tree holds, however it is named; every rule runs, and none is ok that looked at nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evh.errors import SourceError, UsageError
from evh.rules import RULES, Outcome, Rule, Tree, rules_named, validate
from evh.store import layout
from tests.unit.rules.whole_tree import Made, said

ROOT = Path(__file__).parents[3]


def statuses(outcomes: list[Outcome]) -> dict[str, str]:
    return {each.rule: each.status for each in outcomes}


def test_a_sound_project_has_no_finding_and_rules_without_work_say_so(made: Made) -> None:
    made.run()
    found = statuses(validate([made.root], {}))
    idle = {"V6", "V7", "V9", "V10", "R6", "R7", "R8"}
    assert found == {rule.name: "nothing to check" if rule.name in idle else "ok" for rule in RULES}


def test_every_rule_has_a_heading_in_the_documentation_with_what_to_do() -> None:
    page = (ROOT / "docs" / "rules.md").read_text("utf-8")
    sections = dict(re.findall(r"^## ([VR]\d+): [^\n]+\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert list(sections) == [rule.name for rule in RULES]
    assert [name for name, text in sections.items() if "What to do" not in text] == []


@pytest.mark.parametrize("inside", [".", "data", "data/runs", "data/runs/a_1"])
def test_a_project_its_data_a_runs_folder_and_a_run_are_taken(made: Made, inside: str) -> None:
    made.run()
    tree = Tree.at([made.root / inside], {})
    assert [run.path.name for _, run in tree.runs()] == ["a_1"]
    assert len(tree.projects) == (1 if inside in (".", "data") else 0)
    [(folder, _)] = tree.runs()
    assert folder.project is not None and folder.project.root == made.root


def test_all_runs_directories_are_taken_once(made: Made, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    places = {
        "a_1": made.runs,
        "a_2": made.root / "data" / "runs-rescored",
        "a_3": made.root / "data" / "runs-judged" / "judge",
        "a_4": elsewhere,
    }
    for name, place in places.items():
        made.run(name, runs=place)
    (made.root / "data" / "runs-linked").symlink_to(made.root / "data" / "runs-rescored")
    found = Tree.at([made.root, made.runs, made.runs / "a_1"], {"EVAL_RUNS_DIR": str(elsewhere)})
    assert sorted(run.path.name for _, run in found.runs()) == sorted(places)


def test_the_current_folder_is_taken_without_a_name(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made.run()
    (path / layout.RECORD).write_text("{}")
    monkeypatch.chdir(made.root)
    [outcome] = validate([], {}, ["v1"])
    assert {each.file for each in outcome.findings} == {"data/runs/a_1/metrics.json"}


@pytest.mark.parametrize("name", ["", "nowhere", "file"])
def test_a_folder_with_nothing_to_validate_is_refused_with_what_was_looked_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SourceError, match="data/datasets" if not name else "folder"):
        validate([tmp_path / name], {})


def test_a_rule_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no rule 'V99': there are V1, V2"):
        rules_named(["V99"])
    assert [rule.name for rule in rules_named(["r2", "V1"])] == ["V1", "R2"]


def test_b065_b094_broken_files_among_many_runs_are_all_told_and_hide_nothing(made: Made) -> None:
    for number in range(20):
        made.run(f"a{number}_1", config_id=f"a{number}", params={"k": number}, scores={"q1": number / 20})
    (made.runs / "a3_1" / layout.PREDICTIONS).write_bytes(b"\x00\xff\xfe garbage\n" * 3)
    (made.runs / "a7_1" / layout.RECORD).write_bytes(b"\x80\x81")
    (made.runs / "a9_1" / layout.MANIFEST).unlink()
    (made.runs / "a11_1" / layout.PREDICTIONS).unlink()
    (made.runs / "a13_1" / layout.RECORD).unlink()
    (made.runs / "a13_1" / layout.RECORD).symlink_to("/dev/zero")
    outcomes = {each.rule: each for each in validate([made.root], {})}
    assert len(outcomes) == len(RULES)
    told = {Path(each.file).parent.name for each in outcomes["V1"].findings}
    assert told == {"a3_1", "a7_1", "a13_1"}
    assert {Path(each.file).parent.name for each in outcomes["R2"].findings} == {"a11_1"}
    assert outcomes["R2"].counts["records"] == 17  # 20, but the two records and the rows that cannot be read
    assert {each.line for each in outcomes["V1"].findings if "a3_1" in each.file} == {1, 2, 3}


def test_a_fault_that_a_rule_did_not_expect_is_a_finding_of_it(made: Made) -> None:
    def breaks(tree: Tree, outcome: Outcome) -> None:
        raise PermissionError(13, "Permission denied", "some/file")

    outcome = Rule("X", "never", breaks).run(Tree.at([made.root], {}))
    assert outcome.status == "FAIL" and outcome.findings[0].file == "some/file"


def test_findings_of_one_file_are_counted_and_kept_up_to_a_number(made: Made) -> None:
    path = made.run()
    (path / layout.PREDICTIONS).write_text('{"item_id": ""}\n' * 30)
    [outcome] = validate([made.root], {}, ["V1"], most=4)
    assert outcome.finding_count == 30 and len(outcome.findings) == 4
    assert list(outcome.files.values()) == [30]


def test_outcomes_say_what_was_checked_in_words() -> None:
    assert Outcome("V1", "t").status == "nothing to check"
    outcome = Outcome("V1", "t")
    for kind, number in (("copies", 1), ("rows", 1200), ("leases", 1), ("runs", 0)):
        outcome.looked(kind, number)
    assert outcome.what == "1 copy, 1,200 rows, 1 lease" and outcome.status == "ok" and outcome.checked == 1202


def test_progress_is_told_and_nothing_is_written(made: Made) -> None:
    path = made.run()
    rows = [{"item_id": f"i{number}", "_extra": {}} for number in range(2500)]
    made.rows(path, rows)
    before = {each: each.stat().st_mtime_ns for each in made.root.rglob("*")}
    told: list[tuple[str, int]] = []
    validate([made.root], {}, ["V1"], lambda file, at: told.append((file, at)))
    assert [at for _, at in told] == [1000, 2000]
    assert {each: each.stat().st_mtime_ns for each in made.root.rglob("*")} == before
    assert "predictions.jsonl" in told[0][0] and said(Outcome("a", "b")) == ""
