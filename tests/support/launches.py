"""Many launches of `evh run`, milliseconds each: the near end of `launch_child.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from tests.support.run_project import SOURCES, RunProject

CHILD = Path(__file__).with_name("launch_child.py")


class Launched(NamedTuple):
    """How a launch ended: the exit code or minus the signal, what it said, how many calls of `evh.store._os` it made
    (counted only where a fault or a kill was asked for)."""

    status: int
    said: str
    calls: int


class Launcher:
    """A process that forks a child for each launch. Use it in a `with` block."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith(("EVAL_", "EVH_"))}
            | {"PYTHONPATH": SOURCES, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def launch(self, project: RunProject, *arguments: str | Path, **how: Any) -> Launched:
        """`evh …` in the project; `how` is what `launch_child.py` can do to it."""
        launch = {"root": str(project.root), "arguments": [*map(str, arguments)], "environ": project.environ, **how}
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(launch) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        assert answer, "the launcher ended"
        return Launched(**json.loads(answer))

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait(30)
        self._child.stdout.close()
