"""Reranking: a model is shown the head of a ranking and asked for a better order of it.

Promise: the reply decides the order of the head alone. Documents that it does not name keep their old order behind
those that it does, ids that were not shown are left out and counted, and the tail stays as it was. A reply that states
no order leaves everything.
The model here is scripted, so that the example runs offline: its replies are the lines of `data/replies.jsonl`, in the
several forms in which models answer.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from beir import ID

REPLIES = Path(__file__).resolve().parent / "data" / "replies.jsonl"
LONGEST_REPLY = 2000

Reader = Callable[[str], list[str] | None]


class Reranked(NamedTuple):
    ranking: list[str]
    parsed: bool
    unknown: int
    """Ids in the reply that were not among those shown."""


@functools.cache
def _replies() -> dict[str, str]:
    rows = [json.loads(line) for line in REPLIES.read_text("utf-8").splitlines()]
    return {row["query"]: row["reply"] for row in rows}


def ask(query: str) -> str:
    """What the scripted model answers to a query."""
    return _replies()[query.strip()]


def reordered(reply: str, ranking: Sequence[str], head: Sequence[str], read: Reader) -> Reranked:
    """The ranking with its head in the order of the reply."""
    ids = read(reply)
    shown = set(head)
    named = list(dict.fromkeys(each for each in ids or [] if each in shown))
    rest = [each for each in head if each not in named]
    return Reranked(
        [*named, *rest, *ranking[len(head) :]], ids is not None, sum(each not in shown for each in ids or [])
    )


def read_lines(reply: str) -> list[str] | None:
    """The parser that the arm was measured with. It has a bug: it takes the first of several lines for a lead-in, and
    numbered lines or a fence for no ids at all. `reading.read_ranking` does not."""
    if reply.lstrip().startswith("["):
        return [str(each) for each in json.loads(reply)]
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    ids = lines[1:] if len(lines) > 1 else lines
    return ids if any(map(ID.fullmatch, ids)) else None
