"""CPU seconds per sample of inspect_ai with a solver and a scorer that return at once: `inspect_child.py N LOG_DIR`."""

from __future__ import annotations

import sys
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver


@solver
def answer():  # type: ignore[no-untyped-def]
    async def solve(state, generate):  # type: ignore[no-untyped-def]
        state.output = ModelOutput.from_content("none", "an answer of some words " * 10)
        return state

    return solve


@scorer(metrics=[mean()])
def one():  # type: ignore[no-untyped-def]
    async def score(state, target):  # type: ignore[no-untyped-def]
        return Score(value=1.0)

    return score


def run(count: int, folder: str) -> None:
    samples = [Sample(id=str(each), input="question " + "x" * 200, target="x") for each in range(count)]
    task = Task(dataset=MemoryDataset(samples), solver=answer(), scorer=one())
    eval(task, model=None, log_dir=folder, display="none")


if __name__ == "__main__":
    run(5, sys.argv[2])  # imports and first calls
    before = time.process_time()
    run(int(sys.argv[1]), sys.argv[2])
    print((time.process_time() - before) / int(sys.argv[1]))
