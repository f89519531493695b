"""The journal under real faults: what was acknowledged is read back, and no fault is lost."""

from __future__ import annotations

import errno
import gc
import itertools
import json
import os
import resource
import stat
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from processes import forked, run_on_small_disk, run_python, start_python

from evh.errors import UsageError, WriteError
from evh.protocol.sources import iter_lines
from evh.store import Journal, write_file

ROW = '{"a":"é\u2028\U0001f600","n":[1,-2.5e3,true,null],"t":"x\\"}{"}'.encode()
CHILD = Path(__file__).with_name("journal_child.py")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "traces.jsonl"


def once_refused(fail: Callable[..., Any], real: Callable[..., Any], times: int = 1) -> Callable[..., Any]:
    """`real`, whose first `times` calls are `fail`."""
    calls = itertools.count()

    def call(*given: Any) -> Any:
        return (fail if next(calls) < times else real)(*given)

    return call


def os_error(code: int) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


# Plain service


@pytest.mark.parametrize("policy", ["group", "always", "never"])
def test_lines_stand_where_append_says(file: Path, policy: Any) -> None:
    rows = [ROW, bytearray(b"{}"), memoryview(b"[1]")]
    with Journal(file, fsync=policy) as journal:
        offsets = [journal.append(row) for row in rows]
        assert journal.offset == file.stat().st_size
        journal.sync()
        assert journal.durable_offset == journal.offset
    with Journal(file, fsync=policy) as journal:
        assert journal.repaired is None
        offsets.append(journal.append(b"{}"))
    lines = list(iter_lines(file))
    assert [(line.offset, line.data) for line in lines] == list(zip(offsets, [*map(bytes, rows), b"{}"], strict=True))


@pytest.mark.parametrize("wrong", [b"a\nb", b"a\n", b"", b" \r", "text", None, 3])
def test_what_is_no_line_is_refused_and_not_written(file: Path, wrong: Any) -> None:
    with Journal(file) as journal, pytest.raises(UsageError):
        journal.append(wrong)
    assert file.read_bytes() == b""


def test_an_unknown_policy_is_refused_before_a_file_is_made(file: Path) -> None:
    with pytest.raises(UsageError, match="group, always, never"):
        Journal(file, fsync="sometimes")  # type: ignore[arg-type]
    assert not file.exists()


def test_one_write_per_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, sizes = os.write, []
    with Journal(file) as journal:
        monkeypatch.setattr(os, "write", lambda fd, data: sizes.append(len(data)) or real(fd, data))
        journal.append(ROW)
        monkeypatch.undo()
    assert sizes == [len(ROW) + 1]


def test_short_writes_are_completed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with Journal(file) as journal:
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
        journal.append(ROW)
        monkeypatch.undo()
    assert file.read_bytes() == ROW + b"\n"


def test_threads_append_whole_lines_at_true_offsets(file: Path) -> None:
    told: dict[int, bytes] = {}
    with Journal(file) as journal:

        def work(name: int) -> None:
            for number in range(200):
                row = b'{"w":%d,"n":%d}' % (name, number)
                told[journal.append(row)] = row

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {line.offset: line.data for line in iter_lines(file)} == told
    assert len(told) == 800


# Policies


def test_always_syncs_before_it_returns(file: Path) -> None:
    with Journal(file, fsync="always") as journal:
        for _ in range(3):
            journal.append(ROW)
            assert journal.durable_offset == journal.offset


def test_group_syncs_by_itself_and_its_thread_ends(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, real = threading.Event(), os.fsync
    with Journal(file) as journal:
        monkeypatch.setattr(os, "fsync", lambda fd: (real(fd), synced.set()))
        journal.append(ROW)
        (thread,) = [thread for thread in threading.enumerate() if thread.name == "sync traces.jsonl"]
        assert synced.wait(5)
        thread.join(5)
        assert not thread.is_alive()
        assert journal.durable_offset == journal.offset
        monkeypatch.undo()


def test_group_syncs_as_soon_as_a_megabyte_waits(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evh.store.journal.GROUP_SECONDS", 600)
    synced, real = threading.Event(), os.fsync
    with Journal(file) as journal:
        monkeypatch.setattr(os, "fsync", lambda fd: (real(fd), synced.set()))
        journal.append(b"x" * 600_000)
        assert not synced.is_set()
        journal.append(b"x" * 600_000)
        assert synced.wait(5)
        monkeypatch.undo()


def test_never_syncs_only_when_asked(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append(fd) or real(fd))
    with Journal(file, fsync="never") as journal:
        journal.append(ROW)
        assert (calls, journal.durable_offset) == ([], 0)
        journal.sync()
        assert (len(calls), journal.durable_offset) == (1, len(ROW) + 1)
        journal.append(ROW)
    assert len(calls) == 1


def test_a_new_file_is_durable_in_its_folder_before_the_first_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: kinds.append(stat.S_IFMT(os.fstat(fd).st_mode)) or real(fd))
    with Journal(file):
        assert kinds == [stat.S_IFREG, stat.S_IFDIR]


def test_a_program_that_ends_without_close_still_syncs(file: Path) -> None:
    code = """
import os, sys
from evh.store import Journal
journal = Journal(sys.argv[1])
real = os.fsync
os.fsync = lambda fd: (real(fd), os.write(1, b"synced "))
import atexit
journal.append(b"{}")
atexit.register(lambda: journal.append(b"[]"))
"""
    assert run_python(code, file).count("synced") >= 2
    assert file.read_bytes() == b"{}\n[]\n"


def test_a_journal_that_is_dropped_gives_the_file_back_and_warns(file: Path) -> None:
    with pytest.warns(ResourceWarning, match="was not closed"):
        Journal(file, fsync="never").append(ROW)
        gc.collect()
    Journal(file).close()


# Kills


@pytest.mark.parametrize("policy", ["always", "group"])
def test_every_acknowledged_row_survives_kill_9(file: Path, policy: str) -> None:
    acknowledged: list[int] = []
    for rounds in range(4):
        first = acknowledged[-1] + 2 if acknowledged else 0
        with start_python(CHILD, file, policy, str(first)) as child:
            assert child.stdout is not None
            for _ in range(5 + 17 * rounds):
                assert child.stdout.readline(), child.stderr and child.stderr.read()
            child.kill()
            rest = child.stdout.read()
        acknowledged += range(first, first + 5 + 17 * rounds) if not rest else []
        if rest:
            whole = rest[: rest.rfind(b"\n") + 1].split()
            last = int(whole[-1]) if whole else first + 4 + 17 * rounds
            acknowledged += range(first, last + 1)
    with Journal(file) as journal:
        journal.append(b'{"n":-1}')
    read = [json.loads(line.data)["n"] for line in iter_lines(file)]
    assert read[-1] == -1
    assert set(acknowledged) <= set(read)
    assert len(set(read)) == len(read) <= len(acknowledged) + 5


# Torn tails


def reopened(file: Path, before: bytes) -> tuple[bytes, list[bytes], Any]:
    """The file and what was set aside after opening it and appending one row."""
    file.write_bytes(before)
    with Journal(file, fsync="never") as journal:
        journal.append(b'{"new":1}')
        repaired = journal.repaired
    kept = sorted(file.parent.glob("traces.jsonl.torn-*"))
    return file.read_bytes(), [aside.read_bytes() for aside in kept], repaired


def test_a_row_cut_at_any_byte_is_set_aside_and_a_whole_one_is_completed(tmp_path: Path) -> None:
    for cut in range(1, len(ROW) + 1):
        folder = tmp_path / str(cut)
        folder.mkdir()
        text, kept, repaired = reopened(folder / "traces.jsonl", b"[0]\n" + ROW[:cut])
        if cut < len(ROW):
            assert text == b'[0]\n{"new":1}\n'
            assert kept == [ROW[:cut]]
            assert (repaired.kind, repaired.offset, repaired.length) == ("set-aside", 4, cut)
            assert "torn-1" in str(repaired)
        else:
            assert text == b"[0]\n" + ROW + b'\n{"new":1}\n'
            assert kept == []
            assert (repaired.kind, repaired.offset, repaired.kept) == ("completed", 4, None)
            assert "was whole" in str(repaired)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(record=st.dictionaries(st.text(), JSON), ascii_only=st.booleans(), data=st.data())
def test_no_prefix_of_an_object_is_taken_for_whole(
    file: Path, record: Any, ascii_only: bool, data: st.DataObject
) -> None:
    for old in file.parent.iterdir():
        old.unlink()
    row = json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "replace")
    cut = data.draw(st.integers(1, len(row)))
    text, kept, repaired = reopened(file, row[:cut])
    assert text == (row + b'\n{"new":1}\n' if cut == len(row) else b'{"new":1}\n')
    assert kept == ([] if cut == len(row) else [row[:cut]])
    assert repaired.length == cut


@pytest.mark.parametrize(
    ("tail", "whole"),
    [
        (b'{"a":NaN}', True),
        (b'{"a":"\\ud800"}', True),
        (b'{"a":' + b"9" * 5000 + b"}", True),
        (b'{"a":1} \r', True),
        (b"[" * 100_000 + b"]" * 100_000, False),
        (b"12", False),
        (b"-1", False),
        (b'{"a":"\xff"}', False),
        (b'{"a":"\0"}', False),
        (b"{}{}", False),
        (b"\0" * 5000, False),
        (b"   ", False),
        (b"\xef\xbb\xbf", False),
        (b'"\xf0\x9f\x98', False),
    ],
)
def test_odd_tails(file: Path, tail: bytes, whole: bool) -> None:
    text, kept, repaired = reopened(file, b"{}\n" + tail)
    assert text == b"{}\n" + (tail + b"\n" if whole else b"") + b'{"new":1}\n'
    assert kept == ([] if whole else [tail])
    assert repaired.kind == ("completed" if whole else "set-aside")


def test_a_first_row_with_a_byte_order_mark_can_be_whole(file: Path) -> None:
    assert reopened(file, b"\xef\xbb\xbf{}")[0] == b'\xef\xbb\xbf{}\n{"new":1}\n'


def test_nothing_set_aside_earlier_is_overwritten(file: Path) -> None:
    assert reopened(file, b"{1")[1] == [b"{1"]
    assert reopened(file, b"{2")[1] == [b"{1", b"{2"]


@pytest.mark.parametrize("end", [b"", b"}"])
def test_opening_takes_no_memory_by_the_length_of_file_or_tail(file: Path, end: bytes) -> None:
    with file.open("wb") as big:
        big.truncate(200 << 20)
        big.seek(0, os.SEEK_END)
        big.write(b"\n{")
        big.truncate(280 << 20)  # a hole reads as NUL bytes: a tail of 80 MiB
        big.seek(0, os.SEEK_END)
        big.write(end)
    tracemalloc.start()
    try:
        with Journal(file, fsync="never") as journal:
            assert journal.repaired is not None
            assert journal.repaired.offset == journal.offset == (200 << 20) + 1
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_repair_that_fails_leaves_every_byte(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, tail in (("write", b"{1"), ("write", b"{}"), ("fsync", b"{1"), ("ftruncate", b"{1")):
        file.write_bytes(b"[0]\n" + tail)
        monkeypatch.setattr(os, name, once_refused(os_error(errno.ENOSPC), getattr(os, name)))
        if name == "write":  # the first write of an opening is the note about the holder
            monkeypatch.undo()
            monkeypatch.setattr("evh.store._tail.write_all", os_error(errno.ENOSPC))
        with pytest.raises(WriteError, match="cannot be opened for appending: No space left"):
            Journal(file)
        monkeypatch.undo()
        assert file.read_bytes() == b"[0]\n" + tail
    with Journal(file) as journal:
        assert journal.repaired is not None
    assert file.read_bytes() == b"[0]\n"


# Full disks, limits, failing disks


@pytest.fixture
def size_limit() -> Iterator[Callable[[int], None]]:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("policy", ["group", "always", "never"])
def test_a_line_that_does_not_fit_is_cut_off_and_the_journal_goes_on(
    file: Path, size_limit: Callable[[int], None], policy: Any
) -> None:
    with Journal(file, fsync=policy) as journal:
        journal.append(ROW)
        size_limit(1000)
        with pytest.raises(
            WriteError, match=r"was not written \(File too large\) and nothing of it was kept; \d+ bytes"
        ):
            journal.append(b"x" * 2000)
        assert file.read_bytes() == ROW + b"\n"
        assert journal.append(b"{}") == len(ROW) + 1
        size_limit(resource.RLIM_INFINITY)
        journal.append(b"y" * 2000)
    assert file.read_bytes() == ROW + b"\n{}\n" + b"y" * 2000 + b"\n"


@pytest.mark.parametrize("part", [0, 1, len(ROW)])
def test_a_full_disk_leaves_no_part_of_a_line(file: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    real = os.write

    def some(fd: int, data: bytes) -> int:
        if len(data) <= len(ROW) + 1 - part and part:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, bytes(data)[:part]) if part else os_error(errno.ENOSPC)()

    with Journal(file) as journal:
        journal.append(b"{}")
        monkeypatch.setattr(os, "write", some)
        with pytest.raises(WriteError, match="No space left"):
            journal.append(ROW)
        monkeypatch.undo()
        assert file.read_bytes() == b"{}\n"
        journal.append(ROW)
    assert file.read_bytes() == b"{}\n" + ROW + b"\n"


def test_a_disk_that_fills_up_keeps_every_acknowledged_row(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from evh.errors import WriteError
from evh.store import Journal
file, kept = Path(sys.argv[1], "traces.jsonl"), 0
journal = Journal(file)
try:
    while True:
        journal.append(b"x" * 10_000)
        kept += 1
except WriteError as error:
    print(error)
journal.close()
text = file.read_bytes()
print(kept, text == (b"x" * 10_000 + b"\\n") * kept)
"""
    said, counted = run_on_small_disk(code, tmp_path).splitlines()
    assert "nothing of it was kept" in said
    assert counted.endswith("True")
    assert 10 < int(counted.split()[0]) < 27


def test_a_failing_disk_ends_the_journal_with_whole_lines(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(file, fsync="always")
    journal.append(b"{}")
    monkeypatch.setattr(os, "write", os_error(errno.EIO))
    for _ in range(2):
        with pytest.raises(WriteError, match=r"Input/output error.*3 bytes are durable"):
            journal.append(ROW)
        monkeypatch.undo()
    journal.close()
    assert file.read_bytes() == b"{}\n"


def test_a_part_that_cannot_be_cut_off_ends_the_journal_and_is_repaired_at_open(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, real = Journal(file), os.write
    monkeypatch.setattr(
        os, "write", lambda fd, data: real(fd, data[:5]) if len(data) > len(ROW) else os_error(errno.ENOSPC)()
    )
    monkeypatch.setattr(os, "ftruncate", os_error(errno.EIO))
    with pytest.raises(WriteError, match="could not be cut off"):
        journal.append(ROW)
    monkeypatch.undo()
    with pytest.raises(WriteError, match="could not be cut off"):
        journal.append(ROW)
    journal.close()
    assert file.read_bytes() == ROW[:5]
    with Journal(file) as journal:
        assert journal.repaired is not None
    assert file.read_bytes() == b""


def test_an_interrupted_append_leaves_nothing_of_its_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def interrupted(fd: int, data: bytes) -> int:
        real(fd, data)
        raise KeyboardInterrupt

    with Journal(file) as journal:
        journal.append(b"{}")
        monkeypatch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(ROW)
        monkeypatch.undo()
        assert file.read_bytes() == b"{}\n"
        journal.append(b"[]")
    assert file.read_bytes() == b"{}\n[]\n"


@pytest.mark.parametrize("teller", ["append", "sync", "close"])
def test_a_failed_group_sync_is_told_by_the_next_call(file: Path, monkeypatch: pytest.MonkeyPatch, teller: str) -> None:
    journal = Journal(file)
    monkeypatch.setattr(os, "fsync", os_error(errno.EIO))
    journal.append(ROW)
    for thread in threading.enumerate():
        if thread.name == "sync traces.jsonl":
            thread.join(5)
    monkeypatch.undo()
    call = {"append": lambda: journal.append(ROW), "sync": journal.sync, "close": journal.close}[teller]
    with pytest.raises(WriteError, match=r"a sync failed \(Input/output error\).*0 bytes are durable"):
        call()
    if teller != "close":
        with pytest.raises(WriteError, match="a sync failed"):
            journal.append(ROW)
        journal.close()
    assert journal.closed
    Journal(file).close()


def test_a_failed_sync_is_told_at_once_where_the_line_waits_for_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(file, fsync="always")
    monkeypatch.setattr(os, "fsync", once_refused(os_error(errno.EIO), os.fsync))
    with pytest.raises(WriteError, match="a sync failed"):
        journal.append(ROW)
    with pytest.raises(WriteError, match="a sync failed"):  # a later sync that works proves nothing
        journal.append(ROW)
    journal.close()


def test_a_line_is_synced_at_once_where_no_thread_can_start(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Journal(file) as journal:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        journal.append(ROW)
        assert journal.durable_offset == journal.offset


# What is not a file, and files changed beneath the writer


def test_only_regular_files_are_appended_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("folder", "fifo", "device", "loop", "none/traces.jsonl", "a\0b", "x" * 300):
        with pytest.raises(WriteError):
            Journal(tmp_path / name)
    with pytest.raises(UsageError):
        Journal(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", ["shorter", "longer"])
def test_a_file_whose_length_another_program_changed_is_not_fought_over(file: Path, change: str) -> None:
    journal = Journal(file, fsync="always")
    journal.append(ROW)
    if change == "shorter":
        os.truncate(file, 3)
    else:
        with file.open("ab") as other:
            other.write(b"foreign\n")
    for _ in range(2):
        with pytest.raises(WriteError, match="another program changed the file"):
            journal.append(b"{}")
    journal.close()
    assert file.read_bytes() == (ROW[:3] if change == "shorter" else ROW + b"\nforeign\n") + b"{}\n"


@pytest.mark.parametrize("policy", ["always", "group", "never"])
def test_a_file_that_is_gone_is_told_of_at_close_at_the_latest(file: Path, policy: Any) -> None:
    journal = Journal(file, fsync=policy)
    file.rename(file.with_name("moved"))
    journal.append(ROW)
    with pytest.raises(WriteError, match="removed or replaced"):
        journal.close()


def test_a_forked_child_is_refused_and_harms_nothing(file: Path) -> None:
    with Journal(file, fsync="always") as journal:
        journal.append(b"{}")

        def attempt() -> str:
            told = []
            for call in (lambda: journal.append(ROW), journal.sync, journal.close):
                try:
                    call()
                except WriteError as error:
                    told.append(f"opens a file of its own: {f'process {os.getppid()}' in str(error)}")
            return str(told)

        assert forked(attempt) == str(["opens a file of its own: True"] * 2)
        journal.append(b"[]")
    assert file.read_bytes() == b"{}\n[]\n"


def test_a_closed_journal_refuses_and_closes_again_in_peace(file: Path) -> None:
    journal = Journal(file)
    journal.close()
    journal.close()
    for call in (lambda: journal.append(ROW), journal.sync):
        with pytest.raises(WriteError, match="closed"):
            call()


# Whole files


@example(b"", b"")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None)
@given(st.binary(), st.binary())
def test_write_file_makes_exactly_these_bytes(file: Path, first: bytes, second: bytes) -> None:
    for data in (first, bytearray(second), memoryview(first)):
        write_file(file, data)
        assert file.read_bytes() == data
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("module", "name"), [(os, "open"), (os, "write"), (os, "fsync"), (os, "fchmod"), (os, "replace")]
)
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_rewrite_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, error: BaseException
) -> None:
    file.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(module, name, fail)
    with pytest.raises(WriteError if isinstance(error, OSError) else KeyboardInterrupt):
        write_file(file, b"new")
    monkeypatch.undo()
    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]


def test_a_rewrite_beyond_the_size_limit_leaves_the_old_file(file: Path, size_limit: Callable[[int], None]) -> None:
    file.write_bytes(b"old")
    size_limit(1000)
    with pytest.raises(WriteError, match="the old file is untouched"):
        write_file(file, b"x" * 2000)
    size_limit(resource.RLIM_INFINITY)
    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]


def test_write_file_is_durable_keeps_permissions_and_follows_links(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(b"old")
    file.chmod(0o640)
    (tmp_path / "link").symlink_to(file)
    kinds, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: kinds.append(stat.S_IFMT(os.fstat(fd).st_mode)) or real(fd))
    write_file(tmp_path / "link", b"new")
    assert kinds == [stat.S_IFREG, stat.S_IFDIR]
    assert (tmp_path / "link").is_symlink()
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o640)
    for wrong in (tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(WriteError):
            write_file(wrong, b"")


def test_a_folder_that_cannot_be_synced_is_told_of_after_the_fact(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evh.store.atomic.sync_folder", os_error(errno.EIO))
    with pytest.raises(WriteError, match="the new content is in place"):
        write_file(file, b"new")
    assert file.read_bytes() == b"new"
