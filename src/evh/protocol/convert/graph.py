"""The message graph of a row for a library that walks it without looking.

Promised: after `cut_faults` every `parent` is an index into `nodes` and no chain of parents comes back to itself.
0.4.0 counts tokens along the graph whenever it writes a row: there a missing parent raises, and a cycle takes all
memory and never ends. 0.3.1 does the same as soon as somebody asks for branches.
Policy: of a cycle the links that point forward, or at their own node, are cut; the others stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["cut_faults"]


def cut_faults(nodes: list[dict[str, Any]], cut: Callable[[int, str], None]) -> None:
    """Call `cut(index, why)`, which takes away the node's parent, for each link that leads nowhere or in a circle."""
    parents: list[int | None] = []
    for index, node in enumerate(nodes):
        parent = node.get("parent")
        if parent is not None and not 0 <= parent < len(nodes):
            cut(index, "the parent is not a node of this trace")
            parent = None
        parents.append(None if parent is None else int(parent))
    done = [False] * len(nodes)
    for start in range(len(nodes)):
        trail: dict[int, None] = {}
        at: int | None = start
        while at is not None and not done[at] and at not in trail:
            trail[at] = None
            at = parents[at]
        if at is not None and at in trail:
            circle = list(trail)
            for index in circle[circle.index(at) :]:
                parent = parents[index]
                if parent is not None and parent >= index:
                    cut(index, "the chain of parents comes back to this node")
        for index in trail:
            done[index] = True
