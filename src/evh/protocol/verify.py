"""The rules between members that no schema can say: `verify(record)` finds what breaks them.

Promise: linear in the record, over any record that was decoded, however wrong: what can't be read is a finding too, and
nothing is raised but for an argument that is no record. The record is not changed (token streams that were still text
are parsed). Each finding has the pointer of the member at fault and the rule as its keyword:

    parent-range      a node's parent is no node                 call-node        a call names a node that is not there
    parent-cycle      a node's path comes back to it             call-sampled     a call names a node it can't have made
    parent-order      a node's parent stands behind it           semantic-range   a semantic parent is no node
    stream            a token stream can't be read               stream-length    it has the wrong number of values
    tensor            a tensor's bytes, shape or dtype           tensor-rows      it doesn't fit the node's tokens
    span-order        a span or policy ends before it starts     finite           a NaN or an infinity
    ok-without-traces an episode without traces is no success    trace-id         two traces with one id
    derived-depth     more than 64 derivations                   derived-repeated one derivation twice in a chain
    derived-order     a derivation older than its source

Policy: the wording of messages and the order of findings of one record part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from evh.errors import EvhError, UsageError, Violation, cut, pointer
from evh.protocol._open import OpenObject
from evh.protocol.behaviour.episode import EpisodeBehaviour
from evh.protocol.behaviour.graph import parent_fault
from evh.protocol.behaviour.messages import tag_of
from evh.protocol.behaviour.node import SAMPLED_STREAMS, STREAMS, TOKEN_STREAMS, WIRE_ONLY, NodeBehaviour
from evh.protocol.behaviour.tensors import fault_of, integers
from evh.protocol.behaviour.trace import TraceBehaviour

__all__ = ["MAX_DERIVATIONS", "verify"]

MAX_DERIVATIONS = 64
"""How many derivations a chain may have."""

_SKIPPED = frozenset({*STREAMS, *WIRE_ONLY, "loss_weights"})
_TYPES: dict[str, set[type]] = {"token_ids": {int}, "mask": {bool}, "is_content": {bool}}
_NUMBERS: set[type] = {int, float}
_INERT: set[type] = {str, bool, int, type(None)}
_PHASES = ("boot", "setup", "agent", "finalize", "scoring")
_Trail = tuple[Any, ...] | None
_MAX_DEPTH = 20_000


def verify(record: Any) -> list[Violation]:
    """Every break of a rule between members of a record of any type; an empty list for a sound one.

    Raises `UsageError` for what is no record.
    """
    if not isinstance(record, msgspec.Struct | OpenObject):
        raise UsageError(f"verify takes a record, not {cut(type(record).__name__)}")
    findings: list[Violation] = []
    if isinstance(record, EpisodeBehaviour):
        findings += _episode(record)
    elif isinstance(record, TraceBehaviour):
        findings += _trace(record, "")
    elif tag_of(record) in ("rescore", "judge", "reparse"):
        findings += _derived(record, "")
    else:
        derived = getattr(record, "derived", None)
        if derived is not None:
            findings += _derived(derived, "/derived")
    findings += _non_finite(record)
    return findings


def _episode(episode: Any) -> Iterator[Violation]:
    if episode.ok and not episode.traces:
        yield Violation("/ok", "ok-without-traces", "expected false: an episode without traces is no success")
    policy = getattr(getattr(episode.run, "work", None), "policy", None)
    if isinstance(policy, msgspec.Struct):
        yield from _ordered(policy, "/run/work/policy")
    seen: dict[str, int] = {}
    for index, trace in enumerate(episode.traces):
        place = f"/traces/{index}"
        first = seen.setdefault(trace.id, index)
        if first != index:
            yield Violation(f"{place}/id", "trace-id", f"expected an id of its own, not that of trace {first}")
        yield from _trace(trace, place)


def _trace(trace: Any, place: str) -> Iterator[Violation]:
    yield from _graph(trace.nodes, place)
    for index, node in enumerate(trace.nodes):
        yield from _node(node, f"{place}/nodes/{index}")
    count = len(trace.nodes)
    for index, call in enumerate(trace.calls):
        at = f"{place}/calls/{index}"
        if call.node is not None:
            if type(call.node) is not int or not 0 <= call.node < count:
                yield Violation(
                    f"{at}/node", "call-node", f"expected the index of one of {count} nodes, not {call.node}"
                )
            elif not trace.nodes[call.node].sampled:
                yield Violation(f"{at}/node", "call-sampled", f"expected a sampled node; node {call.node} is not")
        yield from _span(call.time, f"{at}/time")
    for phase in _PHASES:
        yield from _span(getattr(trace.timing, phase), f"{place}/timing/{phase}")


def _graph(nodes: list[Any], place: str) -> Iterator[Violation]:
    """Parents in range, earlier, and on no cycle; semantic parents (which may form loops) in range."""
    count = len(nodes)
    parents: list[int | None] = []
    broken: dict[int, tuple[str, str]] = {}
    for index, node in enumerate(nodes):
        fault = parent_fault(index, node.parent, count)
        parents.append(None if fault is not None and fault[0] == "parent-range" else node.parent)
        if fault is not None:
            broken[index] = fault
    if broken:
        for index in _on_cycles(parents):
            broken[index] = ("parent-cycle", f"expected a path to a root; this one comes back to node {index}")
    for index in sorted(broken):
        keyword, message = broken[index]
        yield Violation(f"{place}/nodes/{index}/parent", keyword, message)
    for index, node in enumerate(nodes):
        for link_index, link in enumerate(node.semantic_parents):
            if type(link.node) is not int or not 0 <= link.node < count:
                yield Violation(
                    f"{place}/nodes/{index}/semantic_parents/{link_index}/node",
                    "semantic-range",
                    f"expected the index of one of {count} nodes, not {link.node}",
                )


def _on_cycles(parents: list[int | None]) -> list[int]:
    """The nodes that are their own ancestors. Each node is walked once."""
    walked = [0] * len(parents)  # the walk that first came by, 0 for none
    on_cycles: list[int] = []
    for walk, start in enumerate(range(len(parents)), 1):
        at: int | None = start
        while at is not None and not walked[at]:
            walked[at] = walk
            at = parents[at]
        if at is not None and walked[at] == walk:
            first = at
            on_cycles.append(first)
            at = parents[first]
            while at is not None and at != first:
                on_cycles.append(at)
                at = parents[at]
    return on_cycles


def _node(node: Any, place: str) -> Iterator[Violation]:
    lengths: dict[str, int] = {}
    sampled = 0
    for name in STREAMS:
        values, fault = _read(node, name)
        if fault is None and values is not None:
            fault = _content_fault(values, _TYPES.get(name, _NUMBERS))
        if fault is not None:
            yield Violation(f"{place}/{name}", "stream", fault)
        elif values is not None:
            lengths[name] = len(values)
            if name == "mask":
                sampled = values.count(True)
    tokens = lengths.get("token_ids")
    if tokens is not None:
        for name in TOKEN_STREAMS[1:]:
            if lengths.get(name, tokens) != tokens and not (name == "is_content" and not lengths[name]):
                yield _length(f"{place}/{name}", lengths[name], tokens, "token")
        yield from _loss_weights(node, place, tokens)
    if "mask" in lengths:
        for name in SAMPLED_STREAMS:
            if lengths.get(name, sampled) != sampled:
                yield _length(f"{place}/{name}", lengths[name], sampled, "sampled token")
    yield from _tensors(node, place, tokens, sampled if "mask" in lengths else None)


def _loss_weights(node: Any, place: str, tokens: int) -> Iterator[Violation]:
    weights, fault = _read(node, "loss_weights", dict)
    if fault is not None:
        yield Violation(f"{place}/loss_weights", "stream", fault)
    for name, values in (weights or {}).items():
        at = f"{place}/loss_weights{pointer(name)}"
        fault = _content_fault(values, _NUMBERS)
        if fault is not None:
            yield Violation(at, "stream", fault)
        elif len(values) != tokens:
            yield _length(at, len(values), tokens, "token")


def _tensors(node: Any, place: str, tokens: int | None, sampled: int | None) -> Iterator[Violation]:
    experts = node.routed_experts
    if experts is not None:
        at = f"{place}/routed_experts"
        fault = fault_of(experts)
        if fault is not None:
            yield Violation(at, "tensor", fault)
        elif tokens is not None and (not experts.shape or experts.shape[0] != tokens):
            yield Violation(
                at, "tensor-rows", f"expected {tokens} rows, one a token, not the shape {cut(experts.shape)}"
            )
    mask = node.sampling_mask
    if mask is None:
        return
    flat: dict[str, list[int]] = {}
    for name in ("ids", "counts"):
        try:
            flat[name] = list(integers(getattr(mask, name), ""))
        except EvhError as error:
            yield Violation(f"{place}/sampling_mask/{name}", "tensor", _words(error))
    if "counts" not in flat:
        return
    counts = flat["counts"]
    if sampled is not None and counts and len(counts) != sampled:
        yield _rows(f"{place}/sampling_mask/counts", len(counts), f"{sampled} counts, one a sampled token")
    if "ids" in flat and len(flat["ids"]) != sum(counts):
        yield _rows(f"{place}/sampling_mask/ids", len(flat["ids"]), f"{sum(counts)} ids, the sum of the counts")


def _rows(place: str, found: int, expected: str) -> Violation:
    return Violation(place, "tensor-rows", f"expected {expected}, found {found}")


def _length(place: str, found: int, expected: int, unit: str) -> Violation:
    return Violation(place, "stream-length", f"expected {expected} values, one a {unit}, found {found}")


def _words(error: EvhError) -> str:
    """An error's text without its own pointer: a finding has a fuller one."""
    place = getattr(error, "pointer", None)
    return error.message if place is None else error.message.removeprefix(f"{place or '(root)'}: ")


def _read(node: Any, name: str, kind: type = list) -> tuple[Any, str | None]:
    """A stream's values, or why it can't be read."""
    try:
        values = getattr(node, name)
    except EvhError as error:
        return None, _words(error)
    if values is None or isinstance(values, kind):
        return values, None
    return None, f"expected {'a map of lists' if kind is dict else 'a list of values'}, not {cut(values)}"


def _content_fault(values: Any, allowed: set[type]) -> str | None:
    if not isinstance(values, list):
        return f"expected a list of numbers, not {cut(values)}"
    if not values:
        return None
    kinds = set(map(type, values))
    if not kinds <= allowed:
        index = next(at for at, value in enumerate(values) if type(value) not in allowed)
        expected = "a boolean" if allowed == {bool} else "an integer" if allowed == {int} else "a number"
        return f"expected {expected} at {index}, not {cut(values[index])}"
    if float in kinds:
        index = next((at for at, value in enumerate(values) if type(value) is float and not math.isfinite(value)), -1)
        if index >= 0:
            return f"expected a finite number at {index}, not {values[index]}"
    return None


def _span(span: Any, place: str) -> Iterator[Violation]:
    if span.end:
        yield from _ordered(span, place)


def _ordered(span: Any, place: str) -> Iterator[Violation]:
    if span.end < span.start:
        yield Violation(
            f"{place}/end", "span-order", f"expected {cut(span.start)} (its start) or later, not {cut(span.end)}"
        )


def _derived(derived: Any, place: str) -> Iterator[Violation]:
    """A chain of derivations, newest first."""
    seen: set[tuple[str | None, str, str]] = set()
    newer: tuple[str, str] | None = None
    for depth in range(MAX_DERIVATIONS + 1):
        if not isinstance(derived, msgspec.Struct):
            return
        if depth == MAX_DERIVATIONS:
            yield Violation(place, "derived-depth", f"expected at most {MAX_DERIVATIONS} derivations")
            return
        made_at = getattr(derived, "at", None)
        identity = (tag_of(derived), repr(getattr(derived, "from_", None)), repr(made_at))
        if identity in seen:
            yield Violation(
                place, "derived-repeated", "expected another derivation; this one stands earlier in the chain"
            )
        seen.add(identity)
        at = _instant(made_at)
        if newer is not None and at is not None and at > newer:
            yield Violation(f"{place}/at", "derived-order", "expected a time no later than what was derived from it")
        newer = at or newer
        derived = getattr(derived, "source", None)
        place += "/source"


def _instant(at: object) -> tuple[str, str] | None:
    """An RFC 3339 time in UTC as a key to sort by: whole seconds, then the digits of the fraction."""
    if not isinstance(at, str) or not at.endswith("Z"):
        return None
    seconds, _, fraction = at[:-1].partition(".")
    return seconds, fraction.rstrip("0")


def _non_finite(record: Any) -> Iterator[Violation]:
    """Every NaN and infinity outside of token streams, which have their own rule; a record within itself is a
    finding."""
    work: list[tuple[Any, _Trail, int]] = [(record, None, 0)]
    while work:
        value, trail, depth = work.pop()
        if depth > _MAX_DEPTH:
            yield Violation(_place(trail), "depth", f"nested more than {_MAX_DEPTH} levels deep, or within itself")
            return
        depth += 1
        if type(value) is float:
            if not math.isfinite(value):
                yield Violation(_place(trail), "finite", f"expected a finite number, not {value}")
        elif isinstance(value, msgspec.Struct):
            skipped = _SKIPPED if isinstance(value, NodeBehaviour) else ()
            cls = type(value)
            for name, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
                item = None if name in skipped else getattr(value, name)
                if type(item) not in _INERT:
                    # The members that a release does not know stand in the object itself.
                    work.append((item, trail if wire == "*" else (trail, wire), depth))
        elif isinstance(value, Mapping):
            work += ((item, (trail, name), depth) for name, item in value.items() if type(item) not in _INERT)
        elif isinstance(value, list | tuple):
            work += ((item, (trail, at), depth) for at, item in enumerate(value) if type(item) not in _INERT)


def _place(trail: _Trail) -> str:
    parts: list[str | int] = []
    while trail is not None:
        trail, part = trail
        parts.append(part)
    return pointer(*reversed(parts))
