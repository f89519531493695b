"""Who scores an import: the adapter that is named, the config's, exact match, or nobody."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from evh.errors import EvhError, SourceError
from evh.harness.adapters import load_adapter
from evh.harness.project import Project
from evh.store import open_run_dir

Make = Callable[..., Any]

SCORER = """
PRIMARY_METRIC = "right"
METRIC_KINDS = {"right": "quality"}
METRIC_DIRECTIONS = {"right": "higher"}

def score(output, reference):
    return None if reference is None else {"right": output == reference}
"""


@pytest.fixture
def arm(project: Project) -> Make:
    """Write the config `arm` on the dataset `qa`, with an adapter beside it, and whatever else is said."""

    def make(**members: Any) -> Path:
        project.configs.mkdir(parents=True, exist_ok=True)
        (project.configs / "scorer.py").write_text(SCORER, "utf-8")
        path = project.configs / "arm.yaml"
        known = {"config_id": "arm", "dataset_id": "qa", "adapter": "scorer.py", "params": {"temperature": 0.5}}
        path.write_text(yaml.safe_dump(known | members), "utf-8")
        return path

    return make


@pytest.fixture
def rows(tmp_path: Path) -> Make:
    """A file of the rows `a` (output x) and `b` (output y), with other members for both."""

    def make(**members: Any) -> Path:
        path = tmp_path / "rows.jsonl"
        found = [{"id": "a", "output": "x", **members}, {"id": "b", "output": "y", **members}]
        path.write_text("".join(json.dumps(each) + "\n" for each in found), "utf-8")
        return path

    return make


def refer(project: Project, tier: str = "gold", **texts: str) -> None:
    folder = project.references / tier / "qa"
    folder.mkdir(parents=True)
    for item_id, text in texts.items():
        (folder / f"{item_id}.txt").write_text(text, "utf-8")


def test_the_config_of_the_arm_gives_adapter_params_and_labels(
    freeze: Make, bring_in: Make, project: Project, arm: Make, rows: Make
) -> None:
    freeze("ab")
    refer(project, "silver", a="x")
    arm(goal="g", format="json", round="r1")
    made = bring_in(rows(theirs=5))
    record = made.record
    assert record.scores == {"right": 1.0, "output_words": 1.0}
    assert (record.adapter, record.primary_metric, record.metric_kinds) == (
        "data/configs/scorer.py", "right", {"right": "quality"},
    )  # fmt: skip
    assert record.metric_directions == {"right": "higher"}
    assert (record.params, record.goal, record.format, record.round) == ({"temperature": 0.5}, "g", "json", "r1")
    assert record.reference_tier == "silver"
    assert record.reference_coverage is not None
    assert (record.reference_coverage.items_with_reference, record.reference_coverage.items) == (1, 2)
    assert made.lossy == ["theirs"]
    assert made.counts["right"] == 1
    assert made.unscored == 1
    manifest = open_run_dir(made.directory).manifest
    assert manifest is not None and manifest.fingerprint is not None
    assert manifest.fingerprint.instrument.adapter.id == "data/configs/scorer.py"


def test_an_adapter_that_is_named_beats_the_config(
    freeze: Make, bring_in: Make, project: Project, arm: Make, rows: Make
) -> None:
    freeze("ab")
    arm()
    (project.root / "other.py").write_text("def score(output, reference):\n    return {'n': len(output)}\n", "utf-8")
    with load_adapter("other.py", config_dir=project.root, root=project.root) as other:
        record = bring_in(rows(), adapter=other).record
    assert (record.adapter, record.scores["n"], record.params) == ("other.py", 1.0, {"temperature": 0.5})


def test_params_that_are_given_beat_the_config(freeze: Make, bring_in: Make, arm: Make, rows: Make) -> None:
    freeze("ab")
    arm()
    assert bring_in(rows(), params={"k": 1}).record.params == {"k": 1}


def test_what_the_source_says_of_itself_stands_before_the_config(
    freeze: Make, bring_in: Make, arm: Make, rows: Make, tmp_path: Path
) -> None:
    freeze("ab")
    other = bring_in(rows(m=1), params={"temperature": 0.0, "k": 1}, config_id="other")
    source = tmp_path / "copied"
    other.directory.rename(source)
    arm(goal="g")
    made = bring_in(source)
    assert (made.record.params, made.record.goal) == ({"temperature": 0.0, "k": 1}, "g")
    assert any("other params than the source's, which stand ('k', 'temperature')" in each for each in made.notices)


def test_a_config_of_another_dataset_is_refused(
    freeze: Make, bring_in: Make, project: Project, arm: Make, rows: Make
) -> None:
    freeze("ab")
    path = arm(dataset_id="other")
    with pytest.raises(SourceError, match="is of the dataset 'other', not 'qa'") as told:
        bring_in(rows())
    assert told.value.source == str(path)
    assert not project.runs.exists()


def test_a_config_that_may_be_the_one_and_cannot_be_read_is_refused(
    freeze: Make, bring_in: Make, project: Project, arm: Make, rows: Make
) -> None:
    freeze("ab")
    arm().write_text("config_id: arm\nparms: {}\n", "utf-8")
    with pytest.raises(EvhError, match=r"arm\.yaml:2: 'parms' is no member"):
        bring_in(rows())
    assert not project.runs.exists()


def test_a_scorer_that_does_not_load_is_refused_with_its_file(
    freeze: Make, bring_in: Make, project: Project, arm: Make, rows: Make
) -> None:
    freeze("ab")
    arm()
    (project.configs / "scorer.py").write_text("import nothing_of_this_name\n", "utf-8")
    with pytest.raises(SourceError) as told:
        bring_in(rows())
    assert told.value.source == str(project.configs / "scorer.py")
    assert not project.runs.exists()


def test_without_the_yaml_library_it_is_told_that_configs_were_not_looked_at(
    freeze: Make, bring_in: Make, arm: Make, rows: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze("ab")
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "evh.harness.importing.configured.find_spec", lambda name: None if name == "yaml" else find(name)
    )
    assert bring_in(rows()).notices == []  # there is no config to look at
    arm()
    made = bring_in(rows())
    assert [each for each in made.notices if "data/configs: not looked at" in each and "evh[run]" in each]
    assert made.record.params == {}


# --- exact match -----------------------------------------------------------------------------------------------------


def test_without_a_config_outputs_are_matched_with_the_references(
    freeze: Make, bring_in: Make, project: Project, rows: Make
) -> None:
    freeze("ab")
    refer(project, a="x\n", b="z")
    made = bring_in(rows())
    record = made.record
    assert record.scores == {"exact_match": 0.5, "output_words": 1.0}
    assert (record.adapter, record.primary_metric, record.reference_tier) == ("evh:chat", "exact_match", "gold")
    assert record.metric_kinds["exact_match"] == "quality"
    assert (record.reference_coverage, made.unscored) == (None, 0)


def test_metrics_of_the_source_are_not_replaced_by_exact_match(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path
) -> None:
    freeze("ab")
    refer(project, a="x", b="y")
    for order in ("ab", "ba"):
        path = tmp_path / f"{order}.jsonl"
        found = {"a": {"id": "a", "output": "x"}, "b": {"id": "b", "output": "y", "theirs": 3}}
        path.write_text("".join(json.dumps(found[each]) + "\n" for each in order), "utf-8")
        made = bring_in(path)
        assert (made.record.scores, made.lossy) == ({"theirs": 3.0, "output_words": 1.0}, [])
        assert (made.record.adapter, made.record.reference_tier, made.unscored) == (None, None, 1)


@pytest.mark.parametrize("covered", [(), ("b",)])
def test_without_a_reference_for_any_answer_nothing_is_scored(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path, covered: tuple[str, ...]
) -> None:
    freeze("ab")
    if covered:
        refer(project, **dict.fromkeys(covered, "x"))
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "a", "output": "x"}\n{"id": "b", "error": "E: no"}\n', "utf-8")
    made = bring_in(path)
    assert made.record.scores == {"output_words": 1.0}
    assert (made.record.adapter, made.record.reference_tier, made.record.n_errors, made.unscored) == (None, None, 1, 1)


def test_references_that_are_damaged_refuse_an_import_that_needs_them(
    freeze: Make, bring_in: Make, project: Project, rows: Make
) -> None:
    freeze("ab")
    refer(project, zz="x")
    with pytest.raises(SourceError, match="holds a reference for none"):
        bring_in(rows())
    assert not project.runs.exists()
    assert bring_in(rows(theirs=1)).record.scores["theirs"] == 1.0
