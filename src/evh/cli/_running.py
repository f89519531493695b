"""What `evh run` shows while it measures, on standard error.

Promise: the run's path at the start; on a terminal one line that is redrawn (items, rate, cost, time left, last error),
elsewhere a plain line now and then. The command that goes on with a run is exact: quoted for a shell, with the folder
and the root it was launched with.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evh.cli._terminal import clip, is_terminal, number, plural, printable

if TYPE_CHECKING:
    from evh.harness.progress import Snapshot
    from evh.harness.project import Project

__all__ = ["Watcher", "config_path", "resume_command"]

REDRAW_SECONDS = 0.1
PLAIN_SECONDS = 10.0


class Watcher:
    """Prints progress to standard error: the listener of a pass."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._redraws = is_terminal(sys.stderr) and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        self._next = 0.0
        self._drawn = False

    def begun(self, directory: str, snapshot: Snapshot) -> None:
        left = snapshot.planned - snapshot.done
        done = f", {plural(snapshot.done, 'row')} there already" if snapshot.done else ""
        self._line(f"run {self._project.portable(directory)}: {plural(left, 'item')} to measure{done}")
        self._next = time.monotonic() + (0 if self._redraws else PLAIN_SECONDS)

    def item(self, snapshot: Snapshot) -> None:
        at = time.monotonic()
        if at < self._next:
            return
        self._next = at + (REDRAW_SECONDS if self._redraws else PLAIN_SECONDS)
        text = told(snapshot)
        if self._redraws:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{clip(text, width)}")
            self._drawn = True
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def notice(self, text: str) -> None:
        self._line(printable(text))

    def done(self) -> None:
        """Wipe the redrawn line away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    def _line(self, text: str) -> None:
        self.done()
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def told(snapshot: Snapshot) -> str:
    """How far a pass is, on one line."""
    parts = [f"{snapshot.done:,}/{snapshot.planned:,} items"]
    if snapshot.failed:
        parts.append(f"{snapshot.failed:,} failed")
    if snapshot.per_second is not None:
        parts.append(f"{number(snapshot.per_second, digits=1)}/s")
    if snapshot.cost_usd:
        parts.append(f"${number(snapshot.cost_usd, digits=4)}")
    if snapshot.seconds_left is not None:
        parts.append(f"{span(snapshot.seconds_left)} left")
    if snapshot.last_error:
        parts.append(printable(snapshot.last_error))
    return ", ".join(parts)


def span(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def resume_command(run_id: str, root: str | None, environ: Mapping[str, str], *more: str) -> str:
    """The exact command that goes on with a run, quoted for a shell."""
    words = ["evh", "run", "--resume", run_id, *more, *(["--root", root] if root is not None else [])]
    folder = environ.get("EVAL_RUNS_DIR")
    return (f"EVAL_RUNS_DIR={shlex.quote(folder)} " if folder else "") + shlex.join(words)


def config_path(text: str) -> Path:
    """A config as it was named, `@` before it allowed as launchers write it."""
    return Path(text.removeprefix("@").strip())
