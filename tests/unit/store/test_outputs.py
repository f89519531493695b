"""Outputs: read as they were written, never through what is no plain file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evh.errors import SourceError, WriteError
from evh.store import open_run_dir
from evh.store.outputs import OutputFolder, output_bytes, read_regular


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters()))
@example("ok \udc00 tail")
@example("\ud83d\ude00\r\n\x00")
def test_b005_a_text_is_read_as_it_was_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "outputs").mkdir(exist_ok=True)
    OutputFolder(tmp_path / "outputs").write("../it", output_bytes(text))
    assert open_run_dir(tmp_path).output("../it") == text
    assert len(os.listdir(tmp_path / "outputs")) == 1  # noqa: PTH208


@pytest.mark.parametrize("odd", ["link", "folder", "fifo", "device", "loop"])
def test_e41_what_is_no_plain_file_is_not_read(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "x.txt"
    if odd == "link":
        (tmp_path / "secret").write_text("secret")
        path.symlink_to(tmp_path / "secret")
    elif odd == "folder":
        path.mkdir()
    elif odd == "fifo":
        os.mkfifo(path)
    elif odd == "device":
        path = Path("/dev/zero")
    else:
        path.symlink_to(path)
    with pytest.raises(SourceError) as told:
        read_regular(path)
    assert told.value.source == str(path)


def test_a_missing_output_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"x\.txt: is missing"):
        read_regular(tmp_path / "x.txt")


def test_a_longer_file_than_the_system_said_is_read_to_its_end(tmp_path: Path) -> None:
    data = b"0123456789" * 300_000
    (tmp_path / "x").write_bytes(data)
    assert read_regular(tmp_path / "x") == data
    assert b"\n" in read_regular("/proc/self/status") or os.name != "posix"


def test_what_a_killed_writer_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    for name in (".a.txt.tmp", "a.txt", "tmp", ".hidden"):
        (tmp_path / name).write_text("x")
    assert OutputFolder(tmp_path).clear_temporary() == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden", "a.txt", "tmp"]
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    with pytest.raises(WriteError, match=r"link\.txt: is a link, folder or device"):
        OutputFolder(tmp_path).clear_temporary()


def test_a_rewrite_replaces_the_whole_file(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path)
    folder.write("a", b"long" * 100)
    folder.write("a", b"short")
    assert (tmp_path / "a.txt").read_bytes() == b"short"


def test_a_folder_that_is_missing_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="is missing"):
        OutputFolder(tmp_path / "outputs")
    (tmp_path / "outputs").write_text("")
    with pytest.raises(WriteError, match="is not a folder"):
        OutputFolder(tmp_path / "outputs")
