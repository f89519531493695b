"""S18: traces that a trainer wrote one a line, grouped into the episodes that they came from.

Promise: rows that stand next to each other and name the same `info.episode_id` become one episode; every other row is
upgraded by itself, in place. Memory is bounded by the rows of one episode. Policy: only neighbours are grouped.
An episode whose rows stand apart in the file comes out as several episodes with one id: putting them together
would need the whole file in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from evh.errors import RecordError
from evh.protocol.upgrade.detect import detect, members
from evh.protocol.upgrade.episode_rows import upgrade_bare
from evh.protocol.upgrade.rows import upgrade_document
from evh.protocol.upgrade.step import Step

__all__ = ["Regrouped", "episode_of", "neighbours", "regroup", "upgrade_rows"]


class Regrouped(NamedTuple):
    """An episode, what was done to make it, and the number of rows that it was made from.

    With one row the steps' pointers go into that row; with several, into the array of these rows: `/1/info` is a
    member of the second.
    """

    episode: dict[str, Any]
    steps: list[Step]
    rows: int


def neighbours(docs: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The rows in their order, those in one list that stand next to each other and name the same episode."""
    for key, rows in groupby(docs, episode_of):
        if key is None:
            for row in rows:
                yield [row]
        else:
            yield list(rows)


def upgrade_rows(rows: list[dict[str, Any]]) -> Regrouped:
    """One episode from rows that belong together; a single row may be of any age and kind.

    Raises what `upgrade_document` raises.
    """
    if len(rows) == 1:
        episode, steps = upgrade_document(rows[0])
        return Regrouped(episode, steps, 1)
    try:
        episode, steps = upgrade_bare(rows, [f"/{index}" for index in range(len(rows))])
    except RecursionError:
        raise RecordError("nested too deeply to be upgraded") from None
    return Regrouped(episode, steps, len(rows))


def regroup(docs: Iterable[dict[str, Any]]) -> Iterator[Regrouped]:
    """Upgrade rows, grouping neighbours of one episode. Raises what `upgrade_document` raises, at the row's turn."""
    for rows in neighbours(docs):
        yield upgrade_rows(rows)


def episode_of(doc: dict[str, Any]) -> str | None:
    """The episode that a bare trace names, or None for a row that stands alone."""
    name = members(doc.get("info")).get("episode_id")
    return name if isinstance(name, str) and detect(doc) == "trace" else None
