"""The codec's promises one by one: what is taken, what is refused and how it is said, what is written."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import evh
from evh.errors import DecodeError, NotWritable, RecordError, SchemaError, UsageError
from evh.protocol.models import MessageNode

TASK = {"type": "t", "data": {}}
NODE = {"message": {"role": "user", "content": "hi"}}
TRACE: dict[str, Any] = {"id": "t1", "task": TASK, "agent": {"config": {}}, "timing": {"start": 1.5}}
EPISODE: dict[str, Any] = {"id": "e1", "task": TASK}


def text(document: Any) -> bytes:
    return json.dumps(document).encode()


def trace(**members: Any) -> dict[str, Any]:
    return {**TRACE, **members}


def episode(**members: Any) -> dict[str, Any]:
    return {**EPISODE, **members}


def read(document: Any, cls: Any = evh.Episode) -> tuple[Any, list[Any]]:
    notices: list[Any] = []
    return evh.decode(document if isinstance(document, bytes) else text(document), cls, notices=notices), notices


def written(record: Any) -> Any:
    return json.loads(evh.encode(record))


# Presence


def test_what_is_absent_reads_as_none_or_empty() -> None:
    record, _ = read(EPISODE)
    assert (record.group, record.run, record.schema) == (None, None, None)
    assert (record.errors, record.traces, dict(record.info)) == ([], [], {})
    assert (record.ok, record.is_timeout, record.env.id) == (False, False, "")
    one, _ = read(TRACE, evh.Trace)
    assert (one.nodes, one.calls, one.rewards, one.metrics, one.verifiers) == ([], [], {}, {}, None)
    node, _ = read(NODE, MessageNode)
    assert (node.token_ids, node.mask, node.logprobs, node.advantages, node.loss_weights) == ([], [], [], None, None)


def test_a_null_of_a_nullable_member_is_absence_and_is_not_written() -> None:
    with_nulls = episode(
        schema=None,
        group=None,
        run=None,
        env={"name": None},
        traces=[trace(verifiers=None, root_reply=None, nodes=[{**NODE, "parent": None, "timestamp": None}])],
    )
    without = episode(env={}, traces=[trace(nodes=[NODE])])
    assert read(with_nulls)[0] == read(without)[0]
    assert evh.encode(read(with_nulls)[0]) == evh.encode(read(without)[0])
    assert b"null" not in evh.encode(read(with_nulls)[0])


@pytest.mark.parametrize("name", ["advantages", "reference_logprobs", "trainer_logprobs", "entropies", "loss_weights"])
@pytest.mark.parametrize("unknown", [False, True], ids=["native", "explained"])
def test_a_null_stream_is_absence_whether_or_not_it_was_read(name: str, unknown: bool) -> None:
    node = {**NODE, name: None, **({"x": 1} if unknown else {})}
    record, _ = read(trace(nodes=[node]), evh.Trace)
    before = evh.encode(record)
    assert name not in json.loads(before)["nodes"][0]
    assert getattr(record.nodes[0], name) is None
    assert evh.encode(record) == before


def test_nulls_inside_open_objects_and_maps_are_data() -> None:
    document = trace(
        agent={"config": {"model": None, "own": None}},
        rewards={"unscored": None},
        metrics={"m": None},
        info={"a": None},
        task={"type": "t", "data": {"prompt": None, "column": None}},
    )
    saved = written(read(document, evh.Trace)[0])
    for member in ("agent", "rewards", "metrics", "info", "task"):
        expected = document[member]
        assert {name: saved[member][name] for name in expected} == expected


def test_declared_empty_lists_and_maps_are_written() -> None:
    saved = written(read(trace(nodes=[], calls=[], rewards={}, metrics={}, errors=[]), evh.Trace)[0])
    assert (saved["nodes"], saved["calls"], saved["rewards"], saved["metrics"], saved["errors"]) == ([], [], {}, {}, [])


@pytest.mark.parametrize("stream", ["token_ids", "mask", "is_content", "logprobs"])
def test_an_empty_stream_that_was_there_is_written_and_an_absent_one_is_not(stream: str) -> None:
    assert written(read({**NODE, stream: []}, MessageNode)[0])[stream] == []
    assert stream not in written(read(NODE, MessageNode)[0])


def test_schema_is_written_on_what_is_made_and_never_added_to_what_was_read() -> None:
    made = evh.Episode(task=evh.TraceTask(type="t", data={}))
    assert written(made)["schema"] == "evh:1.0:episode"
    assert "schema" not in written(read(EPISODE)[0])
    assert written(read(episode(schema="evh:1.4:episode"))[0])["schema"] == "evh:1.4:episode"


def test_ids_times_and_versions_are_minted_for_programs_and_never_on_reading() -> None:
    one = evh.Episode(task=evh.TraceTask(type="t", data={}))
    other = evh.Episode(task=evh.TraceTask(type="t", data={}))
    assert one.id != other.id
    assert len(one.id) == 32
    assert set(one.id) <= set("0123456789abcdef")
    made = evh.Trace(task=evh.TraceTask(type="t", data={}), agent=evh.AgentInfo(config={}))
    assert made.verifiers.version.startswith("evh-")
    assert made.timing.start > 1_700_000_000
    assert "verifiers" not in written(read(TRACE, evh.Trace)[0])
    for document in ({"task": TASK}, {"id": "e"}):
        with pytest.raises(SchemaError):
            evh.decode(text(document))
    with pytest.raises(SchemaError, match="timing"):
        evh.decode(text({name: value for name, value in TRACE.items() if name != "timing"}), evh.Trace)


# Members and their fates


def test_computed_members_are_accepted_and_never_kept() -> None:
    document = episode(
        num_input_tokens=5, num_output_tokens=None, num_total_tokens=7.0, traces=[trace(num_total_tokens=3)]
    )
    for record in (read(document)[0], evh.decode_strict(text(document))):
        assert b"num_" not in evh.encode(record)
        assert record == read(episode(traces=[TRACE]))[0]
        assert record.num_total_tokens == 0
    assert read(document)[1] == []
    for wrong in ("7", 1.5, True, 2**53):
        with pytest.raises(SchemaError, match="num_total_tokens"):
            evh.decode_strict(text(episode(num_total_tokens=wrong)))


def test_a_retired_run_is_dropped_with_advice_and_refused_by_strict() -> None:
    document = episode(traces=[trace(run={"type": "eval", "id": "r"})], run={"type": "eval", "id": "r"})
    record, notices = read(document)
    assert [(each.kind, each.pointer) for each in notices] == [("retired", "/traces/0/run")]
    assert "read Episode.run" in notices[0].message
    assert record.run.id == "r"
    assert "run" not in written(record)["traces"][0]
    with pytest.raises(AttributeError, match=r"Episode\.run"):
        _ = record.traces[0].run
    with pytest.raises(SchemaError, match="/traces/0/run"):
        evh.decode_strict(text(document))


def test_a_member_named_star_is_a_member_like_any_other() -> None:
    document = episode(**{"*": {"*": 1}}, env={"id": "x", "*": None}, info={"*": 2})
    record, notices = read(document)
    assert sorted(each.pointer for each in notices) == ["/*", "/env/*"]
    saved = written(record)
    assert (saved["*"], saved["env"]["*"], saved["info"]["*"]) == ({"*": 1}, None, 2)
    assert dict(record.additional) == {"*": {"*": 1}}


@pytest.mark.parametrize(
    ("document", "where", "tag"),
    [
        (episode(run={"type": "sweep", "id": "s", "grid": [1]}), "/run/type", "sweep"),
        (episode(run={"type": "train", "id": "t", "work": {"type": "replay", "of": 3}}), "/run/work/type", "replay"),
        (trace(nodes=[{"message": {"role": "developer", "content": "x"}}]), "/nodes/0/message/role", "developer"),
        (
            trace(nodes=[{"message": {"role": "user", "content": [{"type": "audio", "audio": {"id": "a"}}]}}]),
            "/nodes/0/message/content/0/type",
            "audio",
        ),
    ],
)
def test_a_variant_of_a_newer_writer_is_kept_whole(document: dict[str, Any], where: str, tag: str) -> None:
    cls = evh.Trace if "nodes" in document else evh.Episode
    record, notices = read(document, cls)
    assert [(each.kind, each.pointer, each.value) for each in notices] == [("unknown-tag", where, tag)]
    saved = written(record)
    if cls is evh.Trace:
        assert saved["nodes"][0]["message"] == document["nodes"][0]["message"]
    else:
        assert saved["run"] == document["run"]
    with pytest.raises(NotWritable):
        evh.encode(record, strict=True)
    with pytest.raises(SchemaError):
        evh.decode_strict(text(document), cls)


@pytest.mark.parametrize("kind", ["RunInfo", "Derived"])
def test_an_unknown_variant_alone_is_read_and_written(kind: str) -> None:
    document = {"type": "sweep", "kind": "audit", "id": "s"}
    record = evh.decode(text(document), getattr(evh, kind))
    assert written(record) == document


@pytest.mark.parametrize("tag", [None, 3, [], {}, True])
def test_a_tag_that_is_no_text_is_refused(tag: Any) -> None:
    with pytest.raises(SchemaError) as refused:
        evh.decode(text(episode(run={"type": tag, "id": "r"})))
    assert [each.pointer for each in refused.value.violations] == ["/run"]


def test_a_newer_schema_says_so_instead_of_unexpected() -> None:
    with pytest.raises(SchemaError, match="newer schema") as refused:
        evh.decode_strict(text(episode(schema="evh:1.9:episode", brand_new=1)))
    assert [each.pointer for each in refused.value.violations] == ["/brand_new"]
    with pytest.raises(SchemaError, match="unexpected member"):
        evh.decode_strict(text(episode(schema="evh:1.0:episode", brand_new=1)))


def test_a_bare_trace_is_no_episode() -> None:
    with pytest.raises(SchemaError, match="trace, not an episode"):
        evh.decode(text(trace(nodes=[])))


# Errors


def test_every_violation_is_named_with_its_pointer_in_order() -> None:
    document = episode(ok="yes", traces=[trace(timing={}), {**TRACE, "id": 3}], errors=[{"type": "E"}])
    for reader in (evh.decode, evh.decode_strict):
        with pytest.raises(SchemaError) as refused:
            reader(text(document))
        assert [(each.pointer, each.keyword) for each in refused.value.violations] == [
            ("/errors/0", "required"),
            ("/ok", "type"),
            ("/traces/0/timing", "required"),
            ("/traces/1/id", "type"),
        ]
        assert refused.value.root == "Episode"


def test_messages_show_no_whole_documents() -> None:
    secret = "s3cret" * 4000
    with pytest.raises(SchemaError) as refused:
        evh.decode(text(episode(ok=secret, errors=[secret], id={"x": secret})))
    assert len(str(refused.value)) < 2000
    assert secret not in str(refused.value)


def test_a_union_is_reported_in_the_branch_its_tag_selects() -> None:
    with pytest.raises(SchemaError) as refused:
        evh.decode_strict(text(episode(run={"type": "train", "id": 7, "work": {"type": "eval", "step": "x"}})))
    assert [(each.pointer, each.keyword) for each in refused.value.violations] == [
        ("/run/id", "type"),
        ("/run/work/step", "type"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b'{"id"',
        b"{}{}",
        b"\xff",
        b"nul",
        b"[1,]",
        b"'x'",
        b"[" * 100_000,
        b'{"a":' * 5000,
        b'"\xed\xa0\x80"',
    ],
)
def test_what_is_no_json_is_a_decode_error(data: bytes) -> None:
    for reader in (evh.decode, evh.decode_strict, evh.upgrade):
        with pytest.raises(DecodeError):
            reader(data)


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\x81", b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\x91" * 5000, b"\x80\x80"]
)
def test_what_is_no_messagepack_is_a_decode_error(data: bytes) -> None:
    for reader in (evh.decode, evh.decode_strict):
        with pytest.raises(DecodeError):
            reader(data, evh.Trace, format="msgpack")


@pytest.mark.parametrize("data", [b"null", b"3", b"[]", b'"x"', b"true"])
def test_json_that_is_no_object_is_a_schema_error(data: bytes) -> None:
    for reader in (evh.decode, evh.decode_strict, evh.upgrade):
        with pytest.raises(SchemaError) as refused:
            reader(data)
        assert [each.pointer for each in refused.value.violations] == [""]


@pytest.mark.parametrize("call", [
    lambda: evh.decode(b"{}", int),
    lambda: evh.decode(b"{}", "Episode"),
    lambda: evh.decode(b"{}", None),
    lambda: evh.decode(b"{}", format="yaml"),
    lambda: evh.decode(3),
    lambda: evh.decode({"id": "e"}),
    lambda: evh.decode_strict(None),
    lambda: evh.encode({"id": "e"}),
    lambda: evh.encode(None),
    lambda: evh.encode(evh.EvalRunInfo(id="r"), format="xml"),
])  # fmt: skip
def test_an_argument_that_makes_no_sense_is_a_usage_error(call: Any) -> None:
    with pytest.raises(UsageError):
        call()


# Numbers and text


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_a_nan_literal_becomes_null_at_the_nearest_place_that_may_be_null_or_absent(token: str) -> None:
    document = json.dumps(
        trace(
            metrics={"m": "@"},
            rewards={"r": {"score": "@", "weight": 1.0}},
            nodes=[{**NODE, "timestamp": "@"}],
            info={"deep": ["@"]},
            calls=[{"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": "@"}, "time": {"start": "@"}}],
        )
    ).replace('"@"', token)
    record, notices = read(document.encode(), evh.Trace)
    assert (record.metrics, record.rewards, record.nodes[0].timestamp) == ({"m": None}, {"r": None}, None)
    assert record.info["deep"] == [None]
    assert (record.calls[0].usage.cost, record.calls[0].time.start) == (None, 0.0)
    assert {each.kind for each in notices} == {"non-finite"}
    assert {each.value if isinstance(each.value, str) else each.value.token for each in notices} == {token}
    assert {each.pointer for each in notices} == {
        "/metrics/m",
        "/rewards/r/score",
        "/nodes/0/timestamp",
        "/info/deep/0",
        "/calls/0/usage/cost",
        "/calls/0/time/start",
    }
    with pytest.raises(DecodeError, match="not JSON"):
        evh.decode_strict(document, evh.Trace)


def test_a_nan_where_nothing_around_may_go_is_refused() -> None:
    with pytest.raises(SchemaError, match="finite"):
        evh.decode(json.dumps(TRACE).replace("1.5", "NaN"), evh.Trace)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("place", ["metric", "info", "stream", "open", "unknown"])
def test_no_writer_writes_a_nan(number: float, place: str) -> None:
    record, _ = read(trace(nodes=[NODE], x=1), evh.Trace)
    if place == "metric":
        record.metrics["m"] = number
    elif place == "info":
        record.info["deep"] = [number]
    elif place == "stream":
        record.nodes[0].logprobs = [number]
    elif place == "open":
        record.agent.config["own"] = {"x": number}
    else:
        record.additional.members["x"] = number
    for format in ("json", "msgpack"):
        with pytest.raises(NotWritable) as refused:
            evh.encode(record, format=format)
        where = {
            "metric": "/metrics/m",
            "info": "/info/deep/0",
            "stream": "/nodes/0/logprobs/0",
            "open": "/agent/config/own/x",
            "unknown": "/x",
        }
        assert [each.pointer for each in refused.value.violations] == [where[place]]


def test_lone_surrogates_are_kept_escaped_and_refused_by_strict() -> None:
    document = rb'{"id":"e","task":{"type":"t","data":{"prompt":"a\udc00b"}},"info":{"\ud800":1}}'
    record, notices = read(document)
    assert {each.kind for each in notices} == {"surrogate"}
    assert record.task.data["prompt"] == "a\udc00b"
    saved = evh.encode(record)
    assert rb"a\udc00b" in saved
    assert evh.decode(saved) == record
    with pytest.raises(DecodeError):
        evh.decode_strict(document)


def test_pairs_of_surrogates_are_characters() -> None:
    record, notices = read(rb'{"id":"\ud83d\ude00","task":{"type":"t","data":{}}}')
    assert (record.id, notices) == ("😀", [])
    assert written(record)["id"] == "😀"


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029", "\n", "\r", "\x1c", "\x00"])
def test_what_splits_lines_is_escaped_on_writing(character: str) -> None:
    document = episode(id=f"a{character}b", info={character: [character]}, **{f"x{character}": character})
    for record in (read(document)[0], read(episode(id=f"a{character}b"))[0]):
        saved = evh.encode(record)
        assert len(saved.decode().splitlines()) == 1
        assert evh.decode(saved) == record
        assert json.loads(saved)["id"] == f"a{character}b"


def test_one_bom_is_tolerated_with_a_notice_and_none_is_written() -> None:
    record, notices = read(b"\xef\xbb\xbf" + text(EPISODE))
    assert [each.kind for each in notices] == ["bom"]
    assert evh.encode(record).startswith(b"{")
    with pytest.raises(DecodeError):
        evh.decode_strict(b"\xef\xbb\xbf" + text(EPISODE))


# Streams


def test_a_bad_stream_is_found_on_reading_it_by_strict_and_by_verify() -> None:
    document = trace(nodes=[{**NODE, "token_ids": [1, "x"]}])
    record, _ = read(document, evh.Trace)
    assert [(each.pointer, each.keyword) for each in evh.verify(record)] == [("/nodes/0/token_ids", "stream")]
    with pytest.raises(RecordError, match="token_ids"):
        _ = record.nodes[0].token_ids
    with pytest.raises(SchemaError) as refused:
        evh.decode_strict(text(document), evh.Trace)
    assert [each.pointer for each in refused.value.violations] == ["/nodes/0/token_ids/1"]
    assert written(record)["nodes"][0]["token_ids"] == [1, "x"]
    with pytest.raises(NotWritable):
        evh.encode(record, strict=True)


def test_edits_of_a_stream_are_written() -> None:
    record, _ = read(trace(nodes=[{**NODE, "token_ids": [1, 2], "mask": [True, False]}]), evh.Trace)
    record.nodes[0].token_ids.append(3)
    record.nodes[0].mask = [True, False, True]
    record.nodes[0].advantages = [0.5, 1]
    saved = written(record)["nodes"][0]
    assert (saved["token_ids"], saved["mask"], saved["advantages"]) == ([1, 2, 3], [True, False, True], [0.5, 1])


@pytest.mark.parametrize("value", [["x"], [None], [1.5], "x", {"a": 1}, [True]])
def test_a_wrong_stream_is_not_written(value: Any) -> None:
    record, _ = read(trace(nodes=[NODE]), evh.Trace)
    record.nodes[0].token_ids = value
    for format in ("json", "msgpack"):
        with pytest.raises(NotWritable) as refused:
            evh.encode(record, format=format)
        assert refused.value.violations[0].pointer.startswith("/nodes/0/token_ids")


# Writing


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda e: setattr(e, "id", 3), "/id"),
        (lambda e: setattr(e, "id", None), "/id"),
        (lambda e: setattr(e, "ok", "yes"), "/ok"),
        (lambda e: setattr(e, "traces", {}), "/traces"),
        (lambda e: setattr(e, "run", "r1"), "/run"),
        (lambda e: setattr(e, "schema", "evh:9.0:episode"), "/schema"),
        (lambda e: e.errors.append("boom"), "/errors/0"),
        (lambda e: setattr(e, "info", {"x": object()}), "/info/x"),
        (lambda e: setattr(e, "info", {"x": {1, 2}}), "/info/x"),
        (lambda e: setattr(e, "info", {"x": b"bytes"}), "/info/x"),
    ],
)
def test_what_is_wrong_is_not_written_and_the_error_says_where(change: Any, where: str) -> None:
    record = evh.decode(text(EPISODE))
    change(record)
    with pytest.raises(NotWritable) as refused:
        evh.encode(record)
    assert refused.value.violations
    assert all(each.pointer == where for each in refused.value.violations)


def test_what_holds_itself_is_not_written() -> None:
    record = evh.decode(text(EPISODE))
    record.info["self"] = record.info
    for format in ("json", "msgpack"):
        with pytest.raises(NotWritable):
            evh.encode(record, format=format)


def test_an_integer_that_messagepack_cannot_hold_is_not_written_there() -> None:
    record = evh.decode(text(episode(info={"big": 2**70})))
    assert written(record)["info"]["big"] == 2**70
    with pytest.raises(NotWritable):
        evh.encode(record, format="msgpack")


def test_a_clean_row_is_written_byte_for_byte() -> None:
    row = evh.encode(evh.decode(text(episode(traces=[trace(nodes=[{**NODE, "token_ids": [1]}])]))))
    for record in (evh.decode(row), evh.decode_strict(row), evh.upgrade(row).record):
        assert evh.encode(record) == row


def test_tensors_are_left_out_of_json_with_a_notice_and_kept_in_messagepack() -> None:
    tensor = {"__nd__": True, "dtype": "uint8", "shape": [2, 1, 1], "data": b"\x01\x02"}
    packed = msgspec.msgpack.encode(trace(nodes=[{**NODE, "token_ids": [1, 2], "routed_experts": tensor}]))
    record = evh.decode(packed, evh.Trace, format="msgpack")
    notices: list[Any] = []
    assert "routed_experts" not in json.loads(evh.encode(record, notices=notices))["nodes"][0]
    assert [(each.kind, each.pointer) for each in notices] == [("wire-only", "/nodes/0/routed_experts")]
    back = msgspec.msgpack.decode(evh.encode(record, format="msgpack"))
    assert back["nodes"][0]["routed_experts"] == tensor


def test_reading_and_writing_leaves_its_input_alone() -> None:
    buffer = bytearray(text(episode(traces=[trace(nodes=[{**NODE, "token_ids": [1, 2]}])], x=[1])))
    before = bytes(buffer)
    record = evh.decode(buffer)
    evh.upgrade(buffer)
    assert bytes(buffer) == before
    buffer[:] = b"\x00" * len(buffer)
    assert record.traces[0].nodes[0].token_ids == [1, 2]


def test_two_records_share_no_state() -> None:
    one, other = evh.decode(text(EPISODE)), evh.decode(text(EPISODE))
    one.traces.append("x")
    one.info["a"] = 1
    one.errors.append(1)
    assert (other.traces, dict(other.info), other.errors) == ([], {}, [])
    made, again = evh.ModelCall(), evh.ModelCall()
    made.time.start = 5.0
    assert again.time.start == 0.0


@pytest.mark.parametrize("cls", ["PredictionRow"])
def test_open_records_are_read_verified_and_written(cls: str) -> None:
    row = b'{"item_id":"a","accuracy":1,"_extra":{"n":2.0},"_meta":{"usage":{"cost":null}}}'
    for reader in (evh.decode, evh.decode_strict):
        record = reader(row, getattr(evh, cls))
        assert json.loads(evh.encode(record)) == json.loads(row)
        assert json.loads(evh.encode(record, strict=True)) == json.loads(row)
        assert evh.verify(record) == []


@pytest.mark.parametrize("star", [1.5, {"a": 1}, None, "x"])
def test_a_member_that_is_really_named_star_is_one_unknown_member_among_others(star: Any) -> None:
    episode = evh.decode(json.dumps({**EPISODE, "newer": 1, "*": star}))
    assert episode.additional is not None
    assert dict(episode.additional) == {"newer": 1, "*": star}
    assert json.loads(evh.encode(episode)).items() >= {"newer": 1, "*": star}.items()


def test_a_nan_metric_of_a_row_is_absent_and_reported() -> None:
    notices: list[evh.Notice] = []
    row = evh.decode(b'{"item_id":"a","score":NaN,"other":1}', evh.PredictionRow, notices=notices)
    assert row.plain() == {"item_id": "a", "other": 1}
    assert [(each.kind, each.pointer) for each in notices] == [("non-finite", "/score")]


@pytest.mark.parametrize("value", [0, 64, 127, -1, "x", True, 1.5])
@pytest.mark.parametrize("stream", ["trainer_logprobs", "token_ids", "mask", "loss_weights"])
def test_a_packed_stream_that_is_no_list_is_never_taken_for_json_text(stream: str, value: object) -> None:
    packed = msgspec.msgpack.encode(trace(nodes=[{**NODE, stream: value}]))
    with pytest.raises(SchemaError) as caught:
        evh.decode_strict(packed, evh.Trace, format="msgpack")
    assert [each.pointer for each in caught.value.violations] == [f"/nodes/0/{stream}"]
    written = evh.encode(evh.decode(packed, evh.Trace, format="msgpack"))
    assert json.loads(written)["nodes"][0][stream] == value
