"""Arms made by hand, for tests of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evh.store import Arm, open_run_dir
from tests.unit.store.made_runs import make_run

Rows = Mapping[str, Mapping[str, Any]]
SHA = "a" * 64
OTHER = "b" * 64


def make_arm(folder: Path, config_id: str, *repeats: Rows, **members: Any) -> Arm:
    """An arm of one run or of several repeats; `members` go into every record."""
    runs = []
    for number, rows in enumerate(repeats, 1):
        name = f"{config_id}_r{number}" if len(repeats) > 1 else config_id
        lines = [{"item_id": item, **metrics} for item, metrics in rows.items()]
        runs.append(open_run_dir(make_run(folder, name, lines, config_id=config_id, **members)))
    return Arm(runs)


def scores(values: Sequence[float], metric: str = "score") -> dict[str, dict[str, float]]:
    """Rows i0, i1, … with a value each."""
    return {f"i{at}": {metric: value} for at, value in enumerate(values)}


def fingerprint(adapter: str = SHA, references: str = SHA, items: str = SHA, *, name: str = "a.py") -> dict[str, Any]:
    return {
        "version": 3,
        "instrument": {"harness": {"commit": None}, "adapter": {"id": name, "sha256": adapter}},
        "data": {
            "dataset_id": "d",
            "items_sha256": items,
            "n_items": 3,
            "reference_id": "gold/d",
            "references_sha256": references,
        },
        "arm": {"config_id": "arm"},
    }


def reparsed(whole: str = SHA, parser: str = "p.py", adapter: str = "a.py") -> dict[str, Any]:
    """The members that a re-parse adds to a record; `whole` is the digest over the scorer and its parts."""
    made = {"parser": parser, "parser_sha256": SHA, "adapter": adapter, "scorer_sha256": whole}
    return rescored() | {
        "derived": {"kind": "reparse", "from": "data/runs/x", "at": "2026-10-05T00:00:00Z", "with": made}
    }


def rescored(sha256: str = SHA, **scorer: str) -> dict[str, Any]:
    """The members that a rescore adds to a record."""
    made = {"adapter": "a.py", "sha256": sha256, "scorer": scorer}
    return {
        "derived": {"kind": "rescore", "from": "data/runs/x", "at": "2026-10-05T00:00:00Z", "with": made},
        "source_created_at": "2026-10-04T08:15:30Z",
    }
