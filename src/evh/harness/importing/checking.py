"""The first reading of a source: every row, before anything is made.

Promise: an item that the dataset does not know, a second row of an item, items without a row (unless `partial`) and a
source without rows are refused, with file and line; nothing was written then. Memory is bounded by the dataset's items.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

from evh.errors import RecordError, SourceError, cut
from evh.harness.dataset import Frozen
from evh.harness.importing.found import Reading
from evh.harness.importing.scoring import Scorer

__all__ = ["Checked", "Progress", "check_source"]

Progress = Callable[[str, int], None]
SHOWN = 5


class Checked(NamedTuple):
    """What the first reading found: for each item of the dataset how many rows or rollouts it has."""

    counts: array[int]
    total: int
    missing: int


def check_source(
    reading: Reading, label: str, frozen: Frozen, scorer: Scorer, *, partial: bool, progress: Progress | None
) -> Checked:
    """Read every row of the source that is called `label`. Raises `EvhError`."""
    counts = array("q", bytes(8 * len(frozen)))
    lines = array("q", bytes(8 * len(frozen)))
    unknown = total = 0
    strangers: list[str] = []
    for found in reading.items(first=True):
        total += 1
        index = frozen.position.get(found.row.item_id)
        if index is None:
            unknown += 1
            if len(strangers) < SHOWN:
                strangers.append(f"{cut(found.row.item_id)} ({found.place})")
            continue
        if counts[index] and not reading.several:
            raise RecordError(
                f"the item {cut(found.row.item_id)} has two rows, on lines {lines[index]} and {found.line}: one item "
                "has one row in a run, repeats are runs of their own",
                source=found.source,
                line=found.line,
            )
        counts[index] += 1
        lines[index] = found.line or 0
        scorer.look(found)
        if progress is not None:
            progress("checked", total)
    if unknown:
        more = ", …" if unknown > len(strangers) else ""
        raise SourceError(
            f"{unknown} of {total} rows are of items that the dataset {frozen.dataset_id} does not have: "
            f"{', '.join(strangers)}{more}; its own are called {cut(frozen.item_ids[0])} and the like",
            source=label,
        )
    if not total:
        raise SourceError("holds no rows: there is nothing to import", source=label)
    missing = [frozen.item_ids[index] for index, count in enumerate(counts) if not count]
    if missing and not partial:
        more = ", …" if len(missing) > SHOWN else ""
        raise SourceError(
            f"has no row for {len(missing)} of the {len(frozen)} items of {frozen.dataset_id}: "
            f"{', '.join(map(cut, missing[:SHOWN]))}{more}; say --partial to import it without them",
            source=label,
        )
    scorer.settle()
    return Checked(counts, total, len(missing))
