"""Vectors of the rules between members, which no schema says: the message graph, token streams, spans, derived
chains.

Promise: pointer and keyword of each stand here by hand; a test holds that every rule of `evh.verify` that JSON can
break has one. A rule is about a type by its name, so this is the one part of the vectors that a new schema does not
extend.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .judging import Judging, Vector, verdict
from .samples import Samples

Rule = tuple[str, str, Any, str, str]
"""Name, type, document, pointer, keyword; an empty keyword for a document that breaks no rule."""
DEEPEST_CHAIN = 64


class Semantic:
    """The semantic vectors of one contract."""

    def __init__(self, samples: Samples, judging: Judging) -> None:
        self.samples = samples
        self.judging = judging

    def vectors(self) -> Iterator[Vector]:
        for rules in (
            self._graphs(),
            self._streams(),
            self._tensors(),
            self._times(),
            self._chains(),
            self._episodes(),
        ):
            for name, kind, document, pointer, keyword in rules:
                made = self.judging.vector(f"semantic/{name}", kind, document)
                assert made["schema"] == "ok", f"{name}: {made['schema']}"
                if keyword == "derived-depth":
                    del made["lenient"]  # forgiving readers may have a limit of their own
                yield made | {"semantic": verdict([(pointer, keyword)] if keyword else [])}

    def trace(self, *nodes: Any, **members: Any) -> dict[str, Any]:
        return {**self.samples.minimal("Trace"), "nodes": list(nodes), **members}

    def node(self, **members: Any) -> dict[str, Any]:
        return {**self.samples.minimal("MessageNode"), **members}

    def _graphs(self) -> Iterator[Rule]:
        node = self.node
        link = {"node": 0, "type": "compaction"}
        call = {"node": 1}
        yield "tree", "Trace", self.trace(node(), node(parent=0), node(parent=0), node(parent=1)), "", ""
        yield "two-roots", "Trace", self.trace(node(), node(parent=None)), "", ""
        yield "parent-range", "Trace", self.trace(node(), node(parent=7)), "/nodes/1/parent", "parent-range"
        yield "parent-itself", "Trace", self.trace(node(parent=0)), "/nodes/0/parent", "parent-cycle"
        cycle = self.trace(node(parent=1), node(parent=0))
        yield "parent-cycle", "Trace", cycle, "/nodes/0/parent", "parent-cycle"
        yield "parent-order", "Trace", self.trace(node(parent=1), node()), "/nodes/0/parent", "parent-order"
        yield "semantic-link", "Trace", self.trace(node(semantic_parents=[link])), "", ""
        linked = self.trace(node(semantic_parents=[link, {**link, "node": 1}]))
        yield "semantic-range", "Trace", linked, "/nodes/0/semantic_parents/1/node", "semantic-range"
        yield "call", "Trace", self.trace(node(), node(parent=0, sampled=True), calls=[call, {"node": None}]), "", ""
        yield "call-node", "Trace", self.trace(node(sampled=True), calls=[call]), "/calls/0/node", "call-node"
        yield "call-sampled", "Trace", self.trace(node(), node(), calls=[call]), "/calls/0/node", "call-sampled"

    def _streams(self) -> Iterator[Rule]:
        def one(**members: Any) -> dict[str, Any]:
            return self.trace(self.node(**members))

        tokens: dict[str, Any] = {"token_ids": [5, 6, 7], "mask": [False, True, True], "logprobs": [-0.5, -1.5]}
        weights = {"loss_weights": {"a/b": [1.0, 0.5]}}
        yield "streams", "Trace", one(**tokens, is_content=[True, True, False], entropies=[0.5, 1]), "", ""
        yield "stream-empty-content", "Trace", one(**tokens, is_content=[]), "", ""
        yield "mask-length", "Trace", one(token_ids=[1, 2], mask=[False]), "/nodes/0/mask", "stream-length"
        content = one(**tokens, is_content=[True])
        yield "content-length", "Trace", content, "/nodes/0/is_content", "stream-length"
        short = one(**{**tokens, "logprobs": [-0.5]})
        yield "logprobs-length", "Trace", short, "/nodes/0/logprobs", "stream-length"
        advantages = one(**tokens, advantages=[1.0, 1.0, 1.0])
        yield "advantages-length", "Trace", advantages, "/nodes/0/advantages", "stream-length"
        yield "weights-length", "Trace", one(**tokens, **weights), "/nodes/0/loss_weights/a~1b", "stream-length"

    def _tensors(self) -> Iterator[Rule]:
        tokens: dict[str, Any] = {"token_ids": [5, 6], "mask": [False, False]}

        def experts(shape: list[int], data: str) -> dict[str, Any]:
            tensor = {"__nd__": True, "dtype": "uint8", "shape": shape, "data": data}
            return self.trace(self.node(**tokens, routed_experts=tensor))

        yield "tensor", "Trace", experts([2, 1, 1], "AAA="), "", ""
        yield "tensor-size", "Trace", experts([2, 1, 1], "AAAA"), "/nodes/0/routed_experts", "tensor"
        yield "tensor-rows", "Trace", experts([1, 2, 1], "AAA="), "/nodes/0/routed_experts", "tensor-rows"

    def _times(self) -> Iterator[Rule]:
        timing = self.samples.minimal("Timing")
        for name, span, keyword in (
            ("same", (2, 2), ""),
            ("unfinished", (2, 0), ""),
            ("backwards", (2, 1), "span-order"),
        ):
            stage = {"start": span[0], "end": span[1]}
            where = "/timing/setup/end" if keyword else ""
            yield f"span-{name}", "Trace", self.trace(timing={**timing, "setup": stage}), where, keyword
        call = {"time": {"start": 2.5, "end": 2.25}}
        yield "span-of-a-call", "Trace", self.trace(calls=[call]), "/calls/0/time/end", "span-order"

    def _chains(self) -> Iterator[Rule]:
        def block(number: int, source: Any = None, at: str = "2026-01-02T00:00:00Z") -> dict[str, Any]:
            least = {**self.samples.minimal("Derived"), "from": f"run-{number}", "at": at}
            return least if source is None else {**least, "source": source}

        def chain(length: int) -> dict[str, Any]:
            made = block(0)
            for number in range(1, length):
                made = block(number, made)
            return made

        yield "chain", "Derived", chain(3), "", ""
        yield "chain-longest", "Derived", chain(DEEPEST_CHAIN), "", ""
        yield "chain-too-long", "Derived", chain(DEEPEST_CHAIN + 1), "/source" * DEEPEST_CHAIN, "derived-depth"
        yield "chain-repeated", "Derived", block(1, block(2, block(1))), "/source/source", "derived-repeated"
        later = block(1, block(2, at="2026-01-02T00:00:00.5Z"))
        yield "chain-order", "Derived", later, "/source/at", "derived-order"
        record = self.samples.minimal("RunRecord")
        yield "chain-of-a-record", "RunRecord", {**record, "derived": later}, "/derived/source/at", "derived-order"

    def _episodes(self) -> Iterator[Rule]:
        least = self.samples.minimal("Episode")
        trace = self.samples.minimal("Trace")
        other = {**trace, "id": "another"}
        yield "episode-of-two", "Episode", {**least, "traces": [trace, other], "ok": True}, "", ""
        yield "ok-without-traces", "Episode", {**least, "traces": [], "ok": True}, "/ok", "ok-without-traces"
        twice = {**least, "traces": [trace, other, trace]}
        yield "trace-id", "Episode", twice, "/traces/2/id", "trace-id"
        policy = {"start": 3, "end": 2}
        run = {"type": "train", "id": "r", "work": {"type": "train", "step": 1, "policy": policy}}
        yield "policy-order", "Episode", {**least, "run": run}, "/run/work/policy/end", "span-order"
