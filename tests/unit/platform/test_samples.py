"""Sample rows: those of the released client, and what that one leaves out."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet
import pytest

import evh
from evh.errors import RecordError, UsageError
from evh.platform import build_samples, run_summary, sample_bodies, sample_table, samples, trace_to_sample
from evh.platform.sample_table import COLUMNS
from evh.protocol.models import (
    AgentInfo,
    AssistantMessage,
    Episode,
    Error,
    MessageNode,
    Reward,
    Trace,
    TraceTask,
    UserMessage,
)

DATA = Path(__file__).parents[2] / "data"
COUNTS = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
"""Computed members, which the released client writes into the episode and we do not."""


def episodes_of(name: str) -> list[Episode]:
    rows = (DATA / "verifiers" / name / "traces.jsonl").read_bytes().split(b"\n")
    return [evh.decode(row) for row in rows if row.strip()]


def without_counts(sample: dict[str, Any]) -> dict[str, Any]:
    wrapper = sample["info"]["native_wrapper"]
    for record in (wrapper, *wrapper["traces"]):
        for name in COUNTS:
            record.pop(name, None)
    return sample


@pytest.mark.parametrize("name", ["v0.4.0-eval", "v0.4.0-two-seat"])
def test_rows_are_those_of_the_released_client(name: str) -> None:
    folder = os.environ.get("EVH_PEERS")
    if not folder:
        pytest.skip("EVH_PEERS is not set: the rows that prime_runs made are not compared with ours")
    theirs = json.loads((Path(folder) / "prime_runs" / f"{name}.samples.json").read_text("utf-8"))
    ours = [each for each in build_samples(episodes_of(name)) if each["info"]["native_trace_index"] is not None]
    assert [list(each) for each in ours] == [list(each) for each in theirs]
    assert [without_counts(each) for each in ours] == [without_counts(each) for each in theirs]


def test_an_episode_without_traces_has_its_row() -> None:
    error = Error(type="TaskError", message="setup failed", traceback="")
    task = TraceTask(type="T", data={"idx": 4, "answer": "42"}, key="k")
    (row,) = build_samples([Episode(id="ep", task=task, errors=[error])])
    assert (row["sample_id"], row["example_id"], row["rollout_number"], row["answer"]) == ("ep", 4, 1, "42")
    assert (row["completion"], row["reward"], row["is_completed"]) == ([], None, False)
    assert row["error"]["message"] == "setup failed"
    assert row["info"]["native_wrapper"]["id"] == "ep" and row["info"]["native_trace_index"] is None
    full = build_samples(episodes_of("v0.4.0-eval"))[0]
    assert set(row) <= set(full)


def task(**more: Any) -> TraceTask:
    return TraceTask(type="T", **{"data": {}, **more})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (task(key="k", hash="a"), task(key="k", hash="b"), True),
        (task(key="k", hash="a"), task(key="l", hash="a"), False),
        (task(hash="a", data={"idx": 1}), task(hash="a", data={"idx": 2}), True),
        (task(data={"idx": 1}), task(data={"idx": 1}), True),
        (task(data={"idx": 1}), task(key="1"), False),
        (task(), task(), False),
    ],
)
def test_rollouts_are_numbered_by_key_else_hash_else_position(one: TraceTask, other: TraceTask, same: bool) -> None:
    rows = build_samples([Episode(id="a", task=one), Episode(id="b", task=other)])
    assert [row["rollout_number"] for row in rows] == [1, 2 if same else 1]


def test_numbers_go_on_from_part_to_part() -> None:
    numbers: dict[Any, int] = {}
    rows = [build_samples([Episode(id=name, task=task(key="k"))], numbers)[0] for name in "abc"]
    assert [row["rollout_number"] for row in rows] == [1, 2, 3]


def agent(name: str, *, trainable: bool = True) -> AgentInfo:
    return AgentInfo(name=name, trainable=trainable, config={})


def trace(**more: Any) -> Trace:
    nodes = [
        MessageNode(message=UserMessage(content="six times seven?")),
        MessageNode(message=AssistantMessage(content="42"), parent=0, sampled=True),
    ]
    return Trace(**{"id": "t", "task": task(data={"idx": 1}), "agent": agent("solver"), "nodes": nodes, **more})


def test_numbers_that_json_does_not_have_become_null() -> None:
    record = trace(metrics={"length": math.inf}, info={"deep": [{"x": math.nan}]}, rewards={"r": Reward(score=1.0)})
    record.rewards["r"].score = math.nan
    sample = trace_to_sample(record)
    assert (sample["metrics"], sample["info"], sample["r"]) == ({"length": None}, {"deep": [{"x": None}]}, None)
    json.dumps(sample, allow_nan=False)
    (row,) = build_samples([Episode(id="ep", task=task(data={"x": math.nan}), traces=[record])])
    assert (row["reward"], row["info"]["native_wrapper"]["task"]["data"]) == (None, {"x": None})
    assert row["info"]["native_wrapper"]["traces"][0]["metrics"] == {"length": None}
    json.dumps(row, allow_nan=False)
    assert run_summary([Episode(id="ep", task=task(), ok=True, traces=[record])]) == {
        "avg_reward": 0.0,
        "avg_metrics": {},
        "avg_error": 0.0,
    }


def test_a_reward_never_takes_the_place_of_a_member() -> None:
    record = trace(rewards={"reward": Reward(score=0.25), "short": Reward(score=0.5), "none": None})
    sample = trace_to_sample(record, 3, "ep")
    assert sample["reward"] == record.reward
    assert (sample["short"], sample["rollout_number"], sample["episode_id"]) == (0.5, 3, "ep")
    assert "none" not in sample


def test_the_first_trainable_trace_stands_for_the_episode() -> None:
    judge = trace(id="judge", agent=agent("judge", trainable=False))
    solver = trace(id="solver", agent=agent("solver", trainable=True))
    (row,) = build_samples([Episode(id="ep", task=task(key="k"), traces=[judge, solver])])
    assert (row["agent"], row["info"]["native_trace_index"], row["sample_id"]) == ("solver", 1, "ep")
    (row,) = build_samples([Episode(id="ep", task=task(key="k"), traces=[judge])])
    assert (row["agent"], row["info"]["native_trace_index"]) == ("judge", 0)


def test_an_episode_that_is_too_large_has_a_row_per_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Episode(id="ep", task=task(key="k"), traces=[trace(id="a"), trace(id="b")])
    whole = len(json.dumps(build_samples([record])[0], separators=(",", ":"))) + len('{"samples":[]}')
    monkeypatch.setattr(samples, "MAX_BODY", whole)
    assert len(build_samples([record])) == 1
    monkeypatch.setattr(samples, "MAX_BODY", whole - 1)
    rows = build_samples([record])
    assert [(row["sample_id"], row["episode_id"], row["rollout_number"]) for row in rows] == [
        ("a", "ep", 1),
        ("b", "ep", 1),
    ]
    assert all(row["info"] is None for row in rows)


def test_bodies_keep_to_what_a_call_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"n": number, "text": "é" * 10} for number in range(10)]
    whole = b"".join(sample_bodies(rows))
    assert json.loads(whole) == {"samples": rows}
    for most in range(60, 200, 7):
        monkeypatch.setattr(samples, "MAX_BODY", most)
        bodies = list(sample_bodies(rows))
        assert all(len(body) <= most for body in bodies)
        assert [row for body in bodies for row in json.loads(body)["samples"]] == rows
    monkeypatch.setattr(samples, "MAX_BODY", 40)
    with pytest.raises(RecordError, match="more than a call may have"):
        list(sample_bodies(rows))
    assert list(sample_bodies([])) == []


# --- the run as a whole ----------------------------------------------------------------------------------------------


def test_averages_are_over_trainable_traces() -> None:
    judge = trace(agent=agent("judge", trainable=False), rewards={"r": Reward(score=9.0)})
    solver = trace(agent=agent("solver", trainable=True), rewards={"r": Reward(score=0.5), "none": None},
                   metrics={"m": 2.0})  # fmt: skip
    unscored = trace(agent=agent("solver", trainable=True))
    found = run_summary(
        iter(
            [
                Episode(id="a", task=task(), ok=True, traces=[judge, solver]),
                Episode(id="b", task=task(), traces=[unscored]),
            ]
        )
    )
    assert found == {"avg_reward": 0.25, "avg_metrics": {"r": 0.5, "m": 2.0}, "avg_error": 0.5}
    assert run_summary([Episode(id="a", task=task(), ok=True, traces=[judge])])["avg_reward"] == 9.0
    assert run_summary([]) == {"avg_reward": 0.0, "avg_metrics": {}, "avg_error": 0.0}


# --- the table of a training step ------------------------------------------------------------------------------------


def test_the_sample_table_has_the_columns_of_the_viewer() -> None:
    record = trace(info={"advantage": 0.75})
    empty = Episode(id="none", task=task(key="k"))
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    data = sample_table(
        [empty, Episode(id="ep", task=task(key="k"), traces=[record])], "run-1", 10, first_id=100, created_at=moment
    )
    assert data is not None
    table = pyarrow.parquet.read_table(io.BytesIO(data))
    assert table.column_names == list(COLUMNS)
    kinds = {name: str(table.schema.field(name).type) for name in COLUMNS}
    assert set(kinds.values()) == {"string", "int64", "double", "timestamp[us, tz=UTC]"}
    assert kinds["created_at"] == "timestamp[us, tz=UTC]" and kinds["reward"] == "double"
    (row,) = table.to_pylist()
    assert (row["run_id"], row["step"], row["sample_id"], row["problem_id"]) == ("run-1", 10, 101, 1)
    assert (row["advantage"], row["reward"], row["created_at"]) == (0.75, 0.0, moment)
    assert json.loads(row["trajectory"])[0]["advantage"] == 0.75
    assert json.loads(row["completion"])[-1]["content"] == "42"
    metadata = pyarrow.parquet.ParquetFile(io.BytesIO(data)).metadata
    assert metadata.row_group(0).column(0).compression == "SNAPPY"


def test_a_step_without_messages_has_no_table() -> None:
    assert sample_table([Episode(id="a", task=task())], "run-1", 1) is None


def test_ids_beyond_what_the_viewer_tells_apart_are_refused() -> None:
    with pytest.raises(UsageError, match="9007199254740991"):
        sample_table([Episode(id="ep", task=task(), traces=[trace()])], "r", 1, first_id=2**53)


def test_episodes_of_other_libraries_make_rows_by_their_attributes() -> None:
    class Dumped(SimpleNamespace):
        def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
            return {name: value for name, value in vars(self).items() if value is not None}

    def branches() -> Iterator[Any]:
        message = Dumped(role="assistant", content="42")
        yield SimpleNamespace(messages=[message], num_input_tokens=3, num_output_tokens=1)

    theirs = SimpleNamespace(
        id="t", task=SimpleNamespace(data=Dumped(idx=1, answer="42")), agent=SimpleNamespace(name="a", trainable=True),
        branches=list(branches()), tools=[], reward=1.0, timing=Dumped(start=1.0), is_completed=True,
        is_truncated=False, metrics={}, last_error=None, stop_condition=None, usage=None, info={}, rewards={},
    )  # fmt: skip
    episode = SimpleNamespace(id="ep", traces=[theirs], ok=True, to_record=lambda: {"id": "ep"})
    (row,) = build_samples([episode])
    assert (row["example_id"], row["answer"], row["completion"]) == (1, "42", [{"role": "assistant", "content": "42"}])
    assert run_summary([episode])["avg_reward"] == 1.0
