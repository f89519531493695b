"""Episodes as rows of the platform's sample table: the flat form that its evaluation viewer shows.

Promise: every episode has a row, one without traces as well. Rollouts of one task are numbered in order of arrival, by
the task's key, else its hash, else its position; a task with none of them counts by itself. Numbers that JSON does not
have become null. A row of an episode that is too large for one call is replaced by one row per trace.
Policy: the summary trace is the first trainable one, else the first. The reward of a trace that nobody scored is 0, as
the released clients say it. Rows are made by attribute, so that episodes of verifiers make the same rows as ours.
When it breaks: `RecordError` for one row that is too large for a call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any, TypedDict

from evh.errors import RecordError
from evh.protocol.jsontext import dumps

__all__ = ["MAX_BODY", "RunAverages", "build_samples", "run_summary", "sample_bodies", "trace_to_sample"]

MAX_BODY = 25 * 1024 * 1024
"""Bytes that one call to append samples may have."""
ENVELOPE = len(b'{"samples":[]}')


class RunAverages(TypedDict):
    """Averages of a run as the dashboard reads them: `avg_error` is the share of episodes that are not ok."""

    avg_reward: float
    avg_metrics: dict[str, float]
    avg_error: float


def build_samples(
    episodes: Iterable[Any], rollout_numbers: MutableMapping[Any, int] | None = None
) -> list[dict[str, Any]]:
    """The rows of episodes, in order. Who sends a run in parts gives the same `rollout_numbers` each time, so that the
    numbers go on."""
    counts = {} if rollout_numbers is None else rollout_numbers
    rows: list[dict[str, Any]] = []
    for episode in episodes:
        identity = _identity(episode)
        number = 1
        if identity is not None:
            counts[identity] = number = counts.get(identity, 0) + 1
        rows += _rows(episode, number)
    return rows


def trace_to_sample(trace: Any, rollout_number: int = 1, episode_id: str | None = None) -> dict[str, Any]:
    """One trace as a row: `completion` is the last branch, `trajectory` has all of them."""
    branches = list(trace.branches)
    task = _dump(trace.task.data)
    sample: dict[str, Any] = {
        "sample_id": trace.id,
        "example_id": task.get("idx"),
        "rollout_number": rollout_number,
        "episode_id": episode_id,
        "agent": trace.agent.name,
        "trainable": trace.agent.trainable,
        "task": task,
        "prompt": [],
        "completion": _dump_all(branches[-1].messages) if branches else [],
        "answer": task.get("answer"),
        "tool_defs": _dump_all(trace.tools) or None,
        "reward": _reward(trace),
        "timing": _dump(trace.timing),
        "is_completed": trace.is_completed,
        "is_truncated": trace.is_truncated,
        "metrics": dict(trace.metrics),
        "error": _dump(trace.last_error) if trace.last_error else None,
        "stop_condition": trace.stop_condition,
        "trajectory": [
            {
                "messages": _dump_all(branch.messages),
                "num_input_tokens": branch.num_input_tokens,
                "num_output_tokens": branch.num_output_tokens,
            }
            for branch in branches
        ],
        "token_usage": _dump(trace.usage) if trace.usage else None,
        "info": dict(trace.info) or None,
    }
    for name, reward in trace.rewards.items():
        if reward is not None:
            sample.setdefault(name, reward.score)
    made: dict[str, Any] = _finite(sample)
    return made


def run_summary(episodes: Iterable[Any]) -> RunAverages:
    """Averages over the trainable traces of a run; over all traces when none is trainable."""
    seen, failed = 0, 0
    trainable, others = _Averages(), _Averages()
    for episode in episodes:
        seen += 1
        failed += not episode.ok
        for trace in episode.traces:
            (trainable if trace.agent.trainable else others).add(trace)
    if not trainable.count:
        trainable = others
    return {
        "avg_reward": trainable.reward / trainable.count if trainable.count else 0.0,
        "avg_metrics": {name: total / count for name, (total, count) in trainable.named.items()},
        "avg_error": failed / seen if seen else 0.0,
    }


def sample_bodies(rows: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    """The bodies of the calls that append rows, each within `MAX_BODY`. `RecordError` for a row that fits in none."""
    waiting: list[bytes] = []
    size = ENVELOPE
    for index, row in enumerate(rows):
        text = dumps(row)
        if ENVELOPE + len(text) > MAX_BODY:
            raise RecordError(
                f"the sample has {len(text)} bytes, more than a call may have ({MAX_BODY})", pointer=f"/{index}"
            )
        if waiting and size + 1 + len(text) > MAX_BODY:
            yield _body(waiting)
            waiting, size = [], ENVELOPE
        size += len(text) + bool(waiting)
        waiting.append(text)
    if waiting:
        yield _body(waiting)


def _body(rows: list[bytes]) -> bytes:
    return b'{"samples":[' + b",".join(rows) + b"]}"


class _Averages:
    """Sums over traces, so that a run of any length takes the same memory."""

    def __init__(self) -> None:
        self.count, self.reward = 0, 0.0
        self.named: dict[str, tuple[float, int]] = {}

    def add(self, trace: Any) -> None:
        self.count += 1
        self.reward += _reward(trace) or 0.0
        scores = {name: reward.score for name, reward in trace.rewards.items() if reward is not None}
        for name, value in {**scores, **trace.metrics}.items():
            if value is not None and math.isfinite(value):
                total, count = self.named.get(name, (0.0, 0))
                self.named[name] = (total + value, count + 1)


def _rows(episode: Any, number: int) -> list[dict[str, Any]]:
    traces = list(episode.traces)
    index = _summary_index(traces)
    sample = trace_to_sample(traces[index], number, episode.id) if traces else _bare_sample(episode, number)
    sample["sample_id"] = episode.id
    sample["info"] = _finite(
        {
            **(sample["info"] or {}),
            "native_wrapper": _record(episode),
            "native_trace_index": index if traces else None,
        }
    )
    if not traces or ENVELOPE + len(dumps(sample)) <= MAX_BODY:
        return [sample]
    return [trace_to_sample(trace, number, episode.id) for trace in traces]


def _bare_sample(episode: Any, number: int) -> dict[str, Any]:
    """The row of an episode without traces: what it was to do, and why it did not."""
    task = _dump(episode.task.data)
    errors = list(episode.errors)
    made: dict[str, Any] = _finite(
        {
            "sample_id": episode.id,
            "example_id": task.get("idx"),
            "rollout_number": number,
            "episode_id": episode.id,
            "agent": None,
            "trainable": None,
            "task": task,
            "prompt": [],
            "completion": [],
            "answer": task.get("answer"),
            "tool_defs": None,
            "reward": None,
            "timing": None,
            "is_completed": False,
            "is_truncated": False,
            "metrics": {},
            "error": _dump(errors[-1]) if errors else None,
            "stop_condition": None,
            "trajectory": [],
            "token_usage": None,
            "info": None,
        }
    )
    return made


def summary_trace(episode: Any) -> Any:
    """The trace that stands for an episode: the first trainable one, else the first."""
    return episode.traces[_summary_index(episode.traces)]


def _summary_index(traces: Sequence[Any]) -> int:
    return next((index for index, trace in enumerate(traces) if trace.agent.trainable), 0)


def _identity(episode: Any) -> tuple[str, Any] | None:
    """What makes two episodes rollouts of one task; None for a task that says nothing of the kind."""
    tasks = [episode.task] if getattr(episode, "task", None) is not None else []
    if episode.traces:
        tasks.append(summary_trace(episode).task)
    for name in ("key", "hash"):
        for task in tasks:
            if value := getattr(task, name, None):
                return name, value
    for task in tasks:
        if (idx := _dump(task.data).get("idx")) is not None:
            return "idx", idx
    return None


def _reward(trace: Any) -> float | None:
    try:
        return trace.reward or 0.0
    except RecordError:  # a score that is no number of JSON
        return None


def _record(episode: Any) -> Any:
    try:
        return episode.to_record()
    except RecordError:
        return episode.model_dump(mode="python", exclude_none=True)


def _dump(record: Any) -> dict[str, Any]:
    try:
        dumped: dict[str, Any] = record.model_dump(mode="json", exclude_none=True)
    except RecordError:
        dumped = record.model_dump(mode="python", exclude_none=True)
    return dumped


def _dump_all(records: Iterable[Any]) -> list[dict[str, Any]]:
    return [_dump(record) for record in records]


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, bytes | memoryview) else value
