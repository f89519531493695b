"""Which names a metric of a row may have.

Promise: a name that passes hides neither a member of the row nor a number that the record computes itself.
Policy: the reserved names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evh.errors import RecordError, cut, pointer

__all__ = ["COUNTED", "check_names"]

COUNTED = ("tokens_in", "tokens_out", "cost_usd", "latency_ms")
RESERVED = frozenset({"item_id", *COUNTED})


def check_names(names: Iterable[Any], item_id: str | None = None) -> None:
    """Refuse names that a metric or an extra can't have, because the row has another use for them.

    Raises RecordError naming the item and the name: `item_id`, the counts, `total_…`, a leading
    underscore, an empty name, and what is no text.
    """
    item = "the item" if item_id is None else f"item {cut(item_id)}"
    for name in names:
        if not isinstance(name, str) or not name:
            raise RecordError(f"{item}: the name of a metric is a text, not {cut(name)}")
        if name in RESERVED or name.startswith(("_", "total_")):
            raise RecordError(
                f"{item}: a metric or extra can't be called {cut(name)}: reserved are "
                f"{', '.join(sorted(RESERVED))}, total_… and names with a leading underscore",
                pointer=pointer(name),
            )
