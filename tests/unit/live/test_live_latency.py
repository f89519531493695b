"""What a call costs: `log_episodes` of a 50 KB episode against encoding it and appending the same bytes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live_support import opened

from evh import AgentInfo, Episode, EvalRunInfo, MessageNode, Trace, TraceTask, UserMessage, decode, encode
from evh.store import Journal

BAR = 2.3
CALLS = 60
TRIES = 6


def episode() -> Episode:
    """50 KB of messages, as a reader gives it back."""
    nodes = [
        MessageNode(message=UserMessage(content="the quick brown fox " * 60), parent=index - 1 if index else None)
        for index in range(40)
    ]
    task = TraceTask(type="t", data={"idx": 1})
    return decode(encode(Episode.of(Trace(task=task, agent=AgentInfo(name="a", config={}), nodes=nodes))))


def seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


@pytest.mark.parametrize("policy", ["group", "never"])
def test_logging_costs_little_more_than_encoding_and_writing(policy: Any, tmp_path: Path) -> None:
    ratios = []
    with opened(fsync=policy) as run, Journal(tmp_path / "bare.jsonl", fsync=policy) as bare:
        for _ in range(TRIES):  # a busy machine disturbs some of them
            logged, written = [], []
            for _ in range(CALLS):
                one, other = episode(), episode()
                other.record_run(EvalRunInfo(id=run.id, name=run.name))
                logged.append(seconds(lambda one=one: run.log_episodes([one])))  # type: ignore[misc]
                written.append(seconds(lambda other=other: bare.append(encode(other))))  # type: ignore[misc]
            ratios.append(statistics.median(logged) / statistics.median(written))
            if ratios[-1] <= BAR:
                break
        run.finish(status="cancelled")
    assert min(ratios) <= BAR, ratios
