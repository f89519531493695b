"""Several processes and one run, several runs and one folder: who writes, who is refused, what readers see."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.store import RunDir, list_runs
from tests.support.gated import GATED, Gate
from tests.support.launches import Launcher
from tests.support.run_project import SECONDS, RunProject


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[tuple[RunProject, Gate]]:
    project = RunProject(tmp_path / "my project", 8, adapter=GATED)
    gate = Gate(project)
    yield project, gate
    gate.close()


def test_e23_b101_a_run_that_somebody_holds_is_refused(gated: tuple[RunProject, Gate]) -> None:
    project, gate = gated
    with project.start("run", "--config", project.config, "--run-id", "x") as child:
        gate.started(1)
        listed = project.process("runs", "--json")
        for arguments in (["--resume", "x"], ["--resume", "x", "--take-over"], ["--config", project.config]):
            name = ["--run-id", "x"] if arguments[0] == "--config" else []
            refused = project.process("run", *arguments, *name)
            assert refused.returncode == 1, arguments
            assert refused.stderr.count("\n") == 1
            told = "is there already" if name else f"is being written by the process {child.pid} on "
            assert told in refused.stderr
        idle = project.process("run", "--resume")
        assert (idle.returncode, idle.stdout) == (0, "nothing to resume: no run is stopped\n")
        gate.open()
        assert child.stdout is not None
        assert "8 items" in child.stdout.read()
        assert child.wait(SECONDS) == 0
        assert child.stderr is not None
        child.stderr.read()
    (shown,) = json.loads(listed.stdout)["runs"]
    assert shown["state"] == "running"
    assert f"process {child.pid} on " in shown["holder"]
    assert "resume" not in shown


def lease_of(run: RunDir, **members: Any) -> None:
    """A lease as a writer that is not here left it."""
    lease = {"token": "t", "host": "elsewhere", "boot_id": "b", "pid_space": "pid:[1]", "pid": 1, "pid_started": "1"}
    times = {"acquired_at": "2026-10-04T08:15:30Z", "beat_at": "2026-10-04T08:15:30Z"}
    (run.path / "lease.json").write_text(json.dumps(lease | times | members))


def test_e23_leases_of_a_dead_and_of_a_foreign_process(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 3)
    assert launcher.launch(project, "run", "--config", project.config, "--max-cost-usd", "0.5").status == 3
    lease_of(project.run)
    assert project.run.state == "stale"
    for arguments in (["--resume"], ["--resume", project.run.path.name]):
        refused = launcher.launch(project, "run", *arguments)
        assert refused.status == 1
        assert "is held by the process 1 on 'elsewhere', silent for " in refused.said
        assert "--take-over" in refused.said
    listed = project.process("runs")
    assert "stale" in listed.stdout
    assert f"evh run --resume {project.run.path.name} --take-over" in listed.stdout
    taken = launcher.launch(project, "run", "--resume", "--take-over")
    assert taken.status == 0, taken.said
    assert "the lease of the process 1 on 'elsewhere'" in taken.said
    assert "was taken over" in "".join(project.run.attempts()[-1].repairs)


def test_e24_b062_b068_twenty_runs_of_one_second_get_twenty_directories(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 2)
    frozen = tmp_path / "sitecustomize.py"
    frozen.write_text("import evh.store.clock as clock\nclock.run_stamp = lambda: '20261004T081530Z'\n")
    path = os.pathsep.join([str(tmp_path), project.child_environment()["PYTHONPATH"]])
    children = [project.start("run", "--config", project.config, PYTHONPATH=path) for _ in range(20)]
    for child in children:
        with child:
            _, error = child.communicate(timeout=SECONDS)
            assert child.returncode == 0, error
    listing = list_runs(project.runs)
    assert sorted(run.path.name for run in listing.finished) == sorted(
        ["arm_20261004T081530Z", *(f"arm_20261004T081530Z-{number}" for number in range(2, 21))]
    )
    assert all(run.path.name == run.run_id and run.count().n_items == 2 for run in listing.finished)
    assert len(os.listdir(project.runs)) == 20  # noqa: PTH208
    assert len(project.calls) == 40


def test_b067_readers_beside_a_run_see_whole_rows_and_hold_nothing_up(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 150)
    seen, shown = 0, set()
    with project.start("run", "--config", project.config) as child:
        while child.poll() is None:
            for run in list_runs(project.runs).unfinished:
                rows = list(run.rows())
                assert [row.row.item_id for row in rows] == [f"i{number}" for number in range(len(rows))]
                assert len(rows) >= seen
                seen = len(rows)
                shown.add(run.state)
        assert child.returncode == 0
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read()
        child.stderr.read()
    assert shown <= {"running", "unfinished", "finished"}
    assert "running" in shown
