"""A platform that breaks while it is sent to: every record is there once all the same, and nothing is opened twice."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from evh.errors import PlatformError, TransportFault
from evh.live.patience import Patience
from evh.live.sync import Sync
from evh.live.sync_folder import read_receipts, read_remote, read_state
from evh.live.uploaded_rows import accounts_of
from tests.unit.live.upload.fake_platform import FakePlatform
from tests.unit.live.upload.uploaded_run import LiveRunOnDisk, settings, syncing

FAULTS: list[dict[str, Any]] = [
    {"reset": True},
    {"reset": True, "after": True},
    {"status": 504},
    {"status": 504, "after": True},
    {"status": 502, "after": True},
    {"status": 500, "after": True},
    {"status": 503, "code": "ingest_unavailable"},
    {"status": 429, "code": "rate_limited", "headers": {"Retry-After": "7"}},
    {"garbage": True, "after": True},
    {"delay": 0.05},
]
PLACES = [
    ("POST", "/environmentshub"),
    ("POST", "/evaluations"),
    ("GET", "/capabilities"),
    ("POST", "/traces"),
    ("PUT", "/evaluations/ev-1"),
    ("POST", "/evaluations/ev-1/finalize"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_at_every_call_costs_nothing(tmp_path: Path, fault: dict[str, Any]) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(6, size=400)
    run.end("completed", summary={"score": 1})
    with FakePlatform() as platform, syncing(run, platform, target=1500) as sync:
        for place in PLACES:
            platform.breaks(*place, **fault)
        sync.run()
        assert platform.lines == run.documents("ev-1")
        assert list(platform.evaluations) == ["ev-1"]
        assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
        assert platform.evaluations["ev-1"]["metrics"]["score"] == 1
    assert accounts_of(run.directory, "eval") == (6, 6, 0, 0)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_at_samples_sends_none_twice(tmp_path: Path, fault: dict[str, Any]) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(9)
    run.end()
    with FakePlatform(ours=False) as platform, syncing(run, platform, target=3000, traces_opt_out=True) as sync:
        platform.breaks("POST", "/evaluations/ev-1/samples", times=1, **fault)
        sync.run()
        assert [each["sample_id"] for each in platform.samples["ev-1"]] == [each.id for each in run.episodes]
        assert platform.lines == []
    assert accounts_of(run.directory, "eval") == (9, 9, 0, 0)


@pytest.mark.parametrize(("fault", "ours"), [*((each, True) for each in FAULTS), (FAULTS[1], False)], ids=str)
def test_a_fault_at_a_training_run(tmp_path: Path, fault: dict[str, Any], ours: bool) -> None:
    run = LiveRunOnDisk(tmp_path, "train")
    run.log(2, step=10)
    run.log_metrics(10, loss=0.5)
    run.end()
    with FakePlatform(ours=ours) as platform, syncing(run, platform) as sync:
        for method, path in (
            ("POST", "/rft/external-runs"),
            ("POST", "/rft/metrics"),
            ("PUT", "/storage"),
            ("POST", "/rft/samples/confirm"),
            ("POST", "/rft/finalize"),
        ):
            platform.breaks(method, path, **fault)
        sync.run()
        remote = read_remote(run.directory)
        assert remote is not None
        assert remote.remote_id is not None
        assert len(platform.training) == 1 + remote.doubts * bool(fault.get("after"))
        assert not (ours and remote.doubts)
        assert platform.training[remote.remote_id]["status"] == "completed"
        assert platform.lines == run.documents(remote.remote_id)
        assert {each["loss"] for each in platform.metrics} == {0.5}
        assert len({key for _, key in platform.confirmed}) == 1


def test_b043_an_ambiguous_answer_does_not_stop_the_batches_behind_it(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(20, size=600)
    run.end()
    with FakePlatform() as platform, syncing(run, platform, target=6000) as sync:
        platform.breaks("POST", "/traces", delay=0.001)  # the first one goes
        platform.breaks("POST", "/traces", status=504, after=True)
        sync.run()
        receipts = list(read_receipts(run.directory))
        assert len(receipts) == len(platform.uploads) >= 5
        assert [each.replayed for each in receipts][:3] == [False, True, False]
        assert len(platform.upload_calls) == len(receipts) + 1
        assert platform.upload_calls[1] == platform.upload_calls[2]
        assert platform.lines == run.documents("ev-1")


def test_b047_every_row_of_a_fast_log_is_there(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    chance = random.Random(47)
    with FakePlatform() as platform, syncing(run, platform, target=20_000) as sync:
        for _ in range(4):
            run.log(288)
            if chance.random() < 0.8:
                how = {name: each for name, each in chance.choice(FAULTS).items() if name != "delay"}
                platform.breaks("POST", "/traces", times=chance.randrange(3), **how)
            sync.send()
            rows, sent, refused, pending = accounts_of(run.directory, "eval")
            assert (rows, refused, pending) == (sent, 0, 0)
        run.end()
        sync.run()
        assert len(platform.lines) == 1152
        assert platform.lines == run.documents("ev-1")
        assert len(set(platform.upload_calls)) == len(platform.uploads)


def test_the_service_says_how_long_to_wait(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(1)
    run.end()
    slept: list[float] = []
    with FakePlatform() as platform:
        patience = Patience(None, sleep=slept.append, uniform=lambda low, high: high)
        with Sync(run.directory, settings(platform), patience) as sync:
            platform.breaks("POST", "/traces", status=429, headers={"Retry-After": "7"})
            platform.breaks("POST", "/traces", status=503, times=7)
            sync.run()
    assert slept == [7.0, 3.0, 6.0, 12.0, 24.0, 45.0, 45.0, 45.0]


def test_who_waits_for_a_while_only_is_told_what_is_pending(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(3)
    run.end()
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with FakePlatform() as platform:
        patience = Patience(30.0, sleep=sleep, clock=lambda: now[0])
        with Sync(run.directory, settings(platform), patience) as sync:
            platform.breaks("*", "/traces", reset=True, times=999)
            with pytest.raises(TransportFault):
                sync.run()
        assert 5 < now[0] <= 30
        assert accounts_of(run.directory, "eval") == (3, 0, 0, 3)
        state = read_state(run.directory)
        assert state is not None
        assert state.state == "retrying"
        assert state.next_try_at is not None
        assert state.seen["traces.jsonl"].rows == 3
        platform.heals()
        with syncing(run, platform) as sync:
            sync.run()
        assert platform.lines == run.documents("ev-1")


@pytest.mark.parametrize("status", [402, 403, 404])
def test_an_answer_of_no_to_everything_is_no_refusal_of_records(tmp_path: Path, status: int) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(3)
    run.end()
    with FakePlatform() as platform, syncing(run, platform) as sync:
        platform.breaks("POST", "/traces", status=status)
        with pytest.raises(PlatformError):
            sync.run()
        assert accounts_of(run.directory, "eval") == (3, 0, 0, 3)
        sync.run()
        assert platform.lines == run.documents("ev-1")


def test_an_encoding_that_something_on_the_way_breaks_is_left(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(3)
    run.end()
    with FakePlatform() as platform, syncing(run, platform) as sync:
        platform.breaks("POST", "/traces", status=400, code="malformed_encoding")
        sync.run()
        assert platform.lines == run.documents("ev-1")
        assert accounts_of(run.directory, "eval").refused == 0
