"""References that a config's own system writes: complete, told by whom and for how much, or not there at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.errors import SourceError, UsageError
from evh.harness.authoring import author
from evh.harness.dataset import load_dataset
from evh.harness.project import Project
from evh.harness.references import load_references
from tests.support.run_project import RunProject


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    project = RunProject(tmp_path / "p", 3)
    for name, value in project.environ.items():
        monkeypatch.setenv(name, value)
    return project


def test_every_item_is_answered_and_the_set_says_by_whom_and_for_how_much(project: RunProject) -> None:
    here = Project(project.root)
    frozen = load_dataset(here, "small")
    made = author(here, project.config, frozen, "silver")
    assert made.covered == 3 and len(project.calls) == 3
    found = load_references(here, frozen)
    assert found is not None and found.tier == "silver" and found.text("i1") == "TEXT 1"
    manifest = json.loads((made.path / "manifest.json").read_text())
    assert (manifest["authored_by"], manifest["cost_usd"], manifest["n_items"]) == ("arm", 0.75, 3)


def test_an_answer_that_fails_leaves_no_set(project: RunProject) -> None:
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(
        text.replace("    told(text)\n", "    told(text)\n    assert '2' not in text\n"), "utf-8"
    )
    here = Project(project.root)
    with pytest.raises(SourceError, match="i2"):
        author(here, project.config, load_dataset(here, "small"), "silver")
    assert load_references(here, load_dataset(here, "small")) is None


def test_a_config_of_another_dataset_is_refused(project: RunProject) -> None:
    here = Project(project.root)
    frozen = load_dataset(here, "small")
    frozen.dataset_id = "other"
    with pytest.raises(UsageError, match="small"):
        author(here, project.config, frozen, "silver")
    assert project.calls == []
