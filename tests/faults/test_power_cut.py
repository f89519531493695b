"""Power cuts while a run is written: what each policy promises is there on every disk that a cut may leave."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from power import Recorder, disk
from small_run import ITEMS, go_on, kept, write_run

from evh.errors import EvhError
from evh.store import RunDir, list_runs, open_run_dir

DISKS = {"dev": 300, "ci": 5000, "deep": 50_000}[os.environ.get("EVH_TEST_PROFILE", "dev")]
FOLDER = "runs"


class Recorded:
    """A recorded run and where its files are in the record."""

    def __init__(self, root: Path, policy: str, *, threads: bool = False) -> None:
        recorder = Recorder(root)
        with recorder.recording():
            directory = write_run(root / FOLDER, policy, recorder.acknowledge, threads=threads)
        self.policy = policy
        self.name = directory.name
        self.events = recorder.events
        self.rows = recorder.node(directory / "predictions.jsonl")
        self.outputs = recorder.node(directory / "outputs")
        self.made = next(n for n, event in enumerate(self.events) if event.target == self.name)
        runs = recorder.node(root / FOLDER)
        self.sure = next(
            n for n, event in enumerate(self.events) if n > self.made and event.call == "fsync" and event.node == runs
        )

    def acknowledged(self, count: int) -> set[str]:
        """The items of which the program was told within the first `count` calls."""
        return {event.name for event in self.events[:count] if event.call == "ack" and event.name[0] != "("}

    def synced(self, count: int) -> set[str]:
        """The items acknowledged before the last whole sync within the first `count` calls was begun."""
        events = self.events[:count]
        asked = [n for n, event in enumerate(events) if event.call == "ack" and event.name == "(synced)"]
        found = self.acknowledged(asked[-1]) if asked else set()
        if self.policy != "never":  # what rows refer to, then the rows
            of_rows = [n for n, event in enumerate(events) if event.call == "fsync" and event.node == self.rows]
            before = events[: of_rows[-1]] if of_rows else []
            of_outputs = [n for n, event in enumerate(before) if event.call == "fsync" and event.node == self.outputs]
            found |= self.acknowledged(of_outputs[-1]) if of_outputs else set()
        return found

    def told(self, count: int, name: str) -> bool:
        return any(event.call == "ack" and event.name == name for event in self.events[:count])


def check(recorded: Recorded, count: int, root: Path) -> None:
    """What must hold of a disk that a cut after `count` calls left."""
    policy = recorded.policy
    directory = root / FOLDER / recorded.name
    if not directory.exists():
        assert count <= recorded.sure, "the directory was durable and is gone"
        assert not (root / FOLDER).exists() or list_runs(root / FOLDER) == ([], [], [])
        return
    run = open_run_dir(directory)
    assert run.manifest is not None  # whole
    assert run.manifest.run_id == recorded.name
    record = run.record  # whole, or not there
    rows = kept(run)
    torn = [notice for notice in run.notices if notice.kind == "torn"]
    durable = recorded.synced(count)
    if policy == "always":
        durable = recorded.acknowledged(count)
    assert durable <= rows.keys(), "a durable row is gone"
    if policy != "never":
        assert {name for name, whole in rows.items() if not whole}.isdisjoint(durable), "a durable row has no output"
        assert all(whole for name, whole in rows.items() if name in recorded.synced(count))
    if recorded.told(count, "(finished)"):
        assert record is not None
    if record is not None:
        assert record.n_items == len(ITEMS) == len(rows)
        assert policy == "never" or all(rows.values())
        return
    repairs = go_on(directory)
    assert not torn or any("torn" in repair for repair in repairs), "torn rows went unreported"


def reopen(
    recorded: Recorded, tmp_path: Path, seed: int, disks: int, judge: Callable[[int, Path], None], **options: Any
) -> int:
    """Try disks; returns how many there were. The seed and the number of calls are in the message of a failure."""
    chance = random.Random(seed)
    tried = 0
    for number in range(disks):
        count = number % (len(recorded.events) + 1)
        drawn = chance.getrandbits(32)
        root = tmp_path / "cut"
        disk(recorded.events[:count], random.Random(drawn), **options).write(root)
        try:
            judge(count, root)
        except BaseException as error:
            error.add_note(f"seed {seed}: cut after {count} of {len(recorded.events)} calls, disk {drawn}")
            raise
        shutil.rmtree(root)
        tried += 1
    return tried


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("hypothesis_seed"))


@pytest.fixture
def after_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has booted again; what is written from then on needs no patience."""
    monkeypatch.setattr("evh.store.host.boot_id", lambda: "the boot after")
    monkeypatch.setattr("evh.store._os.fsync", lambda _: None)


@pytest.mark.parametrize("threads", [False, True], ids=["in turn", "at once"])
@pytest.mark.parametrize("policy", ["always", "group", "never"])
def test_a_power_cut_takes_back_what_the_policy_says_and_no_more(
    policy: str, threads: bool, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "disk").mkdir()
    recorded = Recorded(tmp_path / "disk", policy, threads=threads)
    request.getfixturevalue("after_the_cut")
    disks = DISKS // 3 if threads else DISKS
    tried = reopen(recorded, tmp_path, seed, disks, lambda count, root: check(recorded, count, root))
    how = "at once" if threads else "in turn"
    print(f"{policy}, {how}: {tried} disks after {len(recorded.events)} calls, seed {seed}")
    assert tried == disks


@pytest.mark.parametrize("policy", ["group", "never"])
def test_blocks_lost_in_the_middle_are_reported_with_their_line(
    policy: str, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "disk").mkdir()
    recorded = Recorded(tmp_path / "disk", policy)
    request.getfixturevalue("after_the_cut")
    reported = 0

    def judge(count: int, root: Path) -> None:
        nonlocal reported
        directory = root / FOLDER / recorded.name
        if not directory.exists():
            return
        read: set[str] = set()
        try:
            for stored in RunDir(directory).rows():
                read.add(stored.row.item_id)
        except EvhError as error:
            assert error.source == str(directory / "predictions.jsonl")
            assert error.line is not None
            reported += 1
        assert recorded.synced(count) <= read

    tried = reopen(recorded, tmp_path, seed, DISKS // 3, judge, holes=True)
    print(f"{policy}: {tried} disks with holes, {reported} of them with a bad row in front of others, seed {seed}")


@pytest.mark.parametrize("forgotten", ["run.json", "outputs", "rows", "names of outputs", "names", "name"])
def test_a_sync_that_is_forgotten_is_found(
    forgotten: str, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> None:
    """The test of the test: with a fault planted in the writer, some disk breaks a promise."""
    (tmp_path / "disk").mkdir()
    recorded = Recorded(tmp_path / "disk", "always")
    made = {event.other: event for event in recorded.events if event.call == "create"}
    (directory,) = {event.other for event in recorded.events if event.target == recorded.name}
    nodes = {
        "run.json": {node for node, event in made.items() if event.name.startswith(".run.json")},
        "outputs": {node for node, event in made.items() if event.node == recorded.outputs},
        "rows": {recorded.rows},
        "names of outputs": {recorded.outputs},
        "names": {directory},
        "name": {recorded.events[recorded.sure].node},
    }[forgotten]
    before = len(recorded.events)
    recorded.events = [event for event in recorded.events if event.call != "fsync" or event.node not in nodes]
    assert len(recorded.events) < before
    recorded.sure = recorded.made + 1
    request.getfixturevalue("after_the_cut")
    with pytest.raises((AssertionError, EvhError)):
        reopen(recorded, tmp_path, seed, 2000, lambda count, root: check(recorded, count, root))
