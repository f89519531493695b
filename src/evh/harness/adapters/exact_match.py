"""The score of the adapters that come with the harness.

Promise: with a reference, `exact_match` is 1.0 when the output equals it but for white space around both, else 0.0;
without one there is no metric at all.
Policy: the metric is quality, higher is better.
When it breaks: outputs stay as they were; a rescore with a mended scorer gives their numbers.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["DESCRIPTION", "METRIC", "exact_match", "scorer_id"]

METRIC = "exact_match"
DESCRIPTION = "1 when the output equals the reference but for white space around both, else 0"


def exact_match(output: str, reference: str | None) -> dict[str, float] | None:
    """Whether the output is the reference."""
    if reference is None:
        return None
    return {METRIC: 1.0 if output.strip() == reference.strip() else 0.0}


def scorer_id() -> dict[str, str]:
    """The digest of this file: everything that decides the score."""
    return {METRIC: hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}
