"""From episodes to rows: what each number means, and that the order of rollouts says nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evh
from evh.errors import RecordError
from evh.store.projection import Projected, item_id_of, project_episode, project_rollouts

REAL = Path(__file__).parents[3] / "data" / "verifiers"
numbers = st.one_of(st.integers(0, 1 << 60), st.floats(0, 1e300))


def trace(**members: Any) -> dict[str, Any]:
    name = members.pop("name", "agent")
    trainable = members.pop("trainable", True)
    reply = members.pop("reply", None)
    nodes = [] if reply is None else [{"message": {"role": "assistant", "content": reply}, "sampled": True}]
    return {
        "id": "t",
        "task": {"type": "", "data": {}},
        "agent": {"config": {}, "name": name, "trainable": trainable},
        "nodes": nodes,
        "ok": True,
        "timing": {"start": 0.0},
        **members,
    }


def episode(*traces: dict[str, Any], **members: Any) -> evh.Episode:
    task = members.pop("task", {"type": "", "data": {"idx": 0}})
    text = {"id": "e", "task": task, "ok": True, "traces": list(traces), **members}
    return evh.decode(evh.encode(evh.upgrade(_json(text)).record))


def _json(value: Any) -> bytes:
    from evh.protocol.jsontext import dumps

    return dumps(value)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"type": "", "data": {"idx": 3}, "key": "k", "hash": "h"}, "k"),
        ({"type": "", "data": {"idx": 3}, "hash": "h"}, "h"),
        ({"type": "", "data": {"idx": 3}}, "3"),
    ],
)
def test_an_item_is_the_key_else_the_hash_else_idx(task: dict[str, Any], expected: str) -> None:
    assert item_id_of(episode(task=task)) == expected


def test_an_episode_without_an_identity_is_refused() -> None:
    with pytest.raises(RecordError, match="belongs to no item"):
        item_id_of(episode(task={"type": "", "data": {"idx": True}}))


def test_the_answer_is_of_the_first_trainable_trace_that_replied() -> None:
    row = project_episode(
        episode(trace(name="judge", trainable=False, reply="9 of 10"), trace(), trace(reply="forty two"))
    )
    assert row.output == "forty two"
    assert row.output_words == 2


def test_rewards_and_metrics_are_means_over_the_traces_that_have_them() -> None:
    row = project_episode(
        episode(
            trace(rewards={"right": {"score": 1, "weight": 0.5}}, metrics={"length": 4}),
            trace(rewards={"right": {"score": 0, "weight": 0.5}}, metrics={"length": None}),
            trace(rewards={"right": None}),
        )
    )
    assert row.metrics == {"reward": 0.25, "right": 0.5, "length": 4}


def test_names_that_are_taken_get_a_prefix_even_without_a_number() -> None:
    row = project_episode(
        episode(
            trace(
                rewards={"same": None, "latency_ms": {"score": 2, "weight": 1}},
                metrics={"same": 1, "_x": 2, "total_cost_usd": 3, "ok": 4, "n_rollouts": 5},
            )
        )
    )
    assert row.metrics == {
        "reward": 2,
        "trace_same": 1,
        "trace_latency_ms": 2,
        "trace__x": 2,
        "trace_total_cost_usd": 3,
        "trace_ok": 4,
        "trace_n_rollouts": 5,
    }


def test_a_failed_episode_says_why() -> None:
    row = project_episode(episode(trace(ok=False, errors=[{"type": "ProviderError", "message": "500"}]), ok=False))
    assert row.error == "ProviderError: 500"
    assert row.members()["_error"] == "ProviderError: 500"
    assert row.extra["ok"] == 0.0


def test_a_failure_that_nothing_scored_has_no_metrics_of_what_it_counted() -> None:
    failed = project_episode(episode(trace(ok=False, metrics={"turns": 3}), ok=False))
    assert (failed.metrics, failed.error) == ({}, "Failed: the episode is not ok and names no error")
    assert failed.members()["_error"] == failed.error
    assert project_episode(episode(trace(metrics={"turns": 3}))).metrics == {"turns": 3}


def test_a_failure_that_was_scored_keeps_its_score_and_is_told() -> None:
    failed = episode(trace(ok=False, rewards={"right": {"score": 0, "weight": 1}}), ok=False, is_timeout=True)
    members = project_episode(failed).members()
    assert members["reward"] == 0
    assert "_error" not in members
    assert members["_meta"]["error"].startswith("Timeout")


def test_tokens_money_and_time_are_those_of_all_traces() -> None:
    def one(start: float, end: float) -> dict[str, Any]:
        usage = {"prompt_tokens": 2, "cached_input_tokens": 3, "completion_tokens": 4, "cost": 0.5}
        timing = {"start": 0.0, "agent": {"start": start, "end": end}}
        return trace(calls=[{"usage": usage, "finish_reason": "stop", "model": "m"}], timing=timing)

    row = project_episode(episode(one(10.0, 11.0), one(10.5, 12.5)))
    assert (row.tokens_in, row.tokens_out, row.cost_usd, row.latency_ms) == (10, 8, 1.0, 2500.0)
    assert row.meta == {"episode_id": "e", "model": "m", "finish_reason": "stop"}


def test_what_was_never_measured_is_absent() -> None:
    row = project_episode(episode())
    assert (row.tokens_in, row.cost_usd, row.latency_ms, row.metrics) == (None, None, None, {})


@pytest.mark.parametrize("path", sorted(REAL.glob("v*/traces.jsonl")) + sorted(REAL.glob("*-e*/traces.jsonl")), ids=str)
def test_real_episodes_project_the_same_every_time_and_finitely(path: Path) -> None:
    for each in evh.read_episodes(path, on_error=lambda error: None):
        row = project_episode(each)
        assert row == project_episode(evh.decode(evh.encode(each)))
        assert all(math.isfinite(value) for value in [*row.metrics.values(), *row.extra.values()])
        evh.encode(evh.PredictionRow.over({"item_id": row.item_id, **row.members()}), strict=True)


@given(st.lists(st.tuples(numbers, st.none() | numbers), min_size=1, max_size=6), st.randoms())
def test_rollouts_are_means_in_whatever_order(values: list[tuple[float, float | None]], random: Any) -> None:
    rollouts = [
        Projected("a", "", metrics={"m": one}, cost_usd=two, extra={} if two is None else {"x": two})
        for one, two in values
    ]
    row = project_rollouts("a", rollouts)
    random.shuffle(rollouts)
    other = project_rollouts("a", rollouts)
    assert (row.metrics, row.extra, row.cost_usd) == (other.metrics, other.extra, other.cost_usd)
    assert row.extra["n_rollouts"] == len(values)
    expected = math.fsum(one for one, _ in values) / len(values)
    assert row.metrics["m"] == pytest.approx(expected)
    present = [two for _, two in values if two is not None]
    assert (row.cost_usd is None) == (not present)


def test_an_item_failed_when_every_rollout_did() -> None:
    bad, good = Projected("a", "x", error="E: 1"), Projected("a", "y", metrics={"m": 1.0})
    assert project_rollouts("a", [bad, bad]).error == "E: 1"
    assert project_rollouts("a", [bad, good]).error is None
    assert project_rollouts("a", [bad, good]).output == "x"


def test_rollouts_beyond_a_double_are_refused() -> None:
    huge = Projected("a", "", metrics={"m": 1.7e308})
    with pytest.raises(RecordError, match="beyond what a double"):
        project_rollouts("a", [huge, huge])
