"""What a conversion does to each thing that a release refuses, drops or rewrites, in both directions."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from evh.errors import RecordError, UsageError
from evh.protocol.convert import TARGETS, Counts, convert_document, restore_document
from tests.interop.made_shapes import clients, retries, runtimes, wire_episodes
from tests.interop.odd_rows import FAULTS

OLD, NEW, COMMON = "verifiers-0.3.1", "verifiers-0.4", "common"


def config(row: dict[str, Any]) -> dict[str, Any]:
    return row["traces"][0]["agent"]["config"]


def stash(row: dict[str, Any], key: str = "stash") -> dict[str, Any]:
    return row["traces"][0].get("info", {}).get("evh", {}).get(key, {})


def with_config(row: dict[str, Any], **members: Any) -> dict[str, Any]:
    config(row).update(copy.deepcopy(members))
    return row


RETRIES = [
    (NEW, {"max_retries": 0, "include": [], "exclude": []}, {"max_retries": 0, "rules": []}),
    (NEW, {"max_retries": 3, "include": [], "exclude": []}, {"max_retries": 3, "rules": []}),
    (NEW, {"max_retries": 3, "exclude": ["A"]}, {"max_retries": 3, "rules": [{"type": "A", "max_retries": 0}]}),
    (
        NEW,
        {"max_retries": 2, "include": ["B"], "exclude": ["A"]},
        {"max_retries": 0, "rules": [{"type": "A", "max_retries": 0}, {"type": "B", "max_retries": 2}]},
    ),
    (OLD, {"max_retries": 1, "rules": []}, {"max_retries": 1, "include": [], "exclude": []}),
    (
        OLD,
        {"max_retries": 2, "rules": [{"type": "A", "max_retries": 0}]},
        {"max_retries": 2, "include": [], "exclude": ["A"]},
    ),
    (
        OLD,
        {
            "max_retries": 2,
            "rules": [{"type": "A", "status_code": [500], "max_retries": 0}, {"type": "B", "max_retries": 4}],
        },
        {"max_retries": 2, "include": [], "exclude": []},
    ),
]


@pytest.mark.parametrize(("target", "source", "expected"), RETRIES)
def test_retries_are_said_in_the_target_s_terms(newer, convert, target, source, expected) -> None:
    result, _ = convert(with_config(newer, retries=source), target)
    assert config(result)["retries"] == expected
    assert stash(result)["/agent/config/retries"] == source


def test_retries_in_the_target_s_terms_already_stay(newer, older, convert) -> None:
    for row, target, policies in ((newer, NEW, retries(True)), (older, OLD, retries(False))):
        for policy in policies:
            result, _ = convert(with_config(row, retries=policy), target)
            assert config(result)["retries"] == policy


def test_a_row_for_both_releases_has_no_retries(newer, convert) -> None:
    policy = {"max_retries": 1, "rules": []}
    result, _ = convert(with_config(newer, retries=policy), COMMON)
    assert "retries" not in config(result)
    assert stash(result)["/agent/config/retries"] == policy


def test_a_clean_row_of_its_own_release_is_not_touched(newer, older) -> None:
    for row, target in ((newer, NEW), (older, OLD)):
        assert convert_document(row, target) == (row, [])


def test_members_of_closed_objects_move_and_members_that_are_dropped_stay_with_a_copy(newer, convert) -> None:
    result, steps = convert(with_config(newer, network_notice=False), OLD)
    assert "network_notice" not in config(result)
    assert stash(result)["/agent/config/network_notice"] is False
    assert result["traces"][0]["root_reply"] == "done"
    assert stash(result)["/root_reply"] == "done"
    assert stash(result, "episode") == {"/is_timeout": True}
    actions = {step.pointer: step.action for step in steps}
    assert actions["/traces/0/agent/config/network_notice"] == "moved"
    assert actions["/traces/0/root_reply"] == "kept"
    assert actions["/is_timeout"] == "kept"


@pytest.mark.parametrize("client", list(clients(True, ["qwen3", "glm-5.3", "deepseek-v4"])))
def test_clients_lose_only_what_0_3_1_lacks(newer, convert, client) -> None:
    result, _ = convert(with_config(newer, client=client), OLD)
    kept = {name: value for name, value in client.items() if name not in ("headers_from_env", "timeout")}
    assert config(result)["client"] == kept


@pytest.mark.parametrize("runtime", list(runtimes(True)), ids=lambda runtime: runtime["type"])
def test_runtimes_of_0_4_0_fit_0_3_1_and_come_back(newer, convert, runtime) -> None:
    newer["traces"][0]["agent"]["runtime"] = {**runtime, "id": "i", "borrowed": True}
    agent = convert(with_config(newer, runtime=runtime), OLD)[0]["traces"][0]["agent"]
    nearest = {"podman": "docker", "apptainer": "subprocess", "e2b": "subprocess"}.get(runtime["type"])
    assert agent["config"]["runtime"]["type"] == (nearest or runtime["type"])
    assert ("runtime" in agent) == (nearest is None)
    assert "checkpoint" not in agent["config"]["runtime"]
    if runtime["type"] == "modal":
        assert agent["config"]["runtime"].keys().isdisjoint({"allow", "block", "vm"})


@pytest.mark.parametrize("runtime", list(runtimes(False)), ids=lambda runtime: runtime["type"])
def test_runtimes_of_0_3_1_fit_0_4_0_and_come_back(older, convert, runtime) -> None:
    result, _ = convert(with_config(older, runtime=runtime), NEW)
    assert config(result)["runtime"] == {k: v for k, v in runtime.items() if k not in ("vm", "guaranteed")}


@pytest.mark.parametrize(
    ("target", "kept"),
    [(NEW, {"scoring": 2}), (COMMON, {"scoring": 2}), (OLD, {"setup": 0, "scoring": 2, "rollout": -1})],
)
def test_timeouts_are_positive_for_0_4_0(older, convert, target, kept) -> None:
    result, _ = convert(with_config(older, timeout={"setup": 0, "scoring": 2, "rollout": -1}), target)
    assert config(result)["timeout"] == kept


def test_skills_inside_a_runtime_take_their_array_away(newer, convert) -> None:
    skills = ["a", {"runtime": "/s"}]
    result, _ = convert(with_config(newer, harness={"id": "x", "skills": skills}), OLD)
    assert config(result)["harness"] == {"id": "x"}
    assert stash(result)["/agent/config/harness/skills"] == skills


def test_explicit_nulls_in_a_seat_s_sampling_survive_0_3_1_in_the_stash(newer, convert) -> None:
    values = {"temperature": None, "top_k": None, "max_tokens": 5}
    result, _ = convert(with_config(newer, sampling=values), OLD)
    assert config(result)["sampling"] == values
    assert {path for path in stash(result) if "/sampling/" in path} == {
        "/agent/config/sampling/temperature",
        "/agent/config/sampling/top_k",
    }
    assert not stash(convert(with_config(newer, sampling=values), NEW)[0])


def test_sampling_masks_have_another_name_on_each_release_s_wire(convert) -> None:
    row = next(doc for doc in wire_episodes(True, []))
    nodes = convert(row, OLD)[0]["traces"][0]["nodes"]
    assert "kept_tokens" in nodes[2]
    assert "sampling_mask" not in nodes[2]
    assert "sampling_mask" in convert(row, NEW)[0]["traces"][0]["nodes"][2]


def test_tensors_that_a_release_drops_rest_as_text_in_the_stash(convert) -> None:
    row = next(doc for doc in wire_episodes(False, []))
    node = row["traces"][0]["nodes"][2]
    node["sampling_mask"] = node.pop("kept_tokens")
    result, _ = convert(row, NEW)
    assert isinstance(stash(result, "stash_encoded")["/nodes/2/multi_modal_data"], str)


def test_computed_counts_are_written_for_0_4_0_alone(newer) -> None:
    counts = Counts((1, 2, 3), [(1, 2, 3)])
    result, steps = convert_document(newer, NEW, counts)
    assert list(result)[-3:] == ["num_input_tokens", "num_output_tokens", "num_total_tokens"]
    assert [result[name] for name in list(result)[-3:]] == [1, 2, 3]
    assert list(result["traces"][0])[-1] == "num_total_tokens"
    assert {step.action for step in steps} == {"added"}
    wrong = convert_document(result, NEW, Counts((1, 2, 4), [(1, 2, 3)]))
    assert [(step.pointer, step.action, step.value) for step in wrong[1]] == [("/num_total_tokens", "repaired", 3)]
    for target in (OLD, COMMON):
        bare, steps = convert_document(result, target, counts)
        assert "num_total_tokens" not in bare
        assert "num_total_tokens" not in bare["traces"][0]
        assert sum(step.rule == "counts" and step.action == "dropped" for step in steps) == 6
        assert not any("num_" in path for path in stash(bare))


def test_counts_that_do_not_go_with_the_traces_are_refused(newer) -> None:
    with pytest.raises(UsageError, match="2 traces do not go with 1"):
        convert_document(newer, NEW, Counts((0, 0, 0), [(0, 0, 0)] * 2))


def test_numbers_that_are_not_finite_become_null_or_take_their_optional_ancestor(newer, convert) -> None:
    trace = newer["traces"][0]
    trace["metrics"]["bad"] = float("nan")
    trace["rewards"]["bad"] = {"score": float("inf")}
    trace["nodes"][2]["logprobs"] = [float("-inf"), -1.0]
    result, steps = convert(newer, NEW)
    shaped = result["traces"][0]
    assert shaped["metrics"]["bad"] is None
    assert "bad" not in shaped["rewards"]
    assert "logprobs" not in shaped["nodes"][2]
    assert sum(step.rule == "non-finite" for step in steps) == 3


def test_a_lone_surrogate_is_replaced_and_its_text_comes_back(newer, convert) -> None:
    lone = chr(0xDFFF)
    newer["traces"][0]["nodes"][1]["message"]["content"] = "a\ud800"
    newer["traces"][0]["info"] = {f"k{lone}": {"x": lone}, "k\ufffd": 1}
    newer["env"]["name"] = "\ud801"
    result, _ = convert(newer, NEW)
    assert result["traces"][0]["nodes"][1]["message"]["content"] == "a\ufffd"
    assert set(result["traces"][0]["info"]) == {"k\ufffd\ufffd", "k\ufffd", "evh"}
    assert result["env"]["name"] == "\ufffd"
    assert all(text.isascii() for text in stash(result, "stash_encoded").values())


def test_a_surrogate_in_a_member_s_name_comes_back_wherever_it_is(newer, convert) -> None:
    newer["traces"][0]["\ud800"] = 1
    newer["\udc00"] = {"\udc01": 2}
    convert(newer, NEW)
    convert(newer, COMMON)


def test_a_circle_of_parents_is_cut_where_it_points_forward(newer, convert) -> None:
    nodes = newer["traces"][0]["nodes"]
    nodes[1]["parent"], nodes[3]["parent"], nodes[4]["parent"] = 2, 17, 4
    shaped, steps = convert(newer, NEW)
    assert [node.get("parent") for node in shaped["traces"][0]["nodes"]] == [None, None, 1, None, None]
    assert set(stash(shaped)) == {f"/nodes/{index}/parent" for index in (1, 3, 4)}
    assert all(step.rule == "graph" for step in steps)


def test_a_forward_parent_without_a_circle_stays(newer, convert) -> None:
    nodes = newer["traces"][0]["nodes"]
    nodes[0]["parent"], nodes[1]["parent"] = 1, None
    nodes[1].pop("parent")
    assert convert(newer, NEW)[0]["traces"][0]["nodes"][0]["parent"] == 1


def test_a_message_of_an_unknown_role_keeps_its_place_in_the_graph(newer, convert) -> None:
    newer["traces"][0]["nodes"][1]["message"] = {"role": "developer", "content": "be kind"}
    newer["traces"][0]["nodes"][4]["message"] = {"role": "critic", "content": [{"type": "audio"}]}
    nodes = convert(newer, NEW)[0]["traces"][0]["nodes"]
    assert nodes[1]["message"] == {"role": "system", "content": "be kind"}
    assert nodes[4]["message"] == {"role": "user", "content": [{"type": "text", "text": ""}]}


EXCLUSIVE = {
    "both egress lists": ("/agent/config/runtime/allow", "/agent/config/runtime/block"),
    "prime with a scheme": ("/agent/config/runtime/allow",),
    "modal deny list": ("/agent/config/runtime/block",),
    "modal address": ("/agent/config/runtime/allow",),
    "modal offline with a list": ("/agent/config/runtime/allow",),
    "modal machine with a gpu": ("/agent/config/runtime/vm",),
    "e2b blocks a name": ("/agent/config/runtime/block",),
    "e2b too small": ("/agent/config/runtime/cpu", "/agent/config/runtime/memory"),
    "apptainer in the root": ("/agent/config/runtime/workdir",),
    "renderer with code": ("/agent/config/client/renderer",),
    "renderer that contradicts": ("/agent/config/client/renderer/thinking_retention",),
    "renderer with an earlier flag": ("/agent/config/client/renderer/preserve_all_thinking",),
    "unknown finish reason": ("/calls/0/finish_reason",),
    "header that is no text": ("/agent/config/client/headers/a",),
    "bool for a number": ("/rewards/b", "/rewards/n"),
    "text for a number": ("/agent/config/max_turns", "/agent/config/sampling/temperature"),
    "number too big for a float": ("/metrics/big", "/metrics/not_exact"),
    "None as text": ("/agent/config/model", "/agent/config/harness/id", "/agent/config/harness/own"),
    "arguments as an object": ("/nodes/2/message/tool_calls",),
    "usage without a count": ("/calls/0/usage",),
}


@pytest.mark.parametrize(("fault", "paths"), list(EXCLUSIVE.items()))
def test_what_0_4_0_refuses_moves_to_the_stash(newer, convert, fault, paths) -> None:
    FAULTS[fault](newer)
    result, _ = convert(newer, NEW)
    moved = stash(result)
    assert set(paths) <= moved.keys()
    for path in paths:
        *inner, last = path.split("/")[1:]
        place: Any = result["traces"][0]
        for part in inner:
            place = place[int(part)] if isinstance(place, list) else place[part]
        assert last not in place


@pytest.mark.parametrize("fault", ["unknown run", "run without type", "span backwards"])
def test_a_bad_run_rests_in_the_first_trace(newer, convert, fault) -> None:
    FAULTS[fault](newer)
    result, _ = convert(newer, NEW)
    place = "/run/work/policy" if fault == "span backwards" else "/run"
    assert stash(result, "episode").keys() == {place}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fault", list(FAULTS))
def test_every_odd_row_keeps_the_promises(newer, convert, fault, target) -> None:
    FAULTS[fault](newer)
    convert(newer, target)


def test_an_episode_without_traces_reports_what_it_cannot_keep(newer) -> None:
    row = {**newer, "traces": [], "info": {"split": "test"}, "run": {"type": "serve"}}
    result, steps = convert_document(row, OLD)
    lost = {step.pointer: (step.action, step.value) for step in steps}
    assert lost["/run"] == ("dropped", {"type": "serve"})
    assert lost["/is_timeout"] == ("dropped", True)
    assert lost["/info"] == ("dropped", {"split": "test"})
    assert result["info"] == {"split": "test"}
    assert "run" not in result


def test_a_row_without_the_member_traces_gets_it(newer) -> None:
    del newer["traces"]
    result, steps = convert_document(newer, NEW)
    assert result == {**newer, "traces": []}
    assert [(step.action, step.to) for step in steps] == [("added", "/traces")]


def test_a_tool_gets_what_0_3_1_requires_and_loses_it_again(newer, convert) -> None:
    newer["traces"][0]["tools"] = [{"name": "t"}]
    result, _ = convert(newer, OLD)
    assert result["traces"][0]["tools"] == [{"name": "t", "description": "", "parameters": {}}]
    assert restore_document(result)[0]["traces"][0]["tools"] == [{"name": "t"}]


def test_an_unknown_target_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"verifiers-0\.4, verifiers-0\.3\.1, common"):
        convert_document({}, "verifiers-9")


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        ({"id": "x"}, "/task"),
        ({"id": "x", "traces": 3}, "/traces"),
        ({"id": "x", "traces": [3]}, "/traces/0"),
        ({"id": "x", "task": {"type": "t", "data": {}}, "traces": [{}]}, "/traces/0/task"),
        ({"id": "x", "task": {"type": "t", "data": []}, "traces": []}, "/task/data"),
    ],
)
def test_a_row_that_is_not_of_today_s_form_is_refused_with_its_place(row, pointer) -> None:
    with pytest.raises(RecordError) as caught:
        convert_document(row, NEW)
    assert caught.value.pointer == pointer


def test_a_name_that_is_no_text_is_refused_with_its_place(newer) -> None:
    newer["traces"][0]["info"] = {"a": {3: 1}}
    with pytest.raises(RecordError) as caught:
        convert_document(newer, NEW)
    assert caught.value.pointer == "/traces/0/info/a"
    newer["traces"][0]["info"] = {"evh": {"stash": {3: 1}}}
    assert restore_document(newer) == (newer, [])


def test_a_very_deep_value_rests_as_text_and_an_endless_one_is_refused(newer, convert) -> None:
    def deep(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = [value]
        return value

    newer["traces"][0]["info"] = {"deep": deep(150)}
    result, _ = convert(newer, NEW)
    (text,) = stash(result, "stash_encoded").values()
    assert set(text) == {"[", "1", "]"}
    newer["traces"][0]["info"] = {"deep": deep(100_000)}
    for function in (lambda: convert_document(newer, NEW), lambda: restore_document(newer)):
        with pytest.raises(RecordError, match="nested too deeply"):
            function()
