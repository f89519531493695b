# Generated from schema/v1 by `make generate` (trace.json, sha256 e32aef5d91892e424a218d7ac5555ab39795c2b05e1dd07e3c45e51d822e86f3). Edit the schema, not this file.
"""The closed types of `schema/v1/trace.json`: trace."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    ABSENT,
    MINTED,
    ArmValue,
    BoolStream,
    ComputedSlot,
    FloatStream,
    IntStream,
    Model,
    OptionalFloatStream,
    OptionalFloatStreams,
    OverflowSlot,
    RetiredSlot,
    Tensor,
    UnknownArm,
    WireObjectSlot,
    always,
    new_dict,
    new_list,
)
from evh.protocol.behaviour import NodeBehaviour, SpanBehaviour, TraceBehaviour, UsageBehaviour
from evh.protocol.models._open import (
    Tool,
)
from evh.protocol.models._slots import (
    AgentConfigSlot,
    RuntimeSlot,
    SamplingSlot,
    TaskDataSlot,
)


class ACPInfo(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """The agent client protocol's view of a call."""

    request_id: Annotated[str, Meta(max_length=128, min_length=1, pattern="^[A-Za-z0-9._:-]{1,128}(?!\\n)$")]
    """Identity of the request."""
    additional: OverflowSlot = field(default=None, name="*")


class AgentInfo(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Who acted in a trace: the seat, its configuration and where it ran."""

    config: AgentConfigSlot
    """The resolved configuration, passed through as it came."""
    runtime: RuntimeSlot | None = None
    """Where the agent ran."""
    name: str = field(default_factory=always("agent"))
    """Name of the seat in the environment; several agents of an episode may share it."""
    trainable: bool = field(default_factory=always(True))
    """Whether the agent's tokens are trained on."""
    additional: OverflowSlot = field(default=None, name="*")


class AgentSpan(
    SpanBehaviour,
    Model,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """The agent's stage, with its time split between model and harness."""

    start: int | float = field(default_factory=always(0.0))
    """Start, epoch seconds."""
    end: int | float = field(default_factory=always(0.0))
    """End, epoch seconds."""
    model: TimeSplit = field(default_factory=lambda: TimeSplit())
    """Time spent waiting for the model."""
    harness: TimeSplit = field(default_factory=lambda: TimeSplit())
    """Time spent in the harness."""
    additional: OverflowSlot = field(default=None, name="*")


class AssistantMessage(
    Model,
    kw_only=True,
    tag_field="role",
    tag="assistant",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """What the model replied."""

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: str | None = None
    """The text of the reply; null when it is only tool calls."""
    reasoning_content: str | None = None
    """The reasoning text, where the provider shows it."""
    tool_calls: list[ToolCall] | None = None
    """Tool calls the reply asks for."""
    provider_state: list[dict[str, Any]] | None = None
    """Opaque items of the provider that replay its reasoning; passed back unread."""
    additional: OverflowSlot = field(default=None, name="*")


class Error(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """An error, as the writing program saw it."""

    type: str
    """Name of the exception's class."""
    message: str
    """Its text."""
    status_code: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = None
    """HTTP status, for provider errors."""
    traceback: str | None = None
    """Stack trace, where one was kept."""
    additional: OverflowSlot = field(default=None, name="*")


class ImageSource(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """Where an image is."""

    url: str
    """A URL; `data:` URLs carry the image itself."""
    additional: OverflowSlot = field(default=None, name="*")


class ImageUrlPart(
    Model,
    kw_only=True,
    tag_field="type",
    tag="image_url",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """An image part."""

    type: ClassVar[Literal["image_url"]] = "image_url"
    image_url: ImageSource
    """Where the image is."""
    additional: OverflowSlot = field(default=None, name="*")


class InterceptRecord(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """A rewrite of a request or response on its way."""

    handler: str
    """What rewrote it."""
    additional: OverflowSlot = field(default=None, name="*")


class MessageNode(
    NodeBehaviour,
    Model,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """One message in a trace's message graph: a forest in which `parent` points to the message before. Token streams hold only what this message adds."""

    parent: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = None
    """Index of the message before, in the same trace's `nodes` and always smaller than the node's own; null for a root."""
    tools: list[Tool] = field(default_factory=list)
    """Tools on offer from here on; on roots only."""
    semantic_parents: list[ParentLink] = field(default_factory=new_list)
    """Links that are not conversation order, such as a compaction."""
    message: SystemMessage | UserMessage | AssistantMessage | ToolMessage | UnknownMessage
    """The message."""
    sampled: bool = field(default_factory=always(False))
    """True only for a message that a model call produced."""
    timestamp: int | float | None = None
    """When the message was added, epoch seconds."""
    token_ids: IntStream = ABSENT
    """Tokens this message adds."""
    mask: BoolStream = ABSENT
    """Parallel to `token_ids`: true where the token was sampled."""
    is_content: BoolStream = ABSENT
    """Parallel to `token_ids`, or empty: true where the token is content rather than template."""
    logprobs: FloatStream = ABSENT
    """Log-probability of each sampled token: as many as `mask` has true."""
    advantages: OptionalFloatStream = ABSENT
    """Advantage of each sampled token, laid out as `logprobs`; null when never assigned, which is not zero."""
    reference_logprobs: OptionalFloatStream = ABSENT
    """Log-probability of each sampled token under the reference model, laid out as `logprobs`."""
    trainer_logprobs: OptionalFloatStream = ABSENT
    """Log-probability of each sampled token as the trainer recomputed it, laid out as `logprobs`."""
    entropies: OptionalFloatStream = ABSENT
    """Entropy at each sampled token, laid out as `logprobs`."""
    loss_weights: OptionalFloatStreams = ABSENT
    """Named weights of the loss, each as long as `token_ids`."""
    multi_modal_data: WireObjectSlot = None
    """Processed image and other inputs, for training."""
    routed_experts: Tensor | None = None
    """Experts each token was routed to: uint8 of shape (tokens, layers, top-k)."""
    sampling_mask: SamplingMask | None = None
    """Tokens that sampling kept at each sampled position."""
    additional: OverflowSlot = field(default=None, name="*")


MmTokenTypeIdMapAdditionalProperty: TypeAlias = Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]


class ModelCall(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """One call of a model, whether or not it led to a message."""

    node: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = None
    """Index of the assistant message it committed; null when it committed none."""
    model: str | None = None
    """Model that was called."""
    sampling: SamplingSlot | None = None
    """Settings of the call."""
    endpoint: str | None = None
    """Path of the endpoint."""
    finish_reason: str | None = None
    """Why the reply ended."""
    usage: Usage | None = None
    """Tokens and cost of the call."""
    time: TimeSpan = field(default_factory=lambda: TimeSpan())
    """From request to reply."""
    error: Error | None = None
    """What went wrong."""
    policy: PolicyEvent | None = None
    """A policy decision about the call."""
    acp: ACPInfo | None = None
    """The agent protocol's view of the call."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any


class ParentLink(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """A link between messages that is not conversation order."""

    node: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Index of the other message in the same trace's `nodes`."""
    type: Annotated[str, Meta(max_length=128, min_length=1, pattern="^[A-Za-z][A-Za-z0-9._:-]{0,127}(?!\\n)$")]
    """What the link means, such as `compaction`."""
    additional: OverflowSlot = field(default=None, name="*")


class PolicyEvent(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """A policy decision about a call."""

    code: str
    """What was decided."""
    paths: list[str]
    """Where in the request it applied."""
    additional: OverflowSlot = field(default=None, name="*")


class Reward(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """One reward: it counts `score` times `weight`."""

    score: int | float
    """The score."""
    weight: int | float = field(default_factory=always(1.0))
    """Its weight."""
    additional: OverflowSlot = field(default=None, name="*")


class SamplingMask(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """Which tokens sampling could choose from, at each sampled position."""

    ids: Tensor
    """Token ids, positions one after the other: int32."""
    counts: Tensor
    """How many ids each sampled position has; 0 means no mask: int32."""
    additional: OverflowSlot = field(default=None, name="*")


class SystemMessage(
    Model,
    kw_only=True,
    tag_field="role",
    tag="system",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """Instructions to the model."""

    role: ClassVar[Literal["system"]] = "system"
    content: str | list[TextPart | ImageUrlPart | UnknownContentPart]
    """The text, or its parts."""
    additional: OverflowSlot = field(default=None, name="*")


class TextPart(
    Model,
    kw_only=True,
    tag_field="type",
    tag="text",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A text part."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    """The text."""
    additional: OverflowSlot = field(default=None, name="*")


class TimeSpan(
    SpanBehaviour,
    Model,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A stage's start and end, epoch seconds. An end of 0 means not finished, or never begun."""

    start: int | float = field(default_factory=always(0.0))
    """Start, epoch seconds."""
    end: int | float = field(default_factory=always(0.0))
    """End, epoch seconds."""
    additional: OverflowSlot = field(default=None, name="*")


class TimeSplit(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A share of a stage's time."""

    duration: int | float = field(default_factory=always(0.0))
    """Seconds."""
    additional: OverflowSlot = field(default=None, name="*")


class Timing(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """When the stages of a trace ran."""

    start: int | float = MINTED
    """When the trace was begun, epoch seconds."""
    boot: TimeSpan = field(default_factory=lambda: TimeSpan())
    """The boot stage."""
    setup: TimeSpan = field(default_factory=lambda: TimeSpan())
    """The setup stage."""
    agent: AgentSpan = field(default_factory=lambda: AgentSpan())
    """The agent stage."""
    finalize: TimeSpan = field(default_factory=lambda: TimeSpan())
    """The finalize stage."""
    scoring: TimeSpan = field(default_factory=lambda: TimeSpan())
    """The scoring stage."""
    additional: OverflowSlot = field(default=None, name="*")


class ToolCall(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A tool call a reply asks for."""

    id: str
    """Identity of the call, quoted by the answer."""
    type: str = field(default_factory=always("function"))
    """Kind of tool."""
    name: str
    """Name of the tool."""
    namespace: str | None = None
    """Group the name belongs to."""
    arguments: str
    """The arguments as the model wrote them: JSON text that may be broken."""
    additional: OverflowSlot = field(default=None, name="*")


class ToolMessage(
    Model,
    kw_only=True,
    tag_field="role",
    tag="tool",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """What a tool answered."""

    role: ClassVar[Literal["tool"]] = "tool"
    tool_call_id: str
    """The call that is answered."""
    content: str | list[TextPart | ImageUrlPart | UnknownContentPart]
    """The text, or its parts."""
    name: str | None = None
    """Name of the tool."""
    additional: OverflowSlot = field(default=None, name="*")


class Trace(
    TraceBehaviour,
    Model,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """What one agent did in an episode: its message graph, model calls, rewards and timing."""

    version: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] = field(default_factory=always(1))
    """Version number of the format as verifiers counts it; it went down as well as up, so nothing is decided by it."""
    id: str = MINTED
    """Identity of the trace, made once and kept; 32 lower-case hexadecimal digits when made here."""
    verifiers: VersionInfo | None = None
    """The build that made the trace."""
    task: TraceTask
    """The task, repeated from the episode so that a trace can stand alone."""
    agent: AgentInfo
    """Who acted."""
    tools: list[Tool] = field(default_factory=new_list)
    """Tools on offer at the last turn."""
    nodes: list[MessageNode] = field(default_factory=new_list)
    """The message graph."""
    calls: list[ModelCall] = field(default_factory=new_list)
    """Model calls in order."""
    mm_token_type_id_map: dict[str, MmTokenTypeIdMapAdditionalProperty] = field(default_factory=new_dict)
    """Token id, as text, to the multi-modal type of its tokens."""
    request_rewrites: list[InterceptRecord] = field(default_factory=new_list)
    """Rewrites of requests, in order."""
    response_rewrites: list[InterceptRecord] = field(default_factory=new_list)
    """Rewrites of responses, in order."""
    rewards: dict[str, Reward | None] = field(default_factory=new_dict)
    """Rewards by name; null when scoring never ran."""
    metrics: dict[str, int | float | None] = field(default_factory=new_dict)
    """Metrics by name; null when not measured."""
    info: dict[str, Any] = field(default_factory=new_dict)
    """Free notes. The key `evh` is reserved: `upgrade` and `convert` keep there what has no other place."""
    root_reply: str | None = None
    """The reply of the root agent, when it is not the last sampled message."""
    extra_usage: list[Usage] = field(default_factory=new_list)
    """Spending outside the message graph, such as judges."""
    is_completed: bool = field(default_factory=always(False))
    """True once the trace was closed, for whatever reason."""
    ok: bool = field(default_factory=always(False))
    """True when the trace ended without error. The only signal of success."""
    stop_condition: str | None = None
    """Why the trace ended. An open vocabulary: custom conditions are named after their functions."""
    is_timeout: bool = field(default_factory=always(False))
    """True when the trace ran past its deadline."""
    errors: list[Error] = field(default_factory=new_list)
    """Errors of all attempts, oldest first."""
    timing: Timing = MINTED
    """When its stages ran."""
    computed_num_input_tokens: ComputedSlot = field(default=ABSENT, name="num_input_tokens")
    """Input tokens, new in each call. Written by other writers, recomputed here."""
    computed_num_output_tokens: ComputedSlot = field(default=ABSENT, name="num_output_tokens")
    """Output tokens. Written by other writers, recomputed here."""
    computed_num_total_tokens: ComputedSlot = field(default=ABSENT, name="num_total_tokens")
    """Input and output tokens. Written by other writers, recomputed here."""
    retired_run: RetiredSlot = field(default=ABSENT, name="run")
    additional: OverflowSlot = field(default=None, name="*")


class TraceTask(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """The task an agent was given: which kind, its data, and its identity."""

    type: str
    """Name of the task's class in its task set; empty when unknown."""
    data: TaskDataSlot
    """The task itself: the columns of its dataset row."""
    key: str | None = None
    """Stable identity of the task across runs; the content hash unless a task set says otherwise."""
    hash: str | None = None
    """Content hash of `data`, as the writing library computed it; never recomputed here."""
    additional: OverflowSlot = field(default=None, name="*")


class UnknownContentPart(
    UnknownArm,
    Model,
    kw_only=True,
    tag_field="type",
    tag="*",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A ContentPart whose `type` this release does not know, kept whole in `value`."""

    value: ArmValue = field(name="*")
    """The object as it was read."""


class UnknownMessage(
    UnknownArm,
    Model,
    kw_only=True,
    tag_field="role",
    tag="*",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A Message whose `role` this release does not know, kept whole in `value`."""

    value: ArmValue = field(name="*")
    """The object as it was read."""


class Usage(
    UsageBehaviour,
    Model,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """Tokens and cost of one or more calls. `prompt_tokens` leaves cache reads out, unlike the OpenAI member of that name: input is prompt plus cached."""

    prompt_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]
    """Prompt tokens, without those read from a cache."""
    completion_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]
    """Reply tokens, reasoning included."""
    cached_input_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = None
    """Prompt tokens read from a cache."""
    reasoning_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = None
    """Part of the reply tokens that was reasoning."""
    cost: int | float | None = None
    """Cost, in US dollars."""
    additional: OverflowSlot = field(default=None, name="*")


class UserMessage(
    Model,
    kw_only=True,
    tag_field="role",
    tag="user",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """What a user, or the environment, said."""

    role: ClassVar[Literal["user"]] = "user"
    content: str | list[TextPart | ImageUrlPart | UnknownContentPart]
    """The text, or its parts."""
    additional: OverflowSlot = field(default=None, name="*")


class VersionInfo(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The build of the library that made a trace."""

    version: str
    """Version text, such as `0.4.0` or `evh-1.0.0`; `unknown` when the writer did not say."""
    commit: str | None = None
    """Commit of the build, when it came from a checkout."""
    additional: OverflowSlot = field(default=None, name="*")
