"""Stored documents as they were uploaded: lines, and the traces within them.

Promise: a line and a trace are exactly the bytes that came. An envelope is the episode's own members as they came, with
the ids of its traces in the place of the traces.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from evh.protocol.jsontext import dumps, parse
from evh.server.interfaces import Segments
from evh.server.records import EpisodeHead, Placement, TraceHead

__all__ = ["Documents", "member_documents"]


class _Members(msgspec.Struct):
    traces: list[msgspec.Raw] = []


_members = msgspec.json.Decoder(_Members)
_envelope = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Id(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw(b"null")


class Documents:
    """Reads what heads point to."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments

    def line(self, head: EpisodeHead | TraceHead) -> Iterator[bytes]:
        """The whole line, in pieces."""
        return self._segments.open_range(head.placement)

    def trace(self, head: TraceHead) -> Iterator[bytes]:
        """The trace's document, in pieces."""
        if head.position < 0:
            return self._segments.open_range(head.placement)
        return iter((member_documents(self._segments.read(head.placement))[head.position],))

    def envelope(self, head: EpisodeHead) -> bytes:
        """The episode with its traces' ids in their place."""
        line = self._segments.read(head.placement)
        try:
            members = _envelope.decode(line)
            ids = [msgspec.json.decode(document, type=_Id).id for document in member_documents(line)]
            members["traces"] = msgspec.Raw(b"[" + b",".join(bytes(each) for each in ids) + b"]")
            return msgspec.json.encode(members)
        except (msgspec.MsgspecError, ValueError):
            whole, _ = parse(line)
            whole["traces"] = [trace["id"] for trace in whole.get("traces", [])]
            return dumps(whole)

    def read(self, placement: Placement) -> bytes:
        """Any line."""
        return self._segments.read(placement)


def member_documents(line: bytes) -> list[bytes]:
    """The bytes of each trace of an episode's line."""
    try:
        return [bytes(trace) for trace in _members.decode(line).traces]
    except (msgspec.MsgspecError, ValueError):  # text with a lone surrogate somewhere: spelled anew
        return [dumps(trace) for trace in parse(line)[0].get("traces", [])]
