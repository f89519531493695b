"""Runs that stop early: signals, the cap, items that fail. Each keeps what was paid, says how to go on, and can be gone
on from."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evh.store import open_run_dir
from tests.support.gated import GATED, Gate
from tests.support.launches import Launcher
from tests.support.run_project import SECONDS, RunProject
from tests.support.stops import paste, stopped


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


# Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_running_calls_end_and_records_them(number: int, gated: tuple[RunProject, Gate]) -> None:
    project, gate = gated
    with project.start("run", "--config", project.config, "--concurrency", "3") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        gate.started(3)
        child.send_signal(number)
        first, notice = child.stderr.readline(), child.stderr.readline()
        assert first.startswith("run data/runs/arm_")
        assert notice.startswith("stopping: 3 running calls are waited for and recorded; interrupt again")
        gate.open()
        said = child.stdout.read()
        rest = child.stderr.read()
        assert child.wait(SECONDS) == 3
    assert rest == ""
    assert "stopped (interrupted)" in said
    assert sorted(project.calls) == ["text 0", "text 1", "text 2"]
    assert len(list(project.run.rows())) == 3
    command = stopped(project.run, said, project)
    again = paste(command, project, project.root)
    assert again.returncode == 0, again.stderr
    assert sorted(project.calls) == sorted(project.items.values())


def test_a_second_signal_gives_up_on_running_calls(gated: tuple[RunProject, Gate]) -> None:
    project, gate = gated
    with project.start("run", "--config", project.config, "--concurrency", "3") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        gate.started(3)
        child.send_signal(signal.SIGINT)
        child.stderr.readline()
        assert child.stderr.readline().startswith("stopping: ")
        child.send_signal(signal.SIGINT)
        said = child.stdout.read()
        assert child.wait(SECONDS) == 3
        assert "Traceback" not in child.stderr.read()
    assert list(project.run.rows()) == []
    assert not (project.run.path / "lease.json").exists()
    command = stopped(project.run, said, project)
    gate.open()
    assert paste(command, project, project.root).returncode == 0
    assert len(project.calls) == 8 + 3


def test_an_interrupt_before_anything_was_kept_is_130(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 3, adapter=GATED + "\n\ndef warmup(params):\n    passed()\n")
    gate = Gate(project)
    with project.start("run", "--config", project.config) as child:
        gate.started(1)
        child.send_signal(signal.SIGINT)
        out, error = child.communicate(timeout=SECONDS)
        assert child.returncode == 130
    gate.close()
    assert out == ""
    assert "interrupted" in error
    assert "Traceback" not in error
    assert not project.runs.exists()
    assert project.calls == []


def test_a_second_signal_cancels_coroutines_which_clean_up(gated: tuple[RunProject, Gate]) -> None:
    project, gate = gated
    project.adapter.write_text("""
import asyncio, os


def told(word):
    with open(os.environ["STARTED"], "wb", buffering=0) as started:
        started.write(word)


async def call_system(text, params):
    told(b".")
    try:
        await asyncio.Event().wait()
    finally:
        told(b"c")
""")
    with project.start("run", "--config", project.config) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        gate.started(8)
        child.send_signal(signal.SIGTERM)
        child.stderr.readline()
        assert child.stderr.readline().startswith("stopping: 8 running calls")
        child.send_signal(signal.SIGTERM)
        gate.started(8)
        said = child.stdout.read()
        assert child.wait(SECONDS) == 3
        assert child.stderr.read() == ""
    stopped(project.run, said, project)
    assert list(project.run.errors()) == []


WAITING = """
from evh.harness.adapters import AdapterError


def call_system(text, params):
    with open(__import__("os").environ["STARTED"], "wb", buffering=0) as started:
        started.write(b".")
    raise AdapterError("busy", status=503, retry_after=500)
"""


def test_a_signal_ends_the_wait_before_another_attempt(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 3, adapter=WAITING)
    project.environ["EVAL_MAX_RETRIES"] = "8"
    gate = Gate(project)
    with project.start("run", "--config", project.config) as child:
        gate.started(1)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=SECONDS)
        assert child.returncode == 3
    gate.close()
    assert "after 0 of 3 items" in out
    assert list(project.run.errors()) == []
    assert not (project.run.path / "metrics.json").exists()


@pytest.mark.parametrize("moved", [False, True], ids=["--root", "EVAL_RUNS_DIR"])
def test_the_resume_command_works_when_it_is_pasted(moved: bool, tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "it's my project", 3)
    here = {"EVAL_RUNS_DIR": str(tmp_path / "my runs")} if moved else {}
    root = [] if moved else ["--root", project.root.name]
    folder = project.root if moved else tmp_path
    ended = subprocess.run(
        [sys.executable, "-m", "evh", "run", "--config", project.config, "--max-cost-usd", "0.5", *root],
        cwd=folder,
        env=project.child_environment(**here),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 3, ended.stderr
    (directory,) = (tmp_path / "my runs" if moved else project.runs).iterdir()
    command = stopped(open_run_dir(directory), ended.stdout, project)
    listed = paste("evh runs" + (' --root "it\'s my project"' if not moved else ""), project, folder, **here)
    assert command in listed.stdout
    assert paste(command, project, folder).returncode == 0
    assert project.calls == ["text 0", "text 1", "text 2"]


# Money


@pytest.mark.parametrize("by", ["option", "variable"])
def test_the_cap_is_checked_before_each_call(by: str, tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 6)
    if by == "variable":
        project.environ["EVAL_MAX_COST_USD"] = "1"
    option = ["--max-cost-usd", "1"] if by == "option" else []
    ended = launcher.launch(project, "run", "--config", project.config, *option)
    assert ended.status == 3
    assert "stopped (the cost cap was reached) after 4 of 6 items, $1 paid" in ended.said
    stopped(project.run, ended.said, project)
    assert len(project.calls) == 4
    project.environ.pop("EVAL_MAX_COST_USD", None)
    again = launcher.launch(project, "run", "--resume", "--max-cost-usd", "0.25")
    assert again.status == 3, "what was there already costs nothing"
    assert len(project.calls) == 5
    assert launcher.launch(project, "run", "--resume").status == 0
    record = project.run.record
    assert record is not None
    assert record.scores["total_cost_usd"] == 1.5


def test_the_cap_with_eight_calls_at_a_time_is_passed_by_no_more_than_what_ran(
    tmp_path: Path, launcher: Launcher
) -> None:
    project = RunProject(tmp_path / "p", 40)
    ended = launcher.launch(project, "run", "--config", project.config, "--max-cost-usd", "3", "--concurrency", "8")
    assert ended.status == 3
    assert 12 <= len(project.calls) <= 12 + 7
    assert len(list(project.run.rows())) == len(project.calls)


def test_e2_a_run_of_no_rows_has_no_record_and_can_go_on(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 3)
    ended = launcher.launch(project, "run", "--config", project.config, "--max-cost-usd", "0")
    assert ended.status == 3
    stopped(project.run, ended.said, project)
    assert project.calls == []
    assert (project.run.path / "run.json").exists()
    assert launcher.launch(project, "run", "--resume").status == 0


# Items that fail


def test_an_item_that_fails_stops_the_run_and_its_siblings_are_recorded(gated: tuple[RunProject, Gate]) -> None:
    project, gate = gated
    project.configure(fails=["text 2"])
    with project.start("run", "--config", project.config, "--concurrency", "3") as child:
        assert child.stdout is not None
        gate.started(3)
        gate.open()
        said = child.stdout.read()
        assert child.wait(SECONDS) == 3
        assert child.stderr is not None
        assert "Traceback" not in child.stderr.read()
    assert "stopped (an item failed)" in said
    assert "ValueError: no answer to text 2" in said
    stopped(project.run, said, project)
    (error,) = project.run.errors()
    assert (error.item_id, error.type, error.attempt) == ("i2", "ValueError", 1)
    assert error.traceback is not None
    assert str(project.root) not in error.traceback
    rows = {stored.row.item_id for stored in project.run.rows()}
    assert {f"i{text.split()[1]}" for text in project.calls} == rows | {"i2"}


FAILING = """
import os


def call_system(text, params):
    if text in os.environ["FAILS"].split(","):
        raise ValueError(f"no answer to {text}")
    return text


def score(output, reference):
    return {"size": len(output)}
"""


def test_e3_items_that_all_fail_leave_no_record_until_they_are_accepted(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 3, adapter=FAILING)
    project.environ["FAILS"] = "text 0,text 1,text 2"
    ended = launcher.launch(project, "run", "--config", project.config, "--keep-going")
    assert ended.status == 3
    assert "3 items failed" in ended.said
    stopped(project.run, ended.said, project)
    assert re.findall("or accept them: +(.*)", ended.said) == [
        f"evh run --resume {project.run.path.name} --accept-failures"
    ]
    assert [each.item_id for each in project.run.errors()] == ["i0", "i1", "i2"]
    ended = launcher.launch(project, "run", "--resume", "--accept-failures")
    assert ended.status == 0, ended.said
    record = project.run.record
    assert record is not None
    assert (record.n_items, record.n_errors, record.scores) == (3, 3, {})
    assert "3 accepted as failed" in ended.said
    assert {each.row.error for each in project.run.rows()} == {f"ValueError: no answer to text {n}" for n in range(3)}


def test_failed_items_are_tried_again_and_those_that_still_fail_accepted(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 4, adapter=FAILING)
    project.environ["FAILS"] = "text 0,text 2"
    assert launcher.launch(project, "run", "--config", project.config, "--keep-going").status == 3
    project.environ["FAILS"] = "text 2"
    ended = launcher.launch(project, "run", "--resume", "--keep-going")
    assert ended.status == 3
    assert "after 3 of 4 items" in ended.said
    assert launcher.launch(project, "run", "--resume", "--accept-failures").status == 0
    record = project.run.record
    assert record is not None
    assert (record.n_items, record.n_errors, record.scores["size"]) == (4, 1, 6)
    assert project.run.attempts()[-1].accept_failures
    assert [each.attempt for each in project.run.errors()] == [1, 1, 2]
