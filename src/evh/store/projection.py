"""From an Episode to a prediction row: which of its numbers, under which names.

Promise: a pure function of the episode, so that a row that is lost can be made again. Every number is finite. A metric
that the episode does not have is left out, never 0; names neither hide one another nor a member of the row. Several
rollouts of one item make one row of means, the same whatever order they came in, but for the output and its metadata,
which are those of the first.

Policy
    The answer is the last reply of the first trainable trace that has one, else of the first trace that has one.
    `reward` is the mean over the traces that were scored; rewards (their score) and metrics stand beside it by name,
    as means over the traces that have them. An episode that failed and that nothing scored (no `reward`) has no metric
    at all: what it counted on the way measures no answer. Its row has `_error`, whoever makes the row. A name that the
    row or another number has already gets `trace_` in front: rewards come before metrics. Tokens and money are those of
    all traces, cache reads being input; latency is the time from the first agent's start to the last one's end.

When it breaks: a row disagrees with its episode; the episodes stay as they are, so rows can be projected anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from evh.errors import RecordError, cut
from evh.protocol import models
from evh.store.aggregate import exact_mean
from evh.store.metric_names import check_names
from evh.store.record import Declared

__all__ = [
    "EPISODE_METRICS", "REWARD", "Projected", "Said", "item_id_of", "project_episode", "project_rollouts", "said_by",
    "words_of",
]  # fmt: skip

TAKEN = "trace_"
REWARD = "reward"
EXTRAS = ("ok", "truncated", "n_rollouts")
COUNTS = ("latency_ms", "cost_usd", "tokens_in", "tokens_out", "output_words")
EPISODE_METRICS = Declared(
    primary_metric=REWARD,
    metric_kinds={
        REWARD: "quality",
        "ok": "descriptive",
        "truncated": "descriptive",
        "n_rollouts": "descriptive",
    },
    metric_descriptions={
        REWARD: "the sum of scores times weights, as the environment gave it",
        "ok": "1 when the episode succeeded, else 0",
        "truncated": "1 when the answer was cut short by a limit, else 0",
        "n_rollouts": "episodes of the item, whose means its row has",
    },
)
"""What a record says of the numbers that are projected."""


class Said(NamedTuple):
    """What an episode says itself: its output, its numbers, and why it failed."""

    output: str
    metrics: dict[str, int | float]
    error: str | None


class Projected(msgspec.Struct):
    """What a row says of one item, whatever it was made from."""

    item_id: str
    output: str
    metrics: dict[str, int | float] = {}
    extra: dict[str, int | float] = {}
    meta: dict[str, Any] = {}
    latency_ms: int | float | None = None
    cost_usd: int | float | None = None
    tokens_in: int | float | None = None
    tokens_out: int | float | None = None
    error: str | None = None
    """Type and message of the failure when the item failed, whether anything scored it or not."""
    output_words: int | float | None = None

    def members(self) -> dict[str, Any]:
        """The members of its row but the item's id. A failure that nothing scored is a row with `_error`; one that its
        source scored all the same is a scored row that tells the failure in `_meta`."""
        found: dict[str, Any] = {**self.extra, **self.metrics}
        found |= {name: getattr(self, name) for name in COUNTS if getattr(self, name) is not None}
        found["_extra"] = dict(self.extra)
        meta = dict(self.meta)
        if self.error is not None and self.metrics:
            meta.setdefault("error", self.error)
        elif self.error is not None:
            found["_error"] = self.error
        if meta:
            found["_meta"] = meta
        return found


def item_id_of(episode: models.Episode) -> str:
    """The item that an episode is of: its task's key, else the task's hash, else `idx` of the task's data.

    Raises `RecordError` when the task says none of them.
    """
    task = episode.task
    for named in (task.key, task.hash):
        if named:
            return named
    index = task.data.get("idx")
    if isinstance(index, int) and not isinstance(index, bool):
        return str(index)
    raise RecordError(
        "the episode belongs to no item: its task has no key, no hash and no idx in its data", pointer="/task"
    )


def project_episode(episode: models.Episode, item_id: str | None = None) -> Projected:
    """The row of one episode, for `item_id` or the item that the episode names itself.

    `error` says why an episode that is not `ok` failed; it has metrics then only when something scored it all the same.
    Raises `RecordError` when it names none, or a sum is beyond a double.
    """
    answering, output = _answering(episode.traces)
    said = _said(episode, output)
    usage = episode.usage
    return Projected(
        item_id=item_id_of(episode) if item_id is None else item_id,
        output=said.output,
        metrics=said.metrics,
        extra={
            "ok": 1.0 if episode.ok else 0.0,
            "truncated": 1.0 if answering is not None and answering.is_truncated else 0.0,
        },
        meta=_meta(episode, answering),
        latency_ms=_latency(episode.traces),
        cost_usd=None if usage is None else _count(usage.cost),
        tokens_in=None if usage is None else _count(usage.input_tokens),
        tokens_out=None if usage is None else _count(usage.completion_tokens),
        error=said.error,
        output_words=words_of(said.output, said.error),
    )


def said_by(episode: models.Episode) -> Said:
    """What `project_episode` finds in an episode of output, metrics and error, without the rest of its row."""
    return _said(episode, _answering(episode.traces)[1])


def _said(episode: models.Episode, output: str) -> Said:
    metrics = _metrics(episode.traces)
    error = None if episode.ok else _failure(episode)
    return Said(output, metrics if error is None or REWARD in metrics else {}, error)


def words_of(output: str, error: str | None) -> int | None:
    """How many words an output has; None for the output that a failure has not."""
    return len(output.split()) if output or error is None else None


def project_rollouts(item_id: str, rollouts: Sequence[Projected]) -> Projected:
    """One row out of the rollouts of one item, in the order in which they stand in their source.

    Each number is the mean over the rollouts that have it, `n_rollouts` in `extra` their number. The item failed when
    every rollout did. Raises `RecordError` for no rollouts, or a sum beyond a double.
    """
    if not rollouts:
        raise RecordError(f"item {cut(item_id)} has no rollouts")
    first = rollouts[0]
    meta = first.meta
    if len(rollouts) > 1 and any("episode_id" in each.meta for each in rollouts):
        meta = {**meta, "episode_ids": [each.meta["episode_id"] for each in rollouts if "episode_id" in each.meta]}
    failed = [each.error for each in rollouts if each.error is not None]
    found = Projected(
        item_id=item_id,
        output=first.output,
        metrics=_means(item_id, [each.metrics for each in rollouts]),
        extra={**_means(item_id, [each.extra for each in rollouts]), "n_rollouts": len(rollouts)},
        meta=meta,
        error=failed[0] if len(failed) == len(rollouts) else None,
    )
    for name in COUNTS:
        values = [value for each in rollouts if (value := getattr(each, name)) is not None]
        if values:
            setattr(found, name, _mean(values, item_id, name))
    return found


def _answering(traces: Sequence[models.Trace]) -> tuple[models.Trace | None, str]:
    """The trace whose last reply is the answer, and that reply; "" where no trace has one."""
    ranked = sorted(traces, key=lambda trace: not trace.agent.trainable)
    for trace in ranked:
        if output := trace.last_reply:
            return trace, output
    return ranked[0] if ranked else None, ""


def _metrics(traces: Sequence[models.Trace]) -> dict[str, int | float]:
    values: dict[tuple[int, str], list[int | float]] = {}
    for trace in traces:
        if (total := trace.reward) is not None:
            values.setdefault((0, REWARD), []).append(total)
        only = len(trace.rewards) == 1
        for name, reward in trace.rewards.items():
            if name == REWARD and only and (reward is None or reward.weight == 1):
                continue  # the total under its own name
            held = values.setdefault((1, name), [])
            if reward is not None:
                held.append(reward.score)
        for name, value in trace.metrics.items():
            held = values.setdefault((2, name), [])
            if value is not None:
                held.append(value)
    found: dict[str, int | float] = {}
    taken = {REWARD, *EXTRAS}
    for kind, name in sorted(values):
        free = name if kind == 0 else _free(name, taken)
        taken.add(free)  # also by a name without a number, so that an item more or less scored has the same names
        finite = [value for value in values[kind, name] if math.isfinite(value)]
        if finite:
            found[free] = _mean(finite, None, name)
    return found


def _free(name: str, taken: set[str]) -> str:
    while name in taken or not _is_allowed(name):
        name = TAKEN + name
    return name


def _is_allowed(name: str) -> bool:
    try:
        check_names([name])
    except RecordError:
        return False
    return True


def _meta(episode: models.Episode, answering: models.Trace | None) -> dict[str, Any]:
    meta: dict[str, Any] = {"episode_id": episode.id}
    if answering is None:
        return meta
    calls = [call for call in answering.calls if call.error is None]
    said = {
        "model": calls[-1].model if calls else None,
        "finish_reason": calls[-1].finish_reason if calls else None,
        "stop_condition": answering.stop_condition,
    }
    return meta | {name: value for name, value in said.items() if value is not None}


def _latency(traces: Sequence[models.Trace]) -> float | None:
    spans = [trace.timing.agent for trace in traces if trace.timing.agent.end]
    if not spans:
        return None
    took = (max(float(span.end) for span in spans) - min(float(span.start) for span in spans)) * 1000
    return took if math.isfinite(took) and took >= 0 else None


def _count(value: int | float | None) -> int | float | None:
    """A number that a row takes: finite and not negative; anything else was never measured."""
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def _failure(episode: models.Episode) -> str:
    errors = [episode.last_error, *(trace.last_error for trace in episode.traces if not trace.ok)]
    last = next((error for error in errors if error is not None), None)
    if last is not None:
        return f"{last.type}: {last.message}"
    return (
        "Timeout: the episode ran past its deadline"
        if episode.is_timeout
        else "Failed: the episode is not ok and names no error"
    )


def _means(item_id: str, maps: Sequence[dict[str, int | float]]) -> dict[str, int | float]:
    names = sorted({name for each in maps for name in each})
    return {name: _mean([each[name] for each in maps if name in each], item_id, name) for name in names}


def _mean(values: Iterable[int | float], item_id: str | None, name: str) -> int | float:
    held = list(values)
    if len(held) == 1:
        return held[0]
    try:
        return exact_mean(held)
    except OverflowError:
        item = "" if item_id is None else f"item {cut(item_id)}: "
        raise RecordError(f"{item}the sum of {cut(name)} is beyond what a double can hold") from None
