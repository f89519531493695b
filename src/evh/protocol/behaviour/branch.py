"""A branch: one path through a trace's message graph from a root to a leaf, which makes one training sample.

Promise: every stream is aligned to `token_ids` (one value a token of the path) or the read raises a `RecordError`: a
node whose mask and tokens differ in number can't be aligned. Values that a node lacks read as zeros.
Policy: a branch walks its path when first asked, so that a list of branches costs no more than the graph; it is a view
of the nodes as they stood when the branches were made, and no record (it is never saved).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.errors import RecordError, UsageError, cut
from evh.protocol.behaviour.graph import Graph
from evh.protocol.behaviour.node import as_array, read_stream
from evh.protocol.behaviour.tensors import integers, joined, rows_of, tensor_like
from evh.protocol.behaviour.usage import usage_of

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from evh.protocol.models import Message, MessageNode, ModelCall, SamplingMask, Tensor, Tool, Usage

__all__ = ["Branch", "branches_of"]

ARRAYS = (
    "token_ids", "sampled_mask", "logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies",
    "routed_experts",
)  # fmt: skip


def branches_of(graph: Graph, token_types: Any) -> list[Branch]:
    """One branch per leaf. `token_types` is the trace's `mm_token_type_id_map`."""
    calls, untrainable = graph.call_by_node(), graph.untrainable()
    return [
        Branch(graph, leaf, index=index, calls=calls, trainable=leaf not in untrainable, token_types=token_types)
        for index, leaf in enumerate(graph.leaves())
    ]


class Branch:
    """A path from a root to a leaf. Made by `Trace.branches`.

    `index` is its position among the trace's branches. `trainable` is false for an attempt at compaction from which the
    harness did not resume.
    """

    __slots__ = ("_calls", "_graph", "_leaf", "_path", "_token_types", "index", "trainable")

    def __init__(
        self,
        graph: Graph,
        leaf: int,
        *,
        index: int = 0,
        calls: dict[int, ModelCall] | None = None,
        trainable: bool = True,
        token_types: Any = None,
    ) -> None:
        self.index = index
        self.trainable = trainable
        self._graph = graph
        self._leaf = leaf
        self._calls = graph.call_by_node() if calls is None else calls
        self._token_types = token_types
        self._path: list[int] | None = None

    def __repr__(self) -> str:
        return f"Branch(index={self.index}, leaf={self._leaf}, trainable={self.trainable})"

    @property
    def path(self) -> list[int]:
        """The indices of its nodes in `Trace.nodes`, root first. Branches that share a node share its index."""
        if self._path is None:
            self._path = self._graph.path(self._leaf)
        return list(self._path)

    @property
    def nodes(self) -> list[MessageNode]:
        """Its nodes, root first."""
        return [self._graph.nodes[index] for index in self.path]

    @property
    def calls(self) -> list[ModelCall]:
        """The calls that committed its nodes, in path order; the last one where several name one node."""
        return [self._calls[index] for index in self.path if index in self._calls]

    @property
    def messages(self) -> list[Message]:
        """Its messages, root first."""
        return [node.message for node in self.nodes]

    @property
    def tools(self) -> list[Tool]:
        """The tools rendered into its prompt: those of its root."""
        tools: list[Tool] = self._graph.nodes[self.path[0]].tools
        return tools

    @property
    def token_ids(self) -> list[int]:
        """The tokens of all nodes, in order."""
        tokens: list[int] = []
        for place, node in self._placed():
            tokens += read_stream(node, "token_ids", place) or ()
        return tokens

    @property
    def sampled_mask(self) -> list[bool]:
        """Per token: whether the model sampled it."""
        mask: list[bool] = []
        for place, node in self._placed():
            mask += _mask(node, place)
        return mask

    @property
    def logprobs(self) -> list[float]:
        """Per token: its log-probability when sampled, 0.0 for tokens that were not sampled."""
        return self._spread("logprobs")

    @property
    def advantages(self) -> list[float] | None:
        """Per token: its credit, 0.0 where a node has none; None when no node of the path was ever assigned any."""
        return self._spread_or_none("advantages")

    @property
    def reference_logprobs(self) -> list[float] | None:
        """Per token: the reference model's log-probability; None when no node of the path was scored."""
        return self._spread_or_none("reference_logprobs")

    @property
    def trainer_logprobs(self) -> list[float] | None:
        """Per token: the log-probability as the trainer recomputed it; None when no node of the path has it."""
        return self._spread_or_none("trainer_logprobs")

    @property
    def entropies(self) -> list[float] | None:
        """Per token: the policy's entropy in the trainer; None when no node of the path has it."""
        return self._spread_or_none("entropies")

    def loss_weights(self, name: str) -> list[float] | None:
        """Per token: the loss weight named `name`, 0.0 for nodes without it; None when no node of the path has it.

        Raises `RecordError` when a node has another number of weights than of tokens.
        """
        weights: list[float] = []
        found = False
        for place, node in self._placed():
            count = len(read_stream(node, "token_ids", place) or ())
            named = node.loss_weights
            if named is not None and not isinstance(named, dict):
                raise RecordError(f"expected a map of lists, not {cut(named)}", pointer=f"{place}/loss_weights")
            values = (named or {}).get(name)
            if values is None:
                weights += [0.0] * count
                continue
            if not isinstance(values, list) or len(values) != count:
                raise RecordError(
                    f"expected {count} weights named {cut(name)}, one a token, not {cut(values)}",
                    pointer=f"{place}/loss_weights",
                )
            found = True
            weights += values
        return weights if found else None

    @property
    def mm_token_type_ids(self) -> list[int] | None:
        """Per token: 0 for text, else the modality its id stands for in the trace; None when all of it is text."""
        marks: dict[int, int] = {}
        for key, mark in (self._token_types or {}).items():
            try:
                marks[int(key)] = mark
            except (TypeError, ValueError) as error:
                place = f"{self._graph.place}/mm_token_type_id_map"
                raise RecordError(f"expected token ids as names, not {cut(key)}", pointer=place) from error
        if not marks:
            return None
        types = [marks.get(token, 0) if isinstance(token, int) else 0 for token in self.token_ids]
        return types if any(types) else None

    @property
    def routed_experts(self) -> Tensor | None:
        """The experts each token was routed to, `[tokens, layers, top_k]`.

        None when a node with tokens lacks them, or their rows are not as many as the tokens. Raises `RecordError` when
        the nodes' tensors don't fit together.
        """
        parts: list[tuple[str, Any]] = []
        rows = tokens = 0
        for place, node in self._placed():
            count = len(read_stream(node, "token_ids", place) or ())
            if not count:
                continue
            if node.routed_experts is None:
                return None
            at = f"{place}/routed_experts"
            parts.append((at, node.routed_experts))
            rows += rows_of(node.routed_experts, at)
            tokens += count
        return joined(parts) if parts and rows == tokens else None

    @property
    def sampling_mask(self) -> SamplingMask | None:
        """The token ids that sampling could choose from: `counts` has a number a token of the branch, `ids` are flat.

        A token that was not sampled, or has no mask, counts 0. None when no node of the path has a mask. Raises
        `RecordError` when a node's counts are not as many as its sampled tokens.
        """
        sample: Any = None
        ids: list[int] = []
        counts: list[int] = []
        for place, node in self._placed():
            mask = _mask(node, place)
            row = [0] * len(mask)
            held = node.sampling_mask
            if held is not None:
                sample = held
                at = f"{place}/sampling_mask"
                values = integers(held.counts, f"{at}/counts")
                if len(values):
                    sampled = [index for index, drawn in enumerate(mask) if drawn]
                    if len(sampled) != len(values):
                        raise RecordError(
                            f"expected {len(sampled)} counts, one a sampled token, found {len(values)}",
                            pointer=f"{at}/counts",
                        )
                    for index, value in zip(sampled, values, strict=True):
                        row[index] = value
                    ids += integers(held.ids, f"{at}/ids")
            counts += row
        if sample is None:
            return None
        whole: SamplingMask = type(sample)(
            ids=tensor_like(sample.ids, ids, f"{self._graph.place}/nodes"),
            counts=tensor_like(sample.counts, counts, f"{self._graph.place}/nodes"),
        )
        return whole

    @property
    def multi_modal_data(self) -> dict[str, dict[str, list[Any]]] | None:
        """The items and hashes of all nodes by modality, in token order; None when no node has any.

        Placeholder offsets are left out: they count from the start of their own node. Raises `RecordError` for data of
        another form.
        """
        merged: dict[str, dict[str, list[Any]]] = {"mm_items": {}, "mm_hashes": {}}
        found = False
        for place, node in self._placed():
            data = node.multi_modal_data
            if data is None:
                continue
            for kind, by_modality in merged.items():
                held = data.get(kind)
                if held is None:
                    continue
                at = f"{place}/multi_modal_data/{kind}"
                if not hasattr(held, "items"):
                    raise RecordError(f"expected a map of lists by modality, not {cut(held)}", pointer=at)
                for modality, values in held.items():
                    if not isinstance(values, list):
                        raise RecordError(f"expected lists by modality, not {cut(values)}", pointer=at)
                    found = found or bool(values)
                    by_modality.setdefault(modality, []).extend(values)
        return merged if found else None

    @property
    def usage(self) -> Usage | None:
        """The usage of its calls, summed; None when no call reported any."""
        return usage_of((call.usage for call in self.calls), f"{self._graph.place}/calls")

    @property
    def last_usage(self) -> Usage | None:
        """The usage of its last call that reported one."""
        return next((call.usage for call in reversed(self.calls) if call.usage is not None), None)

    @property
    def num_total_tokens(self) -> int:
        """The length of the final sequence: the total of `last_usage`, 0 without one."""
        last = self.last_usage
        return 0 if last is None else last.total_tokens

    @property
    def num_output_tokens(self) -> int:
        """Tokens generated by its calls."""
        return sum(call.usage.completion_tokens for call in self.calls if call.usage is not None)

    @property
    def num_input_tokens(self) -> int:
        """Tokens fed in by its calls, each once: a lower bound when the engine drops tokens between calls."""
        fed = before = 0
        for call in self.calls:
            if call.usage is not None:
                fed += max(0, call.usage.input_tokens - before)
                before = call.usage.total_tokens
        return fed

    def array(self, name: str) -> NDArray[numpy.generic] | None:
        """A stream of the branch as a numpy array, None where it is None; types as in `MessageNode.array`."""
        if name not in ARRAYS:
            raise UsageError(f"a branch has no stream named {cut(name)}; it has {', '.join(ARRAYS)}")
        return as_array(name, getattr(self, name), f"{self._graph.place}/nodes")

    def _placed(self) -> list[tuple[str, Any]]:
        return [(f"{self._graph.place}/nodes/{index}", self._graph.nodes[index]) for index in self.path]

    def _spread_or_none(self, name: str) -> list[float] | None:
        return None if all(getattr(node, name) is None for node in self.nodes) else self._spread(name)

    def _spread(self, name: str) -> list[float]:
        """The values of sampled tokens put at their positions: missing ones are 0.0, surplus ones are ignored."""
        out: list[float] = []
        for place, node in self._placed():
            mask = _mask(node, place)
            values = read_stream(node, name, place)
            row = [0.0] * len(mask)
            if values:
                sampled = (index for index, drawn in enumerate(mask) if drawn)
                for index, value in zip(sampled, values, strict=False):
                    row[index] = value
            out += row
        return out


def _mask(node: Any, place: str) -> list[bool]:
    """A node's mask; a `RecordError` when it has not one entry a token."""
    mask = read_stream(node, "mask", place) or []
    tokens = len(read_stream(node, "token_ids", place) or ())
    if len(mask) != tokens:
        raise RecordError(f"expected {tokens} entries, one a token, found {len(mask)}", pointer=f"{place}/mask")
    return mask
