"""Fair timing on a machine that is not quiet.

Candidates take turns in one process, round after round, and start from another place in the turn each time, so that
nobody always runs after the one that emptied the caches. What counts is CPU time of the whole process, threads
included. A ratio is taken within each round and the median over the rounds is quoted: a slow minute then hits both
sides of it.
"""

from __future__ import annotations

import gc
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

__all__ = ["ROOT", "Timings", "Work", "each", "interleave", "interleave_processes", "whole"]


ROOT = Path(__file__).resolve().parent.parent
"""The checkout: children run there, so that they find this package."""


class Work(NamedTuple):
    """One candidate: what a round runs, and by how many units its time is divided."""

    run: Callable[[], object]
    units: int


class Timings:
    """CPU seconds per unit of every candidate, one value a round."""

    def __init__(self, seconds: dict[str, list[float]]) -> None:
        self.seconds = seconds

    def median(self, name: str) -> float:
        return median(self.seconds[name])

    def cost(self, name: str, base: str) -> float:
        """How many times the CPU of `base` the candidate takes."""
        return median(self._ratios(name, base))

    def speed(self, name: str, base: str) -> float:
        """How many times as fast as `base` the candidate is."""
        return 1 / self.cost(name, base)

    def spread(self, name: str, base: str) -> tuple[float, float]:
        """The first and third quartile of the cost ratio over the rounds."""
        ratios = self._ratios(name, base)
        if len(ratios) < 2:
            return ratios[0], ratios[0]
        low, _, high = quantiles(ratios, n=4, method="inclusive")
        return low, high

    def _ratios(self, name: str, base: str) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.seconds[name], self.seconds[base], strict=True)]


def each(function: Callable[[Any], object], rows: Sequence[Any], repeat: int = 1) -> Work:
    """A candidate that takes one row after the other and drops the result; the unit is a row."""

    def run() -> None:
        for _ in range(repeat):
            for row in rows:
                function(row)

    return Work(run, repeat * len(rows))


def whole(function: Callable[[], object], units: int) -> Work:
    """A candidate that is one call."""
    return Work(function, units)


def interleave(
    candidates: Mapping[str, Work],
    rounds: int,
    *,
    freeze: bool = True,
    clock: Callable[[], float] = time.process_time,
) -> Timings:
    """Time the candidates by turns, after one round that warms up. `clock` is CPU time, unless waiting counts too.

    With `freeze`, what is in memory by now (imports, rows) is kept out of the collector's scans, for all candidates
    alike. It is off where the collector's work on that heap is part of what a user sees.
    """
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    names = list(candidates)
    gc.collect()
    if freeze:
        gc.freeze()
    try:
        for turn in range(rounds + 1):
            start = turn % len(names)
            for name in names[start:] + names[:start]:
                work = candidates[name]
                gc.collect()
                before = clock()
                made = work.run()
                spent = clock() - before
                del made
                if turn:
                    seconds[name].append(spent / work.units)
    finally:
        if freeze:
            gc.unfreeze()
    return Timings(seconds)


def interleave_processes(commands: Mapping[str, Sequence[str]], rounds: int) -> Timings:
    """Time whole processes by turns: user and system CPU seconds of each, from its start to its end."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    names = list(commands)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(rounds + 2):  # two rounds warm up: one may write byte code, one finds it
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            spent = _process(commands[name], environment)
            if turn > 1:
                seconds[name].append(spent)
    return Timings(seconds)


def _process(command: Sequence[str], environment: dict[str, str]) -> float:
    child = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    said = child.stderr.read()
    child.stderr.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"benchmarks: {' '.join(command)} failed with {child.returncode}: {said.strip()[-500:]}")
    return usage.ru_utime + usage.ru_stime
