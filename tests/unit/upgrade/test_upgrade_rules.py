"""Each rule of the upgrade brings its shape to today's, as its fixture shows, and says what it did."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.errors import SchemaError
from evh.protocol.upgrade import RULES, Step, detect, shapes, upgrade_document, upgrade_trace_document
from evh.protocol.upgrade.step import Record
from evh.protocol.upgrade.trace_rows import TRACE_RULES
from tests.support.leaves import leaves_accounted
from tests.unit.upgrade.conftest import DATA, upgraded

FIXTURES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((DATA / "upgrade").glob("S*.json"))}
Row = dict[str, Any]


def source(name: str) -> Row:
    return copy.deepcopy(FIXTURES[name]["source"])


def of_rule(steps: list[Step], rule: str) -> list[tuple[str, str, str | None]]:
    return [(step.action, step.pointer, step.to) for step in steps if step.rule == rule]


def test_the_table_explains_every_rule_that_steps_name() -> None:
    assert [name for name in RULES if name.startswith("S")] == [f"S{number}" for number in range(25)]
    assert {rule for fixture in FIXTURES.values() for rule in fixture["rules"]} <= RULES.keys()


def test_there_is_a_fixture_for_every_rule() -> None:
    assert list(FIXTURES) == [f"S{number:02d}" for number in range(25)]


@pytest.mark.parametrize("name", FIXTURES)
def test_the_fixture_upgrades_as_it_says(name: str, violations: Callable[[Any], list[str]]) -> None:
    fixture = FIXTURES[name]
    result, steps = upgraded(fixture["source"])
    assert json.dumps(result) == json.dumps(fixture["result"])
    assert list(dict.fromkeys(step.rule for step in steps)) == fixture["rules"]
    assert violations(result) == []


@pytest.mark.parametrize("name", FIXTURES)
def test_shapes_names_the_rules_that_apply(name: str) -> None:
    fixture = FIXTURES[name]
    row = source(name)
    assert set(shapes(row)) == set(fixture["rules"])
    assert row == fixture["source"]
    assert shapes(fixture["result"]) == []


@pytest.mark.parametrize("name", FIXTURES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_rules_may_run_in_any_order_that_their_reasons_allow(name: str, data: st.DataObject) -> None:
    """The order matters only where the table says so."""
    before = {
        "verdict": {"turn_list", "error_list", "agent_frame", "build_and_tools", "generation_span"},
        "turn_list": {"node_usage"},
        "agent_frame": {"top_runtime"},
        "drop_durations": {"generation_span"},
        "boot_span": {"generation_span"},
    }
    rules = {rule.apply.__name__: rule for rule in TRACE_RULES}
    last = rules.pop("drop_early_counts")
    shuffled: list[str] = []
    left = set(rules)
    while left:
        free = sorted(name for name in left if not any(name in before.get(other, ()) for other in left))
        shuffled.append(data.draw(st.sampled_from(free)))
        left.remove(shuffled[-1])
    row = source(name)
    for trace in [row] if detect(row) == "trace" else row.get("traces", []):
        first, second = copy.deepcopy(trace), copy.deepcopy(trace)
        told: list[list[Step]] = [[], []]
        for rule in TRACE_RULES:
            rule.apply(Record(first, "", "", told[0]))
        for rule in [*(rules[name] for name in shuffled), last]:
            rule.apply(Record(second, "", "", told[1]))
        assert first == second
        assert sorted(map(repr, told[0])) == sorted(map(repr, told[1]))


def test_s0_turns_that_share_a_prefix_share_its_nodes() -> None:
    trace = upgraded(source("S00"))[0]["traces"][0]
    assert [node.get("parent") for node in trace["nodes"]] == [None, 0, 1, 2]
    assert [node["sampled"] for node in trace["nodes"]] == [False, True, False, True]
    assert [token for node in trace["nodes"] for token in node["token_ids"]] == list(range(1, 12))
    assert [call["node"] for call in trace["calls"]] == [1, 3]


def test_s0_tokens_that_do_not_continue_the_prompt_are_kept_aside() -> None:
    row = source("S00")
    row["trajectory"][1]["tokens"]["prompt_ids"][0] = 99
    result, steps = upgraded(row)
    assert ("kept", "/trajectory/1/tokens") in {step[:2] for step in of_rule(steps, "S0")}
    assert "token_ids" not in result["traces"][0]["nodes"][3]


def test_s1_the_identity_comes_from_the_trace() -> None:
    first, second = upgraded(source("S01"))[0], upgraded(source("S01"))[0]
    assert first["id"] == second["id"] != upgraded({**source("S01"), "id": "another"})[0]["id"]
    assert len(first["id"]) == 32
    assert first["id"] != first["traces"][0]["id"]


def test_s2_an_error_joins_the_list_once() -> None:
    row = source("S02")
    row["errors"] = [{"type": "Earlier", "message": "first attempt"}]
    assert [error["type"] for error in upgraded(row)[0]["traces"][0]["errors"]] == ["Earlier", "ProviderError"]
    row["errors"] = [copy.deepcopy(row["error"])]
    assert len(upgraded(row)[0]["traces"][0]["errors"]) == 1
    assert upgraded({**source("S02"), "error": "lost"})[0]["traces"][0]["errors"][0]["message"] == "lost"


@pytest.mark.parametrize(
    "member, value", [("reward", 0.5), ("num_turns", 9), ("is_truncated", True), ("branches", ["?"])]
)
def test_s3_what_the_rest_does_not_give_is_kept_aside(member: str, value: Any) -> None:
    result, _ = upgraded({**source("S03"), member: value})
    assert result["traces"][0]["info"]["evh"]["kept"]["/" + member] == value


def test_s4_a_call_that_is_there_takes_what_it_lacks() -> None:
    row = source("S04")
    node = row["traces"][0]["nodes"][2]
    row["traces"][0]["calls"] = [{"node": 2, "finish_reason": "length", "usage": None}]
    result, _ = upgraded(row)
    trace = result["traces"][0]
    assert trace["calls"] == [{"node": 2, "finish_reason": "length", "usage": node["usage"]}]
    assert trace["info"]["evh"]["kept"] == {"/nodes/2/finish_reason": "stop"}


def test_s6_another_runtime_than_the_agents_is_kept_aside() -> None:
    row = source("S06")
    row["agent"] = {"config": {}, "runtime": {"type": "subprocess"}}
    trace = upgraded(row)[0]["traces"][0]
    assert trace["info"]["evh"]["kept"] == {"/runtime": row["runtime"]}
    assert trace["agent"]["runtime"] == {"type": "subprocess"}


def test_s10_numbers_keep_their_type() -> None:
    rewards = upgraded(source("S10"))[0]["traces"][0]["rewards"]
    assert json.dumps(rewards["a/b"]) == '{"score": 0, "weight": 1.0}'
    assert rewards["unscored"] is None


def test_s13_a_second_agents_span_is_kept_aside() -> None:
    row = source("S13")
    row["traces"][0]["timing"]["agent"] = {"start": 1.0, "end": 2.0}
    trace = upgraded(row)[0]["traces"][0]
    assert trace["timing"]["agent"] == {"start": 1.0, "end": 2.0}
    assert "/timing/generation" in trace["info"]["evh"]["kept"]


def test_s15_an_episode_without_traces_gets_an_empty_task() -> None:
    row = {"id": "e", "env": {"id": "x"}, "ok": False, "errors": [], "traces": [], "run": {"type": "eval", "id": "r"}}
    result, _ = upgraded(row)
    assert result["task"] == {"type": "", "data": {}}
    assert result["run"] == {"type": "eval", "id": "r"}


def test_s15_the_task_is_a_copy() -> None:
    result, _ = upgraded(source("S15"))
    assert result["task"] == result["traces"][0]["task"]
    assert result["task"]["data"] is not result["traces"][0]["task"]["data"]


RUNS: list[tuple[Any, Any, dict[str, Any]]] = [
    ({"type": "eval", "id": "r"}, {"type": "eval", "id": "r"}, {}),
    ({"type": "eval", "id": "r", "step": None, "name": None}, {"type": "eval", "id": "r"}, {}),
    ({"type": "eval", "id": "r", "step": 3}, {"type": "eval", "id": "r"}, {"/run/step": 3}),
    ({"type": "train", "id": "r", "step": 3}, {"type": "train", "id": "r", "work": {"type": "train", "step": 3}}, {}),
    ({"id": "r", "step": 0}, {"type": "train", "id": "r", "work": {"type": "train", "step": 0}}, {}),
    ({"id": "r", "name": "n"}, {"type": "eval", "id": "r", "name": "n"}, {}),
    ({"type": "train", "id": None}, {"type": "train", "id": "unknown", "work": {"type": "train", "step": 0}}, {}),
    ({"type": "eval", "id": None}, {"type": "eval", "id": "unknown"}, {}),
    (None, None, {}),
    ("r-1", None, {"/run": "r-1"}),
]


@pytest.mark.parametrize("written, today, kept", RUNS)
def test_s16_the_run_of_the_traces_becomes_the_episodes(written: Any, today: Any, kept: dict[str, Any]) -> None:
    row = source("S16")
    row["traces"] = [{**trace, "run": copy.deepcopy(written)} for trace in row["traces"]]
    result, _ = upgraded(row)
    assert result.get("run") == today
    for trace in result["traces"]:
        assert "run" not in trace
        assert trace["info"].get("evh", {}).get("kept", {}) == kept


@pytest.mark.parametrize("written, today, kept", RUNS[:-2])
def test_s17_the_episodes_own_run_takes_todays_form(written: Any, today: Any, kept: dict[str, Any]) -> None:
    result, _ = upgraded({**source("S17"), "run": copy.deepcopy(written)})
    assert result["run"] == today
    assert result["info"] == {"split": "test"} | ({"evh": {"kept": kept}} if kept else {})


def test_s16_an_evaluation_inside_a_training_run_says_so_when_one_is_known() -> None:
    row = source("S16")
    row["traces"][0]["run"] = {"type": "eval", "id": "r", "step": 4}
    row["traces"][1]["run"] = {"type": "train", "id": "r", "step": 4}
    result, steps = upgraded(row)
    assert result["run"] == {"type": "train", "id": "r", "work": {"type": "eval", "step": 4}}
    assert ("moved", "/traces/0/run/type", "/run/work/type") in of_rule(steps, "S16")
    assert result["traces"][1]["info"]["evh"]["kept"]["/run"] == row["traces"][1]["run"]


def test_s16_disagreeing_traces_are_reported() -> None:
    result, steps = upgraded(source("S16"))
    assert result["run"]["id"] == source("S16")["traces"][0]["run"]["id"]
    assert ("kept", "/traces/1/run", "/traces/1/info/evh/kept/~1run") in of_rule(steps, "S16")


def test_s18_a_policy_version_stays_a_note_without_a_training_run() -> None:
    row = source("S18")
    row["run"] = None
    assert upgraded(row)[0]["traces"][0]["info"]["policy_version"] == 2


def test_s18_notes_of_an_episode_row_are_its_own() -> None:
    row = source("S20")
    row["traces"][0]["info"]["env_name"] = "mine"
    result, steps = upgraded(row)
    assert steps == []
    assert "name" not in result["env"]


def test_s21_kept_tokens_is_called_sampling_mask() -> None:
    row = source("S21")
    mask = {"ids": {"__nd__": True}, "counts": {"__nd__": True}}
    row["traces"][0]["nodes"][2]["kept_tokens"] = copy.deepcopy(mask)
    assert upgraded(row)[0]["traces"][0]["nodes"][2]["sampling_mask"] == mask
    row["traces"][0]["nodes"][2]["sampling_mask"] = {"ids": {}, "counts": {}}
    assert upgraded(row)[0]["traces"][0]["info"]["evh"]["kept"] == {"/nodes/2/kept_tokens": mask}


def test_s24_a_member_run_that_says_less_or_the_same_is_redundant() -> None:
    row = source("S24")
    for member in ({"type": "eval", "id": row["run"]["id"]}, {"id": row["run"]["id"]}, {"type": "eval"}):
        row["traces"][0]["run"] = member
        result, steps = upgraded(row)
        assert result["run"] == row["run"]
        assert {step.action for step in steps} == {"dropped"}


def test_s24_a_member_run_that_differs_is_kept_aside() -> None:
    row = source("S24")
    row["traces"][0]["run"] = {"type": "eval", "id": "the platform's"}
    result, _ = upgraded(row)
    assert result["run"] == row["run"]
    assert result["traces"][0]["info"]["evh"]["kept"] == {"/run": {"type": "eval", "id": "the platform's"}}


@pytest.mark.parametrize(
    "info, kept",
    [
        (None, {}),
        ("a text", {"/info": "a text"}),
        ({"evh": 7}, {"/info/evh": 7}),
        ({"evh": {"stash": {"/x": 1}}}, {}),
        ({"evh": {"kept": "odd"}}, {"/info/evh/kept": "odd"}),
        ({"evh": {"kept": {"/run": "an earlier one"}}}, {"/info/evh/kept": {"/run": "an earlier one"}}),
        ({"evh": {"kept": {"/other": 1}}}, {"/other": 1}),
    ],
)
def test_what_stands_in_the_reserved_place_is_kept_too(info: Any, kept: dict[str, Any]) -> None:
    row = source("S24")
    row["traces"][0].update(run={"type": "eval", "id": "another"}, info=copy.deepcopy(info))
    found = upgraded(row)[0]["traces"][0]["info"]["evh"]
    assert found["kept"] == {**kept, "/run": {"type": "eval", "id": "another"}}
    assert found.get("stash") == (info["evh"].get("stash") if isinstance(info, dict) and info["evh"] != 7 else None)


@pytest.mark.parametrize("place", ["/id", "/traces/0/id"])
@pytest.mark.parametrize("null", [True, False])
def test_a_missing_identity_is_made_from_the_content(place: str, null: bool) -> None:
    made = []
    for attempt in range(3):
        row = source("S20")
        record = row if place == "/id" else row["traces"][0]
        if null:
            record["id"] = None
        else:
            del record["id"]
        if attempt == 2:
            row["traces"][0]["stop_condition"] = "another"
        result, steps = upgraded(row)
        made.append((result if place == "/id" else result["traces"][0])["id"])
        assert [(step.action, step.pointer) for step in steps] == [("repaired" if null else "added", place)]
    assert made[0] == made[1] != made[2]
    assert len(made[0]) == 32


def test_traces_without_identity_get_different_ones() -> None:
    row = source("S20")
    del row["traces"][0]["id"]
    row["traces"].append(copy.deepcopy(row["traces"][0]))
    assert len({trace["id"] for trace in upgraded(row)[0]["traces"]}) == 2


def test_a_missing_start_is_the_earliest_time_that_is_known() -> None:
    row = source("S20")
    del row["traces"][0]["timing"]["start"]
    found = upgraded(row)[0]["traces"][0]["timing"]["start"]
    assert found == source("S20")["traces"][0]["timing"]["boot"]["start"]


def test_unknown_members_stay_where_they_are() -> None:
    row = source("S12")
    row["of_tomorrow"] = {"a": [1]}
    row["traces"][0]["of_tomorrow"] = 2
    row["traces"][0]["nodes"][0]["of_tomorrow"] = 3
    result, _ = upgraded(row)
    assert result["of_tomorrow"] == {"a": [1]}
    assert result["traces"][0]["of_tomorrow"] == 2
    assert result["traces"][0]["nodes"][0]["of_tomorrow"] == 3


def test_a_trace_stays_a_trace_when_asked(violations: Callable[[Any], list[str]]) -> None:
    row = source("S18")
    result, steps = upgrade_trace_document(copy.deepcopy(row))
    leaves_accounted(row, result, steps)
    assert violations(result) == []
    assert result["info"]["evh"]["kept"] == {"/run": row["run"]}
    assert result["info"]["env_name"] == "math"


@pytest.mark.parametrize("row", [{}, {"x": 1}, {"version": 4}])
def test_a_row_that_is_neither_episode_nor_trace_is_refused(row: Row) -> None:
    assert detect(row) == "unknown"
    assert shapes(row) == []
    with pytest.raises(SchemaError, match="neither an episode nor a trace"):
        upgrade_document(row)


def test_an_episode_is_no_trace() -> None:
    with pytest.raises(SchemaError, match="expected a trace, found an episode"):
        upgrade_trace_document(source("S20"))


def test_the_version_does_not_matter() -> None:
    for version in (1, 4, None, "x"):
        row = source("S10")
        row["version"] = version
        assert shapes(row) == ["S1", "S10"]
        assert detect(row) == "trace"
