"""Programs that log to a live run, and `evh sync`, each in a forked child, so that they start in milliseconds.

A program is a line of JSON on standard input: `log` (see `log`) or `sync` with its arguments. The answer is a line with
its process id. `{"wait": pid}` answers with its exit code (minus the signal). What a child says goes to the file
`said`. Pauses are short here: what is waited for is waited for more often.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

_sleep = time.sleep
time.sleep = lambda seconds: _sleep(min(seconds, 0.02))  # before anything takes it as its default

import evh.live.cutting  # noqa: E402

evh.live.cutting.TARGET = 10_000  # so that a run is many parcels

import httpx  # noqa: E402, F401 (loaded here once, not in every child)
import zstandard  # noqa: E402, F401

import evh  # noqa: E402
import evh.cli  # noqa: E402
import evh.cli.sync  # noqa: E402
import evh.live.ending  # noqa: E402
import evh.live.joining  # noqa: E402
import evh.live.run  # noqa: E402
import evh.live.uploads  # noqa: E402
import evh.platform.sample_table  # noqa: E402
from evh import AgentInfo, AssistantMessage, Episode, MessageNode, Trace, TraceTask, TrainWorkInfo, UserMessage  # noqa: E402


def episode(chance: random.Random, index: int) -> Episode:
    """An episode of a random size, most of them small."""
    size = int(chance.paretovariate(1.2) * 300) % 200_000
    trace = Trace(
        task=TraceTask(type="t", data={"idx": index}),
        agent=AgentInfo(name="a", config={"model": "m"}),
        nodes=[
            MessageNode(message=UserMessage(content=f"question {index} \U0001f600 \u2028 \udc00 half")),
            MessageNode(
                message=AssistantMessage(content=chance.choice("ab\u00e9\u4e2d") * size), parent=0, sampled=True
            ),
        ],
        ok=True,
    )
    trace.record_reward("score", chance.random())
    return Episode.of(trace)


def log(asked: dict[str, Any]) -> None:
    """Log `count` episodes, `pause` seconds apart on average, writing each id to `acks` once it is acknowledged; then
    end as `how` says: `finish`, `raise`, or `exit` without a word. `resume` takes a run up; `forks` log beside it,
    their process ids in the file `pids`. Other members are arguments of `open_run`."""
    chance = random.Random(asked["seed"])
    acks = os.open(asked["acks"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    place: dict[str, Any] = {"dir": asked["resume"], "resume": True} if asked.get("resume") else {"dir": asked["runs"]}
    run = evh.open_run(
        **{
            "name": "round", "environments": ["gsm8k"], "model": "m", "mode": "online", "base_url": asked["url"],
            "finish_timeout": asked["patience"], **asked.get("open", {}), **place,
        }
    )  # fmt: skip
    children = []
    for number in range(asked.get("forks", 0)):
        pid = os.fork()
        if not pid:
            _feed(run, random.Random(asked["seed"] + number + 1), asked, acks)
            os._exit(0)
        children.append(pid)
    if "pids" in asked:
        Path(asked["pids"]).write_text(" ".join(map(str, children)))
    with run:
        _feed(run, chance, asked, acks)
        for pid in children:
            os.waitpid(pid, 0)
        if asked["how"] == "raise":
            raise ValueError("the program failed")
        if asked["how"] == "exit":
            os._exit(7)
    print(json.dumps([run.mode, run.reason, run.status, run.pending, run.refused, run.lost, run.url]), flush=True)


def _feed(run: evh.LiveRun, chance: random.Random, asked: dict[str, Any], acks: int) -> None:
    train = asked.get("open", {}).get("kind") == "train"
    for index in range(asked["count"]):
        work = TrainWorkInfo(step=index // 4) if train else None
        (logged,) = run.log_episodes([episode(chance, index)], work=work)
        os.write(acks, logged.id.encode() + b"\n")
        if train and index % 4 == 3:
            run.log_metrics({"loss": chance.random()}, step=index // 4)
        _sleep(chance.expovariate(1 / asked["pause"]) if asked["pause"] else 0)


def child(asked: dict[str, Any]) -> int:
    said = os.open(asked["said"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor, number in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(descriptor, number)
    os.environ.update(asked.get("environ", {}))
    os.chdir(Path(asked["said"]).parent)
    if "sync" in asked:
        return evh.cli.main(["sync", *asked["sync"]])
    log(asked)
    return 0


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            print(os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1]), flush=True)
            continue
        pid = os.fork()
        if not pid:
            break
        print(pid, flush=True)
    else:
        return
    sys.exit(child(asked))  # as any program ends, so that what runs at its end runs


if __name__ == "__main__":
    main()
