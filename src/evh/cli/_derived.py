"""What is told of the references of a run that was derived.

Promise: a set whose files changed since the measurement is named, and so is one that covers only some of the items.
Policy: the words.
"""

from __future__ import annotations

from evh.protocol import models

__all__ = ["about_references"]


def about_references(record: models.RunRecord) -> list[str]:
    """What a reader of the scores should know of the references behind them."""
    found = []
    data = None if record.fingerprint is None else record.fingerprint.data
    if record.reference_coverage is not None:
        with_one, items = record.reference_coverage.items_with_reference, record.reference_coverage.items
        found.append(f"{with_one:,} of {items:,} items have a reference")
    if data is not None and data.references_sha256_at_measurement is not None:
        found.append(f"references changed: {data.reference_id} has other files than at measurement")
    return found
