"""V6, V10 and R7."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evh.harness.launch import measure
from evh.harness.project import Project
from evh.harness.reparse import reparse_runs
from evh.harness.reply_parser import load_parser
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


HELPED = (
    WITH_PARTS.replace('extra={"size": len(text)}', 'meta={"llm_raw": text}')
    .replace("import os\n", "import hashlib\nimport os\nimport pathlib\n", 1)
    .replace(
        '"' + "a" * 64 + '"', 'hashlib.sha256(pathlib.Path(__file__).with_name("words.py").read_bytes()).hexdigest()'
    )
)


def reparsed(root: Path) -> RunProject:
    """A project with a re-parsed run, whose adapter names a helper beside it and whose parser is one of a file's."""
    made = RunProject(root, 2, adapter=HELPED)
    (made.adapter.parent / "words.py").write_text("A = 1\n", "utf-8")
    parser = made.root / "parser.py"
    parser.write_text("def better(row, output, params):\n    return row['_meta']['llm_raw']\n", "utf-8")
    project = Project(made.root)
    measure(project, made.config, run_id="arm-x", environ=made.environ)
    reparse_runs(project, load_parser("parser.py:better", root=made.root), dataset_id="small")
    return made


@pytest.mark.parametrize(
    ("file", "stated"),
    [
        ("parser.py", "parser_sha256"),
        ("data/configs/adapter.py", "scorer_sha256"),
        ("data/configs/words.py", "scorer_sha256"),
    ],
)
def test_v10_a_re_parse_is_held_against_its_parser_and_all_that_its_scorer_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, stated: str
) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.chdir(tmp_path)
    project = reparsed(tmp_path / "r")
    kept = rule(project, "V10")
    assert (kept.status, kept.counts, kept.notes) == ("ok", {"derived runs": 1, "digests": 2}, [])
    path = project.root / file
    path.write_text(path.read_text("utf-8") + "\n# a remark\n", "utf-8")
    assert [each.pointer for each in rule(project, "V10").findings] == [f"/derived/with/{stated}"]
    path.unlink()
    gone = rule(project, "V10")
    assert not gone.findings and "skipped" in gone.notes[0]


@pytest.mark.parametrize("missing", ["adapter", "parser_sha256"])
def test_v10_a_re_parse_that_says_less_is_held_against_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.chdir(tmp_path)
    project = reparsed(tmp_path / "r")
    path = project.root / "data" / "runs-reparsed" / "arm-x" / "metrics.json"
    record = json.loads(path.read_bytes())
    del record["derived"]["with"][missing]
    path.write_text(json.dumps(record), "utf-8")
    found = rule(project, "V10")
    assert not found.findings
    assert found.counts.get("digests") == (1 if missing == "parser_sha256" else None)


def test_r7_v1_a_chain_that_is_too_deep_or_says_one_thing_twice_is_found(project: RunProject) -> None:
    record = json.loads((project.root / "data" / "runs-two" / "arm-x" / "metrics.json").read_bytes())
    block = record["derived"]
    edit(project, "runs-two", source=block)
    assert "stands in its chain twice" in rule(project, "R7").findings[0].message
    deep = block
    for number in range(64):
        deep = {**block, "at": f"2026-10-04T08:0{number // 60}:{number % 60:02}Z", "source": deep}
    edit(project, "runs-two", **deep)
    assert "at most 64" in rule(project, "V1").findings[0].message


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
