"""Kills an ingest at its n-th step, over and over: a process that forks a child for each round it is told of.

Reads lines of JSON `{"directory", "database", "step"}`; for each it forks a child that opens the store, uploads the
batches one after another and writes a line to `acknowledged` for each receipt; at the given step the child kills itself
the hard way. Answers `killed` or `done`. A step is a change of the disk or a statement to the database, before it and
after it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from server_support import body, episode, key
from sqlalchemy import event

from evh.server.storage import open_storage
from evh.store import _os

BATCHES = [
    body(episode("a"), episode("b")),
    body(episode("b"), episode("c", info={"text": "x" * 3000})),
    body(episode("a", ok=False)),
    body(episode("a"), episode("b")),
]
"""New ones; one that is known, in another batch; a new version; the first batch again."""


class Steps:
    """Counts steps and ends the process at one of them."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self, *_: Any) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, name: str) -> None:
        plain = getattr(_os, name)

        def call(*arguments: Any) -> Any:
            self()
            result = plain(*arguments)
            self()
            return result

        setattr(_os, name, call)


def work(directory: str, database: str | None, last: int) -> None:
    steps = Steps(last)
    with open_storage(directory, database=database, reserve=0) as storage:
        who = storage.access.local()
        for name in ("create", "write", "fsync", "replace", "rename", "link", "unlink", "truncate", "mkdir"):
            steps.around(name)
        for name in ("before_cursor_execute", "after_cursor_execute", "commit"):
            event.listen(storage.catalog.database.engine, name, steps)
        for number, data in enumerate(BATCHES):
            storage.ingest.upload(who, data, key=key(data), line_format="episode")
            steps()
            with Path(directory, "acknowledged").open("a") as file:
                file.write(f"{number}\n")


def main() -> None:
    for text in sys.stdin:
        order = json.loads(text)
        child = os.fork()
        if child == 0:
            work(order["directory"], order["database"], order["step"])
            os._exit(0)
        _, status = os.waitpid(child, 0)
        said = "killed" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL else f"done {status}"
        print(said, flush=True)


if __name__ == "__main__":
    main()
