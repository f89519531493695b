"""Writers of a live run, to be killed: each is a forked child that logs episodes and tells of every acknowledged one.

Arguments: the folder of runs, the fsync policy. Each line on standard input asks for a program, as JSON; it is answered
by the number of its process. An acknowledgement is a line on standard output: the process and the episode's id.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from typing import Any

import evh
import evh.live.ending
import evh.live.joining
import evh.live.opening  # loaded once, before the forks
from evh import AgentInfo, Episode, Trace, TraceTask


def episode(index: int) -> Episode:
    """An episode of some kilobytes, of the task number `index % 7`."""
    data = {"idx": index % 7, "text": "x" * (index % 5 * 1500)}
    return Episode.of(Trace(task=TraceTask(type="t", data=data), agent=AgentInfo(name="a", config={}), ok=True))


def tell(what: str) -> None:
    """In one write."""
    os.write(1, json.dumps([os.getpid(), what]).encode() + b"\n")


def log(run: evh.LiveRun, most: int) -> None:
    """Log episodes, each told once it is acknowledged."""
    for index in range(most) if most else count():
        for written in run.log_episodes([episode(index)]):
            tell(written.id)
        if index % 5 == 0:
            run.log_metrics({"index": index}, step=index)


def main() -> None:
    runs, policy = sys.argv[1:]
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if os.fork():
            continue
        how: dict[str, Any] = {"fsync": policy, "notify": lambda text: None}
        if asked["what"] == "join":
            run = evh.join_run(asked["dir"], **how)
        elif asked["what"] == "resume":
            run = evh.open_run(dir=asked["dir"], resume=True, mode="offline", **how)
        else:
            run = evh.open_run(dir=runs, run_id="r", name="r", mode="offline", **how)
        tell("open")
        log(run, asked["most"])
        run.finish()
        tell("done")
        os._exit(0)


if __name__ == "__main__":
    main()
