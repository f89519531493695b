"""Uploads over HTTP: what is taken, what is refused and with which code, and that neither costs more than it may."""

from __future__ import annotations

import io
import json
from typing import Any

import anyio
import pytest
from msgspec.structs import replace
from server_support import body, episode, key, line, trace
from web_support import METADATA, Client, code_of, multipart, packed

from evh.protocol.codec import decode_strict
from evh.protocol.models import UploadReceipt
from evh.server.faults import ServerFault
from evh.server.limits import DEFAULT, Profile
from evh.server.storage import Storage
from evh.server.unpacking import STEP_LIMIT, Unpacker, unpacked

LINES = body(episode("e1"), episode("e2"))


@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
def test_an_upload_is_taken_in_every_encoding_and_has_one_receipt(client: Client, encoding: str) -> None:
    first = client.upload(LINES, encoding=encoding)
    receipt = decode_strict(first.content, UploadReceipt)
    assert first.status_code == 200 and receipt["status"] == "committed"
    assert receipt["upload_id"] == key(LINES).removeprefix("sha256:")
    assert (receipt["accepted"], receipt["replayed"]) == (2, False)
    again = client.upload(LINES, encoding="gzip").json()
    assert again == first.json() | {"replayed": True}
    assert client.get(f"/api/v1/uploads/{receipt['upload_id']}").json()["accepted"] == 2
    assert code_of(client.get("/api/v1/uploads/nothing")) == (404, "upload_not_found")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_request_may_be_packed_as_a_whole(client: Client, encoding: str) -> None:
    whole, kind = multipart(LINES)
    headers = {"Idempotency-Key": key(LINES), "X-Prime-Line-Format": "episode", "Content-Encoding": encoding}
    assert client.send(packed(whole, encoding), kind, headers).json()["accepted"] == 2


def test_bare_traces_need_no_header(client: Client) -> None:
    answer = client.upload(body(trace("t1"), trace("t2")), line_format=None)
    assert answer.json()["accepted"] == 2
    assert client.get("/api/v1/traces/t1").json()["episode_id"] is None


def test_other_parts_are_passed_over(client: Client) -> None:
    more = b'--x\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n'
    sent, kind = multipart(LINES, more=more)
    headers = {"Idempotency-Key": key(LINES), "X-Prime-Line-Format": "episode"}
    assert client.send(sent, kind, headers).status_code == 200


def wrong(**changed: Any) -> tuple[bytes, str, dict[str, str | None]]:
    """An upload with something of it changed."""
    data = changed.get("data", LINES)
    made, kind = multipart(data, changed.get("metadata", METADATA), encoding=changed.get("encoding"))
    headers: dict[str, str | None] = {"Idempotency-Key": key(LINES), "X-Prime-Line-Format": "episode"}
    return changed.get("body", made), changed.get("kind", kind), headers | changed.get("headers", {})


REFUSED = {
    "no-key": (wrong(headers={"Idempotency-Key": None}), 400, "invalid_idempotency_key"),
    "upper-key": (wrong(headers={"Idempotency-Key": "sha256:" + "A" * 64}), 400, "invalid_idempotency_key"),
    "short-key": (wrong(headers={"Idempotency-Key": "sha256:abc"}), 400, "invalid_idempotency_key"),
    "other-bytes": (wrong(data=LINES + b"\n"), 400, "digest_mismatch"),
    "format": (wrong(headers={"X-Prime-Line-Format": "table"}), 400, "line_format_mismatch"),
    "bare-lines": (wrong(headers={"X-Prime-Line-Format": None}), 400, "line_format_mismatch"),
    "no-metadata": (wrong(metadata=None), 400, "invalid_metadata"),
    "metadata-text": (wrong(metadata=b"{"), 400, "invalid_metadata"),
    "metadata-shape": (wrong(metadata=b'{"schema_version":"1"}'), 400, "invalid_metadata"),
    "metadata-context": (wrong(metadata=b'{"schema_version":1,"context":{"a":1}}'), 400, "invalid_metadata"),
    "metadata-long": (
        wrong(metadata=b'{"schema_version":1,"x":"' + b"a" * 300_000 + b'"}'), 400, "invalid_metadata",
    ),
    "metadata-deep": (
        wrong(metadata=b'{"schema_version":1,"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}"), 400, "invalid_metadata",
    ),
    "version": (wrong(metadata=b'{"schema_version":2}'), 400, "unsupported_schema_version"),
    "no-traces": (wrong(data=None), 400, "malformed_encoding"),
    "no-multipart": (wrong(kind="application/json"), 400, "malformed_encoding"),
    "no-boundary": (wrong(kind="multipart/form-data"), 400, "malformed_encoding"),
    "other-boundary": (wrong(kind="multipart/form-data; boundary=y"), 400, "malformed_encoding"),
    "cut": (wrong(body=multipart(LINES)[0][:-20]), 400, "malformed_encoding"),
    "empty": (wrong(body=b""), 400, "malformed_encoding"),
    "no-gzip": (wrong(encoding="gzip"), 400, "malformed_encoding"),
    "cut-gzip": (wrong(data=packed(LINES, "gzip")[:-4], encoding="gzip"), 400, "malformed_encoding"),
    "more-than-gzip": (wrong(data=packed(LINES, "gzip") + b"more", encoding="gzip"), 400, "malformed_encoding"),
    "cut-zstd": (wrong(data=packed(LINES, "zstd")[:-4], encoding="zstd"), 400, "malformed_encoding"),
    "no-zstd": (wrong(data=b"nothing like it", encoding="zstd"), 400, "malformed_encoding"),
    "brotli": (wrong(encoding="br"), 400, "malformed_encoding"),
    "request-brotli": (wrong(headers={"Content-Encoding": "br"}), 400, "malformed_encoding"),
    "request-no-gzip": (wrong(headers={"Content-Encoding": "gzip"}), 400, "malformed_encoding"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_is_none_is_refused_by_its_code_and_stores_nothing(empty: Client, name: str) -> None:
    (sent, kind, headers), status, code = REFUSED[name]
    assert code_of(empty.send(sent, kind, headers)) == (status, code)
    assert empty.get("/api/v1/episodes").json()["items"] == []
    assert empty.http.app.state.house.storage.segments.names() == []


def test_a_part_that_comes_twice_is_refused(client: Client) -> None:
    headers = {"Idempotency-Key": key(LINES), "X-Prime-Line-Format": "episode"}
    twice = b'--x\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{"schema_version":1}\r\n'
    assert code_of(client.send(*multipart(LINES, more=twice), headers)) == (400, "invalid_metadata")
    lines = b'--x\r\nContent-Disposition: form-data; name="traces"\r\n\r\n{}\r\n'
    assert code_of(client.send(*multipart(LINES, more=lines), headers)) == (400, "malformed_encoding")
    many = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 20
    assert code_of(client.send(*multipart(LINES, more=many), headers)) == (400, "malformed_encoding")


BAD_LINES = {
    "no-json": (b"{\n", "invalid_trace"),
    "nan": (line(episode()).replace(b'"ok": true', b'"ok": true, "x": NaN') + b"\n", "invalid_trace"),
    "utf-8": (b'{"id":"\xff"}\n', "invalid_trace"),
    "no-id": (b"{}\n", "invalid_trace"),
    "deep": (b"[" * 100_000 + b"]" * 100_000 + b"\n", "invalid_trace"),
    "episode-twice": (body(episode("e1"), episode("e1", traces=[])), "duplicate_episode_id"),
    "trace-twice": (body(episode("e1", traces=[trace("t")]), episode("e2", traces=[trace("t")])), "duplicate_trace_id"),
    "long-id": (body(episode("e" * 2000)), "episode_id_too_long"),
    "long-environment": (body(episode(env={"id": "e" * 2000})), "environment_id_too_long"),
    "time": (body(episode(traces=[trace("t", timing={"start": 1e15})])), "created_at_out_of_window"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_line_that_cannot_be_kept_refuses_the_upload(empty: Client, name: str) -> None:
    data, code = BAD_LINES[name]
    assert code_of(empty.upload(data)) == (400, code)
    assert empty.get("/api/v1/episodes").json()["items"] == []


def test_the_same_bytes_as_lines_of_another_format_are_a_conflict(client: Client) -> None:
    assert client.upload(LINES).status_code == 200
    assert code_of(client.upload(LINES, line_format="trace")) == (409, "line_format_conflict")


SMALL = replace(
    DEFAULT, max_upload_bytes=4000, max_line_bytes=1500, max_lines=3, max_traces_in_upload=4, max_traces_in_episode=2
)
LIMITS = {
    "upload": (
        body(*[episode(f"e{number}", traces=[], info={"x": "y" * 1300}) for number in range(3)]), "upload_too_large",
    ),
    "line": (body(episode(info={"x": "y" * 1500}, traces=[])), "trace_too_large"),
    "lines": (body(*[episode(f"e{number}", traces=[]) for number in range(4)]), "too_many_traces_in_upload"),
    "blank-lines": (b"\n" * 5, "too_many_traces_in_upload"),
    "in-episode": (
        body(episode(traces=[trace(f"t{number}", nodes=[], calls=[]) for number in range(3)])),
        "too_many_traces_in_episode",
    ),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
@pytest.mark.parametrize("name", LIMITS)
def test_limits_have_their_codes(make_client: Any, storage: Storage, name: str, encoding: str) -> None:
    profile: Profile = SMALL
    storage.ingest.profile = profile
    data, code = LIMITS[name]
    assert code_of(make_client(profile=profile).upload(data, encoding=encoding)) == (400, code)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("whole", [False, True], ids=["part", "request"])
def test_a_bomb_is_refused_before_it_is_large(make_client: Any, storage: Storage, encoding: str, whole: bool) -> None:
    profile = replace(DEFAULT, max_upload_bytes=8 << 20, max_line_bytes=4 << 20)
    storage.ingest.profile = profile
    client = make_client(profile=profile)
    bomb = packed(b"a" * (64 << 20), encoding)
    assert len(bomb) < 300_000
    headers = {"Idempotency-Key": key(LINES), "X-Prime-Line-Format": "episode"}
    if whole:
        answer = client.send(bomb, "multipart/form-data; boundary=x", headers | {"Content-Encoding": encoding})
    else:
        answer = client.send(*multipart(bomb, encoding=encoding), headers)
    status, code = code_of(answer)
    assert status == 400 and code in ("upload_too_large", "trace_too_large", "malformed_encoding")
    assert client.http.app.state.house.held.now == 0


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_no_step_of_unpacking_gives_more_than_it_may(encoding: str) -> None:
    bomb = packed(b"\0" * (160 << 20), encoding)
    unpacker = Unpacker(encoding)
    sizes = [len(piece) for piece in unpacker.feed(bomb)]
    unpacker.close()
    assert sum(sizes) == 160 << 20 and max(sizes) <= STEP_LIMIT


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_several_members_in_any_pieces_are_one_stream(encoding: str, step: int) -> None:
    data = packed(b"abc" * 5000, encoding) + packed(b"", encoding) + packed(b"def", encoding)
    unpacker = Unpacker(encoding)
    pieces = [piece for at in range(0, len(data), step) for piece in unpacker.feed(data[at : at + step])]
    unpacker.close()
    assert b"".join(pieces) == b"abc" * 5000 + b"def"


def test_frames_that_say_how_long_they_are_and_those_that_do_not() -> None:
    import zstandard

    for data in (b"", b"abc" * 1000, b"x" * (40 << 20)):
        for size in (True, False):
            frame = zstandard.ZstdCompressor(write_content_size=size).compress(data)
            assert unpacked(io.BytesIO(frame), "zstd").read() == data
            assert unpacked(io.BytesIO(frame + frame), "zstd").read() == data + data
    lying = bytearray(zstandard.ZstdCompressor().compress(b"abc" * 1000))
    lying[5] ^= 1  # the length that the frame says it has
    with pytest.raises(ServerFault, match="do not unpack"):
        unpacked(io.BytesIO(bytes(lying)), "zstd").read()


def test_what_the_server_holds_is_bounded_and_given_back(make_client: Any) -> None:
    client = make_client(held_bytes=1000)
    answer = client.upload(body(episode(info={"x": "y" * 2000})), encoding="identity")
    assert code_of(answer) == (503, "ingest_capacity_exceeded") and answer.headers["retry-after"] == "2"
    assert client.http.app.state.house.held.now == 0
    assert client.upload(body(episode(traces=[])), encoding="identity").status_code == 200


def test_more_uploads_than_it_takes_are_sent_away(make_client: Any) -> None:
    client = make_client(max_uploads=0)
    answer = client.upload(LINES)
    assert code_of(answer) == (503, "ingest_capacity_exceeded") and int(answer.headers["retry-after"]) >= 1


def test_a_declared_length_over_the_limit_is_refused_unread(make_client: Any, storage: Storage) -> None:
    storage.ingest.profile = SMALL
    client = make_client(profile=SMALL)
    headers = {"Idempotency-Key": key(LINES)}
    answer = client.send(b"x" * (2 << 20), "multipart/form-data; boundary=x", headers)
    assert code_of(answer) == (400, "upload_too_large")


def test_quotas_answer_with_the_time_to_wait(client: Client, storage: Storage) -> None:
    storage.catalog.projects.limit("default", bytes_per_second=1)
    assert client.upload(LINES).status_code == 200
    answer = client.upload(body(episode("e3")))
    assert code_of(answer) == (429, "rate_limited") and int(answer.headers["retry-after"]) >= 1
    storage.catalog.projects.limit("default", bytes_per_second=None, max_episodes=2)
    assert code_of(client.upload(body(episode("e3")))) == (429, "ingest_capacity_exceeded")


def test_a_disk_that_is_nearly_full_takes_no_writes_but_reads_and_deletes(client: Client, storage: Storage) -> None:
    client.upload(LINES)
    storage.room.reserve = 1 << 62
    assert code_of(client.upload(body(episode("e3")))) == (503, "storage_unavailable")
    assert code_of(client.post("/api/v1/evaluations/", {"name": "a"})) == (503, "storage_unavailable")
    assert code_of(client.get("/readyz")) == (503, "storage_unavailable")
    assert client.get("/healthz").status_code == 200
    assert client.get("/api/v1/episodes/e1").status_code == 200
    assert client.delete("/api/v1/traces/t-e1").status_code == 202


def test_nul_and_lone_surrogates_survive(client: Client) -> None:
    said = "a\u0000b\u2028"
    data = json.dumps(episode("e\u0000", info={"said": said})).encode()
    data = data.replace(b'"ok"', b'"x": "\\ud800", "ok"') + b"\n"
    assert client.upload(data, context={"k\u0000": "v\u0000"}).status_code == 200
    found = client.get("/api/v1/episodes", params={"context.k\u0000": "v\u0000"}).json()["items"]
    assert [each["episode_id"] for each in found] == ["e\u0000"]
    raw = client.get("/api/v1/episodes/e%00", params={"raw": "true"})
    assert raw.content == data.removesuffix(b"\n")


def test_no_refusal_repeats_what_was_sent(empty: Client) -> None:
    secret = "canary-7f3a9c"
    data = json.dumps(episode("e1", traces="no list: " + secret)).encode() + b"\n"
    answer = empty.upload(data, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 400 and f"Bearer {secret}" not in answer.text


def bare_call(client: Client, messages: list[dict[str, Any] | float]) -> list[dict[str, Any]]:
    """What an upload is answered with whose body comes as these messages; a number is a silence of so many seconds."""
    sent: list[dict[str, Any]] = []
    waiting = iter(messages)

    async def receive() -> dict[str, Any]:
        message = next(waiting, {"type": "http.disconnect"})
        if not isinstance(message, dict):
            await anyio.sleep(message)
            return await receive()
        return message

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {"host": "127.0.0.1", "idempotency-key": key(LINES), "content-type": "multipart/form-data; boundary=x"}
    scope = {
        "type": "http", "method": "POST", "path": "/api/v1/traces", "query_string": b"", "http_version": "1.1",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()], "scheme": "http",
        "server": ("127.0.0.1", 80), "root_path": "",
    }  # fmt: skip
    anyio.run(client.http.app, scope, receive, send)
    return sent


def piece(data: bytes) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": True}


def test_a_client_that_falls_silent_is_given_up(make_client: Any) -> None:
    client = make_client(silence_seconds=0.05)
    start, end = bare_call(client, [piece(b"--x\r\n"), 3600.0])[:2]
    assert start["status"] == 408 and b"request_timeout" in end["body"]
    assert client.http.app.state.house.uploads == 0


def test_a_client_that_goes_away_leaves_nothing(client: Client, storage: Storage) -> None:
    bare_call(client, [piece(multipart(LINES)[0][:400])])
    house = client.http.app.state.house
    assert (house.held.now, house.uploads, storage.segments.names()) == (0, 0, [])
