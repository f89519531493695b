"""Looking into a stored trace: its nodes and calls as the wire lists them, and the places of a text in its messages.

Promise: what a message holds is given as it was written. Token streams are passed over without being read. Positions
count code points, the end excluded; the first match of a node is the one that is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from evh.protocol.jsontext import dumps, parse

__all__ = ["FIELDS", "Inside", "Match", "inside"]

Field = Literal["content", "reasoning_content", "tool_calls"]
FIELDS: tuple[Field, ...] = ("content", "reasoning_content", "tool_calls")
AROUND = 80
"""Code points of an excerpt before and after the match."""


class _Node(msgspec.Struct):
    message: dict[str, Any] = {}
    parent: int | None = None
    sampled: bool = False
    timestamp: float | None = None


class _Span(msgspec.Struct):
    start: float | None = None
    end: float | None = None


class _Call(msgspec.Struct):
    node: int | None = None
    model: str | None = None
    endpoint: str | None = None
    finish_reason: str | None = None
    time: _Span | None = None


class _Trace(msgspec.Struct):
    nodes: list[_Node] = []
    calls: list[_Call] = []


_decoder = msgspec.json.Decoder(_Trace)


class Match(msgspec.Struct, frozen=True):
    """The first place of a text in a node."""

    node_idx: int
    role: str
    representation: Literal["text", "json"]
    start: int
    end: int
    excerpt: str
    excerpt_start: int


class Inside:
    """A trace that was opened."""

    def __init__(self, trace: _Trace) -> None:
        self._trace = trace

    def nodes(self) -> Iterator[dict[str, Any]]:
        """The message nodes, in order."""
        for index, node in enumerate(self._trace.nodes):
            yield {
                "node_idx": index,
                "parent_idx": node.parent if node.parent is not None and node.parent >= 0 else None,
                "timestamp": node.timestamp,
                "sampled": node.sampled,
                "message": {"role": None, **node.message},
            }

    def calls(self) -> Iterator[dict[str, Any]]:
        """The model calls, in order."""
        for index, call in enumerate(self._trace.calls):
            span = call.time or _Span()
            yield {
                "call_idx": index,
                "node_idx": call.node if call.node is not None and call.node >= 0 else None,
                "time_start": span.start or None,
                "time_end": span.end or None,
                "model": call.model,
                "endpoint": call.endpoint,
                "finish_reason": call.finish_reason,
            }

    def matches(self, text: str, field: Field, role: str | None, after: int) -> Iterator[Match]:
        """Nodes after an index whose field holds the text, as it is spelled."""
        for index, node in enumerate(self._trace.nodes):
            said = str(node.message.get("role") or "")
            if index <= after or (role is not None and said != role):
                continue
            value = node.message.get(field)
            if value is None:
                continue
            plain = isinstance(value, str)
            whole: str = value if plain else dumps(value).decode("utf-8")
            start = whole.find(text)
            if start >= 0:
                end = start + len(text)
                first = max(0, start - AROUND)
                kind: Literal["text", "json"] = "text" if plain else "json"
                yield Match(index, said, kind, start, end, whole[first : end + AROUND], first)


def inside(document: bytes) -> Inside:
    """Open a trace's document. One that only a forgiving reader takes is read by it."""
    try:
        return Inside(_decoder.decode(document))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = parse(document)[0]
        members = {name: value.get(name) or [] for name in ("nodes", "calls")}
        return Inside(msgspec.convert(members, _Trace, strict=False))
