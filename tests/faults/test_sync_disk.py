"""Uploads that die: power cuts at every step of a sync, and uploaders that are killed at any moment.

What the platform has must be on the disk that is left, and after the next sync it has everything that is, once.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from power import Recorder, disk

from evh.live import uploads
from evh.live.refusals import Refusals
from evh.live.sync_folder import read_refusals
from evh.live.uploaded_rows import accounts_of
from evh.platform import for_upload
from evh.protocol import models
from evh.protocol.codec import decode
from evh.store import _os
from tests.support.run_project import SOURCES
from tests.unit.live.upload.fake_platform import FakePlatform
from tests.unit.live.upload.uploaded_run import LiveRunOnDisk, settings, syncing

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
DISKS = {"dev": 20, "ci": 100, "deep": 6000}[PROFILE]
KILLS = {"dev": 3, "ci": 15, "deep": 500}[PROFILE]
Record = tuple[int, dict[str, Any]]


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("hypothesis_seed"))


def rows_of(directory: Path, remote_id: str) -> list[bytes]:
    """What a platform must have of the whole rows of a directory."""
    found: list[bytes] = []
    for path in [directory / "traces.jsonl", *sorted((directory / "traces").glob("*.jsonl"))]:
        if path.exists():
            lines = path.read_bytes().split(b"\n")[:-1]
            found += [for_upload(decode(line, models.Episode), models.EvalRunInfo(id=remote_id)) for line in lines]
    return found


def refuse_some(line: bytes) -> str | None:
    return "invalid_trace" if b'"id":"ep-3"' in line or b'"id":"ep-8"' in line else None


def names_of(lines: list[bytes]) -> list[str]:
    return [decode(line, models.Episode).id for line in lines]


def the_next_sync_settles(directory: Path, platform: FakePlatform, samples: bool) -> None:
    """What must hold of a disk and a platform after whatever happened."""

    def taken() -> list[Any]:
        return [each["sample_id"] for each in platform.samples.get("ev-1", [])] if samples else platform.lines

    rows = rows_of(directory, "ev-1")
    if samples:
        assert set(taken()) <= set(names_of(rows)), "something was sent that is not on the disk"
    else:
        assert set(taken()) <= set(rows), "something was sent that is not on the disk"
    with syncing(directory, platform, target=1500, traces_opt_out=samples) as sync:
        sync.send()
    expected: list[Any] = rows if samples else [line for line in rows if refuse_some(line) is None]
    assert len(platform.evaluations) <= 1
    assert sorted(taken()) == sorted(names_of(rows) if samples else expected), "a row was passed over, or came twice"
    counted, sent, refused, pending = accounts_of(directory, "eval")
    assert (sent, refused, pending) == (len(expected), counted - len(expected), 0)
    assert len(Refusals(read_refusals(directory))) == refused


@pytest.mark.parametrize("transport", ["traces", "samples"])
def test_a_power_cut_in_the_middle_of_a_sync(tmp_path: Path, seed: int, transport: str) -> None:
    """The cursor never passes a row that was not sent, none is sent twice, none that a cut can take away is sent."""
    samples = transport == "samples"
    root = tmp_path / "recorded"
    root.mkdir()
    recorder = Recorder(root)
    kept: list[Record] = []
    with FakePlatform() as platform:
        platform.refuses = refuse_some
        with recorder.recording():
            run = LiveRunOnDisk(root)
            run.fsync = "never"
            name = run.directory.relative_to(root)
            platform.seen = lambda: kept.append((len(recorder.events), platform.kept()))
            with syncing(run, platform, target=1500, traces_opt_out=samples) as sync:
                for count in (5, 1, 6):
                    run.log(count, size=300)
                    run.log(1, writer="other-1", size=300)
                    sync.send()
        platform.seen = lambda: None
        empty = {name: type(value)() for name, value in platform.kept().items()}
        made = next(n for n, event in enumerate(recorder.events) if event.target == run.directory.name)
        chance = random.Random(seed)
        for number in range(DISKS):
            count = made + number * (len(recorder.events) - made) // DISKS
            drawn = chance.getrandbits(32)
            place = tmp_path / "cut"
            disk(recorder.events[:count], random.Random(drawn)).write(place)
            if (place / name / "run.json").exists():
                platform.restore(([empty] + [state for at, state in kept if at <= count])[-1])
                try:
                    the_next_sync_settles(place / name, platform, samples)
                except BaseException as error:
                    error.add_note(f"seed {seed}: cut after {count} of {len(recorder.events)} calls, disk {drawn}")
                    raise
            shutil.rmtree(place)


class _Killed(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("transport", ["traces", "samples"])
def test_a_death_between_any_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: str) -> None:
    """Before and after every call that changes the disk, the process dies; the next one goes on."""
    samples = transport == "samples"
    calls = [0]
    deadly = [-1]

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                return real(*arguments)  # the program's beat, which another process writes
            calls[0] += 1
            if calls[0] == deadly[0]:
                raise _Killed
            return real(*arguments)

        return call

    step = {"dev": 11 if samples else 7, "ci": 3, "deep": 1}[PROFILE]
    with FakePlatform() as platform:
        run = LiveRunOnDisk(tmp_path)
        run.log(6, size=300)
        run.hold()
        whole = tmp_path / "whole"
        shutil.copytree(run.directory, whole)
        empty = platform.kept()
        death = 1
        while True:
            shutil.rmtree(run.directory / "sync", ignore_errors=True)
            platform.restore(empty)
            calls[0], deadly[0] = 0, death
            died = False
            with (
                syncing(run, platform, target=1500, traces_opt_out=samples) as sync,
                monkeypatch.context() as patch,
            ):
                for each in ("create", "write", "fsync", "replace", "unlink", "mkdir"):
                    patch.setattr(_os, each, dying(getattr(_os, each)))
                try:
                    sync.send()
                except _Killed:
                    died = True
            if not died:
                break
            with syncing(run, platform, target=1500, traces_opt_out=samples) as sync:
                sync.send()
            assert list(platform.evaluations) == ["ev-1"], death
            if samples:
                assert [each["sample_id"] for each in platform.samples["ev-1"]] == [each.id for each in run.episodes]
            else:
                assert platform.lines == run.documents("ev-1"), death
            assert accounts_of(run.directory, "eval") == (6, 6, 0, 0), death
            death += step
        assert death > 50
        run.let_go()


def test_an_uploader_is_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    """`kill -9` of the process while its run is written; the last one finishes."""
    chance = random.Random(seed)
    for number in range(KILLS):
        with FakePlatform() as platform:
            run = LiveRunOnDisk(tmp_path, run_id=f"run{number}")
            run.hold()
            environ = {
                "PATH": os.environ.get("PATH", ""),
                "PYTHONPATH": SOURCES,
                "HOME": str(tmp_path),
                "PRIME_API_KEY": platform.key,
                "PRIME_API_BASE_URL": platform.url,
            }
            for _ in range(2):
                if chance.random() < 0.5:
                    platform.breaks("POST", "/traces", reset=True, after=chance.random() < 0.5)
                child = subprocess.Popen(
                    [sys.executable, "-P", "-m", "evh.live.uploader", str(run.directory)],
                    env=environ,
                    stderr=subprocess.DEVNULL,
                )
                due = time.monotonic() + 0.25 + chance.random() * 0.8
                while time.monotonic() < due:
                    run.log(2, size=200)
                    time.sleep(0.01)
                child.send_signal(signal.SIGKILL)
                child.wait(20)
                rows, sent, refused, pending = accounts_of(run.directory, "eval")
                assert sent + refused + pending == rows
            run.end()
            with syncing(run, platform) as sync:
                sync.run()
            try:
                assert platform.lines == run.documents("ev-1")
                assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
                assert len(platform.evaluations) == 1
            except AssertionError as error:
                error.add_note(f"seed {seed}, round {number}")
                raise


def test_an_uploader_outlives_its_run_and_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PRIME_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    with FakePlatform() as platform:
        handle = uploads.start(run.directory, settings(platform))
        assert handle.pid is not None
        run.log(5)
        assert uploads.wait(run.directory, 20.0)
        assert platform.lines == run.documents("ev-1")
        found = uploads.progress(run.directory)
        assert (found.pending, found.refused, found.evaluation_id, found.error) == (0, 0, "ev-1", None)
        assert found.url == f"{platform.url}/runs/ev-1"
        run.log(3)
        run.end()
        assert uploads.wait(run.directory, 20.0)
        assert platform.lines == run.documents("ev-1")
        assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
        due = time.monotonic() + 20
        while time.monotonic() < due:
            try:
                os.kill(handle.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.02)
        else:
            raise AssertionError("the uploader did not end")
    written = b"".join(path.read_bytes() for path in (run.directory / "sync").iterdir() if path.is_file())
    assert platform.key.encode() not in written
