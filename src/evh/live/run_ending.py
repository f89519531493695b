"""How a run ended, as its directory says, and what is told of it when it is closed on a platform.

Promise: a run that is open, or whose holder is not proved gone, has no ending. A live run ends as its `end.json` says;
without one, and with its process gone, it crashed. A measured run is completed when it has its record; one that stopped
can be resumed, so it did not end: `stopped`.
When it breaks: an error that names the file that cannot be read.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import EvhError
from evh.platform import run_summary
from evh.protocol import models
from evh.store import layout
from evh.store.run_dir import RunDir, open_run_dir

__all__ = ["Ending", "closing_metrics", "ending_of", "last_file"]

STATUSES = {"completed": "COMPLETED", "failed": "FAILED", "crashed": "FAILED", "cancelled": "CANCELLED"}
SCALARS = int | float


class Ending(NamedTuple):
    """How a run ended: `word` is `completed`, `failed`, `cancelled`, `crashed`, or `stopped` when it is not over."""

    word: str
    error: str | None = None
    end: models.RunEnd | None = None

    @property
    def status(self) -> str:
        """The platform's word for it; one that we do not know failed."""
        return STATUSES.get(self.word, "FAILED")

    @property
    def message(self) -> str | None:
        """Why it did not complete, in words."""
        if self.word == "crashed":
            return f"crashed: {self.error or 'its process ended without closing the run'}"
        return self.error


def last_file(kind: str) -> str:
    """The file that says that a run of a kind is over."""
    return layout.END if kind in layout.LIVE_KINDS else layout.RECORD


def ending_of(directory: Path) -> Ending | None:
    """How a run ended; None while it may still be written."""
    run = open_run_dir(directory)
    holder = run.holder  # looked at first: who lets go of a run has ended it before
    end = run.end
    if end is not None:
        return Ending(end.status, end.error, end)
    if not run.is_live and (directory / layout.RECORD).exists():
        return Ending("completed")
    if holder is not None and holder.state != "gone":
        return None
    return Ending("crashed" if run.is_live else "stopped")


def closing_metrics(directory: Path, ending: Ending) -> dict[str, Any]:
    """The numbers of a run as a whole: averages over its episodes, the scores of its record, the last metrics that were
    logged, what the program said at the end; the later ones count. What cannot be read is left out."""
    run = open_run_dir(directory)
    found: dict[str, Any] = {}
    try:
        if run.has_episodes:
            found |= _averages(run)
    except EvhError:
        found = {}
    try:
        if run.record is not None:
            found |= {name: value for name, value in run.record.scores.items() if value is not None}
    except EvhError:
        pass
    try:
        for row in run.steps():
            found |= row.metrics
    except EvhError:
        pass
    if ending.end is not None and ending.end.summary is not None:
        found |= {name: value for name, value in ending.end.summary.items() if _is_metric(value)}
    return {name: value for name, value in found.items() if _is_metric(value)}


def _averages(run: RunDir) -> dict[str, Any]:
    seen = 0

    def counted() -> Any:
        nonlocal seen
        for episode in run.episodes():
            seen += 1
            yield episode

    averages = dict(run_summary(counted()))
    return averages if seen else {}


def _is_metric(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_metric(each) for each in value.values())
    return isinstance(value, SCALARS) and not isinstance(value, bool) and math.isfinite(value)
