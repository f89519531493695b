"""Runs killed at random moments and resumed until they are finished: `python -m tests.soak.runs --rounds 1000`.

A round is a run of 40 to 100 items, eight calls at a time, half of the rounds with an adapter that answers in episodes.
It is killed three to six times. Each time, and at the end, this must hold: every whole row and episode that stood on
the disk at the kill is still there, byte for byte and in its place; no item and no episode stands twice; at most eight
calls of a launch are paid for again; what was paid and is on the disk is not called again. The record must be that of a
run nobody disturbed, but for its times and its `resume`.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from evh.store import RunDir, open_run_dir
from tests.support.launches import Launcher
from tests.support.run_project import RunProject, settled

CONCURRENCY = 8
MOST_LAUNCHES = 40
CORES = 2

ADAPTER = """
import asyncio
import os
import random

from evh import AgentConfig, AgentInfo, AssistantMessage, Episode, MessageNode, ModelCall, Trace, TraceTask, Usage
from evh import UserMessage
from evh.harness.result import Result


async def call_system(text, params):
    descriptor = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, text.encode() + b"\\n")
    os.close(descriptor)
    await asyncio.sleep(random.random() * params["longest"])
    answer = text.upper() * (1 + len(text) % 3)
    if not params["episodes"]:
        return Result(answer, tokens_in=len(text), cost_usd=0.1, meta={"provider": "p"}, extra={"size": len(text)})
    trace = Trace(
        task=TraceTask(type="T", key=text, data={}),
        agent=AgentInfo(config=AgentConfig({"model": "m"})),
        nodes=[
            MessageNode(message=UserMessage(content=text)),
            MessageNode(message=AssistantMessage(content=answer), parent=0, sampled=True),
        ],
        calls=[ModelCall(node=1, usage=Usage(prompt_tokens=5, completion_tokens=len(text)))],
        ok=True,
    )
    trace.record_reward("exact", len(text) / 7)
    return Episode(id="of " + text, task=trace.task, traces=[trace], ok=True)


def score(output, reference):
    return {"length": len(output) / 3}
"""


class Told(NamedTuple):
    """What a round was: its kills, the calls that were paid for twice, the rows that were made from episodes."""

    kills: int
    twice: int
    recovered: int


def whole_lines(path: Path) -> bytes:
    """The acknowledged bytes of a file of rows: all up to its last line end."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def disturbed(launcher: Launcher, folder: Path, seed: int) -> Told:
    """One round. Raises AssertionError when something is lost, doubled or different."""
    chance = random.Random(seed)
    project, arguments = prepared(folder / "killed", chance)
    began = time.monotonic()
    calm, same = prepared(folder / "calm", random.Random(seed))
    assert launcher.launch(calm, *same).status == 0
    usual = time.monotonic() - began
    kills, twice, recovered = 0, 0, 0
    wanted = chance.randint(3, 6)
    rows, episodes = b"", b""
    run: RunDir | None = None
    for _ in range(MOST_LAUNCHES):
        before = len(project.calls)
        moment = chance.uniform(0.1, 0.7) * usual if kills < wanted else None
        ended = launcher.launch(project, *arguments, kill_after=moment)
        assert ended.status in (0, -9), ended.said
        found = [path for path in (project.runs.iterdir() if project.runs.exists() else ()) if path.name[0] != "."]
        if not found:
            assert ended.status != 0
            assert not project.calls, "something was paid before there was a run"
            kills += 1
            continue
        assert len(found) == 1
        run = open_run_dir(found[0])
        now_rows, now_episodes = (whole_lines(run.path / name) for name in ("predictions.jsonl", "traces.jsonl"))
        assert now_rows.startswith(rows), "acknowledged rows are gone or changed"
        assert now_episodes.startswith(episodes), "acknowledged episodes are gone or changed"
        had, has = kept_items(rows, episodes), kept_items(now_rows, now_episodes)
        called = Counter(project.calls[before:])
        assert max(called.values(), default=1) == 1, "an item was called twice by one launch"
        assert not had & called.keys(), "what was paid and is on the disk was called again"
        orphans = called.keys() - has
        assert has - had == called.keys() - orphans
        assert len(orphans) <= CONCURRENCY, f"{len(orphans)} calls have to be paid again"
        recovered += len(kept_items(now_rows[len(rows) :], b"") - called.keys())
        twice += len(orphans)
        rows, episodes = now_rows, now_episodes
        if ended.status == 0:
            assert not orphans
            break
        kills += 1
        arguments = ["run", "--resume", "--concurrency", str(CONCURRENCY)]
        if (run.path / "metrics.json").exists():
            break
    assert run is not None
    same_as_calm(run, calm.run)
    assert len(project.calls) == len(project.items) + twice
    return Told(kills, twice, recovered)


def prepared(folder: Path, chance: random.Random) -> tuple[RunProject, list[str]]:
    """A project and what launches its first run."""
    items = chance.randint(40, 100)
    params = {"episodes": chance.random() < 0.5, "longest": chance.choice((0.0, 0.004))}
    project = RunProject(folder, items, adapter=ADAPTER, params=params)
    policy = chance.choice(("group", "group", "always", "never"))
    flags = ["--concurrency", str(CONCURRENCY), "--fsync", policy, "--run-id", "arm-x"]
    return project, ["run", "--config", str(project.config), *flags]


def kept_items(rows: bytes, episodes: bytes) -> set[str]:
    """The texts of the items that stand on the disk, as rows or as episodes, none of them twice."""
    items = [json.loads(line)["item_id"] for line in rows.splitlines()]
    told = [json.loads(line)["info"]["item_id"] for line in episodes.splitlines()]
    for found in (items, told):
        assert len(found) == len(set(found)), "an item stands twice"
    return {f"text {item.removeprefix('i')}" for item in (*items, *told)}


def same_as_calm(run: RunDir, calm: RunDir) -> None:
    """The run has what an undisturbed one has."""
    assert settled(run) == settled(calm)
    assert contents(run) == contents(calm)
    assert {path.name: path.read_bytes() for path in (run.path / "outputs").iterdir()} == {
        path.name: path.read_bytes() for path in (calm.path / "outputs").iterdir()
    }
    assert run.has_episodes == calm.has_episodes
    left = {path.name.partition(".torn-")[0] for path in run.path.iterdir()}
    assert left - {"lease.json"} == {path.name for path in calm.path.iterdir()}, "something was left behind"
    if run.has_episodes:
        assert sorted(each.traces[0].last_reply for each in run.episodes()) == sorted(
            each.traces[0].last_reply for each in calm.episodes()
        )


def contents(run: RunDir) -> dict[str, dict[str, object]]:
    """The rows by item, without what the clock decides."""
    found = {}
    for stored in run.rows():
        row = stored.row.plain()
        row.pop("latency_ms", None)
        assert row["item_id"] not in found
        found[row["item_id"]] = row
    return found


def soak(rounds: int, seed: int, *, cores: int = CORES) -> tuple[list[Told], list[str]]:
    """Rounds, shared out to a launcher a core; what they were, and the faults that were found."""
    told: list[Told] = []
    faults: list[str] = []
    numbers = iter(range(rounds))
    guard = threading.Lock()

    def work() -> None:
        with Launcher() as launcher:
            while True:
                with guard:
                    number = next(numbers, None)
                if number is None or len(faults) > 5:
                    return
                folder = Path(tempfile.mkdtemp(prefix="evh-round-"))
                try:
                    told.append(disturbed(launcher, folder, seed + number))
                except Exception as error:
                    faults.append(
                        f"round of seed {seed + number}, kept in {folder}: {type(error).__name__}: {error}\n"
                        + traceback.format_exc()
                    )
                else:
                    shutil.rmtree(folder)

    threads = [threading.Thread(target=work) for _ in range(min(cores, rounds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told, faults


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.runs", description="Runs killed and resumed.")
    parser.add_argument("--rounds", type=int, default=1000, help="how many runs")
    parser.add_argument("--seed", type=int, default=None, help="a seed to run again; a new one by default")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    print(f"runs: {options.rounds} rounds, seed {seed}", flush=True)
    began = time.monotonic()
    told, faults = soak(options.rounds, seed)
    for fault in faults:
        print(fault)
    print(
        f"runs: {len(told)} rounds held, {len(faults)} did not; {sum(each.kills for each in told)} kills, "
        f"{sum(each.twice for each in told)} calls paid twice, {sum(each.recovered for each in told)} rows made from "
        f"episodes, in {time.monotonic() - began:.0f} s (seed {seed})"
    )
    return 1 if faults or len(told) < options.rounds else 0


if __name__ == "__main__":
    sys.exit(main())
