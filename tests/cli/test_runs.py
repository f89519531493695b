"""`evh runs`: every run is listed with its state, and what can go on with the command that does it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Evh
from run_support import entered, stopped_after

from evh.store import Lease
from tests.support.run_project import RunProject, listing


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    return entered(RunProject(tmp_path / "p", 3), monkeypatch)


def test_no_runs_are_no_fault(evh: Evh, project: RunProject) -> None:
    ran = evh("runs")
    assert (ran.code, ran.out, ran.err) == (0, "no runs in data/runs\n", "")
    assert evh("runs", "--json").json == {"ok": True, "folder": "data/runs", "runs": [], "skipped": []}
    assert not project.runs.exists()


def test_b080_every_run_of_every_launch_is_listed_with_its_state(evh: Evh, project: RunProject) -> None:
    assert evh("run", "--config", project.config, "--run-id", "done").code == 0
    stopped_after(evh, project, 2, "--run-id", "halt")
    silent = project.runs / "quiet"
    evh("run", "--config", project.config, "--run-id", "quiet", "--max-cost-usd", "0")
    times = {"acquired_at": "2026-10-04T08:15:30Z", "beat_at": "2026-10-04T08:15:30Z"}
    (silent / "lease.json").write_text(json.dumps({"token": "t", "host": "elsewhere", "pid": 7} | times))
    evh("run", "--config", project.config, "--run-id", "works", "--max-cost-usd", "0")
    before = listing(project.root)
    lease = Lease(project.runs / "works")
    ran, data = evh("runs"), evh("runs", "--json").json
    lease.release()
    assert listing(project.root) == before
    assert ran.code == 0
    states = {each["run_id"]: each["state"] for each in data["runs"]}
    assert states == {"done": "finished", "halt": "unfinished", "quiet": "stale", "works": "running"}
    by_id = {each["run_id"]: each for each in data["runs"]}
    assert by_id["done"] | {"at": ""} == {
        "run_id": "done", "path": "data/runs/done", "state": "finished", "dataset_id": "small", "config_id": "arm",
        "items": 3, "items_exact": True, "planned": 3, "failed": 0, "at": "", "kind": "measured",
        "primary_metric": "same", "primary": None,
    }  # fmt: skip
    assert (by_id["halt"]["items"], by_id["halt"]["planned"]) == (2, 3)
    commands = {each["run_id"]: each.get("resume") for each in data["runs"]}
    assert commands == {
        "done": None, "works": None, "halt": "evh run --resume halt", "quiet": "evh run --resume quiet --take-over",
    }  # fmt: skip
    lines = ran.out.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [[name, states[name]] for name in sorted(states)]
    assert "2/3" in lines[2]
    assert "  evh run --resume quiet --take-over" in lines
    assert "works: held by the process" in ran.out
    assert "2 runs can go on:" in ran.out


def test_b001_b065_b094_a_run_that_cannot_be_read_hides_no_other(evh: Evh, project: RunProject) -> None:
    for name in ("a", "b", "c"):
        assert evh("run", "--config", project.config, "--run-id", name).code == 0
    (project.runs / "a" / "metrics.json").write_bytes(b"\x00\xff garbage")
    (project.runs / "b" / "metrics.json").write_text('{"run-1.json": {"score": 1}}')
    (project.runs / "c" / "run.json").unlink()
    (project.runs / "no-run").mkdir()
    (project.runs / "file.txt").write_text("")
    ran = evh("runs")
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert [line.split()[:2] for line in ran.out.splitlines()[1:4]] == [
        ["a", "unreadable"], ["b", "unreadable"], ["c", "finished"],
    ]  # fmt: skip
    assert "b/metrics.json: not a run record: missing " in ran.out
    data = evh("runs", "--json")
    assert data.code == 1 and data.json["ok"] is False
    assert ["error" in each for each in data.json["runs"]] == [True, True, False]


def test_b022_of_large_rows_the_number_is_an_estimate_and_shown_as_one(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped_after(evh, project, 2, "--run-id", "x")
    assert evh("runs", "--json").json["runs"][0]["items_exact"] is True
    with (path / "predictions.jsonl").open("r+b") as file:
        file.truncate(500 << 20)  # a hole: nothing of it is on the disk
    monkeypatch.setattr("evh.store.rows.COUNT_LIMIT", 1000)
    (about,) = evh("runs", "--json").json["runs"]
    assert about["items_exact"] is False
    assert " ~" in evh("runs").out


def test_a_link_that_leads_out_is_named_and_not_followed(evh: Evh, project: RunProject, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    project.runs.mkdir()
    (project.runs / "away").symlink_to(tmp_path / "elsewhere")
    ran, data = evh("runs"), evh("runs", "--json")
    assert ran.code == data.code == 0
    assert "data/runs/away is a link that leads out of the runs directory and is not followed" in ran.out
    assert [each["path"] for each in data.json["skipped"]] == ["data/runs/away"]


def test_what_is_asked_for_is_listed(evh: Evh, project: RunProject) -> None:
    assert evh("run", "--config", project.config, "--run-id", "done").code == 0
    stopped_after(evh, project, 2, "--run-id", "halt")

    def listed(*options: str) -> list[str]:
        return [each["run_id"] for each in evh("runs", "--json", *options).json["runs"]]

    assert listed("--unfinished") == ["halt"]
    assert listed("--dataset-id", "small") == ["done", "halt"]
    assert listed("--dataset-id", "other") == []
    assert evh("runs", "--dataset-id", "other").code == 0


def test_a_run_without_a_manifest_says_that_it_cannot_go_on(evh: Evh, project: RunProject) -> None:
    path = stopped_after(evh, project, 2, "--run-id", "x")
    (path / "run.json").unlink()
    ran = evh("runs")
    assert ran.code == 0
    assert "x: no run.json: it cannot be resumed" in ran.out
    assert "can go on" not in ran.out


def test_the_command_names_root_and_folder(
    evh: Evh, project: RunProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(evh, project, 2, "--run-id", "x")
    monkeypatch.chdir(tmp_path)
    assert "  evh run --resume x --root p\n" in evh("runs", "--root", "p").out
    monkeypatch.setenv("EVAL_RUNS_DIR", "p/data/runs")
    assert "  EVAL_RUNS_DIR=p/data/runs evh run --resume x\n" in evh("runs").out


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--root", "nowhere"], 2), (["--no-such"], 2), (["x"], 2), (["--dataset-id"], 2)]
)
def test_wrong_usage_is_one_line_and_2(evh: Evh, project: RunProject, arguments: list[str], code: int) -> None:
    ran = evh("runs", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("evh runs: ")
    assert ran.err.splitlines()[1:] == ["Try `evh runs --help`."]


def test_a_folder_that_is_none_is_refused(evh: Evh, project: RunProject) -> None:
    project.runs.write_text("")
    ran = evh("runs")
    assert ran.code == 1
    assert ran.err.startswith("evh runs: ") and "a file is there" in ran.err.splitlines()[0]
