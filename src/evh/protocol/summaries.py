"""What a table of episodes shows, read without building the episodes.

Promise: a summary says the same as the whole record would, of the same episodes that `read_episodes` gives. Rows of
today are skimmed natively; any other row is upgraded in full first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError
from evh.protocol import models
from evh.protocol._upgrading import Upgrading
from evh.protocol.reader import OnError, check_on_error, handle_error, is_path, read_documents
from evh.protocol.sources import Line, Source

__all__ = ["Summary", "read_summaries", "summary_of"]


class Summary(NamedTuple):
    """An episode in a table. `reward` is the mean over its trainable scored traces (else all scored), None when
    unscored; `errors` counts those of the episode and of its traces; `offset` is where the row begins in the unpacked
    file."""

    id: str
    ok: bool
    reward: float | None
    run: str | None
    errors: int
    traces: int
    line: int = 0
    offset: int = 0


class _Reward(msgspec.Struct, gc=False):
    score: int | float
    weight: int | float = 1.0


class _Agent(msgspec.Struct, gc=False):
    trainable: bool = True


class _Trace(msgspec.Struct, gc=False):
    agent: _Agent
    rewards: dict[str, _Reward | None] = {}
    errors: list[msgspec.Raw] = []
    run: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Run(msgspec.Struct, gc=False):
    id: str


class _Task(msgspec.Struct, gc=False):
    type: str
    data: msgspec.Raw


class _Episode(msgspec.Struct, gc=False):
    id: str
    task: _Task
    traces: list[_Trace]
    ok: bool = False
    run: _Run | None = None
    errors: list[msgspec.Raw] = []


@cache
def _skim() -> Callable[[Any], _Episode]:
    return msgspec.json.Decoder(_Episode).decode


def read_summaries(src: Source, on_error: OnError = "raise") -> Iterator[Summary]:
    """A summary of each episode of a source, in order.

    A bad row is raised by default; `"skip"` passes over it, a function is called with the error. A row of today is only
    skimmed: one that breaks its schema where no summary looks has a summary all the same.
    """
    check_on_error(on_error)

    def failed(error: EvhError, line: Line) -> None:
        handle_error(error.at(line.source, line.line), on_error)

    upgrading = Upgrading(_skimmed, _finished, failed, beside=is_path(src))
    return upgrading.run(read_documents(src))


def _skimmed(line: Line) -> Summary | None:
    try:
        row = _skim()(line.data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return _summarize(tuple.__new__, row, line.line, line.offset)


def _finished(episode: models.Episode, line: Line) -> Summary:
    return summary_of(episode)._replace(line=line.line, offset=line.offset)


def _summarize(new: Any, row: Any, line: int, offset: int) -> Summary | None:
    """The summary of a row or record; None for a row whose traces still say the run. One loop, as it runs for each
    row."""
    total: float = 0
    scored = others = 0
    total_of_others: float = 0
    errors = len(row.errors)
    for trace in row.traces:
        if trace.run is not msgspec.UNSET:
            return None
        errors += len(trace.errors)
        reward: float | None = None
        for each in trace.rewards.values():
            if each is not None:
                reward = _product(each) + (0 if reward is None else reward)
        if reward is not None:
            if trace.agent.trainable:
                total += reward
                scored += 1
            else:
                total_of_others += reward
                others += 1
    trainable = any(trace.agent.trainable for trace in row.traces)
    if not trainable:
        total, scored = total_of_others, others
    mean = total / scored if scored else math.nan
    run = row.run
    summary: Summary = new(
        Summary,
        (
            row.id,
            row.ok,
            mean if math.isfinite(mean) else None,
            None if run is None else run.id,
            errors,
            len(row.traces),
            line,
            offset,
        ),
    )
    return summary


def _product(reward: Any) -> float:
    try:
        return float(reward.score * reward.weight)
    except OverflowError:
        return math.inf  # beyond a float: the mean is none


def summary_of(episode: models.Episode) -> Summary:
    """The summary of an episode in memory."""
    traces = [
        _Trace(
            agent=_Agent(trainable=trace.agent.trainable),
            rewards={
                name: None if each is None else _Reward(each.score, each.weight) for name, each in trace.rewards.items()
            },
            errors=[msgspec.Raw()] * len(trace.errors),
        )
        for trace in episode.traces
    ]
    identity = None if episode.run is None else getattr(episode.run, "id", None)
    run = _Run(id=identity) if isinstance(identity, str) else None
    errors = [msgspec.Raw()] * len(episode.errors)
    row = _Episode(id=episode.id, task=_Task("", msgspec.Raw()), traces=traces, ok=episode.ok, run=run, errors=errors)
    summary = _summarize(tuple.__new__, row, 0, 0)
    assert summary is not None
    return summary
