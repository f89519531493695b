"""`evh validate`: three reports, exit codes, and what is said when there is nothing to check."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Evh

from evh.cli.validate import HELP
from evh.rules import RULES
from evh.store import layout
from tests.unit.rules.whole_tree import Made


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A sound project, which is the current folder."""
    found = Made(tmp_path / "work")
    found.run()
    monkeypatch.chdir(found.root)
    monkeypatch.delenv("EVAL_RUNS_DIR", raising=False)
    return found


def test_a_sound_tree_exits_with_0_and_says_what_each_rule_did(evh: Evh, made: Made) -> None:
    ran = evh("validate")
    assert ran.code == 0 and not ran.err
    for rule in RULES:
        assert f"\n{rule.name} " in ran.out and rule.title in ran.out
    assert "18 rules: 11 ok, 7 nothing to check; no findings, 2 notes\n" in ran.out
    assert "note V7  not a git tree\n" in ran.out


def test_findings_exit_with_1_and_stand_by_file_with_what_to_do(evh: Evh, made: Made) -> None:
    made.change(made.runs / "a_1" / layout.RECORD, novel=1, n_items=7)
    ran = evh("validate")
    assert ran.code == 1
    assert ran.out.count("data/runs/a_1/metrics.json  2 findings\n") == 1
    assert "  V1  /novel  unexpected member 'novel' [additionalProperties]\n    → remove the member" in ran.out
    assert "  R2  /n_items  n_items is 7, the rows give 3\n" in ran.out
    assert "2 findings in 1 file" in ran.out


def test_only_the_rules_that_were_named_run(evh: Evh, made: Made) -> None:
    made.change(made.runs / "a_1" / layout.RECORD, n_items=7)
    ran = evh("validate", "--rule", "v1", "--rule", "V3", "--json")
    assert ran.code == 0 and [each["rule"] for each in ran.json["rules"]] == ["V1", "V3"]
    assert evh("validate", "--rule", "V99").code == 2
    assert "there is no rule 'V99'" in evh("validate", "--rule", "V99").err


def test_json_holds_every_rule_with_counts_and_findings(evh: Evh, made: Made) -> None:
    made.change(made.runs / "a_1" / layout.RECORD, n_items=7)
    data = evh("validate", "--format", "json").json
    rules = {each["rule"]: each for each in data["rules"]}
    assert not data["ok"] and rules["V3"]["counts"] == {"records": 1} and rules["V7"]["status"] == "nothing to check"
    [finding] = rules["R2"]["findings"]
    assert finding.keys() == {"file", "line", "pointer", "message", "advice"} and rules["R2"]["findings_total"] == 1


def test_github_annotations_name_file_line_and_rule(evh: Evh, made: Made) -> None:
    made.rows(made.runs / "a_1", [{"item_id": "q1", "score": "x", "_extra": {}}, {"item_id": "q2", "_extra": {}}])
    ran = evh("validate", "--rule", "V1", "--rule", "V7", "--format", "github")
    first, last = ran.out.splitlines()
    assert ran.code == 1
    assert first.startswith("::error file=data/runs/a_1/predictions.jsonl,line=1,title=evh%3A V1::/score: expected a")
    assert last == "::notice title=evh%3A V7::not a git tree"


def test_max_errors_shows_fewer_and_counts_all(evh: Evh, made: Made) -> None:
    made.rows(made.runs / "a_1", [{"item_id": f"q{at}", "score": "x", "_extra": {}} for at in range(60)])
    few = evh("validate", "--rule", "V1", "--max-errors", "3")
    assert few.out.count("expected a number") == 3 and "… 57 more findings not shown" in few.out
    assert "57 more findings" in evh("validate", "--rule", "V1", "--max-errors", "3", "--format", "github").out
    assert evh("validate", "--rule", "V1", "--max-errors", "0").out.count("expected a number") == 60
    assert evh("validate", "--rule", "V1").out.count("expected a number") == 50


def test_nothing_checked_at_all_is_a_failure(evh: Evh, made: Made) -> None:
    ran = evh("validate", "--rule", "V7")
    assert ran.code == 1 and "nothing was checked in the current folder (V7: not a git tree)" in ran.err
    (made.root / "empty").mkdir()
    ran = evh("validate", "empty")
    assert ran.code == 1 and "holds nothing to validate" in ran.err and not ran.out
    assert "there is no such folder" in evh("validate", "nowhere").err


def test_the_page_of_help_names_every_rule() -> None:
    assert [rule.name for rule in RULES if f"\n  {rule.name:<3} {rule.title}" not in HELP] == []


def test_runs_that_eval_runs_dir_names_are_looked_at(
    evh: Evh, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.run("z_1", config_id="z", runs=tmp_path / "elsewhere")
    monkeypatch.setenv("EVAL_RUNS_DIR", str(tmp_path / "elsewhere"))
    [rule] = evh("validate", "--rule", "V3", "--json").json["rules"]
    assert rule["counts"] == {"records": 2}


def test_a_file_where_the_runs_belong_is_told(evh: Evh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVAL_RUNS_DIR", raising=False)
    (tmp_path / "data" / "datasets").mkdir(parents=True)
    (tmp_path / "data" / "runs").write_text("x")
    ran = evh("validate")
    assert ran.code == 1 and "data/runs" in ran.err
