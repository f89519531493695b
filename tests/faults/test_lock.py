"""One writer per file: refused at once, freed by any death, not shared by a fork."""

from __future__ import annotations

import errno
import os
import platform
import threading
from pathlib import Path
from typing import Any

import pytest
from processes import forked, run_python, start_python

from evh.errors import LockedError, WriteError
from evh.store import FileLock, Journal

HOLD = (
    "import sys; from evh.store import Journal; j = Journal(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
)
TRY = """
import sys
from evh.errors import LockedError
from evh.store import Journal
try:
    Journal(sys.argv[1]).close()
    print("opened")
except LockedError as error:
    print(error)
"""


def test_a_second_process_is_refused_and_told_who_holds_the_file(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    with start_python("-c", HOLD, file) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LockedError, match=f"the process {holder.pid} on '{platform.node()}'"):
            Journal(file)
        holder.kill()
        holder.wait()
        with Journal(file) as journal:
            assert str(os.getpid()) in run_python(TRY, file)
            journal.append(b"{}")
    assert file.read_bytes() == b"{}\n"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["traces.jsonl"]


def test_eight_processes_that_start_together_never_mix_rows(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    code = """
import sys
from evh.errors import LockedError
from evh.store import Journal
sys.stdin.read()
try:
    with Journal(sys.argv[1], fsync="never") as journal:
        for n in range(20):
            journal.append(b"%s" % (sys.argv[2].encode() * 100_000))
    print("wrote")
except LockedError:
    print("refused")
"""
    writers = [start_python("-c", code, file, str(number)) for number in range(8)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
        writer.stdin = None
    told = [writer.communicate(timeout=20)[0].decode().strip() for writer in writers]
    assert set(told) <= {"wrote", "refused"}
    assert "wrote" in told
    rows = file.read_bytes().splitlines()
    assert len(rows) == 20 * told.count("wrote")
    assert all(len(row) == 100_000 and len(set(row)) == 1 for row in rows)


@pytest.mark.parametrize("second_name", ["traces.jsonl", "./traces.jsonl", "link.jsonl", "hard.jsonl"])
def test_the_same_process_is_refused_under_every_name_of_the_file(tmp_path: Path, second_name: str) -> None:
    file = tmp_path / "traces.jsonl"
    (tmp_path / "link.jsonl").symlink_to(file)
    with Journal(file):
        (tmp_path / "hard.jsonl").hardlink_to(file)
        refused: list[str] = []

        def attempt() -> None:
            try:
                Journal(os.path.join(tmp_path, second_name))  # noqa: PTH118  # a Path would drop the "./"
            except LockedError as error:
                refused.append(str(error))

        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        assert "this process" in refused[0]
    Journal(file).close()


def test_a_surviving_child_does_not_keep_the_file_of_a_dead_parent(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    code = """
import os, sys
from evh.store import Journal
journal = Journal(sys.argv[1])
if os.fork() == 0:
    os.write(1, b"child\\n")
    sys.stdin.read()
    os._exit(0)
os.wait()
"""
    with start_python("-c", code, file) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"child\n"
        assert "the process" in run_python(TRY, file)
        parent.kill()
        os.waitpid(parent.pid, 0)
        parent.returncode = -9
        assert run_python(TRY, file) == "opened\n"


def test_a_child_that_ends_does_not_free_the_file_of_its_parent(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    with Journal(file) as journal:
        assert forked(journal.close) == "None"
        assert "the process" in run_python(TRY, file)
        journal.append(b"{}")
    assert file.read_bytes() == b"{}\n"


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_locks_there_is_no_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(WriteError, match="unlocked writing is refused") as caught:
        Journal(tmp_path / "traces.jsonl")
    assert not isinstance(caught.value, LockedError)


@pytest.mark.parametrize("note", [b"", b"\xff", b"[]", b'{"pid":"x","host":1}', b'{"pid":1}', b"[" * 4000])
def test_a_damaged_note_about_the_holder_costs_only_the_name(tmp_path: Path, note: bytes) -> None:
    file = tmp_path / "traces.jsonl"
    with start_python("-c", HOLD, file) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        (tmp_path / ".traces.jsonl.writer").write_bytes(note)
        with pytest.raises(LockedError, match="another process"):
            Journal(file)
        holder.kill()


def test_a_lock_that_is_released_twice_frees_one_descriptor(tmp_path: Path) -> None:
    file = tmp_path / "x"
    lock = FileLock(os.open(file, os.O_RDWR | os.O_CREAT), file)
    lock.release()
    other = os.open(file, os.O_RDONLY)
    lock.release()
    os.close(other)
    assert lock.descriptor == -1
