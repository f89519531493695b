"""Methods and derived properties of `Trace`.

All follow 0.4.0 where releases differed, and each property is computed anew on each read: what walks the graph is
linear in its nodes and calls. A broken graph is a `RecordError` with the pointer of the parent at fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evh.errors import RecordError, UsageError, cut, pointer
from evh.protocol.behaviour.branch import Branch, branches_of
from evh.protocol.behaviour.dump import dump
from evh.protocol.behaviour.graph import Graph
from evh.protocol.behaviour.messages import content_of, tag_of, text_of, unknown_object
from evh.protocol.behaviour.numbers import as_float, finite
from evh.protocol.behaviour.usage import usage_of

if TYPE_CHECKING:
    from evh.protocol.models import AssistantMessage, Error, Message, ToolMessage, Usage

__all__ = ["TRUNCATING", "TraceBehaviour"]

TRUNCATING = frozenset({"max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "compaction_failed"})
"""Stop conditions that mean the trace was cut short."""


class TraceBehaviour:
    """What follows from one agent's trace."""

    __slots__ = ()

    if TYPE_CHECKING:
        nodes: Any
        calls: Any
        rewards: Any
        metrics: Any
        mm_token_type_id_map: Any
        root_reply: Any
        is_completed: Any
        ok: Any
        stop_condition: Any
        errors: Any

    @property
    def run(self) -> Any:
        """Retired: which run a trace belongs to stands on its episode. Always raises `AttributeError`."""
        raise AttributeError("a Trace has no run: the run moved to the episode, read Episode.run")

    @property
    def branches(self) -> list[Branch]:
        """One branch per leaf of the message graph, in the order of the leaves' indices; none for an empty trace."""
        return branches_of(Graph(self), self.mm_token_type_id_map)

    @property
    def num_branches(self) -> int:
        """The number of leaves of the message graph."""
        return len(Graph(self).leaves())

    @property
    def num_turns(self) -> int:
        """The number of messages that a model call produced."""
        return sum(1 for node in self.nodes if node.sampled)

    @property
    def reward(self) -> float | None:
        """The sum of score times weight over the rewards that were scored.

        None when there are none, or all are null: such a trace is unscored, which is not a reward of 0 (0.4.0 reads 0;
        `reward_or_zero` does so). Raises `RecordError` when a double can't hold it.
        """
        values: list[float] = []
        for name, reward in self.rewards.items():
            if reward is not None:
                at = pointer("rewards", name)
                score = as_float(reward.score, f"{at}/score")
                values.append(as_float(score * as_float(reward.weight, f"{at}/weight"), at))
        return as_float(sum(values), "/rewards") if values else None

    @property
    def reward_or_zero(self) -> float:
        """The reward as 0.4.0 reads it: 0.0 for a trace that was never scored."""
        return self.reward or 0.0

    @property
    def has_error(self) -> bool:
        """Whether the trace failed: `not ok`. A trace that succeeded on a later attempt may still list errors."""
        return not self.ok

    @property
    def last_error(self) -> Error | None:
        """The last error of all attempts."""
        error: Error | None = self.errors[-1] if self.errors else None
        return error

    @property
    def usage(self) -> Usage | None:
        """What the providers reported, each call once; None when none did. Judges' is in `extra_usage`."""
        return usage_of((call.usage for call in self.calls), "/calls")

    @property
    def num_input_tokens(self) -> int:
        """Tokens fed in anew (system, user, tool), each call once over all branches: what a call's input adds to the
        total of the call before it on its path, never below zero. A lower bound when the engine drops tokens."""
        return Graph(self).input_tokens()

    @property
    def num_output_tokens(self) -> int:
        """Generated tokens summed over branches: a call on a prefix that two branches share counts twice.

        `usage.completion_tokens` counts each call once.
        """
        return Graph(self).output_tokens()

    @property
    def num_total_tokens(self) -> int:
        """New input plus generated tokens, each call once (before 0.4.0: the lengths of the branches)."""
        generated: int = sum(call.usage.completion_tokens for call in self.calls if call.usage is not None)
        return self.num_input_tokens + generated

    @property
    def messages(self) -> list[Message]:
        """The messages of the last branch; none for an empty trace."""
        branches = self.branches
        return branches[-1].messages if branches else []

    @property
    def last_message(self) -> Message:
        """The message stored last, on whichever branch. Raises `RecordError` when there is none."""
        if not self.nodes:
            raise RecordError("the trace has no messages", pointer="/nodes")
        message: Message = self.nodes[-1].message
        return message

    @property
    def assistant_messages(self) -> list[AssistantMessage]:
        """Every reply of a model, in stored order over all branches; assistant messages of a prompt are not replies."""
        return [node.message for node in self.nodes if node.sampled and tag_of(node.message) == "assistant"]

    @property
    def tool_messages(self) -> list[ToolMessage]:
        """Every tool result, in stored order over all branches."""
        return [node.message for node in self.nodes if tag_of(node.message) == "tool"]

    @property
    def last_reply(self) -> str:
        """The root agent's reply when it was recorded, else the last assistant message; stripped, "" when none."""
        if self.root_reply is not None:
            stripped: str = self.root_reply.strip()
            return stripped
        for node in reversed(self.nodes):
            if node.sampled and tag_of(node.message) == "assistant":
                return text_of(content_of(node.message)).strip()
        return ""

    @property
    def is_truncated(self) -> bool:
        """Whether the trace was cut short: by one of the limits in `TRUNCATING`, or because the last call without an
        error ended at its length limit. (Before 0.4.0 `context_length` counted and `compaction_failed` did not.)"""
        if self.stop_condition in TRUNCATING:
            return True
        last = next((call for call in reversed(self.calls) if call.error is None), None)
        return last is not None and last.finish_reason == "length"

    @property
    def transcript(self) -> str:
        """The last branch as text: a block a message, headed `[role]`, with tool calls and without images."""
        return "\n\n".join(_block(message) for message in self.messages)

    def record_reward(self, name: str, score: float, weight: float = 1.0) -> None:
        """Set the reward `name`. Raises `UsageError` for a score or weight that is no finite number."""
        from evh.protocol.models import Reward

        reward = Reward(score=finite(score, f"the score of {cut(name)}"), weight=finite(weight, "a weight"))
        self.rewards = {**self.rewards, _name(name): reward}

    def record_metric(self, name: str, value: float) -> None:
        """Set the metric `name`. Raises `UsageError` for a value that is no finite number."""
        self.record_metrics({name: value})

    def record_metrics(self, values: Mapping[str, float]) -> None:
        """Set several metrics, or none when one of them is no finite number (`UsageError`)."""
        checked = {_name(name): finite(value, f"the metric {cut(name)}") for name, value in values.items()}
        self.metrics = {**self.metrics, **checked}

    def stop(self, condition: str, override: bool = False) -> None:
        """Mark the trace as completed. The first condition stays unless `override` replaces it."""
        self.is_completed = True
        if override or self.stop_condition is None:
            self.stop_condition = condition

    def to_record(self, *, float_decimals: int | None = None) -> dict[str, Any]:
        """This trace as a JSON object: nulls are kept, members of the MessagePack wire left out.

        `float_decimals` rounds the floats of per-token streams. Raises `RecordError` for a NaN or an infinity.
        """
        return dump(self, mode="json", exclude_none=False, float_decimals=float_decimals)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise UsageError(f"expected text as a name, not {cut(name)}")
    return name


def _block(message: Any) -> str:
    role = tag_of(message) or "unknown"
    head = f"[{role}]"
    calls: Any = ()
    if unknown_object(message) is None:
        calls = getattr(message, "tool_calls", None) or ()
        name = getattr(message, "name", None)
        head = f"[{role} {name}]" if name else head
    text = text_of(content_of(message))
    lines = [head, text] if text else [head]
    for call in calls:
        name = f"{call.namespace}.{call.name}" if call.namespace else call.name
        lines.append(f"[tool_call {name}({call.arguments})]")
    return "\n".join(lines)
