"""Runs on a disk that refuses: each stop is one clear line, keeps what was paid, and can be gone on from."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evh.store import list_runs, open_run_dir
from tests.soak.runs import same_as_calm
from tests.support.launches import Launcher
from tests.support.run_project import ADAPTER, RunProject
from tests.support.stops import stopped

EVERY = {"dev": 6, "ci": 1, "deep": 1}[os.environ.get("EVH_TEST_PROFILE", "dev")]
MOST_CALLS = 200


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


@pytest.mark.parametrize(
    ("code", "lasting"),
    [(errno.ENOSPC, False), (errno.EIO, False), (errno.ENOSPC, True), (errno.EROFS, True)],
    ids=["full for a moment", "one fault", "full", "read-only"],
)
def test_e35_e36_e37_b061_a_fault_at_any_call_stops_the_run_and_it_can_go_on(
    code: int, lasting: bool, tmp_path: Path, launcher: Launcher
) -> None:
    calm = RunProject(tmp_path / "calm", 3)
    ends: dict[int, int] = {}
    assert launcher.launch(calm, "run", "--config", calm.config, "--run-id", "arm-x").status == 0
    for at in range(1, MOST_CALLS, EVERY):
        project = RunProject(tmp_path / f"{at}", 3)
        arguments = ["run", "--config", project.config, "--run-id", "arm-x"]
        ended = launcher.launch(project, *arguments, fault_at=at, fault=code, lasting=lasting)
        ends[ended.status] = ends.get(ended.status, 0) + 1
        assert "Traceback" not in ended.said
        found = list_runs(project.runs) if project.runs.exists() else None
        runs = [] if found is None else found.finished + found.unfinished
        if ended.status == 1:  # refused before anything was paid, or the record is there and the last sync failed
            assert not project.calls or runs[0].state == "finished"
        elif ended.status == 3:
            assert os.strerror(code) in ended.said
            stopped(runs[0], ended.said, project)
        else:
            assert ended.status == 0
        if ended.status:
            assert len([line for line in ended.said.splitlines() if os.strerror(code) in line]) == 1
        again = launcher.launch(project, *(["run", "--resume"] if runs else arguments))
        assert again.status == 0, again.said
        for path in open_run_dir(project.runs / "arm-x").path.glob(".*"):
            assert lasting  # not even the removal of a temporary file was possible, and the run was finished
            path.unlink()
        same_as_calm(open_run_dir(project.runs / "arm-x"), calm.run)
        assert len(project.calls) <= 3 + (ended.status == 3)
        if ended.calls < at:
            break
    print(f"{os.strerror(code)}: {sum(ends.values())} faults; exit codes {ends}")
    assert ends[3] >= 12 // EVERY


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_e35_a_fault_at_any_call_of_a_resume_loses_nothing(code: int, tmp_path: Path, launcher: Launcher) -> None:
    calm = RunProject(tmp_path / "calm", 3)
    assert launcher.launch(calm, "run", "--config", calm.config, "--run-id", "arm-x").status == 0
    for at in range(1, MOST_CALLS, EVERY):
        project = RunProject(tmp_path / f"{at}", 3)
        arguments = ["run", "--config", project.config, "--run-id", "arm-x", "--max-cost-usd", "0.5"]
        assert launcher.launch(project, *arguments).status == 3
        with (project.run.path / "predictions.jsonl").open("ab") as rows:
            rows.write(b'{"item_id":"i2","torn')
        project.run.output_path("i0").unlink()
        ended = launcher.launch(project, "run", "--resume", fault_at=at, fault=code)
        assert ended.status in (0, 1, 3)
        assert "Traceback" not in ended.said
        assert (os.strerror(code) in ended.said) == (ended.status != 0)
        assert ("go on with" in ended.said) == (ended.status == 3)
        assert project.run.state == "unfinished" or project.run.record is not None
        again = launcher.launch(project, "run", "--resume")
        assert again.status == 0, again.said
        for path in project.run.path.glob("*.set-aside-*"):
            path.unlink()
        same_as_calm(project.run, calm.run)
        assert len(project.calls) <= 3 + 1 + (ended.status == 3)
        if ended.calls < at:
            break
    else:
        pytest.fail("the resume makes more calls than were tried")


def test_short_writes_are_completed(tmp_path: Path, launcher: Launcher) -> None:
    calm, short = RunProject(tmp_path / "calm", 3), RunProject(tmp_path / "short", 3)
    assert launcher.launch(calm, "run", "--config", calm.config, "--run-id", "arm-x").status == 0
    ended = launcher.launch(
        short, "run", "--config", short.config, "--run-id", "arm-x", fault_at=1, fault="short", lasting=True
    )
    assert ended.status == 0, ended.said
    same_as_calm(short.run, calm.run)


def test_e35_a_disk_without_room_for_an_output_stops_the_run(tmp_path: Path, launcher: Launcher) -> None:
    adapter = ADAPTER.replace("text.upper()", "'x' * (9000 if text == 'long' else 9)")
    project = RunProject(tmp_path / "p", {"a": "short", "b": "long", "c": "short too"}, adapter=adapter)
    ended = launcher.launch(project, "run", "--config", project.config, file_limit=6000)
    assert ended.status == 3
    assert "stopped (the disk refused) after 1 of 3 items" in ended.said
    assert "b.txt: cannot be written: File too large" in ended.said
    assert "go on with" in ended.said
    assert not list(project.run.path.rglob(".*"))
    assert launcher.launch(project, "run", "--resume").status == 0
    assert project.calls == ["short", "long", "long", "short too"]


def test_e37_a_runs_folder_that_cannot_be_made_is_refused_before_any_call(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 3)
    project.runs.write_text("a file in the place of the folder")
    ended = launcher.launch(project, "run", "--config", project.config)
    assert ended.status == 1
    assert ended.said.startswith("evh run: ")
    assert "a file is there" in ended.said
    assert project.calls == []
    assert launcher.launch(project, "runs").status in (0, 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_e37_a_folder_that_must_not_be_written_is_refused_before_any_call(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 3)
    project.runs.mkdir()
    project.runs.chmod(0o555)
    try:
        assert launcher.launch(project, "run", "--config", project.config).status == 1
        assert launcher.launch(project, "runs").status == 0
    finally:
        project.runs.chmod(0o755)
    assert project.calls == []
