"""A project of made arms, for the commands that compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.stats.made_arms import make_arm

ITEMS = 12
GAINS = {"bm25": 0.0, "dense": 0.05, "reranked": 0.2}
"""Config to how much its score lies above the first; `reranked` is dearer."""


def values(gain: float, items: int = ITEMS) -> dict[str, dict[str, float]]:
    """Rows whose score differs by item, and by an item's own share of the gain."""
    return {
        f"i{at:02}": {"score": round(0.1 + at / 20 + gain * (0.5 + (at * 7 % 5) / 5), 6), "cost_usd": 0.01 + gain / 10}
        for at in range(items)
    }


class Compared:
    """A project whose runs are made by hand, entered."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.runs = root / "data" / "runs"
        self.runs.mkdir(parents=True)
        monkeypatch.chdir(root)
        for name in ("EVAL_RUNS_DIR", "EVAL_HOST_LABEL"):
            monkeypatch.delenv(name, raising=False)

    def arm(
        self, config_id: str, *repeats: Mapping[str, Mapping[str, Any]], folder: str = "runs", **members: Any
    ) -> None:
        """Write an arm's runs below `data/<folder>`."""
        place = self.root / "data" / folder
        place.mkdir(parents=True, exist_ok=True)
        make_arm(place, config_id, *repeats, **{"primary_metric": "score"} | members)

    def arms(self, **members: Any) -> None:
        """The three arms of `GAINS`, a run each."""
        for name, gain in GAINS.items():
            self.arm(name, values(gain), **members)
