"""What a table of episodes shows, read without building the episodes.

Promise: a summary says the same as the whole record would. Rows of today are skimmed natively; any other row is
upgraded in full first, so that an old file has a summary for every row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError
from evh.protocol import models
from evh.protocol.reader import OnError, handle_error, read_documents
from evh.protocol.sources import Source
from evh.protocol.upgraded import upgrade

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


class _Episode(msgspec.Struct, gc=False):
    id: str
    task: msgspec.Raw
    traces: list[_Trace]
    ok: bool = False
    run: _Run | None = None
    errors: list[msgspec.Raw] = []


@cache
def _skim() -> msgspec.json.Decoder[_Episode]:
    return msgspec.json.Decoder(_Episode)


def read_summaries(src: Source, on_error: OnError = "raise") -> Iterator[Summary]:
    """A summary of each episode of a source, in order. `on_error` as in `read_episodes`."""
    decode = _skim().decode
    for line, wire in read_documents(src):
        if not wire:
            try:
                row = decode(line.data)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                pass
            else:
                if not any(trace.run is not msgspec.UNSET for trace in row.traces):
                    yield _summary(row, line.line, line.offset)
                    continue
        try:
            episode = upgrade(line.data, format="msgpack" if wire else "json").record
        except EvhError as error:
            handle_error(error.at(line.source, line.line), on_error)
            continue
        yield summary_of(episode)._replace(line=line.line, offset=line.offset)


def _summary(row: Any, line: int = 0, offset: int = 0) -> Summary:
    traces = row.traces
    trainable = [trace for trace in traces if trace.agent.trainable] or traces
    rewards = [reward for trace in trainable if (reward := _reward(trace)) is not None]
    errors = len(row.errors)
    for trace in traces:
        errors += len(trace.errors)
    mean = sum(rewards) / len(rewards) if rewards else None
    run = row.run.id if row.run is not None else None
    return Summary(row.id, row.ok, mean, run, errors, len(traces), line, offset)


def _reward(trace: Any) -> float | None:
    scored = [reward for reward in trace.rewards.values() if reward is not None]
    return sum([reward.score * reward.weight for reward in scored]) if scored else None


def summary_of(episode: models.Episode) -> Summary:
    """The summary of an episode in memory."""
    return _summary(episode)
