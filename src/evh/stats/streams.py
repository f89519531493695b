"""Random streams that belong to a question, not to a process.

Promise: the stream of a test depends on the seed, the dataset, the two arms (in either order), the metric and the kind
of draw, on nothing else. Adding an opponent, or listing files in another order, changes nobody's p-value, and A against
B has the p of B against A.
Policy: PCG64, seeded with a SHA-256 over those names. The defaults for draws and seed are here.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from evh.errors import UsageError, cut
from evh.stats._libraries import load

__all__ = ["AGGREGATE_DRAWS", "BOOTSTRAP_DRAWS", "PERMUTATIONS", "RANK_PERMUTATIONS", "SEED", "TABLE_DRAWS", "Stream"]

SEED = 20260926
PERMUTATIONS = 20_000
"""Sign flips of a paired test; also the most sign patterns that are enumerated."""
BOOTSTRAP_DRAWS = 10_000
RANK_PERMUTATIONS = 5_000
AGGREGATE_DRAWS = 5_000
TABLE_DRAWS = 2_000
MOST_DRAWS = 10_000_000
"""Drawn numbers are kept, eight bytes each, and sign patterns are enumerated up to the draws."""


class Stream(NamedTuple):
    """The seed a user gave, and the names of the question that it is drawn for."""

    seed: int = SEED
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, seed: int, dataset_id: str, arms: tuple[str, ...], metric: str) -> Stream:
        """The stream of a question about arms, whatever order they are named in."""
        return cls(seed, (dataset_id, *sorted(arms), metric))

    def generator(self, purpose: str) -> Any:
        """A numpy generator for one purpose (`signs`, `bootstrap`, …): two purposes share no numbers."""
        text = json.dumps([self.seed, *self.names, purpose])
        number = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
        random = load("numpy.random")
        return random.Generator(random.PCG64(number))


def check_draws(draws: int, least: int = 1) -> int:
    """The number of draws, if it makes sense. Raises `UsageError`."""
    if not isinstance(draws, int) or isinstance(draws, bool) or not least <= draws <= MOST_DRAWS:
        raise UsageError(f"the number of draws is from {least} to {MOST_DRAWS:,}, not {cut(draws)}")
    return draws
