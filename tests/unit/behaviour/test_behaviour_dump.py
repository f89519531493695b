"""Records as plain values: `to_record` and `model_dump`."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest

from evh.errors import RecordError, UsageError
from evh.protocol.models import Reward, SamplingMask, Tensor


def test_an_episode_leaves_null_members_out_and_keeps_nulls_that_are_data(make: Any) -> None:
    trace = make.trace([make.node(text="hi")], rewards={"r": None}, metrics={"m": None}, info={"i": None})
    episode = make.episode(trace)
    episode.task.data["answer"] = None
    record = episode.to_record()
    assert "group" not in record and "info" not in record
    assert record["task"]["data"] == {"answer": None}
    member = record["traces"][0]
    assert (member["rewards"], member["metrics"], member["info"]) == ({"r": None}, {"m": None}, {"i": None})
    assert "stop_condition" not in member and "parent" not in member["nodes"][0] and "tools" not in member["nodes"][0]
    assert (member["tools"], member["errors"], member["nodes"][0]["token_ids"]) == ([], [], [])
    assert member["nodes"][0]["message"] == {"role": "user", "content": "hi"}
    json.dumps(record, allow_nan=False)


def test_a_trace_keeps_nulls(make: Any) -> None:
    record = make.trace([make.node()]).to_record()
    assert record["stop_condition"] is None and record["root_reply"] is None
    assert record["nodes"][0]["parent"] is None and record["nodes"][0]["advantages"] is None
    assert "num_input_tokens" not in record and "run" not in record


def test_members_of_the_wire_are_left_out_of_json_and_kept_in_python(make: Any) -> None:
    experts = Tensor.of(np.zeros((1, 1, 1), dtype="uint8"))
    node = make.reply(None, token_ids=[1], mask=[True], logprobs=[0.0], routed_experts=experts)
    node.sampling_mask = SamplingMask(ids=experts, counts=experts)
    record = node.model_dump(mode="json")
    assert not {"routed_experts", "sampling_mask", "multi_modal_data"} & record.keys()
    whole = node.model_dump()
    assert whole["routed_experts"] == {"__nd__": True, "dtype": "uint8", "shape": [1, 1, 1], "data": b"\0"}
    assert whole["sampling_mask"]["ids"]["data"] == b"\0"
    assert whole["multi_modal_data"] is None


def test_a_dump_is_a_copy(make: Any) -> None:
    trace = make.trace([make.node(token_ids=[1], mask=[False])], info={"deep": [{"a": [1]}]})
    record = trace.to_record()
    record["nodes"][0]["token_ids"].append(2)
    record["info"]["deep"][0]["a"].append(2)
    assert trace.nodes[0].token_ids == [1] and trace.info["deep"] == [{"a": [1]}]


def test_members_a_newer_writer_added_follow_the_known_ones(make: Any) -> None:
    from evh.protocol._base import Overflow

    reward = Reward(score=1.5, additional=Overflow({"unit": {"name": "points", "none": None}}))
    assert list(reward.model_dump(mode="json").items()) == [
        ("score", 1.5), ("weight", 1.0), ("unit", {"name": "points", "none": None}),
    ]  # fmt: skip


def test_open_objects_are_dumped_as_they_are(make: Any) -> None:
    data = make.task(idx=3, answer=None, options=[{"b": None}]).data
    assert data.model_dump(mode="json") == {"idx": 3, "answer": None, "options": [{"b": None}]}
    assert data.model_dump(mode="json", exclude_none=True) == {"idx": 3, "options": [{"b": None}]}


def test_rounding_is_asked_for_and_touches_per_token_floats_only(make: Any) -> None:
    floats = [0.123456, 2, -1.987654]
    node = make.reply(None, token_ids=[1, 2, 3], mask=[True] * 3, logprobs=floats, advantages=floats)
    node.loss_weights = {"w": floats}
    trace = make.trace([node], info={"logprobs": floats}, metrics={"m": 0.123456})
    assert trace.to_record()["nodes"][0]["logprobs"] == floats
    record = trace.to_record(float_decimals=4)
    assert record["nodes"][0]["logprobs"] == record["nodes"][0]["advantages"] == [0.1235, 2, -1.9877]
    assert type(record["nodes"][0]["logprobs"][1]) is int
    assert record["nodes"][0]["loss_weights"] == {"w": floats}
    assert record["info"]["logprobs"] == floats and record["metrics"]["m"] == 0.123456
    assert make.episode(trace).to_record(float_decimals=0)["traces"][0]["nodes"][0]["logprobs"] == [0.0, 2, -2.0]
    for bad in (-1, 1.5, True, "4", 10**9):
        with pytest.raises(UsageError):
            trace.to_record(float_decimals=bad)


@pytest.mark.parametrize(
    ("info", "at"),
    [
        ({"a": float("nan")}, "/info/a"),
        ({"a/b": [0.5, float("inf")]}, "/info/a~1b/1"),
        ({"a": ["x", 10**400, 0.5, float("-inf")]}, "/info/a/3"),
        ({"a": [{"b": object()}]}, "/info/a/0/b"),
        ({"a": [b"raw", {}]}, "/info/a/0"),
        ({"a": {5: 6}}, "/info/a"),
    ],
)
def test_what_json_cannot_hold_is_an_error_with_its_pointer(make: Any, info: Any, at: str) -> None:
    trace = make.trace(info=info)
    with pytest.raises(RecordError) as caught:
        trace.to_record()
    assert caught.value.pointer == at
    assert trace.model_dump(mode="python")["info"].keys() == info.keys()


def test_numbers_are_what_they_are(make: Any) -> None:
    record = make.trace(metrics={"i": 3, "f": 3.0, "big": 10**30}, info={"l": [1, 1.0, True, 1e308, 1e308]}).to_record()
    assert [type(record["metrics"][name]) for name in "if"] == [int, float]
    assert record["metrics"]["big"] == 10**30
    assert [type(value) for value in record["info"]["l"]] == [int, float, bool, float, float]


def test_deep_values_need_no_stack_and_endless_ones_are_refused(make: Any) -> None:
    deep: Any = {}
    for _ in range(1500):
        deep = {"a": [deep]} if len(deep) else {"a": 1}
    with pytest.raises(RecordError, match="levels deep"):
        make.trace(info=deep).to_record()
    shallow: Any = 1
    for _ in range(1900):
        shallow = [shallow]
    record = make.trace(info={"v": shallow}).to_record()
    for _ in range(1900):
        record = record["info"]["v"] if isinstance(record, dict) else record[0]
    loop: dict[str, Any] = {}
    loop["self"] = [loop, loop]
    with pytest.raises(RecordError):
        make.trace(info=loop).model_dump()


def test_an_unknown_mode_is_refused(make: Any) -> None:
    with pytest.raises(UsageError, match="'python' or 'json'"):
        make.trace().model_dump(mode="JSON")


def test_a_record_read_back_is_the_same_episode(make: Any, read: Any) -> None:
    episode = make.episode(make.forked(), ok=True)
    again = read(msgspec.json.encode(episode.to_record()))
    assert again.to_record() == episode.to_record()
    assert again.num_total_tokens == episode.num_total_tokens
