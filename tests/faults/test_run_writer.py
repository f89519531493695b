"""A run's writer under kills and faults of the disk: what was acknowledged stays, and the run can be taken up again."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from power import CALLS
from processes import start_python
from small_run import ITEMS, attempt, finish, go_on, kept, manifest, write, write_run

from evh import Episode, TraceTask
from evh.errors import EvhError, LockedError, SourceError, WriteError
from evh.protocol import models
from evh.store import Masker, RunWriter, _os, list_runs, open_run_dir
from evh.store.run_writer import make_run_directory

CHILD = Path(__file__).with_name("kill_child.py")
EVERY = {"dev": 3, "ci": 1, "deep": 1}[os.environ.get("EVH_TEST_PROFILE", "dev")]


def recovers(runs: Path, acknowledged: set[str]) -> bool:
    """Check the run that a kill or a fault left, and bring it to its end. False if there is none yet."""
    listing = list_runs(runs)
    assert listing.skipped == []
    if not (found := listing.finished + listing.unfinished):
        assert not acknowledged
        return False
    (run,) = found
    rows = kept(run)
    assert all(rows.values()), "a row without its output"
    assert acknowledged - {"(synced)", "(finished)"} <= rows.keys()
    if run.record is None:
        assert "(finished)" not in acknowledged
        go_on(run.path)
    else:
        assert run.record.n_items == len(ITEMS)
    hidden = [path.name for path in run.path.rglob(".*")]
    assert run.record is not None or hidden == []
    return True


# Kills


@pytest.mark.parametrize(("policy", "when"), [("always", "after"), ("always", "within"), ("group", "after")])
def test_a_kill_after_every_call_loses_nothing_acknowledged(
    policy: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledged: dict[int, set[str]] = {}
    with start_python(CHILD, tmp_path, policy, when) as child:
        out, error = child.communicate(timeout=60)
    assert child.returncode == 0, error.decode()
    for line in out.decode().splitlines():
        number, name = json.loads(line)
        acknowledged.setdefault(number, set()).add(name)
    ended = max(acknowledged)
    assert acknowledged[ended] == {item.item_id for item in ITEMS} | {"(synced)", "(finished)", None}
    monkeypatch.setattr(_os, "fsync", lambda _: None)
    begun = sum(recovers(tmp_path / str(number), acknowledged.get(number, set())) for number in range(1, ended))
    print(f"{policy}, {when}: {ended - 1} kills, {begun} of them with a run to take up")
    assert 40 < begun < ended


# Faults of the disk


def faulty(patch: pytest.MonkeyPatch, fault: Callable[[int, str, Callable[..., Any], Any], Any]) -> list[str]:
    """Send the calls of `_os` through `fault`, which gets the number of the call, its name, the call and what it was
    given; the names of all calls so far are in the list."""
    calls: list[str] = []

    def through(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            calls.append(name)
            return fault(len(calls), name, real, given)

        return call

    for name in CALLS:
        patch.setattr(_os, name, through(name, getattr(_os, name)))
    return calls


def raising(code: int, at: int, lasting: bool) -> Callable[[int, str, Callable[..., Any], Any], Any]:
    def fault(number: int, name: str, real: Callable[..., Any], given: Any) -> Any:
        if number == at or (lasting and number > at):
            raise OSError(code, os.strerror(code))
        return real(*given)

    return fault


@pytest.mark.parametrize("policy", ["always", "group"])
@pytest.mark.parametrize(
    ("code", "lasting"),
    [(errno.ENOSPC, False), (errno.EIO, False), (errno.ENOSPC, True), (errno.EROFS, True)],
    ids=["full for a moment", "one fault", "full", "read-only"],
)
def test_e35_e36_e37_a_fault_at_any_call_stops_the_run_and_loses_nothing(
    policy: str, code: int, lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evh.store.journal.GROUP_SECONDS", 600)
    monkeypatch.setattr(_os, "fsync", lambda _: None)
    tried = stopped = 0
    for at in count(1, EVERY if policy == "group" else 1):
        runs, acknowledged = tmp_path / f"{at}", set[str]()
        with monkeypatch.context() as patch:
            calls = faulty(patch, raising(code, at, lasting))
            try:
                write_run(runs, policy, acknowledged.add)
            except EvhError as error:
                stopped += 1
                assert str(tmp_path) in str(error)
                assert os.strerror(code) in str(error)
                assert "(finished)" not in acknowledged
        if len(calls) < at:
            break
        tried += 1
        if not lasting:
            assert [path.name for path in runs.glob(".partial-*")] == []
        recovers(runs, acknowledged)
    print(f"{policy}, {os.strerror(code)}: {tried} faults, {stopped} of them stopped the run")
    assert stopped > tried // 2


def test_short_writes_are_completed_wherever_they_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_os, "fsync", lambda _: None)

    def short(number: int, name: str, real: Callable[..., Any], given: Any) -> Any:
        if name == "write" and len(given[1]) > 1:
            return real(given[0], bytes(given[1])[: len(given[1]) // 2])
        return real(*given)

    acknowledged: set[str] = set()
    with monkeypatch.context() as patch:
        calls = faulty(patch, short)
        write_run(tmp_path / "runs", "always", acknowledged.add)
    assert calls.count("write") > 50
    assert "(finished)" in acknowledged
    assert recovers(tmp_path / "runs", acknowledged)


def test_a_row_for_which_there_is_no_room_can_be_written_once_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_run_directory(tmp_path, manifest())
    with RunWriter(directory) as writer:
        with monkeypatch.context() as patch:
            faulty(patch, raising(errno.ENOSPC, 1, True))
            with pytest.raises(WriteError, match="No space left"):
                write(writer, ITEMS[0], lambda _: None)
        for item in ITEMS:
            write(writer, item, lambda _: None)
        finish(writer)
    assert kept(open_run_dir(directory)) == {item.item_id: True for item in ITEMS}


# Directories


def test_e24_twenty_processes_that_start_in_one_second_get_twenty_directories(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from small_run import manifest
from evh.store.run_writer import make_run_directory
sys.stdin.read()
print(make_run_directory(Path(sys.argv[1]), manifest("arm_20261004T081530Z_r1")).name)
"""
    path = f"import sys; sys.path.insert(0, {str(CHILD.parent)!r})\n"
    children = [start_python("-c", path + code, tmp_path / "runs") for _ in range(20)]
    names = []
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None
    for child in children:
        out, error = child.communicate(timeout=60)
        assert child.returncode == 0, error.decode()
        names.append(out.decode().strip())
    stem = "arm_20261004T081530Z"
    assert set(names) == {f"{stem}_r1", *(f"{stem}-{number}_r1" for number in range(2, 21))}
    listing = list_runs(tmp_path / "runs")
    assert sorted(run.run_id for run in listing.unfinished) == sorted(names)
    assert sorted(os.listdir(tmp_path / "runs")) == sorted(names)  # noqa: PTH208


def test_a_name_that_is_taken_gets_a_number_in_front_of_the_repeat(tmp_path: Path) -> None:
    for run_id, repeat, second in (("arm_r2", 2, "arm-2_r2"), ("arm", None, "arm-2"), ("odd_r2", 1, "odd_r2-2")):
        plan = manifest(run_id, repeat_index=repeat)
        assert make_run_directory(tmp_path, plan).name == plan.run_id == run_id
        assert make_run_directory(tmp_path, plan).name == plan.run_id == second
        plan.run_id = run_id
        with pytest.raises(WriteError, match="is there already"):
            make_run_directory(tmp_path, plan, exact=True)
    assert not list(tmp_path.glob(".*"))


def test_e37_a_runs_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match=r"file: no run can be made here: "):
        make_run_directory(tmp_path / "file", manifest())


def test_a_sync_that_fails_after_the_rename_says_that_the_run_is_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed, fsync, rename = threading.Event(), _os.fsync, _os.rename

    def note(*given: Any) -> None:
        rename(*given)
        renamed.set()

    def fail(descriptor: int) -> None:
        if renamed.is_set():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(_os, "rename", note)
        patch.setattr(_os, "fsync", fail)
        with pytest.raises(WriteError, match=r"arm_r1: the run is in place, .*Input/output error.*resume it"):
            make_run_directory(tmp_path, manifest())
    assert go_on(tmp_path / "arm_r1") == []


def test_e67_what_a_killed_process_left_half_made_is_removed_an_hour_later(tmp_path: Path) -> None:
    runs, outside = tmp_path / "runs", tmp_path / "outside"
    for folder in (runs / ".partial-old" / "outputs" / "deep", runs / ".partial-new", outside):
        folder.mkdir(parents=True)
    (outside / "theirs").write_text("theirs")
    (runs / ".partial-old" / "outputs" / "a.txt").write_text("a")
    (runs / ".partial-old" / "link").symlink_to(outside)
    (runs / ".partial-link").symlink_to(outside)
    for path in (runs / ".partial-old", runs / ".partial-link", outside):
        os.utime(path, (0, 0), follow_symlinks=False)
    assert list_runs(runs) == ([], [], [])
    make_run_directory(runs, manifest())
    assert sorted(path.name for path in runs.iterdir()) == [".partial-new", "arm_r1"]
    assert (outside / "theirs").read_text() == "theirs"


@pytest.mark.parametrize("policy", ["group", "never"])
def test_a_launch_is_noted_durably_whatever_the_policy(
    policy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_run_directory(tmp_path, manifest())
    synced: set[str] = set()
    real = _os.fsync

    def note(descriptor: int) -> None:
        real(descriptor)
        synced.add(Path(f"/proc/self/fd/{descriptor}").resolve().name)

    with RunWriter(directory, fsync=policy) as writer:
        monkeypatch.setattr(_os, "fsync", note)
        writer.begin(attempt(1, 0))
        assert {"attempts.jsonl", directory.name} <= synced


def test_a_directory_without_its_manifest_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"has no run\.json"):
        RunWriter(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("odd", ["link", "folder", "fifo"])
def test_e41_an_output_that_is_no_plain_file_is_not_written_through(tmp_path: Path, odd: str) -> None:
    directory = make_run_directory(tmp_path / "runs", manifest())
    (tmp_path / "outside").write_text("theirs")
    with RunWriter(directory) as writer:
        place = directory / "outputs" / "plain.txt"
        if odd == "link":
            place.symlink_to(tmp_path / "outside")
        elif odd == "folder":
            place.mkdir()
        else:
            os.mkfifo(place)
        with pytest.raises(WriteError, match=r"plain\.txt"):
            write(writer, ITEMS[0], lambda _: None)
    assert (tmp_path / "outside").read_text() == "theirs"
    assert list(open_run_dir(directory).rows()) == []
    with pytest.raises(WriteError):
        RunWriter(directory)


def test_e41_a_link_in_the_place_of_the_outputs_is_refused(tmp_path: Path) -> None:
    directory = make_run_directory(tmp_path / "runs", manifest())
    (tmp_path / "outside").mkdir()
    (directory / "outputs").rmdir()
    (directory / "outputs").symlink_to(tmp_path / "outside")
    with pytest.raises(WriteError, match="is not a folder"):
        RunWriter(directory)
    assert list((tmp_path / "outside").iterdir()) == []
    assert not (directory / "lease.json").exists()


@pytest.mark.parametrize("name", ["predictions", "attempts", "errors", "traces"])
def test_e41_a_link_in_the_place_of_a_file_of_the_run_is_refused(tmp_path: Path, name: str) -> None:
    directory = make_run_directory(tmp_path / "runs", manifest())
    (tmp_path / "outside").write_text("theirs\n")
    (directory / f"{name}.jsonl").symlink_to(tmp_path / "outside")
    with pytest.raises(WriteError, match=rf"{name}\.jsonl: is a link in the place of a file of the run"):
        RunWriter(directory)
    assert (tmp_path / "outside").read_text() == "theirs\n"
    assert not (directory / "lease.json").exists()


@pytest.mark.parametrize("name", ["lease.json", "metrics.json"])
def test_e41_a_link_in_the_place_of_the_lease_or_the_record_is_refused(tmp_path: Path, name: str) -> None:
    directory = make_run_directory(tmp_path / "runs", manifest())
    (tmp_path / "outside").write_text("{}")
    (directory / name).symlink_to(tmp_path / "outside")
    with pytest.raises(WriteError, match=rf"{name}: is a link in the place of a"):
        RunWriter(directory, take_over=True)
    assert (tmp_path / "outside").read_text() == "{}"
    (directory / name).unlink()
    RunWriter(directory).close()


# After its end


def test_a_closed_writer_refuses_everything_and_touches_nothing(tmp_path: Path) -> None:
    directory = make_run_directory(tmp_path, manifest())
    writer = RunWriter(directory)
    write(writer, ITEMS[0], lambda _: None)
    writer.close()
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    error = models.ItemError(item_id="b", attempt=1, at="2026-10-04T08:15:30Z", type="E", message="m")
    refused: list[Callable[[], None]] = [
        lambda: write(writer, ITEMS[1], lambda _: None),
        lambda: write(writer, ITEMS[2], lambda _: None),
        lambda: writer.write_episode(Episode(task=TraceTask(type="t", data={}))),
        lambda: writer.write_accepted("b", "E: m"),
        lambda: writer.write_error(error),
        lambda: writer.begin(attempt(1, 0)),
        lambda: finish(writer),
        writer.sync,
    ]
    for late in refused:
        with pytest.raises(WriteError, match="the run is closed"):
            late()
    writer.close()
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before


def test_close_waits_for_the_write_in_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = make_run_directory(tmp_path, manifest())
    writer = RunWriter(directory)
    inside, closing, acknowledged = threading.Event(), threading.Event(), list[str]()
    put = writer.outputs.write

    def slow(*given: Any) -> None:
        inside.set()
        assert closing.wait(10)
        put(*given)

    monkeypatch.setattr(writer.outputs, "write", slow)
    wait_for = writer._guard.wait_for

    def waiting(*given: Any, **more: Any) -> bool:
        closing.set()
        return wait_for(*given, **more)

    monkeypatch.setattr(writer._guard, "wait_for", waiting)
    thread = threading.Thread(target=write, args=(writer, ITEMS[2], acknowledged.append))
    thread.start()
    assert inside.wait(10)
    writer.close()
    assert kept(open_run_dir(directory)) == {ITEMS[2].item_id: True}
    thread.join()
    assert acknowledged == [ITEMS[2].item_id]


def test_close_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evh.store.run_writer.CLOSE_SECONDS", 0.01)
    directory = make_run_directory(tmp_path, manifest())
    writer = RunWriter(directory)
    inside, closed, faults = threading.Event(), threading.Event(), list[EvhError]()
    put = writer.outputs.write

    def stuck(*given: Any) -> None:
        inside.set()
        assert closed.wait(10)
        put(*given)

    monkeypatch.setattr(writer.outputs, "write", stuck)

    def late() -> None:
        try:
            write(writer, ITEMS[0], lambda _: None)
        except EvhError as error:
            faults.append(error)

    thread = threading.Thread(target=late)
    thread.start()
    assert inside.wait(10)
    writer.close()
    assert not (directory / "lease.json").exists()
    closed.set()
    thread.join()
    assert ["closed" in str(fault) for fault in faults] == [True]
    assert kept(open_run_dir(directory)) == {}


# Readers beside a writer


def test_b067_readers_beside_a_writer_see_whole_rows_only(tmp_path: Path) -> None:
    directory = make_run_directory(tmp_path, manifest())
    done, faults, reads = threading.Event(), list[BaseException](), 0

    def read() -> None:
        nonlocal reads
        seen = 0
        try:
            while not done.is_set():
                (run,) = list_runs(tmp_path).unfinished
                rows = list(run.rows())
                assert [row.row.item_id for row in rows] == [f"i{n}" for n in range(len(rows))]
                assert len(rows) >= seen
                assert run.count().n_items >= len(rows)
                assert open_run_dir(directory).state == "running"
                seen = len(rows)
                reads += 1
        except BaseException as error:
            faults.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    with RunWriter(directory) as writer:
        for reader in readers:
            reader.start()
        for number in range(300):
            writer.write_item(f"i{number}", "text", {"score": 1, "_extra": {}, "_meta": {"raw": "x" * 5000}})
        done.set()
        for reader in readers:
            reader.join()
    assert faults == []
    assert reads > 2
    assert len(list(open_run_dir(directory).rows())) == 300


# What is written


@pytest.mark.parametrize("named", [True, False])
def test_b046_b070_no_secret_reaches_the_directory(tmp_path: Path, named: bool) -> None:
    canary = "sk-canary-0123456789"
    masker = Masker([canary] if named else [])  # what nobody named is learned from the tables it stands in
    directory = make_run_directory(tmp_path, manifest())
    meta = {"request": {"headers": {"Authorization": f"Bearer {canary}"}}, "raw": [canary], canary: 1}
    episode = Episode(task=TraceTask(type="t", data={"prompt": f"use {canary}", "env": {"KEY": "short"}}))
    episode.env.id = "gsm8k"
    with RunWriter(directory, masker=masker) as writer:
        writer.write_item("a", f"it is {canary}!", {"_extra": {}, "_meta": meta}, episode)
        said = canary if named else "nothing"  # a row's tables count for the row alone
        writer.write_accepted("b", f"ValueError: {said}")
        error = models.ItemError(
            item_id="b", attempt=1, at="2026-10-04T08:15:30Z", type="E", message=said, traceback=f"line {said}"
        )
        writer.write_error(error)
        finish(writer)
    for path in directory.rglob("*"):
        assert path.is_dir() or canary.encode() not in path.read_bytes(), path
    run = open_run_dir(directory)
    assert run.output("a") == "it is ***!"
    (read,) = run.episodes()
    assert read.env.id == "gsm8k"
    assert read.id == episode.id
    assert meta["raw"] == [canary]
    assert run.record is not None
    assert run.record.n_errors == 1


def test_a_row_is_written_the_same_whatever_was_written_before_it(tmp_path: Path) -> None:
    def row(runs: Path, *earlier: dict[str, Any]) -> bytes:
        directory = make_run_directory(runs, manifest())
        with RunWriter(directory) as writer:
            for number, meta in enumerate(earlier):
                writer.write_item(f"e{number}", "", {"_extra": {}, "_meta": meta})
            writer.write_item("a", "of session-0001", {"_extra": {}, "_meta": {"headers": {"x": "request-0002"}}})
        assert open_run_dir(directory).output("a") == "of session-0001"
        return (directory / "predictions.jsonl").read_bytes().splitlines()[-1]

    taught = [{"headers": {"x-session": "session-0001"}}] * 3
    assert row(tmp_path / "resumed") == row(tmp_path / "undisturbed", *taught)


def test_names_of_metrics_that_hold_a_secret_are_masked_and_the_items_id_is_not(tmp_path: Path) -> None:
    canary = "sk-canary-0123456789"
    directory = make_run_directory(tmp_path, manifest())
    members = {canary: 1, "latency_ms": 2.5, "item_id": "other", "_extra": {f"of {canary}": 3}}
    with RunWriter(directory, masker=Masker([canary, "latency_ms"])) as writer:
        writer.write_item(f"id {canary}", "", members)
    (stored,) = open_run_dir(directory).rows()
    plain = stored.value.plain()
    assert (plain["***"], plain["latency_ms"], plain["_extra"]) == (1, 2.5, {"of ***": 3})
    assert stored.item_id == f"id {canary}"


def test_a_masker_that_knows_more_of_an_item_is_used_for_it_alone(tmp_path: Path) -> None:
    directory = make_run_directory(tmp_path, manifest())
    with RunWriter(directory, masker=Masker(["of-the-run"])) as writer:
        more = writer.masker.knowing({"env": {"KEY": "of-the-item"}})
        members = {"_extra": {}, "_meta": {"said": "of-the-item, of-the-run"}, "_error": "E: of-the-item"}
        writer.write_item("a", "of-the-item, of-the-run", members, masker=more)
        writer.write_item("b", "of-the-item, of-the-run", {"_extra": {}})
    run = open_run_dir(directory)
    assert (run.output("a"), run.output("b")) == ("***, ***", "of-the-item, ***")
    plain = next(iter(run.rows())).value.plain()
    assert (plain["_meta"], plain["_error"]) == ({"said": "***, ***"}, "E: ***")


def test_e42_provider_data_beyond_its_limit_is_cut_and_says_so(tmp_path: Path) -> None:
    directory = make_run_directory(tmp_path, manifest())
    with RunWriter(directory, fsync="never") as writer:
        writer.write_item("a", "", {"_extra": {}, "_meta": {"usage": {"cost": 0.5}, "raw": "x" * (1 << 20)}})
    (stored,) = open_run_dir(directory).rows()
    meta = stored.row.plain()["_meta"]
    assert meta["usage"] == {"cost": 0.5}
    assert "at most 1048576" in meta["evh_cut"]
    assert (directory / "predictions.jsonl").stat().st_size < 1000


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "0.5", True, None])
def test_e9_what_is_no_finite_number_leaves_nothing_behind(tmp_path: Path, number: Any) -> None:
    directory = make_run_directory(tmp_path, manifest())
    with RunWriter(directory) as writer, pytest.raises(EvhError, match="score"):
        writer.write_item("a", "text", {"score": number, "_extra": {}})
    assert list(open_run_dir(directory).rows()) == []
    assert list((directory / "outputs").iterdir()) == []


def test_a_writer_that_was_replaced_writes_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evh.store.lease.BEAT_SECONDS", 0.001)
    directory = make_run_directory(tmp_path, manifest())
    with RunWriter(directory) as writer:
        write(writer, ITEMS[0], lambda _: None)
        beats = next(thread for thread in threading.enumerate() if thread.name == f"lease {directory.name}")
        while beats.is_alive():  # a beat of our own may land on the removal: again then
            (directory / "lease.json").unlink(missing_ok=True)
            beats.join(0.05)
        with pytest.raises(LockedError, match="somebody who removed its lease: nothing more is written"):
            write(writer, ITEMS[1], lambda _: None)
    assert list(kept(open_run_dir(directory))) == ["plain"]
