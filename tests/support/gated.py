"""An adapter that stands still until a test lets it go on, and the two pipes between them."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.run_project import ADAPTER, RunProject

GATED = (
    ADAPTER.replace("def call_system", "def free_call")
    + """

def passed():
    with open(os.environ["STARTED"], "wb", buffering=0) as started:
        started.write(b".")
    open(os.environ["GATE"]).close()  # until somebody opens it for writing


def call_system(text, params):
    told(text)
    if text in params.get("fails", ()):
        with open(os.environ["STARTED"], "wb", buffering=0) as started:
            started.write(b"!")
        raise ValueError(f"no answer to {text}")
    passed()
    return Result(text.upper(), cost_usd=0.25)
"""
)


class Gate:
    """The test's side: `started(n)` returns when n more calls have begun, `open` lets all go on from now on."""

    def __init__(self, project: RunProject) -> None:
        folder = Path(f"{project.root}-gate")
        folder.mkdir()
        for name in ("STARTED", "GATE"):
            os.mkfifo(folder / name)
            project.environ[name] = str(folder / name)
        self._gate = folder / "GATE"
        self._started = os.open(folder / "STARTED", os.O_RDWR)
        self._opened = -1

    def started(self, count: int) -> None:
        while count:
            count -= len(os.read(self._started, count))

    def open(self) -> None:
        self._opened = os.open(self._gate, os.O_RDWR)

    def close(self) -> None:
        os.close(self._started)
        if self._opened >= 0:
            os.close(self._opened)
