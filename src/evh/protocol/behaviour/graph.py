"""The message graph of a trace: a forest in which every parent is an earlier node of the same list.

Promise: building the view checks every parent once, in one pass; a cycle, a dangling or a later parent is a
`RecordError` with its pointer. Nothing here recurses, and every count is linear in nodes and calls, however many
branches share a prefix.

A leaf is a node that is no node's parent. There is one branch per leaf, in the order of their indices. Of several calls
that name one node the last counts for branches; a call that names no node, or none that exists, belongs to no branch,
but is counted in the trace's usage like any other (`evh.verify` reports the latter).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.errors import RecordError, cut

if TYPE_CHECKING:
    from evh.protocol.models import MessageNode, ModelCall

__all__ = ["Graph", "parent_fault"]


def parent_fault(index: int, parent: object, count: int) -> tuple[str, str] | None:
    """The rule that a node's parent breaks and why, in a graph of `count` nodes; None for a sound one."""
    if parent is None:
        return None
    if type(parent) is not int or not 0 <= parent < count:
        return "parent-range", f"expected the index of a node (0 to {count - 1}), not {cut(parent)}"
    if parent >= index:
        return "parent-order", f"expected an earlier node than {index}, not {parent}: its path may never reach a root"
    return None


class Graph:
    """A checked view of a trace's nodes and calls as they are now. `place` is the trace's own pointer."""

    __slots__ = ("calls", "nodes", "parents", "place")

    def __init__(self, trace: Any, place: str = "") -> None:
        self.place = place
        self.calls: list[ModelCall] = trace.calls
        self.nodes: list[MessageNode] = list(trace.nodes)
        self.parents: list[int | None] = [node.parent for node in self.nodes]
        for index, parent in enumerate(self.parents):
            if parent is not None and not (type(parent) is int and 0 <= parent < index):
                fault = parent_fault(index, parent, len(self.nodes))
                raise RecordError(fault[1] if fault else "", pointer=f"{place}/nodes/{index}/parent")

    def leaves(self) -> list[int]:
        """The indices of the nodes that are no node's parent, in order."""
        inner = bytearray(len(self.nodes))
        for parent in self.parents:
            if parent is not None:
                inner[parent] = 1
        return [index for index, has_child in enumerate(inner) if not has_child]

    def path(self, leaf: int) -> list[int]:
        """The indices from the root to `leaf`."""
        path: list[int] = []
        at: int | None = leaf
        while at is not None:
            path.append(at)
            at = self.parents[at]
        path.reverse()
        return path

    def call_by_node(self) -> dict[int, ModelCall]:
        """The call that committed each node: the last one that names it."""
        return {call.node: call for call in self.calls if call.node is not None}

    def input_tokens(self) -> int:
        """Tokens fed in anew, each call once: what its input adds to the total of the call before it on its path.

        A lower bound: tokens that the engine dropped in between make an addition smaller, never negative.
        """
        calls = self.call_by_node()
        before = [0] * len(self.nodes)
        fed = 0
        for index, parent in enumerate(self.parents):
            total = 0 if parent is None else before[parent]
            call = calls.get(index)
            if call is not None and call.usage is not None:
                fed += max(0, call.usage.input_tokens - total)
                total = call.usage.total_tokens
            before[index] = total
        return fed

    def output_tokens(self) -> int:
        """Generated tokens summed over branches: a call on a shared prefix counts once for each branch through it."""
        branches = [0] * len(self.nodes)
        for leaf in self.leaves():
            branches[leaf] = 1
        for index in range(len(self.nodes) - 1, -1, -1):
            parent = self.parents[index]
            if parent is not None:
                branches[parent] += branches[index]
        return sum(
            call.usage.completion_tokens * branches[index]
            for index, call in self.call_by_node().items()
            if call.usage is not None and 0 <= index < len(branches)
        )

    def untrainable(self) -> set[int]:
        """The leaves that were attempts at compaction from which no node resumed.

        A leaf with a `compaction_attempt` link is one; a `compaction` link from any node to it is a resumption.
        """
        accepted: set[int] = set()
        attempts: set[int] = set()
        for index, node in enumerate(self.nodes):
            for link in node.semantic_parents:
                if link.type == "compaction":
                    accepted.add(link.node)
                elif link.type == "compaction_attempt":
                    attempts.add(index)
        return attempts - accepted
