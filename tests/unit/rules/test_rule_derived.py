"""V6, V10 and R7."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evh.harness.launch import measure
from evh.harness.project import Project
from evh.harness.rescore import rescore_run
from evh.rules import Outcome, validate
from evh.store.run_dir import open_run_dir
from tests.support.run_project import ADAPTER, RunProject

WITH_PARTS = ADAPTER + '\n\ndef scorer_id():\n    return {"words": "' + "a" * 64 + '"}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    made = RunProject(tmp_path / "p", 2, adapter=WITH_PARTS)
    monkeypatch.setenv("CALLS", str(made.calls_file))
    [done] = measure(Project(made.root), made.config, run_id="arm-x", environ=made.environ)
    for source, out in ((done.directory, "runs-one"), (made.root / "data" / "runs-one" / "arm-x", "runs-two")):
        rescore_run(Project(made.root), open_run_dir(source), made.root / "data" / out)
    return made


def rule(project: RunProject, name: str) -> Outcome:
    [found] = validate([project.root], {}, [name])
    return found


def edit(project: RunProject, out: str, **members: object) -> None:
    path = project.root / "data" / out / "arm-x" / "metrics.json"
    record = json.loads(path.read_bytes())
    record["derived"] |= members
    path.write_text(json.dumps(record), "utf-8")


def test_v10_every_digest_that_is_stated_is_compared(project: RunProject) -> None:
    kept = rule(project, "V10")
    assert (kept.status, kept.counts, kept.notes) == ("ok", {"derived runs": 2, "digests": 4}, [])
    project.adapter.write_text(WITH_PARTS.replace("a" * 64, "b" * 64), "utf-8")
    broken = rule(project, "V10")
    assert [each.pointer for each in broken.findings] == ["/derived/with/sha256", "/derived/with/scorer/words"] * 2
    assert "arm-x/metrics.json: measured with another" in broken.notes[0]


def test_v10_a_part_that_is_gone_is_a_finding(project: RunProject) -> None:
    project.adapter.write_text(ADAPTER, "utf-8")
    assert any("has no such part now" in each.message for each in rule(project, "V10").findings)


def test_v10_a_derived_run_that_states_no_digest_fails(project: RunProject) -> None:
    edit(project, "runs-one", kind="distil", **{"with": {}})
    assert [each.message for each in rule(project, "V10").findings] == ["states no digest of what scored it"]


def test_v10_code_that_does_not_load_is_named_and_skipped(project: RunProject) -> None:
    project.adapter.write_text("import nowhere_at_all\n", "utf-8")
    found = rule(project, "V10")
    assert found.status == "ok" and not found.findings
    assert any("skipped, data/configs/adapter.py does not load" in each for each in found.notes)


def test_v6_the_run_behind_a_baseline_is_there(project: RunProject) -> None:
    folder = project.root / "data" / "baselines"
    folder.mkdir()
    baseline = {
        "baseline_id": "b", "dataset_id": "small", "promoted_from": "arm-x", "promoted_at": "2026-10-04T08:15:30Z",
        "scores": {"length": 6.0}, "build": {"ref": "v1"},
    }  # fmt: skip
    (folder / "b.json").write_text(json.dumps(baseline), "utf-8")
    assert rule(project, "V6").status == "ok"
    (folder / "b.json").write_text(json.dumps(baseline | {"promoted_from": "arm-y"}), "utf-8")
    [found] = rule(project, "V6").findings
    assert (found.pointer, found.file) == ("/promoted_from", str(folder / "b.json"))


def test_r7_e27_a_source_that_is_gone_is_noted(project: RunProject) -> None:
    assert (rule(project, "R7").status, rule(project, "R7").notes) == ("ok", [])
    shutil.rmtree(project.root / "data" / "runs")
    found = rule(project, "R7")
    assert found.status == "ok" and len(found.notes) == 2 and all("source gone" in each for each in found.notes)


def test_r7_e26_a_chain_that_comes_back_is_a_finding(project: RunProject) -> None:
    edit(project, "runs-one", **{"from": "runs-two/arm-x"})
    found = rule(project, "R7")
    assert found.status == "FAIL" and all("back to arm-x" in each.message for each in found.findings)
