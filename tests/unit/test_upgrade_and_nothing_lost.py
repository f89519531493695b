"""What `upgrade` and the readers over it must never do: lose a value, or say that an episode was something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import evh
from evh.errors import NotWritable, RecordError, SchemaError, UsageError

TASK: dict[str, Any] = {"type": "T", "data": {"idx": 1}}
TRACE: dict[str, Any] = {
    "id": "t1",
    "verifiers": {"version": "0.4.0"},
    "task": TASK,
    "agent": {"config": {}},
    "timing": {"start": 1.5},
}
EPISODE: dict[str, Any] = {"id": "e1", "task": TASK, "ok": True, "traces": [TRACE]}


def text(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_a_trace_that_cannot_be_read_refuses_the_row_rather_than_taking_all_traces_with_it() -> None:
    row = {**EPISODE, "traces": [TRACE, {**TRACE, "timing": {"start": "noon"}}]}
    with pytest.raises(SchemaError) as refused:
        evh.upgrade(text(row))
    assert "/traces/1/timing/start" in str(refused.value)
    reader = evh.read_episodes(text(row) + b"\n" + text(EPISODE) + b"\n")
    assert [len(each.traces) for each in reader] == [1]
    assert reader.skipped == 1


def test_one_bad_trace_of_a_trainers_rows_leaves_the_others() -> None:
    rows = [{**TRACE, "id": f"t{number}", "info": {"episode_id": "e9"}} for number in range(3)]
    rows[1]["agent"] = 5
    reader = evh.read_episodes(b"\n".join(map(text, rows)) + b"\n")
    assert [trace.id for episode in reader for trace in episode.traces] == ["t0", "t2"]
    assert [error.line for error in reader.errors] == [2]


def test_a_value_kept_aside_twice_under_one_pointer_is_kept_twice() -> None:
    first = json.loads(evh.encode(evh.upgrade(text({**EPISODE, "bar": 2})).record))
    second = evh.upgrade(text({**first, "bar": 3}))
    assert second.record.info["evh"]["kept"] == {"/bar": 2, "/bar#2": 3}
    assert [step.to for step in second.steps if step.pointer == "/bar"] == ["/info/evh/kept/~1bar#2"]


def test_a_name_with_a_lone_surrogate_is_renamed_and_said() -> None:
    made = evh.upgrade(b'{"id":"e","task":{"type":"t","data":{}},"traces":[],"info":{"\\ud800":"x"}}')
    assert made.record.info["\ufffd"] == "x"
    assert any(step.rule == "surrogate" for step in made.steps)
    evh.decode_strict(evh.encode(made.record, strict=True))


def test_bytes_of_messagepack_become_text_with_a_step() -> None:
    packed = msgspec.msgpack.encode({**EPISODE, "info": {"b": b"\x00\x01"}})
    made = evh.upgrade(packed, format="msgpack")
    assert made.record.info == {"b": "AAE="}
    assert [(step.rule, step.pointer) for step in made.steps if step.rule == "bytes"] == [("bytes", "/info/b")]


def test_the_values_that_a_repeated_member_hides_are_told_by_place() -> None:
    made = evh.upgrade(
        b'{"id":"e","task":{"type":"t","data":{}},"traces":[],"info":{"a":{"x":1,"x":2},"b":{"x":3,"x":4}}}'
    )
    hidden = {step.pointer: step.value for step in made.steps if step.rule == "duplicate-key"}
    assert hidden == {"/info/a/x": [1], "/info/b/x": [3]}


def test_what_is_no_record_is_not_made_one() -> None:
    for document in ({"run": 3}, {"model": "gpt", "env": {"id": "q"}}, {"instruction": "x", "ok": True}):
        with pytest.raises(SchemaError, match="neither an episode nor a trace"):
            evh.upgrade(text(document))


def test_strict_tells_true_from_one_in_a_repeated_task() -> None:
    other = {"type": "T", "data": {"idx": True}}
    with pytest.raises(SchemaError, match="/traces/0/task/data/idx"):
        evh.decode_strict(text({**EPISODE, "traces": [{**TRACE, "task": other}]}))


@pytest.mark.parametrize("number", ["9" * 299 + "e99", "9" * 250 + "e+99", "1" + "0" * 400, "1e400", "9" * 320 + ".0"])
def test_strict_and_reading_agree_on_huge_numbers_in_streams(number: str) -> None:
    node = {"message": {"role": "user", "content": ""}, "logprobs": "@"}
    row = text({**EPISODE, "traces": [{**TRACE, "nodes": [node]}]}).replace(b'"@"', b"[" + number.encode() + b"]")
    try:
        episode = evh.decode_strict(row)
    except evh.EvhError:
        return
    assert episode.traces[0].nodes[0].logprobs[0] == int(number)


def test_a_bom_forgives_nothing_else() -> None:
    with pytest.raises(SchemaError) as with_bom:
        evh.decode(b'\xef\xbb\xbf{"id":5,"task":3,"ok":7}')
    with pytest.raises(SchemaError) as without:
        evh.decode(b'{"id":5,"task":3,"ok":7}')
    assert with_bom.value.violations == without.value.violations


def test_the_notice_of_a_retired_member_stands_where_the_member_stood() -> None:
    notices: list[evh.Notice] = []
    first = text(TRACE)[:-1] + b',"run":{"id":"a"},"run":{"id":"b"}}'
    evh.decode(
        b'{"id":"e","task":{"type":"t","data":{}},"traces":[' + first + b"," + text(TRACE) + b"]}", notices=notices
    )
    assert {notice.pointer for notice in notices if notice.kind == "retired"} == {"/traces/0/run"}


@pytest.mark.parametrize("value", [{1, 2}, __import__("uuid").uuid4(), __import__("datetime").date(2026, 1, 1)])
@pytest.mark.parametrize("format", ["json", "msgpack"])
def test_a_value_that_is_no_json_is_refused_in_both_forms(value: Any, format: Any) -> None:
    episode = evh.decode(text(EPISODE))
    episode.info["x"] = value
    with pytest.raises(NotWritable, match="/info/x"):
        evh.encode(episode, format=format)


def test_none_in_a_member_that_may_not_be_null_is_not_dropped_in_silence() -> None:
    episode = evh.decode(text(EPISODE))
    episode.traces = None  # type: ignore[assignment]
    with pytest.raises(NotWritable, match="/traces"):
        evh.encode(episode)


def test_a_stray_metadata_file_is_not_read_for_rows_that_come_from_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "metadata.json").write_text('{"env_id": "STRAY"}')
    monkeypatch.chdir(tmp_path)
    (episode,) = evh.read_episodes(b'{"example_id":1,"prompt":"hi","completion":"yo"}\n')
    assert episode.env.id == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda: evh.upgrade(None),  # type: ignore[call-overload]
        lambda: evh.upgrade({"id": "e"}),  # type: ignore[call-overload]
        lambda: evh.upgrade(text(EPISODE), format="xml"),  # type: ignore[call-overload]
        lambda: evh.json_schema(None),  # type: ignore[arg-type]
        lambda: evh.EpisodeWriter(None),  # type: ignore[arg-type]
        lambda: evh.EpisodeWriter("rows.msgpack"),
        lambda: evh.decode(b"{}", type=[]),  # type: ignore[call-overload]
        lambda: evh.decode(b"{}", type=type("Trace", (), {})),
        lambda: list(evh.read_rows(b"{}\n", on_error="bogus")),  # type: ignore[arg-type]
        lambda: list(evh.read_summaries(b"{}\n", on_error="bogus")),  # type: ignore[arg-type]
        lambda: list(evh.read_episodes("")),
    ],
)
def test_an_argument_that_makes_no_sense_is_a_usage_error(call: Any) -> None:
    with pytest.raises(UsageError):
        call()


@pytest.mark.parametrize("source", ["a" * 5000, "/proc/self/mem", "a\0.msgpack", "a\0.json"])
def test_a_source_that_cannot_be_read_is_a_source_error(source: str) -> None:
    with pytest.raises(evh.SourceError):
        list(evh.read_episodes(source))


def test_a_tensor_of_nonsense_is_a_record_error() -> None:
    with pytest.raises(RecordError):
        evh.Tensor(dtype="i4,(", shape=[1], data=b"1234").numpy()
