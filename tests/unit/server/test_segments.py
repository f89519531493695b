"""Segments: what was placed reads back for ever, whatever happens to the process or the disk."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
import zstandard

from evh.errors import WriteError
from evh.protocol.sources import iter_lines
from evh.server import _packing
from evh.server.disk_room import DiskRoom
from evh.server.faults import ServerFault
from evh.server.records import Placement
from evh.server.segments import FolderSegments
from evh.store import _os

LINES = [b'{"a":1}', b"x" * 3000, b"", "é\u2028".encode(), b"\0\xff"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "segments"


def opened(folder: Path, **settings: object) -> FolderSegments:
    return FolderSegments(folder, room=DiskRoom(folder, 0), **settings)  # type: ignore[arg-type]


def test_a_placement_reads_back_at_once_and_after_sealing_and_reopening(folder: Path) -> None:
    segments = opened(folder)
    places = segments.append(LINES)
    assert [segments.read(place) for place in places] == LINES
    segments.seal()
    assert [segments.read(place) for place in places] == LINES
    more = segments.append([b"later"])
    assert more[0].segment != places[0].segment
    segments.close()
    again = opened(folder)
    assert [again.read(place) for place in places + more] == [*LINES, b"later"]
    assert all(again.is_sealed(name) for name in again.names())


def test_a_segment_is_plain_zstandard_of_lines(folder: Path) -> None:
    segments = opened(folder)
    segments.append([b"one", b"two"])
    segments.append([b"three"])
    segments.close()
    (name,) = segments.names()
    assert [line.data for line in iter_lines(folder / name)] == [b"one", b"two", b"three"]
    with zstandard.ZstdDecompressor().stream_reader((folder / name).read_bytes(), read_across_frames=True) as whole:
        assert whole.read() == b"one\ntwo\nthree\n"


def test_a_long_line_straddles_pieces_and_reads_in_ranges(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_packing, "PIECE", 64)
    long = bytes(range(48, 58)) * 50
    segments = opened(folder)
    before, place, after = segments.append([b"short", long, b"after"])
    assert segments.read(place) == long
    assert b"".join(segments.open_range(place, 30, 170)) == long[30:170]
    assert b"".join(segments.open_range(place, 490)) == long[490:]
    assert list(segments.open_range(place, 500)) == [] and list(segments.open_range(place, 9, 3)) == []
    assert max(map(len, segments.open_range(place))) <= 64
    assert (segments.read(before), segments.read(after)) == (b"short", b"after")
    assert [found for _, found in segments.scan(place.segment)] == [b"short", long, b"after"]
    segments.close()


def test_scan_gives_the_placements_that_append_gave(folder: Path) -> None:
    segments = opened(folder)
    lines = [line for line in LINES if line]
    places = segments.append(lines) + segments.append([b"z"])
    assert list(segments.scan(places[0].segment)) == list(zip(places, [*lines, b"z"], strict=True))
    segments.close()


def test_a_full_segment_is_sealed_and_another_begun(folder: Path) -> None:
    segments = opened(folder, seal_at=1)
    places = [segments.append([line])[0] for line in (b"a", b"b", b"c")]
    assert len({place.segment for place in places}) == 3
    assert [segments.is_sealed(place.segment) for place in places] == [True, True, False]
    assert [segments.read(place) for place in places] == [b"a", b"b", b"c"]
    segments.close()


@pytest.mark.parametrize("lost", [1, 20, 44, 60])
def test_a_torn_tail_is_cut_and_set_aside_and_nothing_before_it(folder: Path, lost: int) -> None:
    segments = opened(folder)
    kept = segments.append([b"kept " * 40])[0]
    path = folder / kept.segment
    size = path.stat().st_size
    segments.append([os.urandom(50).hex().encode()])
    data = path.read_bytes()
    assert segments._open is not None
    segments._open.lock.release()  # as a kill would
    path.write_bytes(data[:-lost])
    again = opened(folder)
    assert again.read(kept) == b"kept " * 40
    assert again.is_sealed(kept.segment)
    assert (folder / f"{kept.segment}.torn").read_bytes() == data[size:-lost]
    assert [line for _, line in again.scan(kept.segment)] == [b"kept " * 40]


def test_damage_that_whole_frames_follow_is_left_and_stepped_over(folder: Path) -> None:
    segments = opened(folder)
    first, second, third = (segments.append([word * 30])[0] for word in (b"first ", b"second", b"third "))
    path = folder / first.segment
    data = bytearray(path.read_bytes())
    assert segments._open is not None
    frame = segments._open.frames[1]
    segments._open.lock.release()
    data[frame.at - 10 : frame.at + 5] = b"\xff" * 15
    path.write_bytes(data)
    again = opened(folder)
    assert path.read_bytes() == data and not list(folder.glob("*.torn"))
    assert again.read(first) == b"first " * 30 and again.read(third) == b"third " * 30
    with pytest.raises(ServerFault, match="nothing whole stands") as caught:
        again.read(second)
    assert (caught.value.status, caught.value.code) == (500, "stored_bytes_damaged")
    assert [line for _, line in again.scan(first.segment)] == [b"first " * 30, b"third " * 30]


def test_changed_bytes_are_never_handed_out(folder: Path) -> None:
    segments = opened(folder)
    place = segments.append([b"the line"])[0]
    frame = segments._open.frames[0] if segments._open else None
    segments.close()
    assert frame is not None
    path = folder / place.segment
    data = bytearray(path.read_bytes())
    data[frame.at + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(ServerFault, match="does not fit its checksum"):
        opened(folder).read(place)


def test_a_missing_segment_is_a_fault_that_names_it(folder: Path) -> None:
    with pytest.raises(ServerFault, match="the file is gone"):
        opened(folder).read(Placement("20260101T000000-0123456789ab.jsonl.zst", 0, 1))


def test_writers_never_share_a_segment_and_read_each_other(folder: Path) -> None:
    one, two = opened(folder), opened(folder)
    first, second = one.append([b"of one"])[0], two.append([b"of two"])[0]
    assert first.segment != second.segment
    assert two.read(first) == b"of one" and one.read(second) == b"of two"
    later = one.append([b"more of one"])[0]
    assert two.read(later) == b"more of one"
    third = opened(folder)  # opened while both are being written: neither is sealed or cut
    assert not third.is_sealed(first.segment)
    one.close()
    two.close()


def test_threads_append_at_once_and_share_syncs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = opened(folder)
    syncs = []
    gate = threading.Barrier(8)
    plain = _os.fsync
    monkeypatch.setattr(_os, "fsync", lambda descriptor: (syncs.append(1), plain(descriptor))[1])
    found: dict[bytes, Placement] = {}

    def work(name: int) -> None:
        gate.wait(10)
        for index in range(10):
            line = f"{name}-{index}".encode()
            found[line] = segments.append([line])[0]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert len(found) == 80 and all(segments.read(place) == line for line, place in found.items())
    assert len(syncs) <= 82
    segments.close()


def test_writes_are_refused_before_the_reserve_is_touched(folder: Path) -> None:
    segments = FolderSegments(folder, room=DiskRoom(folder, 1000, lambda _: 1100))
    segments.append([b"x"])
    with pytest.raises(ServerFault, match="nearly full") as caught:
        segments.append([os.urandom(500).hex().encode()])
    assert (caught.value.status, caught.value.code, caught.value.retry_after) == (503, "storage_unavailable", 60.0)
    assert len(list(segments.scan(segments.names()[0]))) == 1
    segments.close()


@pytest.mark.parametrize("call", ["create", "write", "fsync"])
def test_a_disk_that_refuses_costs_that_append_alone(folder: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = opened(folder)
    before = segments.append([b"before"])[0] if call != "create" else None

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as broken:
        broken.setattr(_os, call, fail)
        with pytest.raises(ServerFault, match="refused a write") as caught:
            segments.append([b"lost"])
        assert (caught.value.status, caught.value.code) == (503, "storage_unavailable")
    after = segments.append([b"after"])[0]
    assert segments.read(after) == b"after"
    if before is not None:
        assert segments.read(before) == b"before"
        assert (after.segment == before.segment) == (call == "write")
    segments.close()
    lines = [line for name in segments.names() for _, line in segments.scan(name)]
    assert b"after" in lines and (b"lost" in lines) <= (call == "fsync")


def test_half_a_write_is_cut_off_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = opened(folder)
    first = segments.append([b"first"])[0]
    size = (folder / first.segment).stat().st_size
    plain = _os.write
    calls = []

    def half(descriptor: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "no space")
        return plain(descriptor, data[:7])

    with monkeypatch.context() as broken:
        broken.setattr(_os, "write", half)
        with pytest.raises(ServerFault):
            segments.append([b"second"])
    assert (folder / first.segment).stat().st_size == size
    segments.close()


def test_a_folder_that_cannot_be_opened_is_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot be opened"):
        FolderSegments(tmp_path / "missing" / "segments")
