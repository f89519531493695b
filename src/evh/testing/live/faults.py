"""What a `FaultProxy` does to one request, as values.

Promise: the name says which side sees what. Before the server: `drop`, `reset`, `cut`, `answer`. After the server has
answered, so that what was asked for is done: `lose`, `replace`, `truncate`, `garble`. Neither: `passing`, `delay`.
"""

from __future__ import annotations

import random
from typing import NamedTuple

__all__ = [
    "Fault",
    "answer",
    "cut",
    "delay",
    "drop",
    "garble",
    "lose",
    "passing",
    "random_fault",
    "replace",
    "reset",
    "truncate",
]

STATUSES = (429, 500, 502, 503, 504)


class Fault(NamedTuple):
    """One of the functions below makes it."""

    kind: str
    status: int = 0
    seconds: float = 0.0
    retry_after: str | None = None


def passing() -> Fault:
    """Nothing is wrong."""
    return Fault(kind="passing")


def delay(seconds: float) -> Fault:
    """The request waits before it is passed on."""
    return Fault(kind="delay", seconds=seconds)


def drop() -> Fault:
    """The connection is closed; the server sees nothing."""
    return Fault(kind="drop")


def reset() -> Fault:
    """The connection is reset; the server sees nothing."""
    return Fault(kind="reset")


def cut() -> Fault:
    """Half of the request reaches the server, then both connections end."""
    return Fault(kind="cut")


def answer(status: int, *, retry_after: str | None = "0") -> Fault:
    """Answered in the server's stead, which sees nothing."""
    return Fault(kind="answer", status=status, retry_after=retry_after)


def lose() -> Fault:
    """The server does it and answers; the client's connection is reset instead."""
    return Fault(kind="lose")


def replace(status: int, *, retry_after: str | None = "0") -> Fault:
    """The server does it and answers; the client is told something else, as a gateway does that ran out of time."""
    return Fault(kind="replace", status=status, retry_after=retry_after)


def truncate() -> Fault:
    """The server does it; half of its answer arrives."""
    return Fault(kind="truncate")


def garble() -> Fault:
    """The server does it; what arrives is a 200 with a page in it."""
    return Fault(kind="garble", status=200)


def random_fault(chance: random.Random, *, longest: float = 0.05) -> Fault:
    """Any of them; delays are at most `longest` seconds, and answers allow to come back at once."""
    return chance.choice(
        (
            lambda: delay(chance.random() * longest),
            drop,
            reset,
            cut,
            lambda: answer(chance.choice(STATUSES)),
            lose,
            lambda: replace(chance.choice(STATUSES)),
            truncate,
            garble,
        )
    )()
