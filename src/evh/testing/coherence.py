"""Makes a valid document follow the rules between members that no schema can say, those that `evh.verify` knows.

Promise: a document that its schema takes stays one, and `verify` of its record finds nothing. Only what breaks a rule
changes: parents come to stand before their nodes, streams get the length of their tokens, spans end after they start,
ids of traces and derivations become distinct.
When it breaks: `coherent=True` of the strategies gives records with findings.
"""

from __future__ import annotations

from typing import Any

from evh.protocol.behaviour.node import SAMPLED_STREAMS
from evh.protocol.verify import MAX_DERIVATIONS

__all__ = ["make_coherent"]

PHASES = ("boot", "setup", "agent", "finalize", "scoring")


def make_coherent(name: str, document: Any) -> Any:
    """The document of a type, changed in place where it breaks a rule; returned for convenience."""
    if name == "Episode":
        _episode(document)
    elif name == "Trace":
        _trace(document)
    elif name == "MessageNode":
        _node(document, 0, [document])
    elif name in ("TimeSpan", "AgentSpan", "PolicySpan"):
        _span(document)
    elif name == "Timing":
        _timing(document)
    elif name in ("RunInfo", "TrainRunInfo"):
        _run(document)
    elif name in ("WorkInfo", "TrainWorkInfo", "EvalWorkInfo"):
        _span(document.get("policy"))
    elif name == "RunRecord":
        _chain(document.get("derived"))
    elif name == "Derived" or name.endswith("Derived"):
        _chain(document)
    return document


def _episode(episode: dict[str, Any]) -> None:
    traces = episode.get("traces", [])
    if not traces and episode.get("ok"):
        episode["ok"] = False
    _run(episode.get("run"))
    taken: set[str] = set()
    for index, trace in enumerate(traces):
        while trace["id"] in taken:
            trace["id"] += f"-{index}"
        taken.add(trace["id"])
        _trace(trace)


def _run(run: dict[str, Any] | None) -> None:
    if run is not None and "work" in run:
        _span(run["work"].get("policy"))


def _trace(trace: dict[str, Any]) -> None:
    nodes = trace.get("nodes", [])
    for index, node in enumerate(nodes):
        _node(node, index, nodes)
    sampled = [index for index, node in enumerate(nodes) if node.get("sampled")]
    for call in trace.get("calls", []):
        if call.get("node") is not None:
            call["node"] = sampled[int(call["node"]) % len(sampled)] if sampled else None
        _span(call.get("time"))
    _timing(trace["timing"])


def _timing(timing: dict[str, Any]) -> None:
    for phase in PHASES:
        _span(timing.get(phase))


def _span(span: dict[str, Any] | None) -> None:
    if span is not None and (span.get("end") or "policy" in span or _is_policy(span)):
        start, end = span.get("start", 0.0), span.get("end", 0.0)
        if end < start:
            span["start"], span["end"] = end, start


def _is_policy(span: dict[str, Any]) -> bool:
    return type(span.get("start")) is int and type(span.get("end")) is int


def _node(node: dict[str, Any], index: int, nodes: list[Any]) -> None:
    parent = node.get("parent")
    if parent is not None:
        node["parent"] = int(parent) % index if index else None
    for link in node.get("semantic_parents", []):
        link["node"] = int(link["node"]) % len(nodes)
    tokens = len(node.get("token_ids", []))
    mask = _lengthen(node, "mask", tokens, False)
    _lengthen(node, "is_content", tokens, True)
    sampled = mask.count(True)
    for name in SAMPLED_STREAMS:
        _lengthen(node, name, sampled, 0.0)
    weights: dict[str, Any] = node.get("loss_weights") or {}
    for name in weights:
        _lengthen(weights, name, tokens, 0.0)
    _tensors(node, tokens, sampled)


def _lengthen(holder: dict[str, Any], name: str, length: int, filler: Any) -> list[Any]:
    """Cut or fill a stream that is there, or that must be there as others have values; other absent ones stay
    absent."""
    values: list[Any] | None = holder.get(name)
    if values is None:
        if name not in ("mask", "logprobs") or not length:
            return []
        values = []
    fitting = [*values[:length], *[filler] * (length - len(values))]
    holder[name] = fitting
    return fitting


def _tensors(node: dict[str, Any], tokens: int, sampled: int) -> None:
    if node.get("routed_experts") is not None:
        node["routed_experts"] = _tensor("uint8", [tokens, 2, 1], b"\x01" * (tokens * 2))
    if node.get("sampling_mask") is not None:
        node["sampling_mask"] = {
            "ids": _tensor("int32", [sampled], bytes(4 * sampled)),
            "counts": _tensor("int32", [sampled], (1).to_bytes(4, "little") * sampled),
        }


def _tensor(dtype: str, shape: list[int], data: bytes) -> dict[str, Any]:
    return {"__nd__": True, "dtype": dtype if dtype == "uint8" else "<i4", "shape": shape, "data": data}


def _chain(block: dict[str, Any] | None) -> None:
    """A chain of derivations, newest first: times that do not rise, no derivation twice, no more than are allowed."""
    blocks: list[dict[str, Any]] = []
    while block is not None and len(blocks) < MAX_DERIVATIONS:
        blocks.append(block)
        block = block.get("source")
    if blocks:
        blocks[-1].pop("source", None)
    times = sorted((each["at"] for each in blocks), key=_instant, reverse=True)
    for depth, (each, at) in enumerate(zip(blocks, times, strict=True)):
        each["at"] = at
        if depth:
            each["from"] += f"~{depth}"


def _instant(at: str) -> tuple[str, str]:
    seconds, _, fraction = at.removesuffix("Z").partition(".")
    return seconds, fraction.rstrip("0")
