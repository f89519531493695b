"""Derived blocks that hold their source's block, cut apart so that each is judged once.

A validator that tries every variant of a union at every level of a chain needs exponential time to list what is wrong
with one block deep down. Judged block by block the verdict is the same and the time linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["BLOCK", "cut_chain"]

BLOCK = "derived"
"""The schema that every nested block is judged by."""

_HOLDERS = frozenset(
    {BLOCK, "derived#Derived", "derived#RescoreDerived", "derived#JudgeDerived", "derived#ReparseDerived"}
)


def cut_chain(root: str, document: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """The document without its nested blocks, and each of these without its own, with its pointer; nothing is
    changed."""
    if root in _HOLDERS and isinstance(document, dict):
        blocks = list(_blocks(document))
        return blocks[0], [(f"{'/source' * depth}", block) for depth, block in enumerate(blocks) if depth]
    if root in ("run_record", "run_record#RunRecord") and isinstance(document, dict):
        derived = document.get("derived")
        if isinstance(derived, dict):
            first, *rest = _blocks(derived)
            nested = [("/derived" + "/source" * depth, block) for depth, block in enumerate(rest, 1)]
            return {**document, "derived": first}, nested
    return document, []


def _blocks(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The blocks of a chain from the outside in, each with null in the place of its source."""
    while isinstance(block.get("source"), dict):
        yield {**block, "source": None}
        block = block["source"]
    yield block
