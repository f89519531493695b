"""What a launch would call, and what it can cost at most: `evh run --dry-run`.

Promise: nothing is called or written. Tokens in are counted as characters over four, of the items alone; a bound on the
cost is given only when the config has prices and a limit of tokens out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from evh.harness.dataset import source_text
from evh.harness.project import Project
from evh.harness.setup import planned, prepare

__all__ = ["Estimate", "estimate"]

CHARACTERS = 4


class Estimate(NamedTuple):
    """Calls, tokens and dollars of a launch; None for what cannot be bounded."""

    config_id: str
    dataset_id: str
    adapter: str
    items: int
    repeats: int
    calls: int
    tokens_in: int
    tokens_out: int | None
    cost_usd: float | None


def estimate(
    project: Project, config_path: Path, *, repeats: int, limit: int | None, environ: Mapping[str, str]
) -> Estimate:
    """Count what a launch would call. Raises like `prepare`, and for an item whose text cannot be read."""
    with prepare(project, config_path, environ) as setup:
        items = planned(len(setup.frozen), limit)
        characters = sum(len(source_text(project, setup.frozen, index)) for index in range(items))
        calls = items * repeats
        tokens_in = -(-characters // CHARACTERS) * repeats
        most = setup.params.get("max_tokens")
        tokens_out = most * calls if isinstance(most, int) and not isinstance(most, bool) else None
        price_in, price_out = setup.params.get("usd_per_mtok_in"), setup.params.get("usd_per_mtok_out")
        cost = None
        if tokens_out is not None and isinstance(price_in, int | float) and isinstance(price_out, int | float):
            cost = (tokens_in * price_in + tokens_out * price_out) / 1e6
        return Estimate(
            setup.config.config_id,
            setup.frozen.dataset_id,
            setup.adapter.id,
            items,
            repeats,
            calls,
            tokens_in,
            tokens_out,
            cost,
        )
