"""Edge cases of a measured run, each by its number, where no other test has the case as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.errors import EvhError, RecordError
from evh.harness.launch import Finished, Options, measure, resume
from evh.harness.project import Project
from evh.rules import validate
from tests.support.run_project import ADAPTER, RunProject, listing


def measured(project: RunProject) -> Finished:
    (finished,) = measure(Project(project.root), project.config, options=Options(), environ=project.environ)
    return finished


@pytest.fixture(autouse=True)
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "p-calls"))


def test_e1_a_run_of_an_empty_dataset_makes_no_directory(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 0)
    with pytest.raises(EvhError, match=r"small\.json.*/items"):
        measured(project)
    assert not project.runs.exists()
    assert project.calls == []


def test_e2_a_first_call_that_fails_leaves_a_run_that_can_go_on(tmp_path: Path) -> None:
    flag = tmp_path / "broken"
    flag.touch()
    broken = ADAPTER.replace("    told(text)\n", f"    told(text)\n    assert not os.path.exists({str(flag)!r})\n", 1)
    project = RunProject(tmp_path / "p", 2, adapter=broken)
    finished = measured(project)
    assert (finished.stop, finished.record, finished.done) == ("item-failed", None, 0)
    run = project.run
    assert (run.state, list(run.rows())) == ("unfinished", [])
    assert run.manifest is not None
    assert not (run.path / "metrics.json").exists()
    assert [(error.item_id, error.type) for error in run.errors()] == [("i0", "AssertionError")]
    flag.unlink()
    (again,) = resume(Project(project.root), environ=project.environ)
    assert again.record is not None
    assert again.record.n_items == 2


def test_e42_provider_data_beyond_its_limit_is_cut_with_a_note_in_its_row(tmp_path: Path) -> None:
    large = ADAPTER.replace("cost_usd=0.25,", "cost_usd=0.25, meta={'model': 'm', 'raw': 'x' * (2 << 20)},")
    project = RunProject(tmp_path / "p", 2, adapter=large)
    assert measured(project).record is not None
    for stored in project.run.rows():
        meta = dict(stored.row.plain()["_meta"])
        assert meta.pop("evh_cut").startswith("2097")
        assert meta == {"model": "m"}
    assert (project.run.path / "predictions.jsonl").stat().st_size < 2000
    assert all(outcome.status != "FAIL" for outcome in validate([project.root], {}, ["V1", "R2", "R3"]))


def test_e45_a_dataset_that_was_edited_between_crash_and_resume_is_refused(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 3)
    (stopped,) = measure(
        Project(project.root), project.config, options=Options(max_cost_usd=0.25), environ=project.environ
    )
    assert stopped.stop == "cap"
    before, calls = listing(project.run.path), project.calls
    document = json.loads(project.dataset.read_bytes())
    document["items"].reverse()
    project.dataset.write_text(json.dumps(document), "utf-8")
    with pytest.raises(RecordError, match=r"data\.items_sha256"):
        resume(Project(project.root), environ=project.environ)
    assert (listing(project.run.path), project.calls) == (before, calls)
