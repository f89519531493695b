"""Live runs that are killed, starved and cut off: every acknowledged record is there once, and the run can be ended."""

from __future__ import annotations

import errno
import json
import os
import random
import secrets
import signal
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from live_child import episode
from power import CALLS, Recorder, disk
from processes import forked, start_python

import evh
from evh.errors import EvhError
from evh.store import _os, open_run_dir

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
ROUNDS = {"dev": 6, "ci": 60, "deep": 500}[PROFILE]
EVERY = {"dev": 3, "ci": 1, "deep": 1}[PROFILE]
CUTS = {"dev": 30, "ci": 1500, "deep": 8000}[PROFILE]
CHILD = Path(__file__).with_name("live_child.py")
SECONDS = 60.0


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("PRIME_", "EVH_MODE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("EVAL_BUILD_REF", "a-build")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


class Programs:
    """Programs that write to runs in a folder, and what they told."""

    def __init__(self, folder: Path, policy: str) -> None:
        self._process = start_python(CHILD, folder, policy)
        self.told: list[tuple[int, str]] = []

    def start(self, what: str, directory: Path | None = None, most: int = 0) -> int:
        """Start a program and wait until its run is open; returns its process."""
        known = {pid for pid, said in self.told if said == "open"}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"what": what, "dir": str(directory), "most": most}).encode() + b"\n")
        self._process.stdin.flush()
        self.until(lambda: any(said == "open" and pid not in known for pid, said in self.told))
        return next(pid for pid, said in self.told if said == "open" and pid not in known)

    def until(self, met: Any) -> None:
        """Read what is told until something is met."""
        assert self._process.stdout is not None
        while not met():
            line = self._process.stdout.readline()
            assert line, (self._process.stderr.read() if self._process.stderr else b"").decode()
            pid, said = json.loads(line)
            self.told.append((pid, said))

    def kill(self, pid: int) -> None:
        """Kill a program; what it told before is read on the way."""
        os.kill(pid, signal.SIGKILL)

    def acknowledged(self) -> list[str]:
        """Everything that was acknowledged, once nobody writes any more."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self.told += [tuple(json.loads(line)) for line in self._process.stdout]
        self._process.wait(SECONDS)
        assert self._process.stderr is not None
        said = self._process.stderr.read()
        for pipe in (self._process.stdout, self._process.stderr):
            pipe.close()
        assert b"Traceback" not in said, said.decode()
        return [said for _, said in self.told if said not in ("open", "done")]


def gone(pid: int) -> None:
    """Wait until a process has ended, reaped or not."""
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        try:
            about = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return
        if about[0] in "ZX":
            return
        time.sleep(0.002)
    pytest.fail(f"the process {pid} does not end")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see that a process is gone")
@pytest.mark.parametrize("policy", ["group", "always"])
def test_b047_b055_a_producer_killed_at_random_moments_loses_no_acknowledged_record(
    tmp_path: Path, policy: str
) -> None:
    seed = secrets.randbelow(2**31)
    chance = random.Random(seed)
    print(f"seed {seed}")
    programs = Programs(tmp_path / "runs", policy)
    directory = tmp_path / "runs" / "r"
    for round in range(ROUNDS):
        pid = programs.start("resume" if round else "open", directory)
        more = len(programs.told) + chance.randrange(12)
        programs.until(lambda more=more: len(programs.told) >= more)
        time.sleep(chance.random() * 0.01)
        programs.kill(pid)
        gone(pid)
        assert open_run_dir(directory).state == "unfinished"
    programs.start("resume", directory, most=3)
    programs.until(lambda: programs.told[-1][1] == "done")
    acknowledged = programs.acknowledged()
    whole(directory, acknowledged)
    assert len(acknowledged) >= 3


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see that a process is gone")
def test_eight_processes_log_to_one_run_and_two_of_them_are_killed(tmp_path: Path) -> None:
    programs = Programs(tmp_path / "runs", "group")
    directory = tmp_path / "runs" / "r"
    with evh.open_run(dir=tmp_path / "runs", run_id="r", name="r", mode="offline", notify=lambda text: None) as run:
        lasting = [programs.start("join", directory, most=40) for _ in range(6)]
        killed = [programs.start("join", directory) for _ in range(2)]
        own = [each.id for each in run.log_episodes(episode(index) for index in range(20))]
        for pid in killed:
            programs.until(lambda pid=pid: sum(1 for each, _ in programs.told if each == pid) > 10)
            programs.kill(pid)
            gone(pid)
        programs.until(lambda: {pid for pid, said in programs.told if said == "done"} == set(lasting))
        acknowledged = programs.acknowledged()
    whole(directory, own + acknowledged)
    assert len(acknowledged) >= 6 * 40 + 2 * 9
    segments = open_run_dir(directory).segments()
    assert len(segments) == 9


def whole(directory: Path, acknowledged: list[str]) -> None:
    """Every acknowledged episode is there once, and the run is closed and agrees with itself."""
    run = open_run_dir(directory)
    found = [each.id for each in run.episodes()]
    assert len(found) == len(set(found))
    assert set(acknowledged) <= set(found)
    assert len(acknowledged) == len(set(acknowledged))
    assert len(found) - len(acknowledged) <= ROUNDS + 2  # written, and killed before it could be told
    assert run.state == "finished"
    assert run.end is not None and run.record is not None
    assert (run.end.status, run.end.counts.episodes) == ("completed", len(found))
    assert sum(row.value.plain()["n_rollouts"] for row in run.rows()) == len(found)
    assert run.count().scores() == run.record.scores
    list(run.steps())


def test_a_fork_in_the_middle_of_logging_costs_nothing(tmp_path: Path) -> None:
    with evh.open_run(dir=tmp_path, name="r", mode="offline", notify=lambda text: None) as run:
        ids = []
        for index in range(10):
            ids += [each.id for each in run.log_episodes([episode(index)])]
            ids += forked(lambda index=index: run.log_episodes([episode(index)])[0].id).split()
    assert run.dir is not None
    whole(run.dir, ids)


# --- a disk that refuses ---------------------------------------------------------------------------------------------


def short_run(folder: Path, told: list[str], acknowledged: list[str]) -> evh.LiveRun:
    """A run of a few episodes, whatever is refused on the way."""
    run = evh.open_run(dir=folder, name="r", run_id="r", mode="offline", notify=told.append)
    for index in range(4):
        acknowledged += [each.id for each in run.log_episodes([episode(index)])]
        run.log_metrics({"index": index}, step=index)
    run.finish({"done": True})
    return run


@pytest.mark.parametrize(
    ("code", "lasting"),
    [(errno.ENOSPC, False), (errno.ENOSPC, True), (errno.EIO, False)],
    ids=["full for a moment", "full", "one fault"],
)
def test_b061_a_disk_that_refuses_any_call_loses_nothing_that_was_acknowledged(
    code: int, lasting: bool, tmp_path: Path
) -> None:
    for at in count(1, EVERY):
        folder = tmp_path / f"{at}"
        told: list[str] = []
        acknowledged: list[str] = []
        calls = count(1)
        run = None
        made = 0
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(_os, name, failing(getattr(_os, name), calls, at, code, lasting))
            try:
                run = short_run(folder, told, acknowledged)
            except EvhError as error:
                assert os.strerror(code) in str(error)
            made = next(calls)
        if run is not None and not run.finished:
            run.finish()  # there is room again
        for directory in folder.glob("r") if folder.exists() else ():
            found = [each.id for each in open_run_dir(directory).episodes()]
            assert set(acknowledged) <= set(found), at
            assert len(found) == len(set(found)), at
            if run is not None:
                assert run.lost + len(acknowledged) >= 4
                assert run.lost == 0 or any(os.strerror(code) in text for text in told)
                closed = open_run_dir(directory)
                assert closed.end is not None and closed.end.counts.episodes == len(found)
                assert closed.state == "finished"
        if made <= at:
            break
    assert at > 60


def failing(real: Any, calls: Iterator[int], at: int, code: int, lasting: bool) -> Any:
    """A call that is refused when its number comes, or from then on."""

    def call(*given: Any) -> Any:
        number = next(calls)
        if number == at or (lasting and number > at and real.__name__ not in ("unlink", "rmdir")):
            raise OSError(code, os.strerror(code))
        return real(*given)

    call.__name__ = real.__name__
    return call


# --- a power cut -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["always", "group"])
def test_a_power_cut_takes_nothing_that_was_durable(tmp_path: Path, policy: Any) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    recorder = Recorder(root)
    with recorder.recording():
        run = evh.open_run(dir=root, name="r", run_id="r", mode="offline", fsync=policy, notify=lambda text: None)
        for index in range(5):
            (written,) = run.log_episodes([episode(index)])
            if policy == "group" and index == 2:
                run.flush()
            if policy == "always" or index == 2:
                recorder.acknowledge(written.id)
        run.finish()
        recorder.acknowledge("(finished)")
    seed = secrets.randbelow(2**31)
    chance = random.Random(seed)
    for number in range(CUTS):
        cut = chance.randrange(len(recorder.events) + 1)
        events = recorder.events[:cut]
        folder = tmp_path / f"{number}"
        disk(events, chance).write(folder)
        told = [event.name for event in events if event.call == "ack"]
        try:
            survived(folder / "r", told)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, cut {number} after {cut} calls") from error


def survived(directory: Path, told: list[str]) -> None:
    """What was told as durable is there; a closed run has all it counts; an open one is taken up and closed."""
    if not (directory / "run.json").exists():
        assert not told
        return
    run = open_run_dir(directory)
    if run.end is None:
        assert "(finished)" not in told
        again = evh.open_run(dir=directory, resume=True, mode="offline", notify=lambda text: None)
        again.finish()
        run = open_run_dir(directory)
    assert run.end is not None and run.record is not None
    found = {each.id for each in run.episodes()}
    assert set(told) - {"(finished)"} <= found
    assert run.end.counts.episodes == len(found)
    assert run.record.scores == run.count().scores()
    for row in run.rows():
        run.output(row.item_id)
