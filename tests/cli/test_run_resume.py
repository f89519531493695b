"""`evh run --resume`: what is paid for is not paid again, and nothing else than what was begun is measured."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import Evh
from run_support import entered, stopped_after

from evh.store import open_run_dir
from tests.support.run_project import ADAPTER, RunProject, listing


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    return entered(RunProject(tmp_path / "p", 4), monkeypatch)


def test_repeats_resume_in_the_one_that_stopped_and_make_the_rest(evh: Evh, project: RunProject) -> None:
    ran = evh("run", "--config", project.config, "--repeat", "3", "--run-id", "x", "--max-cost-usd", "1.5")
    assert ran.code == 3
    assert "data/runs/x_r2: stopped (the cost cap was reached) after 2 of 4 items" in ran.out
    assert "  1 more repeat follows when it goes on\n" in ran.out
    first = listing(project.runs / "x_r1")
    ran = evh("run", "--resume")
    assert ran.code == 0, ran
    assert listing(project.runs / "x_r1") == first
    assert sorted(path.name for path in project.runs.iterdir()) == ["x_r1", "x_r2", "x_r3"]
    for number, path in enumerate(sorted(project.runs.iterdir()), start=1):
        run = open_run_dir(path)
        assert run.record is not None and run.manifest is not None
        assert (run.record.n_items, run.record.repeat_index, run.manifest.repeats) == (4, number, 3)
        assert (run.record.resume is not None) == (number == 2)
    assert len(project.calls) == 12


def test_a_limit_is_kept_over_a_resume(evh: Evh, project: RunProject) -> None:
    stopped_after(evh, project, 2, "--limit", "3")
    assert evh("run", "--resume").code == 0
    record = project.run.record
    assert record is not None and record.n_items == 3
    assert project.calls == ["text 0", "text 1", "text 2"]


def test_b011_resumes_with_nothing_to_do_change_no_byte(evh: Evh, project: RunProject) -> None:
    assert evh("run", "--config", project.config, "--run-id", "x").code == 0
    before = listing(project.runs)
    for _ in range(5):
        for named in ([], ["x"], [str(project.runs / "x")]):
            ran = evh("run", "--resume", *named)
            assert ran.code == 0 and ran.out.startswith("nothing to resume")
    assert listing(project.runs) == before


def test_b010_b115_money_and_tokens_of_all_launches_count_once(evh: Evh, project: RunProject) -> None:
    for _ in range(3):
        evh("run", *(["--resume"] if project.runs.exists() else ["--config", project.config]), "--max-cost-usd", "0.25")
    assert evh("run", "--resume").code == 0
    record = project.run.record
    assert record is not None
    assert record.scores["total_cost_usd"] == 1.0
    assert record.scores["total_tokens_in"] == 12
    assert record.resume is not None and record.resume.attempts == 4
    assert project.calls == [f"text {number}" for number in range(4)]


def test_e32_rows_without_a_record_get_it_without_a_call(evh: Evh, project: RunProject) -> None:
    assert evh("run", "--config", project.config).code == 0
    before = json.loads((project.run.path / "metrics.json").read_bytes())
    (project.run.path / "metrics.json").unlink()
    assert evh("run", "--resume").code == 0
    after = json.loads((project.run.path / "metrics.json").read_bytes())
    assert len(project.calls) == 4
    assert after["resume"]["resumed_items"] == 4
    for name in ("created_at", "resume", "warmup_ms"):
        before.pop(name, None)
        after.pop(name, None)
    assert before == after


CHANGES: list[tuple[str, Any, str]] = [
    ("b028 another temperature", lambda p: p.configure(temperature=0.7), "params.temperature"),
    ("e44 another adapter", lambda p: p.adapter.write_text(ADAPTER + "\n"), "instrument.adapter.sha256"),
    ("e45 another dataset", lambda p: (p.items.update(i0="other"), p.freeze()), "data.items_sha256"),
    ("b029 another arm", lambda p: p.configure(config_id="other"), "config_id"),
]


@pytest.mark.parametrize(("change", "said"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_a_resume_measures_with_what_the_run_began_with(evh: Evh, project: RunProject, change: Any, said: str) -> None:
    project.configure(temperature=0)
    path = stopped_after(evh, project, 2)
    before = listing(path)
    change(project)
    ran = evh("run", "--resume")
    assert ran.code == 1 and said in ran.err, ran.err
    assert ran.err.count("\n") == 1
    assert listing(path) == before
    assert len(project.calls) == 2
    forced = evh("run", "--resume", "--force")
    if said == "config_id":
        assert forced.code == 1
        return
    assert forced.code == 0, forced
    assert [each for each in project.run.attempts()[-1].changed if said in each]


def test_e44_both_digests_of_a_changed_adapter_are_named(evh: Evh, project: RunProject) -> None:
    stopped_after(evh, project, 2)
    old = hashlib.sha256(project.adapter.read_bytes()).hexdigest()
    project.adapter.write_text(ADAPTER + "\n")
    new = hashlib.sha256(project.adapter.read_bytes()).hexdigest()
    said = evh("run", "--resume").err
    assert old[:12] in said and new[:12] in said


def test_b040_a_config_that_names_another_dataset_is_refused(evh: Evh, project: RunProject) -> None:
    stopped_after(evh, project, 2)
    text = project.dataset.read_text()
    (project.dataset.parent / "large.json").write_text(text.replace('"small"', '"large"'))
    shutil.copytree(project.root / "data/materialized/small", project.root / "data/materialized/large")
    project.configure(dataset_id="large")
    ran = evh("run", "--resume")
    assert ran.code == 1 and "dataset_id" in ran.err and "small" in ran.err and "large" in ran.err


def test_b076_what_changes_from_machine_to_machine_holds_no_resume_up(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stopped_after(evh, project, 2)
    moved = tmp_path / "moved"
    shutil.move(project.root, moved)
    monkeypatch.chdir(moved)
    monkeypatch.setenv("EVAL_HOST_LABEL", "another machine")
    ran = evh("run", "--resume")
    assert ran.code == 0, ran


def test_a_config_that_was_moved_is_named(evh: Evh, project: RunProject, tmp_path: Path) -> None:
    stopped_after(evh, project, 2)
    moved = tmp_path / "elsewhere.yaml"
    project.config.rename(moved)
    ran = evh("run", "--resume")
    assert ran.code == 1 and "name its file with --config" in ran.err
    moved.write_text(moved.read_text().replace("adapter.py", "data/configs/adapter.py"))
    assert evh("run", "--resume", "--config", moved).code == 0


def test_b038_b074_a_folder_without_its_manifest_is_not_gone_on_from(evh: Evh, project: RunProject) -> None:
    path = stopped_after(evh, project, 2, "--run-id", "x")
    (path / "run.json").unlink()
    before = listing(path)
    ran = evh("run", "--resume", "x")
    assert ran.code == 1 and "run.json is missing" in ran.err
    ran = evh("run", "--resume")
    assert ran.code == 1 and "run.json is missing, and no other run is stopped" in ran.err
    (path / "run.json").write_bytes(b"")
    ran = evh("run", "--resume", "x")
    assert ran.code == 1 and "run.json" in ran.err
    (path / "run.json").unlink()
    assert listing(path) == before
    empty = project.runs / "empty"
    empty.mkdir()
    assert evh("run", "--resume", "empty").code == 1


def test_several_stopped_runs_have_to_be_named(evh: Evh, project: RunProject) -> None:
    stopped_after(evh, project, 1, "--run-id", "one")
    stopped_after(evh, project, 2, "--run-id", "two")
    ran = evh("run", "--resume")
    assert ran.code == 2 and "one, two" in ran.err
    assert evh("run", "--resume", "two").code == 0
    assert evh("run", "--resume").code == 0
    assert len(project.calls) == 8


def test_output_files_that_are_missing_or_changed_are_owed_again_and_told(evh: Evh, project: RunProject) -> None:
    path = stopped_after(evh, project, 3)
    rows = (path / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    (path / "outputs" / "i0.txt").unlink()
    (path / "outputs" / "i2.txt").write_text("something else")
    ran = evh("run", "--resume")
    assert ran.code == 0, ran
    assert "i0: its output is missing, so it is owed again" in ran.err
    assert "i2: its output was changed, so it is owed again" in ran.err
    assert "2 rows were moved to predictions.jsonl.set-aside-1" in ran.err
    assert (path / "predictions.jsonl.set-aside-1").read_bytes() == rows[0] + rows[2]
    assert (path / "predictions.jsonl").read_bytes().startswith(rows[1])
    assert sorted(project.calls) == sorted([*project.items.values(), "text 0", "text 2"])
    assert len(project.run.attempts()[-1].repairs) == 3
    record = project.run.record
    assert record is not None and record.n_items == 4
    assert project.run.output("i2") == "TEXT 2"


def test_runs_elsewhere(evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVAL_RUNS_DIR", str(tmp_path / "my runs"))
    ran = evh("run", "--config", project.config, "--run-id", "x", "--max-cost-usd", "0.5")
    assert ran.code == 3
    assert f"go on with:      EVAL_RUNS_DIR='{tmp_path}/my runs' evh run --resume x\n" in ran.out
    assert (tmp_path / "my runs" / "x" / "run.json").exists()
    assert not project.runs.exists()
    monkeypatch.setenv("EVAL_RUNS_DIR", "")
    assert evh("run", "--config", project.config).code == 0
    assert project.run.record is not None


def test_the_command_names_what_a_resume_could_not_find(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def command_of(out: str) -> list[str]:
        (line,) = re.findall("go on with: +(.*)", out)
        return shlex.split(line)[1:]

    outside = tmp_path / "other runs"
    path = stopped_after(evh, project, 1, "--run-id", "x")
    shutil.copytree(path, outside / "x")
    ran = evh("run", "--resume", "../other runs/x", "--max-cost-usd", "0.25")
    assert ran.code == 3
    assert Path(command_of(ran.out)[2]).resolve() == outside / "x"
    assert evh(*command_of(ran.out)).code == 0
    monkeypatch.setattr("evh.harness.project.Path.home", lambda: tmp_path / "somebody")
    away = tmp_path / "somebody" / "arm.yaml"
    away.parent.mkdir()
    away.write_text(project.config.read_text().replace("adapter.py", "data/configs/adapter.py"))
    project.config.unlink()
    ran = evh("run", "--config", away, "--max-cost-usd", "0.25", "--run-id", "y")
    assert command_of(ran.out) == ["run", "--resume", "y", "--config", str(away)]
    assert "somebody" not in (project.runs / "y" / "attempts.jsonl").read_text()
    assert evh(*command_of(ran.out)).code == 0
