"""Methods and derived properties of `Episode`: its run, and sums over its traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from evh.errors import RecordError, UsageError, cut
from evh.protocol.behaviour.dump import dump
from evh.protocol.behaviour.graph import Graph
from evh.protocol.behaviour.messages import tag_of
from evh.protocol.behaviour.trace import TraceBehaviour
from evh.protocol.behaviour.usage import usage_of

if TYPE_CHECKING:
    from evh.protocol.models import EnvInfo, Error, EvalRunInfo, Trace, TrainRunInfo, Usage

__all__ = ["RESERVED", "EpisodeBehaviour"]

RESERVED = "evh"
"""The key of `info` under which `upgrade` and `convert` keep what has no other place."""
INFO_DEPTH = 100
"""How deep the values of `record_run` may nest: JSON text beyond 128 levels is refused everywhere."""


class EpisodeBehaviour:
    """What follows from one dispatched unit of work and its traces. Sums cover the traces in completion order."""

    __slots__ = ()

    omitted_when_empty: ClassVar[frozenset[str]] = frozenset({"info"})
    """Members that a dump leaves out when they are empty."""

    if TYPE_CHECKING:
        run: Any
        info: Any
        errors: Any
        traces: Any

    @classmethod
    def of(cls, trace: Trace, *, env: EnvInfo | None = None) -> Self:
        """An episode around one trace, with the trace's task and verdict.

        Its id is minted here, once: save and upload the episode that is returned. Raises `UsageError` for what is not
        a trace.
        """
        if not isinstance(trace, TraceBehaviour):
            raise UsageError(f"an episode is made of a Trace, not of {cut(type(trace).__name__)}")
        import uuid

        members: dict[str, Any] = {} if env is None else {"env": env}
        return cls(id=uuid.uuid4().hex, task=trace.task, ok=trace.ok, traces=[trace], **members)  # type: ignore[call-arg]

    def record_run(self, run: EvalRunInfo | TrainRunInfo, **info: Any) -> None:
        """Say which run this episode belongs to, and merge `info` into the episode's `info`, on the episode only.

        `run` is an `EvalRunInfo` or a `TrainRunInfo`; the values of `info` must be JSON (they are copied) and replace
        those of the same name. Nothing is changed when the arguments are refused: `UsageError`.
        """
        if not _is_run(run):
            raise UsageError(f"record_run takes an EvalRunInfo or a TrainRunInfo, not {cut(type(run).__name__)}")
        if RESERVED in info:
            raise UsageError(f"the key {RESERVED!r} of info is reserved for what upgrade and convert keep aside")
        try:
            members = dump(info, mode="json", exclude_none=False, max_depth=INFO_DEPTH)
        except RecordError as error:
            raise UsageError(f"info must be JSON: {error.message}") from error
        if members:
            held = self.info
            if held is None:
                self.info = members
            else:
                held.update(members)
                self.info = held
        self.run = run

    @property
    def last_error(self) -> Error | None:
        """The last error of the episode itself; those of its traces are theirs."""
        error: Error | None = self.errors[-1] if self.errors else None
        return error

    @property
    def usage(self) -> Usage | None:
        """What the providers reported, each call of each trace once; None when none did. Judges' usage stays apart."""
        usages = (
            usage_of((call.usage for call in trace.calls), f"/traces/{index}/calls")
            for index, trace in enumerate(self.traces)
        )
        return usage_of(usages, "/traces")

    @property
    def num_input_tokens(self) -> int:
        """Tokens fed in anew, summed over traces (see `Trace.num_input_tokens`)."""
        return sum(graph.input_tokens() for graph in self._graphs())

    @property
    def num_output_tokens(self) -> int:
        """Generated tokens, summed over the branches of all traces (see `Trace.num_output_tokens`)."""
        return sum(graph.output_tokens() for graph in self._graphs())

    @property
    def num_total_tokens(self) -> int:
        """New input plus generated tokens, each call once, summed over traces (see `Trace.num_total_tokens`)."""
        usage = self.usage
        return self.num_input_tokens + (0 if usage is None else usage.completion_tokens)

    @property
    def num_turns(self) -> int:
        """Messages that a model call produced, summed over traces."""
        return sum(1 for trace in self.traces for node in trace.nodes if node.sampled)

    @property
    def by_agent(self) -> dict[str, list[Trace]]:
        """The traces by the name of their agent's seat, in completion order; several may share a seat."""
        grouped: dict[str, list[Trace]] = {}
        for trace in self.traces:
            grouped.setdefault(trace.agent.name, []).append(trace)
        return grouped

    def to_record(self, *, float_decimals: int | None = None) -> dict[str, Any]:
        """This episode as a JSON object: null members and members of the MessagePack wire are left out.

        Nulls in maps and inside open objects stay. `float_decimals` rounds the floats of per-token streams. Raises
        `RecordError` for a NaN or an infinity.
        """
        return dump(self, mode="json", exclude_none=True, float_decimals=float_decimals)

    def _graphs(self) -> list[Graph]:
        return [Graph(trace, f"/traces/{index}") for index, trace in enumerate(self.traces)]


def _is_run(run: object) -> bool:
    """A run of a known type: the work that a training run dispatched has the same tags, but no id."""
    return isinstance(run, msgspec.Struct) and tag_of(run) in ("eval", "train") and "id" in run.__struct_fields__
