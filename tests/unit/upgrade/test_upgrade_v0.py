"""First-generation results become episodes: every column has a place or is kept aside."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from evh.protocol.upgrade import Step, detect, shapes, upgrade_document, upgrade_v0
from tests.support.leaves import leaves_accounted
from tests.unit.upgrade.conftest import DATA, rows

ROWS = rows(DATA / "upgrade" / "v0" / "results.jsonl")
METADATA = json.loads((DATA / "upgrade" / "v0" / "metadata.json").read_text("utf-8"))


def upgraded(row: dict[str, Any], metadata: dict[str, Any] | None = METADATA) -> tuple[dict[str, Any], list[Step]]:
    result, steps = upgrade_v0(copy.deepcopy(row), copy.deepcopy(metadata))
    leaves_accounted(row, result, steps)
    assert upgrade_document(copy.deepcopy(result)) == (result, [])
    return result, steps


def trace_of(row: dict[str, Any], metadata: dict[str, Any] | None = METADATA) -> dict[str, Any]:
    (trace,) = upgraded(row, metadata)[0]["traces"]
    assert isinstance(trace, dict)
    return trace


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
@pytest.mark.parametrize("metadata", [METADATA, None], ids=["metadata", "alone"])
def test_every_row_becomes_a_valid_episode(
    row: dict[str, Any], metadata: dict[str, Any] | None, violations: Callable[[Any], list[str]]
) -> None:
    assert detect(row) == "v0"
    assert shapes(row) == ["v0"]
    assert violations(upgraded(row, metadata)[0]) == []


def test_a_row_alone_says_no_run_and_no_environment() -> None:
    result, _ = upgrade_document(copy.deepcopy(ROWS[0]))
    assert "run" not in result
    assert "info" not in result
    assert result["env"] == {"id": ""}
    assert result["traces"][0]["verifiers"] == {"version": "unknown"}


def test_rows_of_one_run_say_the_same_run_and_have_their_own_identities() -> None:
    made = [upgraded(row)[0] for row in ROWS]
    assert len({json.dumps(episode["run"]) for episode in made}) == 1
    assert len({episode["id"] for episode in made} | {episode["traces"][0]["id"] for episode in made}) == 2 * len(ROWS)
    assert made[0]["run"]["name"] == "arithmetic at noon"
    assert [upgraded(row)[0] for row in ROWS] == made
    other = upgraded(ROWS[0], {**METADATA, "time": 1.0})[0]
    assert other["run"]["id"] != made[0]["run"]["id"]


def test_the_position_keeps_equal_rows_apart() -> None:
    ids = {upgrade_v0(copy.deepcopy(ROWS[0]), METADATA, position=position)[0]["id"] for position in (0, 1, None)}
    assert len(ids) == 3


def test_metadata_says_environment_agent_and_build() -> None:
    result, _ = upgraded(ROWS[0])
    trace = result["traces"][0]
    assert result["env"] == {"id": "org/arithmetic"}
    assert trace["verifiers"] == {"version": "0.1.14", "commit": "0123abc"}
    assert trace["agent"]["config"] == {"model": "org/model-7b", "sampling": {"temperature": 0.7, "max_tokens": None}}
    assert trace["calls"][0]["model"] == "org/model-7b"
    placed = {"env_id", "model", "sampling_args", "name"}
    assert result["info"]["evh"]["metadata"] == {k: v for k, v in METADATA.items() if k not in placed}


def test_spans_keep_their_seconds() -> None:
    trace = trace_of(ROWS[0])
    assert trace["timing"] == {
        "start": 1790000000.0,
        "setup": {"start": 1790000000.0, "end": 1790000000.5},
        "agent": {
            "start": 1790000000.5,
            "end": 1790000002.5,
            "model": {"duration": 1.5},
            "harness": {"duration": 0},
        },
        "scoring": {"start": 1790000002.5, "end": 1790000003.0},
    }
    assert trace["calls"][0]["time"] == {"start": 1790000000.75, "end": 1790000002.25}


def test_milliseconds_become_spans() -> None:
    timing = trace_of(ROWS[1])["timing"]
    assert timing["agent"] == {"start": 1790000010.0, "end": 1790000011.5}
    assert timing["scoring"] == {"start": 1790000011.5, "end": 1790000011.75}


def test_usage_of_one_call_is_its_own_and_of_several_stands_apart() -> None:
    assert trace_of(ROWS[0])["calls"][0]["usage"] == {"prompt_tokens": 9, "completion_tokens": 2}
    calls = trace_of(ROWS[1])["calls"]
    assert [call.get("node") for call in calls] == [2, 4, None]
    assert [call.get("usage") for call in calls] == [None, None, {"prompt_tokens": 30, "completion_tokens": 12}]


def test_nested_tool_calls_and_tools_become_flat() -> None:
    trace = trace_of(ROWS[1])
    first, second = trace["nodes"][2]["message"]["tool_calls"]
    assert first == {"id": "c-1", "type": "function", "name": "look", "arguments": '{"x": 1}'}
    assert second == {"id": "call_1", "type": "function", "name": "look", "arguments": '{"x":2}'}
    assert [tool["name"] for tool in trace["tools"]] == ["look", "hear"]
    assert trace["tools"][0]["strict"] is True


def test_tool_calls_as_json_text_are_read() -> None:
    row = copy.deepcopy(ROWS[1])
    row["completion"][0]["tool_calls"] = [json.dumps(call) for call in row["completion"][0]["tool_calls"]] + ["{"]
    trace = trace_of(row)
    assert [call["name"] for call in trace["nodes"][2]["message"]["tool_calls"]] == ["look", "look"]
    assert trace["info"]["evh"]["kept"]["/completion/0/tool_calls/2"] == "{"


def test_parts_without_a_place_are_kept_aside_and_reported() -> None:
    result, steps = upgraded(ROWS[1])
    trace = result["traces"][0]
    kept = trace["info"]["evh"]["kept"]
    assert [part["type"] for part in trace["nodes"][3]["message"]["content"]] == ["text", "image_url"]
    assert kept["/completion/1/content/1"] == ROWS[1]["completion"][1]["content"][1]
    assert kept["/completion/1/content/2/image_url/detail"] == "low"
    assert kept["/completion/2/thinking_blocks"] == ROWS[1]["completion"][2]["thinking_blocks"]
    assert {"/completion/1/content/1", "/metrics/note", "/seed"} <= {s.pointer for s in steps if s.action == "kept"}


def test_a_message_of_an_unknown_role_is_kept_aside() -> None:
    row = copy.deepcopy(ROWS[0])
    row["prompt"].insert(1, {"role": "narrator", "content": "Meanwhile."})
    trace = trace_of(row)
    assert [node["message"]["role"] for node in trace["nodes"]] == ["system", "user", "assistant"]
    assert trace["info"]["evh"]["kept"]["/prompt/1"] == {"role": "narrator", "content": "Meanwhile."}


def test_an_error_becomes_an_error() -> None:
    trace = trace_of(ROWS[2])
    assert trace["errors"] == [
        {"type": "ModelError", "message": "upstream 500", "traceback": "ModelError: upstream 500"}
    ]
    assert (trace["ok"], trace["is_completed"], trace["stop_condition"]) == (False, False, "has_error")
    assert trace_of(ROWS[3])["errors"] == [{"type": "Error", "message": "a bare text"}]


def test_a_cut_reply_is_said_by_its_call() -> None:
    assert trace_of(ROWS[1])["calls"][1]["finish_reason"] == "length"
    assert "finish_reason" not in trace_of(ROWS[0])["calls"][0]


def test_bare_texts_become_messages() -> None:
    nodes = trace_of(ROWS[3])["nodes"]
    assert [node["message"] for node in nodes] == [
        {"role": "user", "content": "6 times 7 is"},
        {"role": "assistant", "content": " 42"},
    ]


def test_turns_give_their_tokens_to_the_nodes() -> None:
    trace = trace_of(ROWS[4])
    assert [node["token_ids"] for node in trace["nodes"][1:]] == [[1, 2, 3, 4], [5], [6, 7], [8]]
    assert [node.get("logprobs") for node in trace["nodes"] if node["sampled"]] == [[-0.5], [-0.25]]
    assert [call["usage"]["prompt_tokens"] for call in trace["calls"]] == [4, 7]
    assert trace["info"]["evh"]["kept"]["/trajectory/1/advantage"] == 0.5


def test_columns_of_reward_functions_are_metrics() -> None:
    row = {**ROWS[5], "correctness": 1.0, "seed": "x"}
    named = {"env": "gsm8k", "avg_reward": 1.0, "avg_format_reward": 1.0, "avg_correctness": 1.0}
    trace = trace_of(row, named)
    assert trace["metrics"] == {"format_reward": 1.0, "correctness": 1.0}
    assert trace["rewards"] == {"reward": {"score": 1.0, "weight": 1.0}}
    assert trace["info"]["evh"]["kept"] == {"/seed": "x"}
    assert trace_of(row, None)["metrics"] == trace["metrics"]
    assert upgraded(row, named)[0]["env"] == {"id": "gsm8k"}


def test_the_oldest_rows_name_the_item_id() -> None:
    assert trace_of(ROWS[5])["task"]["data"] == {"idx": 5, "answer": "42", "task": "arithmetic"}
    assert trace_of(ROWS[3])["task"]["data"]["id"] == "row-3"
