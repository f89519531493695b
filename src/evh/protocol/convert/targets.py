"""What the released libraries model: which members they know, and which values fit.

Promised: the names in `TARGETS`, and that a row which passes these tables is read by that release's own loaders.
Policy: the tables are facts about two releases, verifiers 0.4.0 and 0.3.1, in a notation of our own. The tables are
stricter than the releases where a release would take a value and write a different one (a bool for a number, text for
a number): such a value goes to the stash instead of being changed.
When a table is wrong, a row is refused by the release or a value comes back changed; `make interop` finds both.

A shape is one line of `name:type` entries in the release's own order. A trailing `!` is a required member, `?` one
that may be null. Types are a capitalised shape or union, `[type]`, `{type}` for a map, `text|[type]` for either,
`=a,b` for a choice of words, or one of the scalars of `scalars.py`. The first word of a line says what happens to
a member that it does not name: `open` keeps it, `plain` drops it on re-save, `closed` refuses the whole row;
`config` is `closed` where in addition the text "None" means null, and `knobs` is `open` with the same trait.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from evh.errors import UsageError

__all__ = ["TARGETS", "Kind", "Member", "Shape", "Target", "Union", "passes"]

TARGETS = ("verifiers-0.4", "verifiers-0.3.1", "common")


class Kind(NamedTuple):
    """A parsed type: `name` is `scalar`, `words`, `named`, `list`, `map` or `either`."""

    name: str
    word: str = ""
    item: Kind | None = None
    words: frozenset[str] = frozenset()


class Member(NamedTuple):
    kind: Kind
    required: bool
    nullable: bool


class Shape(NamedTuple):
    """One object of a release. `rest` is what happens to members it does not name: `open`, `plain` or `closed`."""

    name: str
    members: Mapping[str, Member]
    rest: str
    none_text: bool


class Union(NamedTuple):
    """Objects told apart by one member. `absent` is the arm that a release assumes when that member is missing."""

    tag: str
    arms: Mapping[str, str]
    absent: str | None = None


class Target(NamedTuple):
    """One release. `fills` are values for members that this release requires and others leave out."""

    name: str
    shapes: Mapping[str, Shape]
    unions: Mapping[str, Union]
    fills: Mapping[tuple[str, str], object]


_SPAN = "start:num end:num"
_CONTAINER = "image:text workdir:text? cpu:num? memory:num? gpu:text? disk:num?"
_EGRESS = "allow:[text] block:[text]"
_BOX = "id:text? borrowed:bool"
_PRIME = "image:text workdir:text? region:text? labels:[text] cpu:num memory:num gpu:text? disk:num"
_PRIME_END = "idle_timeout:num? creates_per_min:int?"
_MODAL = (
    "image:text workdir:text? network_access:bool region:text? cpu:num memory:num gpu:text? disk:num "
    "creates_per_sec:num?"
)
_E2B = f"{_EGRESS} type:text image:text workdir:text? cpu:num>=1 memory:num>=0.125 disk:num>0 creates_per_sec:num?"
_CLIENT = "base_url:text api_key_var:text headers:{text}"
_CLIENT_04 = f"{_CLIENT} headers_from_env:{{text}} timeout:ClientTimeout"
_TRAIN_CLIENT = "type:text renderer:Renderer? renderer_model_name:text? multiplex:int>=1"
_WORK = "type:text step:int! policy:PolicySpan?"
_STREAMS = "token_ids:[int] mask:[bool] is_content:[bool] logprobs:[num] advantages:[num]? reference_logprobs:[num]?"
_TASK_HEAD = "name:text? description:text? prompt:text|[Message]? system_prompt:text? image:text? workdir:text?"
_TRACE_HEAD = (
    "version:int id:text verifiers:Version task:Task! agent:Agent! tools:[Tool] nodes:[Node] calls:[Call] "
    "mm_token_type_id_map:idmap request_rewrites:[Intercept] response_rewrites:[Intercept] rewards:{Reward?} "
    "metrics:{num?} info:object"
)
_SAMPLING = "temperature:num? top_p:num? reasoning_effort:text? max_tokens:int?"

_SHAPES_04 = {
    "Episode": "plain id:text env:Env task:Task! group:Group? run:Run? ok:bool is_timeout:bool errors:[Error]",
    "Env": "plain id:text name:text?",
    "Group": "plain id:text!",
    "EvalRun": "plain type:text id:text! name:text?",
    "TrainRun": "plain type:text id:text! name:text? work:Work!",
    "TrainWork": f"plain {_WORK}",
    "EvalWork": f"plain {_WORK}",
    "PolicySpan": "plain start:int! end:int!",
    "Task": "plain type:text! data:TaskData! key:text? hash:text?",
    "TaskData": f"open idx:int? id:text? {_TASK_HEAD} agent_user:text? skills:[skill] network_allow:[text] "
    "network_block:[text] artifacts:[Artifact] artifact_max_bytes:int>0 timeout:TaskTimeout resources:Resources",
    "Artifact": "plain source:text! exclude:[text] required:bool",
    "TaskTimeout": "plain setup:num? agent:num? finalize:num? scoring:num?",
    "Resources": "plain cpu:num? memory:num? gpu:text? disk:num?",
    "Trace": f"plain {_TRACE_HEAD} root_reply:text? state:hidden extra_usage:[Usage] is_completed:bool ok:bool "
    "stop_condition:text? is_timeout:bool errors:[Error] timing:Timing",
    "Version": "plain version:text! commit:text?",
    "Agent": "plain config:AgentConfig! runtime:RuntimeInfo? name:text trainable:bool",
    "AgentConfig": "config harness:Harness? runtime:RuntimeConfig model:text? client:Client? "
    "sampling:SamplingOverrides? max_turns:int? max_input_tokens:int? max_output_tokens:int? max_total_tokens:int? "
    "timeout:StageTimeout retries:Retries network_notice:bool",
    "Harness": "knobs id:text env:{text} forward_env:[text] mcp_header_env:{{text}} tool_timeout:num>0 "
    "disabled_tools:[text]? skills:[skill]",
    "StageTimeout": "config setup:num>0? rollout:num>0? finalize:num>0? scoring:num>0?",
    "Retries": "config max_retries:int>=0 rules:[RetryRule]",
    "RetryRule": "config type:text? status_code:[status]? message:regex? max_retries:int>=0!",
    "ClientTimeout": "config connect:num>0? read:num>0? write:num>0? pool:num>0?",
    "EvalClient": f"config {_CLIENT_04} type:text",
    "TrainClient": f"config {_CLIENT_04} {_TRAIN_CLIENT}",
    "Sampling": f"open {_SAMPLING}",
    "SamplingOverrides": f"open {_SAMPLING}",
    "Subprocess": "config type:text",
    "SubprocessInfo": f"config {_BOX} type:text",
    "Docker": f"config {_EGRESS} {_CONTAINER} type:text",
    "DockerInfo": f"config {_BOX} {_EGRESS} {_CONTAINER} type:text",
    "Apptainer": f"config {_CONTAINER} type:text",
    "ApptainerInfo": f"config {_BOX} {_CONTAINER} type:text",
    "Prime": f"config {_EGRESS} type:text {_PRIME} checkpoint:text? {_PRIME_END}",
    "PrimeInfo": f"config {_BOX} {_EGRESS} type:text {_PRIME} checkpoint:text? {_PRIME_END} image_cached:bool?",
    "Modal": f"config {_EGRESS} type:text vm:bool {_MODAL}",
    "ModalInfo": f"config {_BOX} {_EGRESS} type:text vm:bool {_MODAL}",
    "E2B": f"config {_E2B}",
    "E2BInfo": f"config {_BOX} {_E2B} template:text?",
    "Tool": "open type:text name:text! namespace:text? description:text parameters:object strict:bool?",
    "Node": "plain parent:int? tools:[Tool] semantic_parents:[Link] message:Message! sampled:bool timestamp:num "
    f"renderer_token_ids:hidden {_STREAMS} trainer_logprobs:[num]? entropies:[num]? loss_weights:{{[num]}}? "
    "routed_experts:array? sampling_mask:masks?",
    "Link": "closed node:index! type:edge!",
    "SystemMessage": "plain role:text content:text|[Part]!",
    "UserMessage": "plain role:text content:text|[Part]!",
    "AssistantMessage": "plain role:text content:text? reasoning_content:text? tool_calls:[ToolCall]? "
    "provider_state:[object]?",
    "ToolMessage": "plain role:text tool_call_id:text! content:text|[Part]! name:text?",
    "TextPart": "plain type:text text:text!",
    "ImagePart": "plain type:text image_url:ImageUrl!",
    "ImageUrl": "plain url:text!",
    "ToolCall": "plain id:text! type:=function,custom name:text! namespace:text? arguments:text!",
    "Call": "plain node:int? model:text? sampling:Sampling? endpoint:text? finish_reason:=stop,length,tool_calls? "
    "usage:Usage? time:Span error:Error? policy:PolicyEvent? acp:Acp?",
    "Acp": "closed request_id:acp!",
    "PolicyEvent": "plain code:text! paths:[text]!",
    "Usage": "plain prompt_tokens:int! completion_tokens:int! cached_input_tokens:int? reasoning_tokens:int? cost:num?",
    "Error": "plain type:text! message:text! status_code:int? traceback:text?",
    "Intercept": "plain handler:text!",
    "Reward": "plain score:num! weight:num",
    "Timing": "plain start:num boot:Span setup:Span agent:AgentSpan finalize:Span scoring:Span",
    "Span": f"plain {_SPAN}",
    "AgentSpan": f"plain {_SPAN} model:Split harness:Split",
    "Split": "plain duration:num",
}

# Only what 0.3.1 has otherwise. A shape that is absent here is the same in both releases; None takes a shape away.
_SHAPES_031: dict[str, str | None] = {
    "Episode": "plain id:text env:Env task:Task! group:Group? run:Run? ok:bool errors:[Error]",
    "TaskData": f"open idx:int? {_TASK_HEAD} network_allow:[text] network_block:[text] artifacts:[Artifact] "
    "timeout:TaskTimeout resources:Resources",
    "Trace": f"plain {_TRACE_HEAD} state:hidden extra_usage:[Usage] is_completed:bool ok:bool stop_condition:text? "
    "errors:[Error] timing:Timing",
    "AgentConfig": "config harness:Harness? runtime:RuntimeConfig model:text? client:Client? "
    "sampling:SamplingOverrides? max_turns:int? max_input_tokens:int? max_output_tokens:int? max_total_tokens:int? "
    "timeout:StageTimeout retries:Retries",
    "Harness": "knobs id:text env:{text} forward_env:[text] tool_timeout:num>0 disabled_tools:[text]? skills:[path]",
    "StageTimeout": "config setup:num? rollout:num? finalize:num? scoring:num?",
    "Retries": "config max_retries:int>=0 include:[text] exclude:[text]",
    "RetryRule": None,
    "ClientTimeout": None,
    "EvalClient": f"config {_CLIENT} type:text",
    "TrainClient": f"config {_CLIENT} {_TRAIN_CLIENT}",
    "Apptainer": None,
    "ApptainerInfo": None,
    "E2B": None,
    "E2BInfo": None,
    "Docker": f"config {_EGRESS} type:text {_CONTAINER.replace('workdir:text?', 'workdir:text')}",
    "DockerInfo": f"config {_BOX} {_EGRESS} type:text {_CONTAINER.replace('workdir:text?', 'workdir:text')}",
    "Prime": f"config {_EGRESS} type:text {_PRIME.replace('workdir:text?', 'workdir:text vm:bool guaranteed:bool')} "
    f"{_PRIME_END}",
    "PrimeInfo": f"config {_BOX} {_EGRESS} type:text "
    f"{_PRIME.replace('workdir:text?', 'workdir:text vm:bool guaranteed:bool')} {_PRIME_END} image_cached:bool?",
    "Modal": f"config type:text {_MODAL.replace('workdir:text?', 'workdir:text')}",
    "ModalInfo": f"config {_BOX} type:text {_MODAL.replace('workdir:text?', 'workdir:text')}",
    "Tool": "plain name:text! description:text! parameters:object! strict:bool?",
    "Node": f"plain parent:int? message:Message! sampled:bool timestamp:num {_STREAMS} loss_weights:{{[num]}}? "
    "multi_modal_data:media? routed_experts:array? kept_tokens:masks?",
    "Link": None,
    "Acp": None,
    "ToolCall": "plain id:text! type:=function,custom name:text! arguments:text!",
    "Call": "plain node:int? model:text? sampling:Sampling? endpoint:text? finish_reason:=stop,length,tool_calls? "
    "usage:Usage? time:Span error:Error? policy:PolicyEvent?",
}

# The renderers of the `renderers` package that both releases install. `custom` is left out with intent: reading it
# makes the release import the code that the row names.
_RENDERERS = {
    "auto": "",
    "default": "tool_parser:text? reasoning_parser:text?",
    "qwen3": "enable_thinking:bool",
    "prime-qwen3": "",
    "qwen3.5": "enable_thinking:bool? add_vision_id:bool image_cache_max:int",
    "qwen3.6": "enable_thinking:bool? add_vision_id:bool preserve_thinking:bool image_cache_max:int",
    "qwen3.8": "enable_thinking:bool? add_vision_id:bool preserve_thinking:bool reasoning_effort:=xhigh,medium,low "
    "image_cache_max:int",
    "qwen3-vl": "add_vision_id:bool image_cache_max:int",
    "gemma4": "enable_thinking:bool preserve_thinking:bool image_cache_max:int",
    "glm-5": "enable_thinking:bool clear_thinking:bool",
    "glm-5.1": "enable_thinking:bool clear_thinking:bool",
    "glm-5.3": "clear_thinking:bool reasoning_effort:=low,high,max",
    "glm-4.5": "enable_thinking:bool",
    "gpt-oss": "reasoning_effort:=low,medium,high conversation_start_date:text? use_system_prompt:bool "
    "knowledge_cutoff:text? model_identity:text? auto_drop_analysis:bool",
    "hy3": "reasoning_effort:=no_think,low,high preserved_thinking:bool? is_training:bool raw_last_assistant:bool "
    "fallback_strategy:=reasoning_toolcall_retry?",
    "inkling": "reasoning_effort:effort image_cache_max:int audio_cache_max:int",
    "kimi-k2": "enable_thinking:bool",
    "kimi-k2.5": "thinking:bool image_cache_max:int",
    "laguna-xs.2": "enable_thinking:bool render_assistant_messages_raw:bool",
    "laguna-m.1": "enable_thinking:bool render_assistant_messages_raw:bool",
    "laguna-xs-2.1": "enable_thinking:bool",
    "laguna-s-2.1": "enable_thinking:bool preserve_thinking:bool",
    "llama-3": "date_string:text tools_in_user_message:bool",
    "minimax-m2": "model_identity:text",
    "nemotron-3": "enable_thinking:bool truncate_history_thinking:bool low_effort:bool",
    "nemotron-3-ultra": "enable_thinking:bool truncate_history_thinking:bool medium_effort:bool",
    "nemotron-3.5": "enable_thinking:bool truncate_history_thinking:bool",
    "deepseek-v3": "",
    "deepseek-r1": "",
    "deepseek-v4": "enable_thinking:bool drop_thinking:bool reasoning_effort:=low,high,max",
}

_UNIONS = {
    "Run": Union("type", {"train": "TrainRun", "eval": "EvalRun"}),
    "Work": Union("type", {"train": "TrainWork", "eval": "EvalWork"}),
    "Client": Union("type", {"eval": "EvalClient", "train": "TrainClient"}),
    "Renderer": Union("name", {name: f"Renderer {name}" for name in _RENDERERS}),
    "Message": Union(
        "role",
        {"system": "SystemMessage", "user": "UserMessage", "assistant": "AssistantMessage", "tool": "ToolMessage"},
    ),
    "Part": Union("type", {"text": "TextPart", "image_url": "ImagePart"}),
}
_RUNTIMES_031 = {"subprocess": "Subprocess", "docker": "Docker", "prime": "Prime", "modal": "Modal"}
_RUNTIMES_04 = {**_RUNTIMES_031, "podman": "Docker", "apptainer": "Apptainer", "e2b": "E2B"}

# Members of a message that every release requires: one that is missing or unfit must not cost the whole graph.
_FILLS: dict[tuple[str, str], object] = {
    ("SystemMessage", "content"): "",
    ("UserMessage", "content"): "",
    ("ToolMessage", "content"): "",
    ("ToolMessage", "tool_call_id"): "",
}


def passes(target: str) -> tuple[Target, ...]:
    """The releases that a row for `target` must suit, in the order in which they are applied.

    Raises `UsageError` for a target that is not in `TARGETS`.
    """
    if target == "verifiers-0.4":
        return (_release("0.4"),)
    if target == "verifiers-0.3.1":
        return (_release("0.3.1"),)
    if target == "common":
        return (_release("0.3.1"), _release("0.4"))
    raise UsageError(f"unknown target {target!r}; there are: {', '.join(TARGETS)}")


@cache
def _release(name: str) -> Target:
    lines: dict[str, str | None] = {**_SHAPES_04}
    runtimes, fills = _RUNTIMES_04, dict(_FILLS)
    if name == "0.3.1":
        lines |= _SHAPES_031
        runtimes = _RUNTIMES_031
        fills |= {("Tool", "description"): "", ("Tool", "parameters"): {}}
    for renderer, members in _RENDERERS.items():
        rest = "knobs" if renderer == "default" else "config"
        lines[f"Renderer {renderer}"] = f"{rest} thinking_retention:=tool_cycle,all? name:text {members}"
    unions = {
        **_UNIONS,
        "RuntimeConfig": Union("type", runtimes, "prime"),
        "RuntimeInfo": Union("type", {tag: shape + "Info" for tag, shape in runtimes.items()}),
    }
    shapes = {shape: _shape(shape, line) for shape, line in lines.items() if line is not None}
    return Target(name, shapes, unions, fills)


def _shape(name: str, line: str) -> Shape:
    rest, *entries = line.split()
    members = {}
    for entry in entries:
        member, _, kind = entry.partition(":")
        mark = kind[-1]
        members[member] = Member(_kind(kind.rstrip("!?")), mark == "!", mark == "?")
    closed = {"config": "closed", "knobs": "open"}
    return Shape(name, members, closed.get(rest, rest), rest in closed)


def _kind(text: str) -> Kind:
    if text.startswith("["):
        return Kind("list", item=_kind(text[1:-1]))
    if text.startswith("{"):
        inner = text[1:-1]
        return Kind("map", word="?" if inner.endswith("?") else "", item=_kind(inner.rstrip("?")))
    if "|" in text:
        return Kind("either", item=_kind(text.partition("|")[2]))
    if text.startswith("="):
        return Kind("words", words=frozenset(text[1:].split(",")))
    return Kind("named" if text[0].isupper() else "scalar", word=text)
