"""`evh rescore` and `evh lineage`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Evh
from run_support import entered

from tests.support.run_project import RunProject, listing

OTHER = 'def score(output, reference):\n    return {"words": len(output.split())}\n'


@pytest.fixture
def project(evh: Evh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    made = entered(RunProject(tmp_path / "p", 3, references={"i0": "TEXT 0"}), monkeypatch)
    assert evh("run", "--config", made.config).code == 0
    return made


def test_a_run_is_scored_again_and_the_summary_says_what_is_left_out(evh: Evh, project: RunProject) -> None:
    name, before = project.run.path.name, listing(project.runs)
    ran = evh("rescore", "--dataset-id", "small")
    assert (ran.code, ran.err) == (0, "")
    assert f"data/runs-rescored/{name}: 3 items scored again" in ran.out
    assert "1 of 3 items have a reference in gold/small" in ran.out and "over 1 of 3 items" in ran.out
    assert listing(project.runs) == before
    assert evh("validate").code == 0
    again = evh("rescore", "--dataset-id", "small")
    assert again.code == 1 and "--force replaces it" in again.out
    assert evh("rescore", "--dataset-id", "small", "--force").code == 0


def test_the_same_as_data(evh: Evh, project: RunProject) -> None:
    Path("other.py").write_text(OTHER, "utf-8")
    ran = evh("rescore", "--dataset-id", "small", "--adapter", "other.py", "--out", "out", "--json")
    assert ran.code == 0 and ran.json["ok"]
    [told] = ran.json["runs"]
    assert told["dropped"] == ["length", "same"] and told["scores"]["words"] == 2 and told["path"].startswith("out/")


def test_e19_the_default_folder_is_refused_when_it_is_what_is_read(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evh("rescore", "--dataset-id", "small").code == 0
    before = listing(project.root / "data")
    monkeypatch.setenv("EVAL_RUNS_DIR", "data/runs-rescored")
    ran = evh("rescore", "--dataset-id", "small")
    assert ran.code == 1 and "originals are never touched" in ran.err
    assert listing(project.root / "data") == before
    assert evh("rescore", "--dataset-id", "small", "--out", "data/runs-twice").code == 0


def test_e14_e17_out_is_refused_by_identity(evh: Evh, project: RunProject) -> None:
    Path("alias").symlink_to("data/runs")
    for out in ("data/runs", "alias", "data", "data/runs/x"):
        assert evh("rescore", "--dataset-id", "small", "--out", out).code == 1


def test_e31_missing_references_fail_the_run_and_name_the_set(evh: Evh, project: RunProject) -> None:
    (project.root / "data" / "references").rename(project.root / "away")
    ran = evh("rescore", "--dataset-id", "small")
    assert ran.code == 1 and "gold/small is missing here" in ran.out


def test_wrong_usage(evh: Evh, project: RunProject) -> None:
    assert evh("rescore").code == 2
    assert evh("rescore", "--dataset-id", "small", "--reference", "bronze").code == 2
    assert evh("rescore", "--dataset-id", "none").code == 1


def test_lineage_prints_three_derivations(evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    name = project.run.path.name
    for source, out in (("runs", "one"), ("one", "two"), ("two", "three")):
        monkeypatch.setenv("EVAL_RUNS_DIR", f"data/{source}")
        assert evh("rescore", "--dataset-id", "small", "--out", f"data/{out}").code == 0
    ran = evh("lineage", f"data/three/{name}")
    assert ran.code == 0 and f"data/three/{name}: 3 derivations" in ran.out
    assert [line.split()[1] for line in ran.out.splitlines() if " from " in line] == [
        f"data/two/{name},", f"data/one/{name},", f"data/runs/{name},",
    ]  # fmt: skip
    told = evh("lineage", f"data/three/{name}", "--json").json
    assert told["ok"] and len(told["derivations"]) == 3 and told["derivations"][0]["changed"] == []
    monkeypatch.delenv("EVAL_RUNS_DIR")
    assert "measured" in evh("lineage", name).out
    assert evh("lineage", "nowhere").code == 1
