"""Uploaded documents: the episode's line, re-keyed, and nothing else; from the episode as from its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evh
from evh.errors import DecodeError
from evh.platform import Rekeyed, cut_batches, for_upload, row_for_upload
from evh.protocol.jsontext import dumps
from evh.protocol.models import EnvInfo, Episode, EvalRunInfo, PolicySpan, TraceTask, TrainRunInfo, TrainWorkInfo
from evh.testing import documents

EVAL = EvalRunInfo(id="platform-1")
NAMED = EvalRunInfo(id="platform-1", name="shown")
TRAIN = TrainRunInfo(id="platform-2", work=TrainWorkInfo(step=7))
RUNS = [EVAL, NAMED, TRAIN]
ROWS = [
    row
    for path in sorted((Path(__file__).parents[2] / "data" / "verifiers").rglob("*.jsonl"))
    for row in path.read_bytes().split(b"\n")
    if row.strip()
]


def own_rows() -> list[bytes]:
    """Real episodes as our encoder writes them."""
    found = []
    for row in ROWS:
        try:
            found.append(evh.encode(evh.upgrade(row).record))
        except evh.EvhError:
            continue
    assert len(found) > 50
    return found


def expected(document: dict[str, Any], run: Any) -> dict[str, Any]:
    """The uploaded document, said in the plainest way."""
    given = json.loads(evh.encode(run))
    own = {**given, **(document.get("run") or {}), "type": given["type"], "id": given["id"]}
    return {**document, "run": own, "traces": [{"run": own, **trace} for trace in document["traces"]]}


@pytest.mark.parametrize("run", RUNS)
def test_real_episodes(run: Any) -> None:
    for row in own_rows():
        episode = evh.decode(row)
        made = for_upload(episode, run)
        assert json.loads(made) == expected(json.loads(row), run)
        assert row_for_upload(row, run) == made
        assert evh.encode(episode) == row


@given(data=st.data(), run=st.sampled_from(RUNS), coherent=st.booleans())
def test_the_row_and_the_episode_make_the_same_document(data: st.DataObject, run: Any, coherent: bool) -> None:
    row = evh.encode(evh.decode(json.dumps(data.draw(documents("Episode", coherent=coherent)))))
    made = for_upload(evh.decode(row), run)
    assert row_for_upload(row, run) == made
    assert json.loads(made) == expected(json.loads(row), run)
    assert json.loads(made).keys() == {*json.loads(row), "run"}


@given(data=st.data(), run=st.sampled_from(RUNS))
def test_a_row_that_is_spliced_is_the_row_that_is_put_together(data: st.DataObject, run: Any) -> None:
    """The two ways must not differ in a byte, or a retry could be another upload."""
    row = evh.encode(evh.decode(json.dumps(data.draw(documents("Episode")))))
    rekeyed = Rekeyed(run)
    spliced = rekeyed._spliced(row, 0, len(row))
    assert spliced is None or b"".join(spliced) == rekeyed._put_together(row)


def test_real_rows_are_spliced() -> None:
    rekeyed = Rekeyed(EVAL)
    with_traces = [row for row in own_rows() if b'"traces":[]' not in row]
    assert sum(rekeyed._spliced(row, 0, len(row)) is not None for row in with_traces) > 0.9 * len(with_traces)


def episode(**more: Any) -> Episode:
    return Episode(id="ep", task=TraceTask(type="T", data={"idx": 1}), **more)


def uploaded(record: Episode, run: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(for_upload(record, run))
    return made


def test_type_and_id_are_the_platforms_and_the_rest_is_the_episodes_own() -> None:
    work = TrainWorkInfo(step=3, policy=PolicySpan(start=1, end=2))
    own = episode(run=TrainRunInfo(id="ours", name="mine", work=work))
    kept = {"name": "mine", "work": {"type": "train", "step": 3, "policy": {"start": 1, "end": 2}}}
    assert uploaded(own, TRAIN)["run"] == {"type": "train", "id": "platform-2", **kept}
    assert uploaded(own, NAMED)["run"] == {"type": "eval", "id": "platform-1", **kept}
    assert own.run == TrainRunInfo(id="ours", name="mine", work=work)


def test_an_episode_of_no_run_gets_the_platforms_whole() -> None:
    assert uploaded(episode(), NAMED)["run"] == {"type": "eval", "id": "platform-1", "name": "shown"}
    assert uploaded(episode(), TRAIN)["run"] == {
        "type": "train",
        "id": "platform-2",
        "work": {"type": "train", "step": 7},
    }


def test_an_episode_without_traces_names_its_run_too() -> None:
    assert uploaded(episode(), EVAL)["traces"] == []
    assert list(uploaded(episode(env=EnvInfo(id="e")), EVAL)) == ["schema", "id", "env", "task", "run", "ok",
                                                                 "is_timeout", "errors", "traces"]  # fmt: skip


def test_names_that_look_like_members_are_left_alone() -> None:
    odd = {'"run":{"id":"x"}': '"traces":[', "run": {"id": "x"}, "traces": [{"run": 1}], "idx": 1}
    record = Episode(id='"run":', task=TraceTask(type='"traces":[', data=odd), info={"run": {"id": 1}, "traces": []})
    assert uploaded(record, EVAL) == expected(json.loads(evh.encode(record)), EVAL)


ROW = b'{"id":"e","task":{"type":"T","data":{}},"ok":true,"is_timeout":false,"errors":[],"traces":[{"id":"t"}]}'
STAMP = '{"type":"eval","id":"platform-1"}'


@pytest.mark.parametrize(
    ("row", "made"),
    [
        (ROW, f'"run":{STAMP},"ok":true,"is_timeout":false,"errors":[],"traces":[{{"run":{STAMP},"id":"t"}}]'),
        (ROW.replace(b'"errors":[],', b'"errors": [],'),
         f'"run":{STAMP},"ok":true,"is_timeout":false,"errors":[],"traces":[{{"run":{STAMP},"id":"t"}}]'),
        (ROW.replace(b'"ok":true', b'"run":null,"ok":true'),
         f'"run":{STAMP},"ok":true,"is_timeout":false,"errors":[],"traces":[{{"run":{STAMP},"id":"t"}}]'),
        (ROW.replace(b'{"id":"t"}', b'{"id":"t","run":{"id":"old","name":"n"}}'),
         f'"run":{STAMP},"ok":true,"is_timeout":false,"errors":[],'
         f'"traces":[{{"run":{STAMP[:-1]},"name":"n"}},"id":"t"}}]'),
        (ROW.replace(b'{"id":"t"}', b"{},{ }"),
         f'"run":{STAMP},"ok":true,"is_timeout":false,"errors":[],"traces":[{{"run":{STAMP}}},{{"run":{STAMP}}}]'),
        (ROW[:-1] + b',"zzz":[1]}',
         f'"run":{STAMP},"ok":true,"is_timeout":false,"errors":[],"traces":[{{"run":{STAMP},"id":"t"}}],"zzz":[1]'),
        (b'{"traces":[{"id":"t"}],"id":"e","task":{"type":"T","data":{}}}',
         f'"run":{STAMP},"traces":[{{"run":{STAMP},"id":"t"}}]'),
    ],
    ids=["own", "spaced", "null", "a trace with a run", "empty traces", "unknown member", "other order"],
)  # fmt: skip
def test_rows_of_other_writers_are_put_together_anew(row: bytes, made: str) -> None:
    head = '{"id":"e","task":{"type":"T","data":{}},'
    assert row_for_upload(row, EVAL).decode() == head + made + "}"


@pytest.mark.parametrize(
    "row",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b'{"traces":1}',
        b'{"traces":[1]}',
        b'{"traces":[[]]}',
        b'{"run":1,"traces":[]}',
        ROW[:-1],
    ],
)
def test_what_is_no_row_is_refused(row: bytes) -> None:
    with pytest.raises(DecodeError, match="no row"):
        row_for_upload(row, EVAL)


def test_escapes_stay_as_they_are_written() -> None:
    record = episode(info={"a\u2028b": "\u0085", "lone": "\ud800", "é": "é"})
    made = for_upload(record, EVAL)
    assert made.count(b"\n") == 0 and b"\\u2028" in made and b"\\ud800" in made and "é".encode() in made
    assert made == row_for_upload(evh.encode(record), EVAL)


def test_a_mask_comes_before_everything() -> None:
    record = episode(info={"key": "canary"})

    def mask(each: Episode) -> Episode:
        return evh.decode(dumps(json.loads(evh.encode(each))).replace(b"canary", b"***"))

    assert b"canary" not in for_upload(record, EVAL, mask=mask)
    assert record.info["key"] == "canary"


def test_a_batch_is_shaped_line_by_line() -> None:
    rows = own_rows()[:20]
    data = b"".join(row + b"\n" for row in rows)
    (batch,) = cut_batches(data, shape=Rekeyed(EVAL))
    assert [batch] == list(cut_batches(data, shape=lambda row: row_for_upload(row, EVAL)))
    assert batch.body == b"".join(for_upload(evh.decode(row), EVAL) + b"\n" for row in rows)
