"""Ingest: what is acknowledged is stored whole, what is refused leaves nothing, and each fault has its code."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from server_support import body, episode, key, line, principal, trace
from sqlalchemy import event

from evh.server.catalog import Catalog
from evh.server.faults import ServerFault
from evh.server.ingest import Ingest
from evh.server.limits import DEFAULT, RELEASED, Profile
from evh.server.records import LineFormat, Principal, Receipt
from evh.server.storage import Storage, open_storage
from evh.server.verification import verify_store
from evh.store import _os


@pytest.fixture
def who(storage: Storage) -> Principal:
    return storage.access.local()


def send(
    storage: Storage, who: Principal, data: bytes, line_format: LineFormat = "episode", **settings: Any
) -> Receipt:
    return storage.ingest.upload(who, data, key=settings.pop("key", key(data)), line_format=line_format, **settings)


def limited(storage: Storage, **limits: int) -> Ingest:
    small = Profile(
        **{name: limits.get(name, getattr(DEFAULT, name)) for name in Profile.__struct_fields__ if name != "name"},
        name="small",
    )
    return Ingest(storage.catalog, storage.segments, profile=small)


def test_lines_read_back_byte_for_byte(storage: Storage, who: Principal) -> None:
    lines = [
        line(episode("a")),
        b'  {"id":"b" , "task":{"type":"","data":{}}, "future":{"x":1.0}}\r',
        line(episode("c", None)),
    ]
    receipt = send(storage, who, b"\n".join([lines[0], b"", lines[1], b"  ", lines[2]]))  # no LF at the end
    assert (receipt.status, receipt.accepted) == ("committed", 3)
    for name, data in zip("abc", lines, strict=True):
        assert b"".join(storage.documents.line(storage.catalog.heads.episode(who, name))) == data
    assert verify_store(storage).damages == []


def test_a_file_is_read_from_where_it_stands(storage: Storage, who: Principal) -> None:
    data = body(episode("a"))
    source = io.BytesIO(b"header" + data)
    source.seek(6)
    assert storage.ingest.upload(who, source, key=key(data), line_format="episode").accepted == 1


def test_the_same_bytes_again_give_the_old_receipt_and_write_nothing(storage: Storage, who: Principal) -> None:
    data = body(episode("a"))
    first = send(storage, who, data)
    sizes = [path.stat().st_size for path in sorted(storage.segments.folder.iterdir())]
    again = send(storage, who, data)
    assert again.replayed and again.committed_us == first.committed_us
    assert [path.stat().st_size for path in sorted(storage.segments.folder.iterdir())] == sizes


def test_traces_and_envelopes_are_the_bytes_that_came(storage: Storage, who: Principal) -> None:
    members = [trace("x", info={"n": 1.50}), trace("y")]
    record = episode("a", traces=members, info={"k": "ü\0"})
    send(storage, who, body(record))
    head = storage.catalog.heads.episode(who, "a")
    for member, found in zip(members, storage.catalog.heads.episode_traces(who, head), strict=True):
        stored = b"".join(storage.documents.trace(found))
        assert stored == line(member) and found.size_bytes == len(stored)
    assert json.loads(storage.documents.envelope(head)) == record | {"traces": ["x", "y"]}
    send(storage, who, body(trace("z")), "trace")
    assert b"".join(storage.documents.trace(storage.catalog.heads.trace(who, "z"))) == line(trace("z"))


def test_lone_surrogates_survive(storage: Storage, who: Principal) -> None:
    record = episode("a\ud800", traces=[trace("t\udfff", info={"\ud800": "\ud800"}), trace("u")])
    send(storage, who, body(record))
    head = storage.catalog.heads.episode(who, "a\ud800")
    assert b"".join(storage.documents.line(head)) == line(record)
    found = storage.catalog.heads.trace(who, "t\udfff")
    assert json.loads(b"".join(storage.documents.trace(found))) == record["traces"][0]
    assert json.loads(storage.documents.envelope(head))["traces"] == ["t\udfff", "u"]


def test_the_run_is_the_envelopes_or_that_of_a_member(storage: Storage, who: Principal) -> None:
    work = {"type": "train", "id": "r-member", "work": {"type": "train", "step": 3}}
    send(
        storage,
        who,
        body(episode("a", None, [trace("x"), trace("y", run=work)]), episode("b", "own", [trace("z", run=work)])),
    )
    send(storage, who, body(trace("w", run=work)), "trace")
    heads = storage.catalog.heads
    assert (heads.episode(who, "a").run_id, heads.episode(who, "a").step) == ("r-member", 3)
    assert (heads.episode(who, "b").run_id, heads.trace(who, "z").run_id) == ("own", "own")
    assert (heads.trace(who, "w").run_id, heads.trace(who, "w").step) == ("r-member", 3)


def test_a_run_that_is_none_of_ours_costs_no_episode(storage: Storage, who: Principal) -> None:
    """prime-runs stamps training runs without their work; what else is wrong is told as ever."""
    stamped = {"type": "train", "id": "r-bare"}
    rows = body(episode("a", stamped, [trace("x", run=stamped)]), episode("b", {"type": "train", "id": "r", "work": 3}))
    send(storage, who, rows)
    heads = storage.catalog.heads
    assert (heads.episode(who, "a").run_id, heads.episode(who, "a").step) == ("r-bare", None)
    assert heads.trace(who, "x").run_id == "r-bare"
    assert heads.episode(who, "b").run_id == "r"
    with pytest.raises(ServerFault) as refused:
        send(storage, who, body(episode("c", stamped, ok="yes")))
    assert refused.value.code == "invalid_trace" and "/ok" in refused.value.message


EPISODE = line(episode("a"))
DEEP = b'{"id":"a","task":{"type":"","data":{"x":' + b"[" * 3000 + b"]" * 3000 + b"}}}"
FAULTS: list[tuple[str, bytes, str, LineFormat]] = [
    ("torn JSON", EPISODE[:-3], "invalid_trace", "episode"),
    ("no JSON", b"hello", "invalid_trace", "episode"),
    ("no object", b"[]", "invalid_trace", "episode"),
    ("NaN", EPISODE.replace(b"7", b"NaN"), "invalid_trace", "episode"),
    ("a number beyond a double", EPISODE.replace(b"7", b"1e999"), "invalid_trace", "episode"),
    ("a BOM", b"\xef\xbb\xbf" + EPISODE, "invalid_trace", "episode"),
    ("no UTF-8", EPISODE.replace(b"gsm8k", b"gsm\xff"), "invalid_trace", "episode"),
    ("no task", b'{"id":"a"}', "invalid_trace", "episode"),
    ("an empty id", line(episode("")), "invalid_trace", "episode"),
    ("nested too deep", DEEP, "invalid_trace", "episode"),
    ("a bare trace", line(trace("a")), "line_format_mismatch", "episode"),
    ("an episode", EPISODE, "line_format_mismatch", "trace"),
    ("a long episode id", line(episode("é" * 300)), "episode_id_too_long", "episode"),
    ("a long environment id", line(episode(env={"id": "x" * 513})), "environment_id_too_long", "episode"),
    ("a long run id", line(episode(run="x" * 513)), "invalid_trace", "episode"),
    ("a long trace id", line(trace("x" * 513)), "invalid_trace", "trace"),
    ("a date beyond all years", line(trace(timing={"start": 1e300})), "created_at_out_of_window", "trace"),
    ("a date before 1970", line(trace(timing={"start": -5})), "created_at_out_of_window", "trace"),
    ("an episode twice", EPISODE + b"\n" + line(episode("a", traces=[])), "duplicate_episode_id", "episode"),
    ("a trace twice", line(episode(traces=[trace(), trace()])), "duplicate_trace_id", "episode"),
    ("a bare trace twice", line(trace("a")) + b"\n" + line(trace("a")), "duplicate_trace_id", "trace"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "code", "line_format"), [each[1:] for each in FAULTS], ids=[each[0] for each in FAULTS]
)
def test_what_is_refused_has_its_code_and_line_and_leaves_nothing(
    storage: Storage, who: Principal, data: bytes, code: str, line_format: LineFormat
) -> None:
    good = body(episode("good")) if line_format == "episode" else body(trace("good"))
    with pytest.raises(ServerFault, match=r"^line [23]: ") as caught:
        send(storage, who, good + data + b"\n", line_format)
    assert (caught.value.status, caught.value.code) == (400, code)
    assert caught.value.upload_line in (2, 3)
    assert storage.catalog.heads.episodes(who).items == [] and storage.catalog.heads.traces(who).items == []
    assert storage.segments.names() == []
    assert storage.catalog.projects.usage(who.project).batches == 0


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (None, "invalid_idempotency_key"),
        ("", "invalid_idempotency_key"),
        ("a" * 64, "invalid_idempotency_key"),
        ("sha256:" + "A" * 64, "invalid_idempotency_key"),
        ("sha256:" + "a" * 64 + "\n", "invalid_idempotency_key"),
        ("sha256:" + "a" * 64, "digest_mismatch"),
    ],
)
def test_keys_that_are_not_those_of_the_bytes(storage: Storage, who: Principal, given: str | None, code: str) -> None:
    with pytest.raises(ServerFault) as caught:
        send(storage, who, body(episode()), key=given)
    assert (caught.value.status, caught.value.code) == (400, code)


def test_other_bytes_under_a_known_key_are_told_both_digests(storage: Storage, who: Principal) -> None:
    data, other = body(episode("a")), body(episode("b"))
    send(storage, who, data)
    with pytest.raises(ServerFault, match=f"{key(data)[7:]}.*{key(other)[7:]}") as caught:
        send(storage, who, other, key=key(data))
    assert (caught.value.status, caught.value.code) == (400, "digest_mismatch")
    with pytest.raises(ServerFault) as caught:
        send(storage, who, data, "trace")
    assert (caught.value.status, caught.value.code) == (409, "line_format_conflict")


def test_limits_have_their_codes(storage: Storage, who: Principal) -> None:
    data = body(episode("a", traces=[trace("x"), trace("y")]), episode("b"))
    cases = [
        ({"max_upload_bytes": len(data) - 1}, "upload_too_large"),
        ({"max_line_bytes": len(data.splitlines()[0]) - 1}, "trace_too_large"),
        ({"max_lines": 1}, "too_many_traces_in_upload"),
        ({"max_traces_in_upload": 2}, "too_many_traces_in_upload"),
        ({"max_traces_in_episode": 1}, "too_many_traces_in_episode"),
        ({"max_context_bytes": 1}, "invalid_metadata"),
    ]
    for limits, code in cases:
        with pytest.raises(ServerFault) as caught:
            limited(storage, **limits).upload(who, data, key=key(data), line_format="episode", context={"a": "b"})
        assert (caught.value.status, caught.value.code) == (400, code)
    exact = limited(
        storage, max_upload_bytes=len(data), max_line_bytes=len(data.splitlines()[0]), max_lines=2,
        max_traces_in_upload=3, max_traces_in_episode=2, max_context_bytes=2,
    )  # fmt: skip
    assert exact.upload(who, data, key=key(data), line_format="episode", context={"a": "b"}).accepted == 2
    assert RELEASED.max_line_bytes == 64 << 20 and DEFAULT.max_line_bytes == 256 << 20


def test_a_context_is_a_map_of_text(storage: Storage, who: Principal) -> None:
    with pytest.raises(ServerFault) as caught:
        send(storage, who, body(episode()), context={"a": 1})
    assert caught.value.code == "invalid_metadata"


def test_every_byte_is_synced_before_the_commit_and_the_folder_too(
    storage: Storage, who: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    for name in ("create", "write", "fsync"):
        plain = getattr(_os, name)
        monkeypatch.setattr(_os, name, lambda *words, plain=plain, name=name: (said.append(name), plain(*words))[1])
    event.listen(storage.catalog.database.engine, "commit", lambda _: said.append("commit"))
    send(storage, who, body(episode("a")))
    assert said == ["create", "fsync", "write", "fsync", "commit"]
    send(storage, who, body(episode("b")))
    assert said[5:] == ["write", "fsync", "commit"]


def test_a_long_line_is_stored_and_read_in_pieces(storage: Storage, who: Principal) -> None:
    record = episode("long", info={"text": "x" * 5_000_000})
    send(storage, who, body(episode("a"), record, episode("b")))
    head = storage.catalog.heads.episode(who, "long")
    pieces = list(storage.documents.line(head))
    assert b"".join(pieces) == line(record) and max(map(len, pieces)) <= 1 << 20


def test_a_full_disk_refuses_before_anything_is_written(tmp_path: Path) -> None:
    with open_storage(tmp_path / "full", reserve=1 << 60) as storage:
        who = storage.access.local()
        with pytest.raises(ServerFault, match="nearly full") as caught:
            send(storage, who, body(episode()))
        assert (caught.value.status, caught.value.code) == (503, "storage_unavailable")
        with pytest.raises(ServerFault, match="nearly full"):
            storage.ready()
        assert storage.segments.names() == [] and storage.catalog.heads.episodes(who).items == []


def test_samples_are_lines_of_the_same_segments(storage: Storage, who: Principal) -> None:
    made, _ = storage.catalog.evaluations.create(who, {"name": "n"})
    assert storage.ingest.samples(who, made.id, [b'{"a":1}', b'{"b":"\\u0000"}']) == 2
    rows, total = storage.catalog.evaluations.samples(who, made.id, skip=0, limit=10)
    assert total == 2 and [storage.documents.read(row.placement) for row in rows] == [b'{"a":1}', b'{"b":"\\u0000"}']
    with pytest.raises(ServerFault) as caught:
        storage.ingest.samples(who, made.id, [b"a\nb"])
    assert caught.value.code == "invalid_sample"
    with pytest.raises(ServerFault) as caught:
        storage.ingest.samples(who, "none", [b"{}"])
    assert caught.value.code == "evaluation_not_found"
    assert verify_store(storage).lines == 2


def test_a_store_is_whole_after_it_was_closed_and_opened(tmp_path: Path) -> None:
    data = body(episode("a"), episode("b"))
    with open_storage(tmp_path / "store", reserve=0) as storage:
        storage.ready()
        first = send(storage, storage.access.local(), data)
    storage.close()
    with open_storage(tmp_path / "store", reserve=0) as storage:
        who = storage.access.local()
        assert send(storage, who, data).committed_us == first.committed_us
        found = verify_store(storage)
        assert (found.lines, found.damages) == (2, [])


def test_verification_finds_what_is_damaged_or_gone(storage: Storage, who: Principal) -> None:
    send(storage, who, body(episode("a")))
    run = storage.catalog.training.create(who, {})
    uploads = []
    for step, content in ((1, b"good"), (2, b"changed"), (3, None)):
        upload, _ = storage.catalog.training.presign(who, run.id, step)
        if content is not None:
            storage.blobs.put_if_absent(upload.key, content)
        storage.catalog.training.stored(upload.key, 4, key(b"good")[7:])
        uploads.append(upload.key)
    storage.segments.seal()
    (name,) = storage.segments.names()
    path = storage.segments.folder / name
    data = bytearray(path.read_bytes())
    data[60] ^= 255
    path.write_bytes(data)
    found = verify_store(storage)
    assert (found.lines, found.tables) == (1, 3)
    places = [each.place for each in found.damages]
    assert places[0] == f"{name} at 0, {len(line(episode('a')))} bytes"
    assert sorted(places[1:]) == sorted(uploads[1:])


def test_ingest_works_the_same_on_every_database(catalog: Catalog, tmp_path: Path) -> None:
    from evh.server.disk_room import DiskRoom
    from evh.server.segments import FolderSegments

    segments = FolderSegments(tmp_path / "segments", room=DiskRoom(tmp_path, 0))
    who = principal(catalog, "p")
    ingest = Ingest(catalog, segments)
    data = body(episode("a\0"), episode("b\ud800"))
    assert ingest.upload(who, data, key=key(data), line_format="episode").accepted == 2
    assert ingest.upload(who, data, key=key(data), line_format="episode").replayed
    segments.close()
