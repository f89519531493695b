"""The job about starting: whole processes, from nothing to the end."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.data import Data
from benchmarks.report import Report, at_most
from benchmarks.timing import interleave_processes

__all__ = ["start"]


def start(data: Data, report: Report, rounds: int) -> None:
    """`import evh` and `evh --version` against `import msgspec`."""
    python = sys.executable
    script = Path(python).with_name("evh")
    version = [str(script)] if script.is_file() else [python, "-m", "evh"]
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "import msgspec": [python, "-c", "import msgspec"],
        "import evh": [python, "-c", "import evh"],
        "evh --version": [*version, "--version"],
        "import evh; evh.decode": [python, "-c", "import evh; evh.decode"],
        "the first episode": [python, "-c", _FIRST, str(data.path("e5"))],
    }
    timings = interleave_processes(commands, 2 * rounds)
    report.table("start", "whole processes", timings)
    report.cost("start", "import evh: CPU against import msgspec", timings, "import evh", "import msgspec", at_most(2))
    report.cost("start", "evh --version: CPU against it", timings, "evh --version", "import msgspec", at_most(3))
    for name in ("import evh; evh.decode", "the first episode"):
        report.cost("start", f"{name}: CPU against it", timings, name, "import msgspec")


_FIRST = "import sys, evh; next(evh.read_episodes(sys.argv[1])).id"
