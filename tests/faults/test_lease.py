"""The lease of a run directory: taken over from those that are provably gone, and from nobody else unasked."""

from __future__ import annotations

import errno
import os
import platform
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import run_python, start_python
from small_run import manifest

from evh.errors import LockedError, SourceError, WriteError
from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.store import Lease, _os, host, open_run_dir, write_file
from evh.store.clock import now
from evh.store.lease import holder_of
from evh.store.outputs import read_regular
from evh.store.run_writer import make_run_directory

HOLD = """
import sys
from pathlib import Path
from evh.errors import LockedError
from evh.store import Lease
print("ready", flush=True)
if sys.argv[2:]:
    sys.stdin.readline()
try:
    lease = Lease(Path(sys.argv[1]))
    print("held", flush=True)
except LockedError as error:
    print(error, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run_directory(tmp_path, manifest())


@pytest.fixture
def quick_beats(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Beats that follow each other at once; the event is set after each."""
    beaten = threading.Event()

    def write(path: Path, data: bytes) -> None:
        write_file(path, data)
        beaten.set()

    monkeypatch.setattr("evh.store.lease.BEAT_SECONDS", 0.001)
    monkeypatch.setattr("evh.store.lease.write_file", write)
    yield beaten


def left(run: Path, **members: Any) -> None:
    """Leave a lease as another process would, or this one but for `members`."""
    pid = os.getppid()
    known = {
        "token": "t0",
        "host": host.host_name(),
        "boot_id": host.boot_id(),
        "pid_space": host.pid_space(),
        "pid": pid,
        "pid_started": host.started(pid),
        "acquired_at": now(),
        "beat_at": now(),
    }
    write_file(run / "lease.json", encode(models.Lease(**{**known, **members})))


def test_a_lease_names_its_holder_and_its_release_leaves_nothing(run: Path) -> None:
    lease = Lease(run)
    found = decode((run / "lease.json").read_bytes(), models.Lease)
    assert (found.pid, found.host, found.boot_id) == (os.getpid(), platform.node(), host.boot_id())
    assert found.pid_started == host.started(os.getpid())
    assert open_run_dir(run).state == "running"
    lease.release()
    lease.release()
    assert sorted(path.name for path in run.iterdir()) == ["outputs", "run.json"]
    assert open_run_dir(run).state == "unfinished"
    assert lease.taken_from is lease.lost is None


def test_e23_a_live_process_is_named_and_never_robbed(run: Path) -> None:
    with start_python("-c", HOLD, run) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() + holder.stdout.readline() == b"ready\nheld\n"
        for take_over in (False, True):  # its lock stands, whatever is said
            with pytest.raises(LockedError, match=f"the process {holder.pid} on '{platform.node()}'"):
                Lease(run, take_over=take_over)
        holder.kill()


def test_e23_a_dead_process_is_taken_over_from_even_before_it_is_waited_for(run: Path) -> None:
    with start_python("-c", HOLD, run) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() + holder.stdout.readline() == b"ready\nheld\n"
        holder.kill()
        os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
        found = holder_of(run)
        assert found is not None
        assert found.state == "gone"
        assert open_run_dir(run).state == "unfinished"
        lease = Lease(run)
        assert f"the process {holder.pid}" in str(lease.taken_from)
        lease.release()


def test_of_eight_processes_that_ask_at_once_one_gets_it(run: Path) -> None:
    children = [start_python("-c", HOLD, run, "gate") for _ in range(8)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
    answers = [child.stdout.readline().decode() for child in children if child.stdout is not None]
    for child in children:
        child.communicate(timeout=20)
    assert answers.count("held\n") == 1
    assert sum("is being written by" in answer or "is held by" in answer for answer in answers) == 7


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"host": "elsewhere"}, "on 'elsewhere'"),
        ({"host": "elsewhere", "boot_id": "b", "pid_space": None, "pid_started": None}, "on 'elsewhere'"),
        ({"host": "elsewhere", "beat_at": "2026-01-01T00:00:00Z"}, r"silent for \d+ h \(stale, which is no proof"),
        ({}, f"the process {os.getppid()}"),
        ({"boot_id": None}, "the process"),
        ({"pid_space": "pid:[1]", "pid": 1 << 40}, "the process"),
        ({"pid_started": None}, "the process"),
    ],
    ids=["host", "host alone", "silent host", "alive", "unknown boot", "another container", "unknown start"],
)
def test_who_is_not_provably_gone_is_refused_until_the_caller_says_so(
    run: Path, members: dict[str, Any], said: str
) -> None:
    left(run, **members)
    with pytest.raises(LockedError, match=f"is held by .*{said}.*--take-over"):
        Lease(run)
    assert decode((run / "lease.json").read_bytes(), models.Lease).token == "t0"
    lease = Lease(run, take_over=True)
    assert lease.taken_from is not None
    lease.release()


@pytest.mark.parametrize(
    "members",
    [{"boot_id": "an earlier one"}, {"pid_started": "1"}, {"pid": 1 << 22}],
    ids=["earlier boot", "number used again", "no such process"],
)
def test_who_is_provably_gone_is_taken_over_from(run: Path, members: dict[str, Any]) -> None:
    left(run, **members)
    assert open_run_dir(run).state == "unfinished"
    lease = Lease(run)
    assert lease.taken_from is not None
    lease.release()


@pytest.mark.parametrize("data", [b"", b"\0" * 300, b'{"token":"t', b'{"token":"t"\0\0'])
def test_what_a_power_cut_leaves_of_a_lease_holds_nobody_up(run: Path, data: bytes) -> None:
    (run / "lease.json").write_bytes(data)
    assert open_run_dir(run).state == "unfinished"
    Lease(run).release()


def test_a_lease_that_cannot_be_read_is_one_of_an_unknown_holder(run: Path, tmp_path: Path) -> None:
    def check() -> None:
        assert open_run_dir(run).state == "stale"
        with pytest.raises(LockedError, match="a process that its lease does not name"):
            Lease(run)

    for data in (b"{}", b'{"token":3}', b"[{}]}", b'{"token":"t","host":"h"}\n'):
        (run / "lease.json").write_bytes(data)
        check()
    (run / "lease.json").unlink()
    (run / "lease.json").symlink_to(tmp_path / "nowhere")
    check()


def test_a_directory_without_a_manifest_has_no_lease(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match=r"run\.json: cannot be opened for writing"):
        Lease(tmp_path)
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "run.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match=r"run\.json: cannot be opened for writing"):
        Lease(tmp_path)


def test_beats_go_on_through_a_full_disk(
    run: Path, quick_beats: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = Lease(run)
    quick_beats.clear()
    refused, write = threading.Event(), _os.write

    def full(*given: Any) -> int:
        if refused.is_set():
            return write(*given)
        refused.set()
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(_os, "write", full)
    assert refused.wait(10)
    quick_beats.clear()
    assert quick_beats.wait(10)
    lease.release()
    assert lease.lost is None
    assert sorted(path.name for path in run.iterdir()) == ["outputs", "run.json"]


def test_a_holder_that_was_replaced_learns_by_whom_and_leaves_the_others_lease(
    run: Path, quick_beats: threading.Event
) -> None:
    lease = Lease(run)
    (beats,) = [thread for thread in threading.enumerate() if thread.name == f"lease {run.name}"]
    while beats.is_alive():  # a beat that had begun may overwrite it once
        left(run, host="elsewhere", token="theirs")
        beats.join(0.05)
    assert "'elsewhere'" in str(lease.lost)
    lease.release()
    assert decode((run / "lease.json").read_bytes(), models.Lease).token == "theirs"


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO])
def test_a_look_that_fails_is_no_takeover(
    run: Path, quick_beats: threading.Event, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    lease = Lease(run)
    failed = threading.Semaphore(0)

    def refuse(*_: Any) -> bytes:
        failed.release()
        raise SourceError(os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr("evh.store.lease.read_regular", refuse)
        if code == errno.EIO:  # then not even its name can be asked for
            patch.setattr(Path, "lstat", lambda _: (_ for _ in ()).throw(OSError(code, os.strerror(code))))
        for _ in range(4):
            assert failed.acquire(timeout=10)
    quick_beats.clear()
    assert quick_beats.wait(10)  # it looks again, and goes on
    assert lease.lost is None
    lease.release()
    assert not (run / "lease.json").exists()


@pytest.mark.parametrize("found", ["nonsense", "link"])
def test_what_is_no_lease_in_its_place_is_no_takeover_and_not_written_over(
    run: Path, quick_beats: threading.Event, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, found: str
) -> None:
    looks = threading.Semaphore(0)

    def look(path: Path) -> bytes:
        try:
            return read_regular(path)
        finally:
            looks.release()

    lease = Lease(run)
    (tmp_path / "theirs").write_text("theirs")
    odd = tmp_path / "odd"
    if found == "link":
        odd.symlink_to(tmp_path / "theirs")
    else:
        odd.write_text("{}")
    monkeypatch.setattr("evh.store.lease.write_file", lambda *_: None)  # a beat that had begun may overwrite it
    odd.replace(run / "lease.json")
    monkeypatch.setattr("evh.store.lease.read_regular", look)
    for _ in range(4):
        assert looks.acquire(timeout=10)
    assert lease.lost is None
    lease.release()
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_a_link_in_its_place_is_not_written_through(run: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (run / "lease.json").symlink_to(tmp_path / "theirs")
    with pytest.raises(WriteError, match=r"lease\.json: is a link in the place of a lease"):
        Lease(run, take_over=True)
    assert (tmp_path / "theirs").read_text() == "theirs"
    (run / "lease.json").unlink()
    Lease(run).release()


def test_a_lease_whose_beat_cannot_begin_is_not_held(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(WriteError, match="cannot be held: can't start new thread"):
            Lease(run)
    assert not (run / "lease.json").exists()
    Lease(run).release()


def test_a_release_that_was_interrupted_can_be_done_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    lease = Lease(run)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", interrupt)
        with pytest.raises(KeyboardInterrupt):
            lease.release()
    assert (run / "lease.json").exists()
    lease.release()
    assert not (run / "lease.json").exists()
    Lease(run).release()


@pytest.mark.parametrize(
    ("ours", "theirs", "gone"),
    [("m1", "m1", True), ("m1", "m2", False), (None, "m2", True), ("m1", None, True), (None, None, True)],
)
def test_an_earlier_boot_of_another_machine_of_the_same_name_proves_nothing(
    run: Path, monkeypatch: pytest.MonkeyPatch, ours: str | None, theirs: str | None, gone: bool
) -> None:
    monkeypatch.setattr(host, "machine_id", lambda: ours)
    left(run, boot_id="another", machine_id=theirs)
    found = holder_of(run)
    assert found is not None
    assert (found.state == "gone") is gone


def test_the_machines_own_id_is_told_by_a_digest_alone(run: Path) -> None:
    lease = Lease(run)
    written = (run / "lease.json").read_text()
    lease.release()
    assert decode(written.encode(), models.Lease).machine_id == host.machine_id()
    path = Path("/etc/machine-id")
    if path.exists() and (own := path.read_text().strip()):
        assert own not in written


def test_a_lease_that_could_not_be_removed_is_no_obstacle_to_its_own_process(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Any) -> None:
        raise OSError(30, os.strerror(30))

    with monkeypatch.context() as patch:
        patch.setattr(_os, "unlink", refuse)
        Lease(run).release()
    assert (run / "lease.json").exists()
    Lease(run).release()
    assert not (run / "lease.json").exists()


def test_a_forked_child_neither_has_the_lease_nor_takes_it_away(run: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from evh.errors import LockedError
from evh.store import Lease
run = Path(sys.argv[1])
lease = Lease(run)
child = os.fork()
if child == 0:
    try:
        Lease(run)
    except LockedError as error:
        os.write(1, str(f"process {os.getppid()}" in str(error)).encode())
    lease.release()
    os._exit(0)
os.waitpid(child, 0)
print("", (run / "lease.json").exists(), lease.lost, end=" ", flush=True)
lease.release()
print((run / "lease.json").exists())
"""
    assert run_python(code, run) == "True True None False\n"


def test_a_child_that_outlives_its_parent_does_not_keep_the_lease(run: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from evh.store import Lease
lease = Lease(Path(sys.argv[1]))
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, b"x")
    os.close(1)
    os.close(2)
    sys.stdin.read()
    os._exit(0)
os.read(reading, 1)
print("forked", flush=True)
os.kill(os.getpid(), 9)
"""
    with start_python("-c", code, run) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"forked\n"
        parent.wait()
        lease = Lease(run)
        assert f"the process {parent.pid}" in str(lease.taken_from)
        lease.release()
