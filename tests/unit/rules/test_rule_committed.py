"""V7 and V9: what is committed is whole."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from evh.store import layout
from tests.unit.rules.whole_tree import Made, said

RULES = ("V7", "V9")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def kept(made: Made) -> Made:
    """A project in a git tree, with one run."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    made.run()
    git(made.root, "init", "-q")
    return made


def test_committed_runs_that_are_whole(kept: Made) -> None:
    git(kept.root, "add", "data/runs")
    assert [kept.check(rule).status for rule in RULES] == ["ok", "ok"]
    assert kept.check("V7").what == "1 committed run" and kept.check("V9").checked == 6


def test_runs_that_are_not_committed_are_not_looked_at(kept: Made) -> None:
    for rule in RULES:
        outcome = kept.check(rule)
        assert outcome.status == "nothing to check" and outcome.notes == ["no run is committed"]


def test_v7_e53_a_run_committed_without_its_record(kept: Made) -> None:
    git(kept.root, "add", "data/runs/a_1/run.json", "data/runs/a_1/predictions.jsonl")
    [finding] = kept.check("V7").findings
    assert "which is on disk" in finding.message and "git add" in finding.advice
    kept.run("b_1", config_id="b", finished=False)
    git(kept.root, "add", "data/runs")
    [finding] = kept.check("V7").findings
    assert finding.file.endswith("b_1") and "--resume" in finding.advice


def test_v7_a_training_run_is_closed_by_its_end(kept: Made) -> None:
    path = kept.run("t_1", config_id="t", finished=False)
    (path / layout.END).write_text("{}\n")
    git(kept.root, "add", "data/runs")
    assert kept.check("V7").status == "ok"


def test_v9_committed_files_that_are_not_on_disk(kept: Made) -> None:
    git(kept.root, "add", "data/runs")
    (kept.runs / "a_1" / layout.OUTPUTS / "q1.txt").unlink()
    [finding] = kept.check("V9").findings
    assert finding.file.endswith("outputs/q1.txt") and "git restore" in finding.advice


def test_v9_a_runs_directory_that_is_gone_as_a_whole(kept: Made) -> None:
    git(kept.root, "add", "data/runs")
    shutil.rmtree(kept.runs)
    assert kept.check("V9").finding_count == 6


@pytest.mark.parametrize(("rows", "message"), [(0, "holds no row"), (1, "its rows number 1, n_items")])
def test_v9_rows_are_there_and_as_many_as_the_record_says(kept: Made, rows: int, message: str) -> None:
    path = kept.runs / "a_1" / layout.PREDICTIONS
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:rows]))
    git(kept.root, "add", "data/runs")
    assert message in said(kept.check("V9"))


def test_e69_names_with_blanks_and_line_ends(kept: Made) -> None:
    kept.run("b run\n1", config_id="b é", finished=False)
    git(kept.root, "add", "data/runs")
    [finding] = kept.check("V7").findings
    assert finding.file.endswith("b run\n1")
    assert kept.check("V9").status == "ok"


def test_one_run_alone_is_looked_at_when_it_is_named(kept: Made) -> None:
    kept.run("b_1", config_id="b", finished=False)
    git(kept.root, "add", "data/runs")
    assert kept.check("V7", kept.runs / "a_1").status == "ok"
    assert kept.check("V7", kept.runs / "b_1").status == "FAIL"


@pytest.mark.parametrize("rule", RULES)
def test_e68_outside_a_git_tree_nothing_is_checked_and_nothing_is_ok(made: Made, rule: str) -> None:
    made.run()
    outcome = made.check(rule)
    assert outcome.status == "nothing to check" and "not a git tree" in outcome.notes[0]


@pytest.mark.parametrize("rule", RULES)
def test_e68_without_git_nothing_is_checked(kept: Made, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    git(kept.root, "add", "data/runs")
    monkeypatch.setenv("PATH", "")
    outcome = kept.check(rule)
    assert outcome.status == "nothing to check" and outcome.notes == ["not a git tree: git cannot be started"]
