"""Reading the token streams of a `MessageNode`, as lists or as numpy arrays.

A node's streams: `token_ids`, `mask` and `is_content` have an entry a token; `logprobs`, `advantages`,
`reference_logprobs`, `trainer_logprobs` and `entropies` have one a *sampled* token (a true in `mask`); each of
`loss_weights` has one a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from evh.errors import RecordError, UsageError, cut
from evh.protocol._jsonwrite import escape_lines

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["SAMPLED_STREAMS", "STREAMS", "TOKEN_STREAMS", "WIRE_ONLY", "NodeBehaviour", "as_array", "read_stream"]

TOKEN_STREAMS = ("token_ids", "mask", "is_content")
SAMPLED_STREAMS = ("logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies")
STREAMS = (*TOKEN_STREAMS, *SAMPLED_STREAMS)
WIRE_ONLY = ("multi_modal_data", "routed_experts", "sampling_mask")


class NodeBehaviour:
    """What follows from one message of the graph and the tokens it adds."""

    __slots__ = ()

    omitted_when_empty: ClassVar[frozenset[str]] = frozenset({"tools"})
    """Members that a dump leaves out when they are empty."""
    left_out_of_json: ClassVar[frozenset[str]] = frozenset(WIRE_ONLY)
    """Members that JSON has no form for; MessagePack carries them."""

    def __eq__(self, other: object) -> bool:
        """Equal members. A stream still in its raw form is read first when the raw forms differ."""
        if type(self) is not type(other):
            return NotImplemented
        equal: Any = msgspec.Struct.__eq__
        if equal(self, other):
            return True
        return all(_comparable(self, name) == _comparable(other, name) for name in type(self).__struct_fields__)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def array(self, name: str) -> NDArray[numpy.generic] | None:
        """A stream or the routed experts of this node as a numpy array (a copy), None where it is absent.

        `token_ids` are int64, `mask` and `is_content` bool, the other streams float64; tensors have their own dtype.
        Raises `UsageError` for another name or without numpy, `RecordError` when the values don't fit.
        """
        if name == "routed_experts":
            return as_array(name, getattr(self, name), f"/{name}")
        if name not in STREAMS:
            raise UsageError(f"a node has no stream named {cut(name)}; it has {', '.join(STREAMS)} and routed_experts")
        return as_array(name, read_stream(self, name, ""), f"/{name}")


def _comparable(node: Any, name: str) -> Any:
    """A member as equality sees it: what is read, or for a stream that cannot be read, whatever JSON it holds."""
    try:
        return getattr(node, name)
    except RecordError:
        raw = vars(type(node))[name].slot.__get__(node)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError, TypeError):
        return escape_lines(bytes(raw)) if isinstance(raw, msgspec.Raw) else raw


def read_stream(node: Any, name: str, place: str) -> list[Any] | None:
    """A node's stream as a list, None where a nullable one is absent; anything else is a `RecordError`."""
    try:
        values = getattr(node, name)
    except RecordError as error:
        message = error.message.removeprefix(f"{error.pointer or '(root)'}: ")
        raise RecordError(message, pointer=f"{place}/{name}") from error
    if values is None or isinstance(values, list):
        return values
    raise RecordError(f"expected a list of values, not {cut(values)}", pointer=f"{place}/{name}")


def as_array(name: str, values: Any, place: str) -> NDArray[numpy.generic] | None:
    """A list of numbers, or a tensor, as a numpy array; the name of the stream chooses the type."""
    if values is None:
        return None
    try:
        import numpy
    except ImportError as error:
        raise UsageError("arrays need numpy, which is not installed: install numpy, or read the lists") from error
    kind = {"token_ids": "int64", "mask": "bool", "sampled_mask": "bool", "is_content": "bool"}.get(name, "float64")
    try:
        if not isinstance(values, list):
            tensor: NDArray[numpy.generic] = numpy.array(values.numpy())
            return tensor
        made: NDArray[numpy.generic] = numpy.array(values, dtype=numpy.dtype(kind))
        return made
    except (OverflowError, TypeError, ValueError) as error:
        raise RecordError(f"the values don't fit an array of {kind}", pointer=place) from error
