"""Chains of derivations over folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from derived_support import environment, measured, scored

from evh.errors import EvhError
from evh.harness.lineage import changed_since, lineage
from evh.harness.project import Project
from evh.harness.reparse import reparse_runs
from evh.harness.reply_parser import load_parser
from evh.store.run_dir import RunDir, open_run_dir
from tests.support.run_project import ADAPTER, RunProject


@pytest.fixture
def project(tmp_path: Path) -> RunProject:
    return RunProject(tmp_path / "p", 2)


def derived(project: RunProject, run: RunDir, *outs: str) -> RunDir:
    for out in outs:
        run = open_run_dir(scored(project, run, out).directory)
    return run


def test_a_measured_run_has_no_lineage(project: RunProject) -> None:
    assert lineage(measured(project)) == ([], [])


def test_each_step_names_its_source_and_that_nothing_changed(project: RunProject) -> None:
    run = measured(project)
    found = lineage(derived(project, run, "one", "two", "three"))
    assert [step.path.parent.name for step in found.steps] == ["two", "one", "runs"]
    assert found.steps[-1].path == run.path and found.faults == []
    assert all(step.note is None and changed_since(step, project.root) == [] for step in found.steps)


def test_what_would_not_come_out_again_is_named(project: RunProject) -> None:
    run = measured(project)
    [step] = lineage(derived(project, run, "one")).steps
    project.adapter.write_text(project.adapter.read_text("utf-8") + "\n", "utf-8")
    rows = run.path / "predictions.jsonl"
    rows.write_bytes(rows.read_bytes() + b"\n")
    changed = ["data/configs/adapter.py was changed", "the rows of the source were changed"]
    assert changed_since(step, project.root) == changed
    project.adapter.unlink()
    assert changed_since(step, project.root)[0] == "data/configs/adapter.py is not there"


def test_e27_a_source_that_is_gone_is_told_and_the_run_stays_readable(project: RunProject) -> None:
    run = measured(project)
    found = derived(project, run, "one", "two")
    shutil.rmtree(project.root / "data" / "one")
    steps = lineage(open_run_dir(found.path)).steps
    assert [step.note for step in steps] == ["source gone", None]
    assert open_run_dir(found.path).record is not None and len(list(found.rows())) == 2


def edit(run: RunDir, **block: object) -> RunDir:
    path = run.path / "metrics.json"
    record = json.loads(path.read_bytes())
    record["derived"] |= block
    path.write_text(json.dumps(record), "utf-8")
    return open_run_dir(run.path)


def test_e26_a_chain_that_comes_back_is_told(project: RunProject) -> None:
    run = measured(project)
    two = derived(project, run, "one", "two")
    itself = lineage(edit(two, **{"from": f"two/{run.path.name}"}))
    assert "comes back" in itself.faults[0]


def test_e26_a_chain_that_comes_back_through_a_link_is_told(project: RunProject) -> None:
    run = measured(project)
    two = derived(project, run, "one", "two")
    one = project.root / "data" / "one" / run.path.name
    shutil.rmtree(one)
    one.symlink_to(two.path)
    assert "comes back" in lineage(open_run_dir(two.path)).faults[0]


def test_depth_65_is_reported(project: RunProject) -> None:
    run = derived(project, measured(project), "one")
    record = json.loads((run.path / "metrics.json").read_bytes())
    block = record["derived"]
    for minute in range(64):
        block = {**record["derived"], "at": f"2026-10-0{1 + minute // 60}T00:{minute % 60:02}:00Z", "source": block}
    with pytest.raises(EvhError, match=r"metrics.json: .*the derived chain is 65 deep, at most 64 are allowed"):
        lineage(edit(run, **block))


def test_a_source_that_was_made_again_is_told(project: RunProject) -> None:
    run = measured(project)
    two = derived(project, run, "one", "two")
    scored(project, run, "one", force=True)
    assert "made again" in str(lineage(two).steps[0].note)


PARSED = ADAPTER.replace('extra={"size": len(text)}', 'meta={"llm_raw": text}') + (
    '\n\ndef scorer_id():\n    return {"words": "' + "a" * 64 + '"}\n'
)


def test_the_files_of_a_re_parse_are_held_against_what_they_were(tmp_path: Path) -> None:
    made = RunProject(tmp_path / "r", 2, adapter=PARSED)
    parser = made.root / "parser.py"
    parser.write_text("def better(row, output, params):\n    return row['_meta']['llm_raw']\n", "utf-8")
    measured(made)
    with environment(made):
        done = reparse_runs(Project(made.root), load_parser(f"{parser}:better", root=made.root), dataset_id="small")
    [step] = lineage(open_run_dir(done.runs[0].directory)).steps
    assert changed_since(step, made.root) == []
    made.adapter.write_text(PARSED + "\n", "utf-8")
    parser.write_text("\n", "utf-8")
    assert changed_since(step, made.root) == ["parser.py was changed", "data/configs/adapter.py was changed"]
