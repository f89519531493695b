"""An uploader that watches a run: it waits, pauses and goes on, and ends when nothing is left to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from evh.live import uploads
from evh.live.patience import Patience
from evh.live.sync import Sync
from evh.live.sync_folder import read_state, sync_path
from evh.live.watching import watch
from evh.protocol import models
from tests.unit.live.upload.fake_platform import FakePlatform
from tests.unit.live.upload.uploaded_run import LiveRunOnDisk, settings


class Clock:
    """Time that passes only by sleeping; `steps` are done one after the other, each at the next sleep of 0.1 s."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._steps: Iterator[Callable[[], object]] = iter(steps)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
        assert self.now < 20_000, "it waits for ever"
        next(self._steps, lambda: None)()

    def __call__(self) -> float:
        return self.now


def patience(clock: Clock) -> Patience:
    return Patience(None, sleep=clock.sleep, clock=clock, uniform=lambda low, high: 1.0)


def test_a_run_is_sent_while_it_is_written_and_closed_at_its_end(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    clock = Clock(lambda: run.log(2), lambda: run.log(1), lambda: None, lambda: run.log(3), run.end)
    with FakePlatform() as platform, Sync(run.directory, settings(platform), patience(clock)) as sync:
        ending = watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock)
        assert ending is not None
        assert platform.lines == run.documents("ev-1")
        assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
    state = read_state(run.directory)
    assert state is not None
    assert (state.state, state.error) == ("finished", None)
    assert clock.now < 3, "the end is seen at once"


def test_an_owner_that_is_gone_leaves_a_crashed_run(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(2)
    clock = Clock(lambda: None, run.let_go)
    with FakePlatform() as platform, Sync(run.directory, settings(platform), patience(clock)) as sync:
        watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock)
        assert platform.evaluations["ev-1"]["status"] == "FAILED"
        assert platform.evaluations["ev-1"]["error_message"].startswith("crashed: ")
        assert platform.lines == run.documents("ev-1")


def test_a_key_that_is_mended_ends_a_pause(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(2)
    told: list[str] = []
    with FakePlatform() as platform:
        seen: list[models.SyncState | None] = []
        clock = Clock(lambda: seen.append(read_state(run.directory)), run.end)
        with Sync(run.directory, settings(platform, api_key="old-key"), patience(clock)) as sync:
            watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock, told=told.append)
        assert platform.lines == run.documents("ev-1")
        assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
    assert seen[0] is not None
    assert seen[0].state == "paused"
    assert "401" in (seen[0].error or "")
    assert seen[0].next_try_at is not None
    assert "401" in told[0]


def test_a_no_when_the_run_is_over_ends_it_with_the_reason(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(2)
    run.end()
    clock = Clock()
    with (
        FakePlatform() as platform,
        Sync(run.directory, settings(platform, api_key="old-key"), patience(clock)) as sync,
    ):
        assert watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock) is None
    found = uploads.progress(run.directory)
    assert found.pending == 2
    assert "401" in (found.error or "")
    assert not uploads.wait(run.directory, 30.0), "nobody waits for what will not come"


def test_a_platform_that_is_down_is_waited_for_while_the_run_is_open(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(2)
    with FakePlatform() as platform:
        platform.breaks("*", "/", reset=True, times=10**6)

        def heal() -> None:
            if clock.now > 7200:
                platform.heals()
                run.end()

        clock = Clock(*[heal] * 400)
        with Sync(run.directory, settings(platform), patience(clock)) as sync:
            assert watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock) is not None
        assert platform.lines == run.documents("ev-1")


def test_when_the_run_is_over_a_platform_is_waited_for_an_hour(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(2)
    run.end()
    clock = Clock()
    with FakePlatform() as platform:
        platform.breaks("*", "/", reset=True, times=10**6)
        with Sync(run.directory, settings(platform), patience(clock)) as sync:
            assert watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock) is None
    assert 3600 < clock.now < 4000


def test_a_run_that_is_removed_is_waited_for_no_longer(tmp_path: Path) -> None:
    for down in (False, True):
        run = LiveRunOnDisk(tmp_path, run_id=f"run{down}")
        run.hold()
        run.log(2)

        def remove(run: LiveRunOnDisk = run) -> None:
            run.let_go()
            shutil.rmtree(run.directory)

        clock = Clock(lambda: None, remove)
        with FakePlatform() as platform:
            platform.breaks("*", "/", reset=True, times=10**6 * down)
            with Sync(run.directory, settings(platform), patience(clock)) as sync:
                assert watch(sync, lambda: settings(platform), sleep=clock.sleep, clock=clock) is None
        assert clock.now < 60


def test_an_uploader_that_was_killed_is_told(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(2)
    with FakePlatform() as platform, Sync(run.directory, settings(platform), Patience(1.0)) as sync:
        sync.tell("waiting")
        state = read_state(run.directory)
    assert state is not None
    assert uploads.progress(run.directory) == (2, 0, None, None, None)
    state.pid_started = "another"
    sync_path(run.directory, "state.json").write_bytes(
        b'{"state":"waiting","at":"2026-10-04T08:15:30Z","host":"x","pid":1}'
    )
    assert uploads.progress(run.directory).error is None, "of a process elsewhere nobody knows"
    (run.directory / "sync" / "state.json").unlink()
    assert not uploads.wait(run.directory, 30.0)


def test_progress_of_a_folder_that_is_no_run_is_an_error_in_words(tmp_path: Path) -> None:
    assert "is no run" in (uploads.progress(tmp_path).error or "")
