"""An episode's run, its making from a trace, and its sums."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evh.errors import RecordError, UsageError
from evh.protocol.models import (
    AgentInfo,
    EnvInfo,
    Episode,
    Error,
    EvalRunInfo,
    EvalWorkInfo,
    TrainRunInfo,
    TrainWorkInfo,
)


def test_record_run_sets_the_run_and_merges_info_on_the_episode_alone(make: Any) -> None:
    episode = make.episode(make.trace(), info={"kept": 1, "split": "train"})
    episode.record_run(EvalRunInfo(id="r1"), split="test", tags=("a", {"b": None}))
    assert episode.run == EvalRunInfo(id="r1")
    assert dict(episode.info) == {"kept": 1, "split": "test", "tags": ["a", {"b": None}]}
    assert dict(episode.traces[0].info) == {}
    episode.record_run(TrainRunInfo(id="r2", work=TrainWorkInfo(step=3)))
    assert episode.run is not None and episode.run.id == "r2"
    assert episode.info["split"] == "test"


def test_an_episode_without_traces_keeps_its_run(make: Any, read: Any) -> None:
    episode = make.episode()
    episode.record_run(EvalRunInfo(id="r1"), why="cancelled")
    record = episode.to_record()
    assert record["run"] == {"type": "eval", "id": "r1"}
    assert record["info"] == {"why": "cancelled"} and record["traces"] == []
    read_back = read(b'{"id":"e","task":{"type":"T","data":{}}}')
    read_back.record_run(EvalRunInfo(id="r1"), a=1)
    assert (read_back.run.id, dict(read_back.info)) == ("r1", {"a": 1})


def test_info_is_copied(make: Any) -> None:
    episode, shared = make.episode(), {"deep": [1]}
    episode.record_run(EvalRunInfo(id="r"), shared=shared)
    shared["deep"].append(2)
    assert episode.info["shared"] == {"deep": [1]}


@pytest.mark.parametrize(
    "run", [None, "r1", {"type": "eval", "id": "r1"}, EvalWorkInfo(step=1), TrainWorkInfo(step=1), EnvInfo()]
)
def test_only_runs_are_recorded(make: Any, run: Any) -> None:
    episode = make.episode()
    with pytest.raises(UsageError, match="EvalRunInfo or a TrainRunInfo"):
        episode.record_run(run, split="test")
    assert episode.run is None and not episode.info


def within_itself() -> list[Any]:
    loop: list[Any] = []
    loop.append([loop, loop])
    return loop


@pytest.mark.parametrize(
    "value",
    [float("nan"), [1, float("inf")], object(), b"bytes", {1: 2}, {"a": {3, 4}}, within_itself()],
    ids=["nan", "inf", "object", "bytes", "number-key", "set", "within-itself"],
)
def test_info_that_is_not_json_is_refused_and_nothing_changes(make: Any, value: Any) -> None:
    episode = make.episode(info={"kept": 1})
    with pytest.raises(UsageError, match="info must be JSON"):
        episode.record_run(EvalRunInfo(id="r"), good=1, bad=value)
    assert episode.run is None and dict(episode.info) == {"kept": 1}


def test_the_reserved_key_of_info_is_refused(make: Any) -> None:
    with pytest.raises(UsageError, match="reserved"):
        make.episode().record_run(EvalRunInfo(id="r"), evh={})


def test_an_episode_of_a_trace_is_minted_once(make: Any) -> None:
    trace = make.trace(ok=True)
    episode = Episode.of(trace)
    assert episode.traces == [trace] and episode.traces[0] is trace
    assert episode.task is trace.task and episode.ok is True
    assert re.fullmatch("[0-9a-f]{32}", episode.id) and episode.id == episode.id
    assert episode.env.id == ""
    assert Episode.of(trace).id != episode.id
    assert Episode.of(trace, env=EnvInfo(id="gsm8k")).env.id == "gsm8k"
    for other in (None, episode, {"id": "t"}):
        with pytest.raises(UsageError):
            Episode.of(other)  # type: ignore[arg-type]


def test_sums_over_traces(make: Any) -> None:
    episode = make.episode(make.forked(), make.trace(), make.forked())
    assert (episode.num_input_tokens, episode.num_output_tokens, episode.num_total_tokens) == (60, 40, 90)
    assert episode.num_turns == 6
    assert episode.usage is not None and episode.usage.completion_tokens == 30
    assert make.episode().usage is None
    assert (make.episode().num_total_tokens, make.episode().num_turns) == (0, 0)


def test_the_last_error_is_the_episodes_own(make: Any) -> None:
    trace = make.trace(errors=[Error(type="TaskError", message="of the trace")])
    assert make.episode(trace).last_error is None
    errors = [Error(type="EnvError", message="first"), Error(type="EnvError", message="second")]
    assert make.episode(trace, errors=errors).last_error.message == "second"


def test_traces_by_seat_in_completion_order(make: Any) -> None:
    traces = [make.trace(agent=AgentInfo(config={}, name=name)) for name in ("solver", "judge", "solver")]
    assert make.episode(*traces).by_agent == {"solver": [traces[0], traces[2]], "judge": [traces[1]]}


def test_a_cost_beyond_a_double_names_the_trace(make: Any) -> None:
    heavy = make.trace(calls=[make.call(None, cost=1.7e308), make.call(None, cost=1.7e308)])
    with pytest.raises(RecordError) as caught:
        _ = make.episode(make.trace(), heavy).usage
    assert caught.value.pointer == "/traces/1/calls"
