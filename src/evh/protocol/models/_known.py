# Generated from schema/v1 by `make generate` (all files, sha256 fd111b4c66d2d66dc2ecdb934f95a0d28d2074f1e6f9fb02ac59c13b55fb02a4). Edit the schema, not this file.
"""The members that the schema names in open objects, as a strict reader and a writer check them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from evh.protocol._base import ABSENT


class KnownPredictionRow(msgspec.Struct, kw_only=True, gc=False):
    item_id: Annotated[str, Meta(min_length=1)] = field(name="item_id")
    latency_ms: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = field(
        name="latency_ms", default=ABSENT
    )
    cost_usd: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = field(name="cost_usd", default=ABSENT)
    tokens_in: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = field(
        name="tokens_in", default=ABSENT
    )
    tokens_out: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = field(
        name="tokens_out", default=ABSENT
    )
    output_words: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = field(
        name="output_words", default=ABSENT
    )
    extra: dict[str, int | float] | None = field(name="_extra", default=ABSENT)
    meta: dict[str, Any] = field(name="_meta", default=ABSENT)
    error: str | None = field(name="_error", default=ABSENT)
    output_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)] | None = field(
        name="_output_sha256", default=ABSENT
    )


class KnownFingerprintModel(msgspec.Struct, kw_only=True, gc=False):
    identity_declared: bool = field(name="identity_declared")
    revision: str | None = field(name="revision", default=ABSENT)
    revision_source: str | None = field(name="revision_source", default=ABSENT)
    error: str | None = field(name="error", default=ABSENT)


class KnownTaskData(msgspec.Struct, kw_only=True, gc=False):
    idx: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(name="idx", default=ABSENT)
    id: str | None = field(name="id", default=ABSENT)
    name: str | None = field(name="name", default=ABSENT)
    description: str | None = field(name="description", default=ABSENT)
    prompt: str | list[dict[str, Any]] | None = field(name="prompt", default=ABSENT)
    system_prompt: str | None = field(name="system_prompt", default=ABSENT)
    image: str | None = field(name="image", default=ABSENT)
    workdir: str | None = field(name="workdir", default=ABSENT)
    agent_user: str | None = field(name="agent_user", default=ABSENT)
    skills: list[Any] = field(name="skills", default=ABSENT)
    network_allow: list[str] = field(name="network_allow", default=ABSENT)
    network_block: list[str] = field(name="network_block", default=ABSENT)
    artifacts: list[KnownArtifact] = field(name="artifacts", default=ABSENT)
    artifact_max_bytes: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="artifact_max_bytes", default=ABSENT
    )
    timeout: KnownTaskTimeout | None = field(name="timeout", default=ABSENT)
    resources: KnownTaskResources | None = field(name="resources", default=ABSENT)


class KnownArtifact(msgspec.Struct, kw_only=True, gc=False):
    source: str | None = field(name="source", default=ABSENT)
    exclude: list[str] = field(name="exclude", default=ABSENT)
    required: bool | None = field(name="required", default=ABSENT)


class KnownTaskTimeout(msgspec.Struct, kw_only=True, gc=False):
    setup: int | float | None = field(name="setup", default=ABSENT)
    agent: int | float | None = field(name="agent", default=ABSENT)
    finalize: int | float | None = field(name="finalize", default=ABSENT)
    scoring: int | float | None = field(name="scoring", default=ABSENT)


class KnownTaskResources(msgspec.Struct, kw_only=True, gc=False):
    cpu: int | float | None = field(name="cpu", default=ABSENT)
    memory: int | float | None = field(name="memory", default=ABSENT)
    gpu: str | None = field(name="gpu", default=ABSENT)
    disk: int | float | None = field(name="disk", default=ABSENT)


class KnownAgentConfig(msgspec.Struct, kw_only=True, gc=False):
    harness: KnownHarnessConfig | None = field(name="harness", default=ABSENT)
    runtime: KnownRuntime | None = field(name="runtime", default=ABSENT)
    model: str | None = field(name="model", default=ABSENT)
    client: KnownClientConfig | None = field(name="client", default=ABSENT)
    sampling: KnownSampling | None = field(name="sampling", default=ABSENT)
    max_turns: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="max_turns", default=ABSENT
    )
    max_input_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="max_input_tokens", default=ABSENT
    )
    max_output_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="max_output_tokens", default=ABSENT
    )
    max_total_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="max_total_tokens", default=ABSENT
    )
    timeout: KnownAgentTimeout | None = field(name="timeout", default=ABSENT)
    retries: KnownRetryConfig | None = field(name="retries", default=ABSENT)
    network_notice: bool | None = field(name="network_notice", default=ABSENT)


class KnownHarnessConfig(msgspec.Struct, kw_only=True, gc=False):
    id: str | None = field(name="id", default=ABSENT)
    env: dict[str, Any] | None = field(name="env", default=ABSENT)
    forward_env: list[str] = field(name="forward_env", default=ABSENT)
    tool_timeout: int | float | None = field(name="tool_timeout", default=ABSENT)
    disabled_tools: list[str] | None = field(name="disabled_tools", default=ABSENT)
    skills: list[Any] = field(name="skills", default=ABSENT)


class KnownClientConfig(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = field(name="type", default=ABSENT)
    base_url: str | None = field(name="base_url", default=ABSENT)
    api_key_var: str | None = field(name="api_key_var", default=ABSENT)
    headers: dict[str, Any] | None = field(name="headers", default=ABSENT)
    headers_from_env: dict[str, Any] | None = field(name="headers_from_env", default=ABSENT)


class KnownSampling(msgspec.Struct, kw_only=True, gc=False):
    temperature: int | float | None = field(name="temperature", default=ABSENT)
    top_p: int | float | None = field(name="top_p", default=ABSENT)
    reasoning_effort: str | None = field(name="reasoning_effort", default=ABSENT)
    max_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="max_tokens", default=ABSENT
    )


class KnownAgentTimeout(msgspec.Struct, kw_only=True, gc=False):
    setup: int | float | None = field(name="setup", default=ABSENT)
    rollout: int | float | None = field(name="rollout", default=ABSENT)
    finalize: int | float | None = field(name="finalize", default=ABSENT)
    scoring: int | float | None = field(name="scoring", default=ABSENT)


class KnownRetryConfig(msgspec.Struct, kw_only=True, gc=False):
    max_retries: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = field(
        name="max_retries", default=ABSENT
    )


class KnownRuntime(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = field(name="type", default=ABSENT)
    id: str | None = field(name="id", default=ABSENT)
    borrowed: bool | None = field(name="borrowed", default=ABSENT)
    image: str | None = field(name="image", default=ABSENT)
    workdir: str | None = field(name="workdir", default=ABSENT)


class KnownTool(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = field(name="type", default=ABSENT)
    name: str = field(name="name")
    namespace: str | None = field(name="namespace", default=ABSENT)
    description: str | None = field(name="description", default=ABSENT)
    parameters: dict[str, Any] | None = field(name="parameters", default=ABSENT)
    strict: bool | None = field(name="strict", default=ABSENT)


EXTRA: dict[str, Any] = {"PredictionRow": dict[str, int | float]}


def checker(name: str) -> Callable[[dict[str, Any]], None]:
    """A function that checks the known members of an open object; msgspec.ValidationError says what does not fit."""
    known = globals()["Known" + name]
    extra = EXTRA.get(name)
    if extra is None:
        return partial(msgspec.convert, type=known)
    names = frozenset(known.__struct_encode_fields__)

    def check(value: dict[str, Any]) -> None:
        msgspec.convert(value, known)
        msgspec.convert({key: each for key, each in value.items() if key not in names}, extra)

    return check
