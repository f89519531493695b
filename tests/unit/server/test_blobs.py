"""Blobs: whole or not at all, never replaced, never outside their folder."""

from __future__ import annotations

import errno
import io
import threading
from pathlib import Path

import pytest

from evh.server.blobs import FolderBlobs
from evh.server.disk_room import DiskRoom
from evh.server.faults import ServerFault
from evh.store import _os


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path / "blobs", room=DiskRoom(tmp_path, 0))


def read(blobs: FolderBlobs, key: str, *bounds: int) -> bytes:
    return b"".join(blobs.open_range(key, *bounds))


def test_what_is_put_is_there_in_whole_and_in_ranges(blobs: FolderBlobs) -> None:
    assert blobs.put_if_absent("a/b.parquet", b"0123456789")
    assert blobs.put_if_absent("a/c", io.BytesIO(b"x" * 3_000_000))
    assert read(blobs, "a/b.parquet") == b"0123456789"
    assert read(blobs, "a/b.parquet", 3, 6) == b"345"
    assert read(blobs, "a/b.parquet", 8, 99) == b"89"
    assert max(map(len, blobs.open_range("a/c"))) <= 1 << 20
    about = blobs.stat("a/c")
    assert about is not None and about.size == 3_000_000
    assert blobs.stat("a") is None and blobs.stat("a/b.parquet/x") is None and blobs.stat("none") is None
    assert [each.key for each in blobs.list()] == ["a/b.parquet", "a/c"]
    assert [each.key for each in blobs.list("a/c")] == ["a/c"]


def test_a_key_is_never_replaced(blobs: FolderBlobs) -> None:
    assert blobs.put_if_absent("k", b"first")
    assert not blobs.put_if_absent("k", b"second")
    assert read(blobs, "k") == b"first"
    assert blobs.delete("k") and not blobs.delete("k")
    with pytest.raises(ServerFault) as caught:
        blobs.open_range("k")
    assert (caught.value.status, caught.value.code) == (404, "blob_not_found")


def test_of_many_who_put_at_once_one_is_told_that_it_did(blobs: FolderBlobs) -> None:
    gate = threading.Barrier(8)
    told: list[tuple[bool, bytes]] = []

    def work(content: bytes) -> None:
        gate.wait(10)
        told.append((blobs.put_if_absent("k", content), content))

    threads = [threading.Thread(target=work, args=(bytes([48 + n]) * 1000,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    (winner,) = [content for won, content in told if won]
    assert read(blobs, "k") == winner and [each.key for each in blobs.list()] == ["k"]


@pytest.mark.parametrize(
    "key",
    ["", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", ".hidden", "a\\b", "a\0b", "é", "a\nb", "a" * 600],
)
def test_keys_that_name_something_else_are_refused(blobs: FolderBlobs, key: str) -> None:
    for call in (lambda: blobs.put_if_absent(key, b""), lambda: blobs.stat(key), lambda: blobs.delete(key)):
        with pytest.raises(ServerFault) as caught:
            call()
        assert (caught.value.status, caught.value.code) == (400, "invalid_key")


@pytest.mark.parametrize("call", ["create", "write", "fsync", "link"])
def test_a_disk_that_refuses_leaves_nothing(blobs: FolderBlobs, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as broken:
        broken.setattr(_os, call, fail)
        with pytest.raises(ServerFault) as caught:
            blobs.put_if_absent("k", b"x")
    assert (caught.value.status, caught.value.code) == (503, "storage_unavailable")
    assert list(blobs.folder.iterdir()) == []
    assert blobs.put_if_absent("k", b"x")


def test_the_reserve_is_not_touched(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs", room=DiskRoom(tmp_path, 50, lambda _: 100))
    assert blobs.put_if_absent("small", b"x" * 50)
    with pytest.raises(ServerFault, match="nearly full"):
        blobs.put_if_absent("large", b"x" * 51)
    assert [each.key for each in blobs.list()] == ["small"]
