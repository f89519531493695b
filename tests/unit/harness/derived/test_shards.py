"""Ranges of whole rows, worked on in processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evh.errors import EvhError, RecordError, WriteError
from evh.harness.shards import LARGEST, LEAST, line_number, lines_of, map_ranges, ranges_of, write_shard
from evh.store import _os
from tests.support.run_project import SOURCES


def total(path: Path, start: int, end: int) -> tuple[int, int]:
    return start, sum(int(line) for _, line in lines_of(path, start, end))


def faulty(path: Path, start: int, end: int) -> int:
    if start:
        raise RecordError("is odd", pointer="/x", source=str(path), line=3)
    return start


def deadly(path: Path, start: int, end: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(100_000)) + b"\n7")
    return path


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_row_is_in_one_range_and_results_come_in_order(numbers: Path, workers: int) -> None:
    ranges = ranges_of(numbers, workers)
    assert all(LEAST <= each.end - each.start <= LARGEST + 10 for each in ranges[:-1])
    found = list(map_ranges(total, ranges, workers))
    assert [start for start, _ in found] == [each.start for each in ranges]
    assert sum(value for _, value in found) == sum(range(100_000)) + 7


def test_an_empty_file_has_no_ranges_and_a_missing_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert ranges_of(tmp_path / "empty") == [] and list(map_ranges(total, [])) == []
    with pytest.raises(EvhError, match="cannot be read"):
        ranges_of(tmp_path / "missing")


def test_a_line_is_found_again_by_its_byte(numbers: Path) -> None:
    offsets = [offset for offset, _ in lines_of(numbers, 0, 100)]
    assert [line_number(numbers, offset) for offset in offsets[:3]] == [1, 2, 3]


@pytest.mark.parametrize("call", ["write", "replace"])
def test_a_shards_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    write_shard(tmp_path / "a", b"x" * 100)
    assert (tmp_path / "a").read_bytes() == b"x" * 100

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_os, call, full)
    with pytest.raises(WriteError, match="b: cannot be written: No space left"):
        write_shard(tmp_path / "b", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_error_of_a_worker_is_raised_here_as_it_was(numbers: Path) -> None:
    with pytest.raises(RecordError, match="numbers:3: /x: is odd") as caught:
        list(map_ranges(faulty, ranges_of(numbers, 2), 2))
    assert (caught.value.pointer, caught.value.line) == ("/x", 3)


def test_a_worker_that_dies_is_told(numbers: Path) -> None:
    with pytest.raises(EvhError, match="a worker process died"):
        list(map_ranges(deadly, ranges_of(numbers, 2), 2))


CHILD = """
import os, time
from pathlib import Path
from evh.harness.shards import map_ranges

def wait(path, start, end):
    os.write(1, b"begun\\n")
    time.sleep(600)

if __name__ == "__main__":
    list(map_ranges(wait, [(Path("x"), 0, 1), (Path("x"), 1, 2), (Path("x"), 2, 3)], 3))
"""


def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(CHILD, "utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": SOURCES}
    ) as child:
        assert child.stdout is not None
        assert [child.stdout.readline() for _ in range(3)] == [b"begun\n"] * 3
        child.kill()
        assert child.stdout.read() == b""  # comes to its end when the last of them is gone
