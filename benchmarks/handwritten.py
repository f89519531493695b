"""The episode record as a careful user of msgspec would write it by hand: the yardstick for the generated structs.

Every member of today's contract is here, as plain types and nothing else: no bounds, no patterns, no hooks, no slots
for what a newer writer might add; members that the struct does not name are skipped. `LazyEpisode` keeps the token
streams as raw JSON; `Episode` reads them. `check_shape` holds the members against the contract's own tables.
"""

# mypy: disable-error-code=assignment
# The lazy structs declare members again with another type on purpose.

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType, field

__all__ = ["Episode", "LazyEpisode", "check_shape"]


class Plain(msgspec.Struct, gc=False):
    """A record is a tree, so the cyclic collector need not look at it. Members stand in the order of the wire, which is
    the one msgspec reads fastest."""


class EnvInfo(Plain, kw_only=True):
    id: str = ""
    name: str | None = None


class GroupInfo(Plain, kw_only=True):
    id: str


class PolicySpan(Plain, kw_only=True):
    start: int
    end: int


class TrainWorkInfo(Plain, kw_only=True, tag_field="type", tag="train"):
    step: int
    policy: PolicySpan | None = None


class EvalWorkInfo(Plain, kw_only=True, tag_field="type", tag="eval"):
    step: int
    policy: PolicySpan | None = None


class EvalRunInfo(Plain, kw_only=True, tag_field="type", tag="eval"):
    id: str
    name: str | None = None


class TrainRunInfo(Plain, kw_only=True, tag_field="type", tag="train"):
    id: str
    name: str | None = None
    work: TrainWorkInfo | EvalWorkInfo


class Error(Plain, kw_only=True):
    type: str
    message: str
    status_code: int | None = None
    traceback: str | None = None


class VersionInfo(Plain, kw_only=True):
    version: str
    commit: str | None = None


class TraceTask(Plain, kw_only=True):
    type: str
    data: dict[str, Any]
    key: str | None = None
    hash: str | None = None


class AgentInfo(Plain, kw_only=True):
    config: dict[str, Any]
    runtime: dict[str, Any] | None = None
    name: str = "agent"
    trainable: bool = True


class TextPart(Plain, kw_only=True, tag_field="type", tag="text"):
    text: str


class ImageSource(Plain, kw_only=True):
    url: str


class ImageUrlPart(Plain, kw_only=True, tag_field="type", tag="image_url"):
    image_url: ImageSource


class SystemMessage(Plain, kw_only=True, tag_field="role", tag="system"):
    content: str | list[TextPart | ImageUrlPart]


class UserMessage(Plain, kw_only=True, tag_field="role", tag="user"):
    content: str | list[TextPart | ImageUrlPart]


class ToolCall(Plain, kw_only=True):
    id: str
    type: str = "function"
    name: str
    namespace: str | None = None
    arguments: str


class AssistantMessage(Plain, kw_only=True, tag_field="role", tag="assistant"):
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    provider_state: list[dict[str, Any]] | None = None


class ToolMessage(Plain, kw_only=True, tag_field="role", tag="tool"):
    tool_call_id: str
    content: str | list[TextPart | ImageUrlPart]
    name: str | None = None


class ParentLink(Plain, kw_only=True):
    node: int
    type: str


class SamplingMask(Plain, kw_only=True):
    ids: dict[str, Any]
    counts: dict[str, Any]


class MessageNode(Plain, kw_only=True):
    parent: int | None = None
    tools: list[dict[str, Any]] = []
    semantic_parents: list[ParentLink] = []
    message: SystemMessage | UserMessage | AssistantMessage | ToolMessage
    sampled: bool = False
    timestamp: float | None = None
    token_ids: list[int] = []
    mask: list[bool] = []
    is_content: list[bool] = []
    logprobs: list[float] = []
    advantages: list[float] | None = None
    reference_logprobs: list[float] | None = None
    trainer_logprobs: list[float] | None = None
    entropies: list[float] | None = None
    loss_weights: dict[str, list[float]] | None = None
    multi_modal_data: dict[str, Any] | None = None
    routed_experts: dict[str, Any] | None = None
    sampling_mask: SamplingMask | None = None


class LazyMessageNode(MessageNode, kw_only=True):
    """A member that is declared again keeps its place."""

    token_ids: Raw | UnsetType = UNSET
    mask: Raw | UnsetType = UNSET
    is_content: Raw | UnsetType = UNSET
    logprobs: Raw | UnsetType = UNSET
    advantages: Raw | UnsetType = UNSET
    reference_logprobs: Raw | UnsetType = UNSET
    trainer_logprobs: Raw | UnsetType = UNSET
    entropies: Raw | UnsetType = UNSET
    loss_weights: Raw | UnsetType = UNSET


class Usage(Plain, kw_only=True):
    prompt_tokens: int
    completion_tokens: int
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None


class TimeSpan(Plain, kw_only=True):
    start: float = 0.0
    end: float = 0.0


class TimeSplit(Plain, kw_only=True):
    duration: float = 0.0


class AgentSpan(Plain, kw_only=True):
    start: float = 0.0
    end: float = 0.0
    model: TimeSplit = field(default_factory=TimeSplit)
    harness: TimeSplit = field(default_factory=TimeSplit)


class Timing(Plain, kw_only=True):
    start: float
    boot: TimeSpan = field(default_factory=TimeSpan)
    setup: TimeSpan = field(default_factory=TimeSpan)
    agent: AgentSpan = field(default_factory=AgentSpan)
    finalize: TimeSpan = field(default_factory=TimeSpan)
    scoring: TimeSpan = field(default_factory=TimeSpan)


class PolicyEvent(Plain, kw_only=True):
    code: str
    paths: list[str]


class ACPInfo(Plain, kw_only=True):
    request_id: str


class ModelCall(Plain, kw_only=True):
    node: int | None = None
    model: str | None = None
    sampling: dict[str, Any] | None = None
    endpoint: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    time: TimeSpan = field(default_factory=TimeSpan)
    error: Error | None = None
    policy: PolicyEvent | None = None
    acp: ACPInfo | None = None


class Reward(Plain, kw_only=True):
    score: float
    weight: float = 1.0


class InterceptRecord(Plain, kw_only=True):
    handler: str


class Trace(Plain, kw_only=True):
    version: int = 1
    id: str
    verifiers: VersionInfo | None = None
    task: TraceTask
    agent: AgentInfo
    tools: list[dict[str, Any]] = []
    nodes: list[MessageNode] = []
    calls: list[ModelCall] = []
    mm_token_type_id_map: dict[str, int] = {}
    request_rewrites: list[InterceptRecord] = []
    response_rewrites: list[InterceptRecord] = []
    rewards: dict[str, Reward | None] = {}
    metrics: dict[str, float | None] = {}
    info: dict[str, Any] = {}
    root_reply: str | None = None
    extra_usage: list[Usage] = []
    is_completed: bool = False
    ok: bool = False
    stop_condition: str | None = None
    is_timeout: bool = False
    errors: list[Error] = []
    timing: Timing


class LazyTrace(Trace, kw_only=True):
    nodes: list[LazyMessageNode] = []


class Episode(Plain, kw_only=True):
    schema: str | None = None
    id: str
    env: EnvInfo = field(default_factory=EnvInfo)
    task: TraceTask
    group: GroupInfo | None = None
    run: EvalRunInfo | TrainRunInfo | None = None
    ok: bool = False
    is_timeout: bool = False
    errors: list[Error] = []
    traces: list[Trace] = []
    info: dict[str, Any] = {}


class LazyEpisode(Episode, kw_only=True):
    traces: list[LazyTrace] = []


LAZY = {"LazyEpisode": "Episode", "LazyTrace": "Trace", "LazyMessageNode": "MessageNode"}


def check_shape() -> None:
    """Raise when a struct here does not have exactly the members that the contract keeps."""
    from evh.protocol.tables import CLASSES

    for name, cls in globals().items():
        if not isinstance(cls, type) or not issubclass(cls, Plain):
            continue
        if cls is Plain:
            continue
        contract = CLASSES[LAZY.get(name, name)]
        members = {wire for wire, member in contract.members.items() if "computed" not in member.marks}
        mine = set(cls.__struct_encode_fields__)
        if cls.__struct_config__.tag_field is not None:
            mine.add(cls.__struct_config__.tag_field)
        if mine != members:
            raise SystemExit(f"benchmarks/handwritten.py: {name} differs from the contract in {sorted(mine ^ members)}")
