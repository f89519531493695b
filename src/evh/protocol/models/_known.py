# Generated from schema/v1 by `make generate` (all files, sha256 65cb59f4eec199aaae8b5617c5ee7764701ddd9346982f6f8238a69619c2b36c). Edit the schema, not this file.
"""The members that the schema names in open objects, as a strict reader and a writer check them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from evh.protocol._base import ABSENT


class KnownEnvironmentReference(msgspec.Struct, kw_only=True, gc=False):
    id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="id")
    version_id: str | None = msgspec.field(name="version_id", default=ABSENT)


class KnownEvaluationCreate(msgspec.Struct, kw_only=True, gc=False):
    name: Annotated[str, Meta(min_length=1)] = msgspec.field(name="name")
    environments: list[KnownEnvironmentReference] = msgspec.field(name="environments", default=ABSENT)
    run_id: str | None = msgspec.field(name="run_id", default=ABSENT)
    suite_id: str | None = msgspec.field(name="suite_id", default=ABSENT)
    tags: list[str] = msgspec.field(name="tags", default=ABSENT)
    model_name: str | None = msgspec.field(name="model_name", default=ABSENT)
    dataset: str | None = msgspec.field(name="dataset", default=ABSENT)
    framework: str | None = msgspec.field(name="framework", default=ABSENT)
    task_type: str | None = msgspec.field(name="task_type", default=ABSENT)
    description: str | None = msgspec.field(name="description", default=ABSENT)
    metadata: dict[str, Any] | None = msgspec.field(name="metadata", default=ABSENT)
    metrics: dict[str, Any] | None = msgspec.field(name="metrics", default=ABSENT)
    is_public: bool | None = msgspec.field(name="is_public", default=ABSENT)
    team_id: str | None = msgspec.field(name="team_id", default=ABSENT)


class KnownEvaluationCreated(msgspec.Struct, kw_only=True, gc=False):
    evaluation_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="evaluation_id")
    name: str | None = msgspec.field(name="name", default=ABSENT)
    viewer_url: str | None = msgspec.field(name="viewer_url", default=ABSENT)


class KnownEvaluationUpdate(msgspec.Struct, kw_only=True, gc=False):
    name: Annotated[str, Meta(min_length=1)] | None = msgspec.field(name="name", default=ABSENT)
    description: str | None = msgspec.field(name="description", default=ABSENT)
    model_name: str | None = msgspec.field(name="model_name", default=ABSENT)
    dataset: str | None = msgspec.field(name="dataset", default=ABSENT)
    framework: str | None = msgspec.field(name="framework", default=ABSENT)
    task_type: str | None = msgspec.field(name="task_type", default=ABSENT)
    tags: list[str] | None = msgspec.field(name="tags", default=ABSENT)
    metadata: dict[str, Any] | None = msgspec.field(name="metadata", default=ABSENT)
    metrics: dict[str, Any] | None = msgspec.field(name="metrics", default=ABSENT)
    is_public: bool | None = msgspec.field(name="is_public", default=ABSENT)
    status: Literal["FAILED", "CANCELLED"] | None = msgspec.field(name="status", default=ABSENT)
    error_message: Annotated[str, Meta(max_length=4096)] | None = msgspec.field(name="error_message", default=ABSENT)


class KnownEvaluationFinalize(msgspec.Struct, kw_only=True, gc=False):
    metrics: dict[str, Any] | None = msgspec.field(name="metrics", default=ABSENT)


class KnownEvaluation(msgspec.Struct, kw_only=True, gc=False):
    evaluation_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="evaluation_id")
    name: str = msgspec.field(name="name")
    status: str | None = msgspec.field(name="status", default=ABSENT)
    error_message: str | None = msgspec.field(name="error_message", default=ABSENT)
    model_name: str | None = msgspec.field(name="model_name", default=ABSENT)
    dataset: str | None = msgspec.field(name="dataset", default=ABSENT)
    framework: str | None = msgspec.field(name="framework", default=ABSENT)
    task_type: str | None = msgspec.field(name="task_type", default=ABSENT)
    eval_type: str | None = msgspec.field(name="eval_type", default=ABSENT)
    description: str | None = msgspec.field(name="description", default=ABSENT)
    environment_ids: list[str] | None = msgspec.field(name="environment_ids", default=ABSENT)
    suite_id: str | None = msgspec.field(name="suite_id", default=ABSENT)
    run_id: str | None = msgspec.field(name="run_id", default=ABSENT)
    version_id: str | None = msgspec.field(name="version_id", default=ABSENT)
    tags: list[str] = msgspec.field(name="tags", default=ABSENT)
    metadata: dict[str, Any] | None = msgspec.field(name="metadata", default=ABSENT)
    metrics: dict[str, Any] | None = msgspec.field(name="metrics", default=ABSENT)
    total_samples: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(
        name="total_samples", default=ABSENT
    )
    is_public: bool | None = msgspec.field(name="is_public", default=ABSENT)
    created_at: str | None = msgspec.field(name="created_at", default=ABSENT)
    updated_at: str | None = msgspec.field(name="updated_at", default=ABSENT)
    finalized_at: str | None = msgspec.field(name="finalized_at", default=ABSENT)
    user_id: str | None = msgspec.field(name="user_id", default=ABSENT)
    team_id: str | None = msgspec.field(name="team_id", default=ABSENT)
    viewer_url: str | None = msgspec.field(name="viewer_url", default=ABSENT)


class KnownSamplesBody(msgspec.Struct, kw_only=True, gc=False):
    samples: list[dict[str, Any]] = msgspec.field(name="samples")


class KnownSamplesAppended(msgspec.Struct, kw_only=True, gc=False):
    samples_pushed: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(
        name="samples_pushed", default=ABSENT
    )


class KnownEnvironmentResolve(msgspec.Struct, kw_only=True, gc=False):
    name: Annotated[str, Meta(min_length=1)] = msgspec.field(name="name")
    team_id: str | None = msgspec.field(name="team_id", default=ABSENT)


class KnownEnvironmentLookup(msgspec.Struct, kw_only=True, gc=False):
    id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="id")


class KnownEnvironmentEntry(msgspec.Struct, kw_only=True, gc=False):
    id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="id")
    name: str | None = msgspec.field(name="name", default=ABSENT)
    owner: str | None = msgspec.field(name="owner", default=ABSENT)
    version_id: str | None = msgspec.field(name="version_id", default=ABSENT)


class KnownEnvironmentResolved(msgspec.Struct, kw_only=True, gc=False):
    data: KnownEnvironmentEntry | None = msgspec.field(name="data", default=ABSENT)
    id: str | None = msgspec.field(name="id", default=ABSENT)


class KnownErrorDetail(msgspec.Struct, kw_only=True, gc=False):
    code: Annotated[str, Meta(min_length=1)] = msgspec.field(name="code")
    message: str = msgspec.field(name="message")


class KnownErrorEnvelope(msgspec.Struct, kw_only=True, gc=False):
    error: KnownErrorDetail = msgspec.field(name="error")


class KnownCapabilities(msgspec.Struct, kw_only=True, gc=False):
    server: Annotated[str, Meta(min_length=1)] = msgspec.field(name="server")
    encodings: list[str] = msgspec.field(name="encodings", default=ABSENT)
    max_upload_bytes: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = msgspec.field(
        name="max_upload_bytes", default=ABSENT
    )
    max_line_bytes: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = msgspec.field(
        name="max_line_bytes", default=ABSENT
    )
    max_lines: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = msgspec.field(name="max_lines", default=ABSENT)
    features: list[str] = msgspec.field(name="features", default=ABSENT)


class KnownUploadMetadata(msgspec.Struct, kw_only=True, gc=False):
    schema_version: Annotated[int, Meta(ge=1, le=9007199254740991)] = msgspec.field(name="schema_version")
    context: dict[str, str] = msgspec.field(name="context", default=ABSENT)


class KnownUploadReceipt(msgspec.Struct, kw_only=True, gc=False):
    upload_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="upload_id")
    status: str = msgspec.field(name="status")
    accepted: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(name="accepted", default=ABSENT)
    replayed: bool | None = msgspec.field(name="replayed", default=ABSENT)
    duplicates: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(
        name="duplicates", default=ABSENT
    )
    new_versions: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(
        name="new_versions", default=ABSENT
    )


class KnownTraceModel(msgspec.Struct, kw_only=True, gc=False):
    provider: str | None = msgspec.field(name="provider")
    id: str | None = msgspec.field(name="id")


class KnownTraceScore(msgspec.Struct, kw_only=True, gc=False):
    reward: int | float | None = msgspec.field(name="reward")
    outcome: str | None = msgspec.field(name="outcome")


class KnownTraceExecution(msgspec.Struct, kw_only=True, gc=False):
    has_error: bool = msgspec.field(name="has_error")
    is_truncated: bool = msgspec.field(name="is_truncated")


class KnownTraceSummary(msgspec.Struct, kw_only=True, gc=False):
    trace_id: str = msgspec.field(name="trace_id")
    upload_id: str = msgspec.field(name="upload_id")
    episode_id: str | None = msgspec.field(name="episode_id")
    created_at: str = msgspec.field(name="created_at")
    ingested_at: str = msgspec.field(name="ingested_at")
    run_id: str | None = msgspec.field(name="run_id")
    environment_id: str | None = msgspec.field(name="environment_id")
    model: KnownTraceModel = msgspec.field(name="model")
    task_id: str | None = msgspec.field(name="task_id")
    agent_name: str | None = msgspec.field(name="agent_name")
    score: KnownTraceScore = msgspec.field(name="score")
    execution: KnownTraceExecution = msgspec.field(name="execution")
    duration_ms: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="duration_ms")
    total_tokens: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="total_tokens")
    size_bytes: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="size_bytes")
    context: dict[str, str] = msgspec.field(name="context")


class KnownEpisodeFault(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = msgspec.field(name="type")
    message: str | None = msgspec.field(name="message")


class KnownEpisodeSummary(msgspec.Struct, kw_only=True, gc=False):
    episode_id: str = msgspec.field(name="episode_id")
    upload_id: str = msgspec.field(name="upload_id")
    schema_version: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="schema_version")
    created_at: str = msgspec.field(name="created_at")
    ingested_at: str = msgspec.field(name="ingested_at")
    run_id: str | None = msgspec.field(name="run_id")
    environment_id: str | None = msgspec.field(name="environment_id")
    outcome: str | None = msgspec.field(name="outcome")
    has_error: bool = msgspec.field(name="has_error")
    error: KnownEpisodeFault = msgspec.field(name="error")
    traces: KnownEpisodeTotals | None = msgspec.field(name="traces", default=ABSENT)


class KnownEpisodeTotals(msgspec.Struct, kw_only=True, gc=False):
    trace_count: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="trace_count")
    total_tokens: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="total_tokens")
    total_duration_ms: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="total_duration_ms")
    any_trace_error: bool = msgspec.field(name="any_trace_error")
    agent_names: list[str] = msgspec.field(name="agent_names")


class KnownRunSummary(msgspec.Struct, kw_only=True, gc=False):
    run_id: str = msgspec.field(name="run_id")
    first_trace_created_at: str = msgspec.field(name="first_trace_created_at")
    last_trace_created_at: str = msgspec.field(name="last_trace_created_at")
    last_trace_ingested_at: str = msgspec.field(name="last_trace_ingested_at")
    trace_count: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="trace_count")
    episode_count: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="episode_count")
    avg_reward: int | float | None = msgspec.field(name="avg_reward")
    step_min: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(name="step_min")
    step_max: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(name="step_max")
    step_count: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="step_count")
    has_error: bool = msgspec.field(name="has_error")
    first_user_id: str | None = msgspec.field(name="first_user_id")
    environment_ids: list[str] = msgspec.field(name="environment_ids")
    model_ids: list[str] = msgspec.field(name="model_ids")
    context: dict[str, str] = msgspec.field(name="context")


class KnownRunStep(msgspec.Struct, kw_only=True, gc=False):
    step: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] = msgspec.field(name="step")
    trace_count: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="trace_count")
    episode_count: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="episode_count")
    avg_reward: int | float | None = msgspec.field(name="avg_reward")


class KnownIndexedMessage(msgspec.Struct, kw_only=True, gc=False):
    role: str | None = msgspec.field(name="role")
    reasoning_content: str | None = msgspec.field(name="reasoning_content", default=ABSENT)
    tool_call_id: str | None = msgspec.field(name="tool_call_id", default=ABSENT)
    name: str | None = msgspec.field(name="name", default=ABSENT)
    tool_name: str | None = msgspec.field(name="tool_name", default=ABSENT)


class KnownIndexedNode(msgspec.Struct, kw_only=True, gc=False):
    node_idx: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="node_idx")
    parent_idx: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(name="parent_idx")
    timestamp: int | float | None = msgspec.field(name="timestamp")
    sampled: bool = msgspec.field(name="sampled")
    message: KnownIndexedMessage = msgspec.field(name="message")


class KnownIndexedCall(msgspec.Struct, kw_only=True, gc=False):
    call_idx: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="call_idx")
    node_idx: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(name="node_idx")
    time_start: int | float | None = msgspec.field(name="time_start")
    time_end: int | float | None = msgspec.field(name="time_end")
    model: str | None = msgspec.field(name="model")
    endpoint: str | None = msgspec.field(name="endpoint")
    finish_reason: str | None = msgspec.field(name="finish_reason")


class KnownSearchMatch(msgspec.Struct, kw_only=True, gc=False):
    trace_id: str = msgspec.field(name="trace_id")
    upload_id: str = msgspec.field(name="upload_id")
    generation: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="generation")
    episode_id: str | None = msgspec.field(name="episode_id")
    node_idx: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="node_idx")
    role: str = msgspec.field(name="role")
    field: Literal["content", "reasoning_content", "tool_calls"] = msgspec.field(name="field")
    representation: Literal["text", "json"] = msgspec.field(name="representation")
    match_start: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="match_start")
    match_end: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="match_end")
    excerpt: str = msgspec.field(name="excerpt")
    excerpt_start: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="excerpt_start")


class KnownSearchCoverage(msgspec.Struct, kw_only=True, gc=False):
    examined_traces: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="examined_traces")
    unindexed_trace_ids: list[str] = msgspec.field(name="unindexed_trace_ids")
    partial_index: bool = msgspec.field(name="partial_index")


class KnownTrainingEnvironment(msgspec.Struct, kw_only=True, gc=False):
    id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="id")
    version_id: str | None = msgspec.field(name="version_id", default=ABSENT)


class KnownExternalRunCreate(msgspec.Struct, kw_only=True, gc=False):
    base_model: Annotated[str, Meta(min_length=1)] = msgspec.field(name="base_model")
    max_steps: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="max_steps")
    environments: list[KnownTrainingEnvironment] = msgspec.field(name="environments", default=ABSENT)
    team_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="team_id")
    name: str | None = msgspec.field(name="name", default=ABSENT)
    batch_size: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(
        name="batch_size", default=ABSENT
    )
    rollouts_per_example: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(
        name="rollouts_per_example", default=ABSENT
    )
    seq_len: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = msgspec.field(name="seq_len", default=ABSENT)
    run_config: dict[str, Any] | None = msgspec.field(name="run_config", default=ABSENT)
    wandb_project: str | None = msgspec.field(name="wandb_project", default=ABSENT)
    wandb_entity: str | None = msgspec.field(name="wandb_entity", default=ABSENT)
    wandb_run_name: str | None = msgspec.field(name="wandb_run_name", default=ABSENT)


class KnownExternalRun(msgspec.Struct, kw_only=True, gc=False):
    id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="id")
    name: str | None = msgspec.field(name="name", default=ABSENT)
    status: str | None = msgspec.field(name="status", default=ABSENT)
    error_message: str | None = msgspec.field(name="error_message", default=ABSENT)
    team_id: str | None = msgspec.field(name="team_id", default=ABSENT)


class KnownExternalRunCreated(msgspec.Struct, kw_only=True, gc=False):
    run: KnownExternalRun = msgspec.field(name="run")


class KnownRunMetrics(msgspec.Struct, kw_only=True, gc=False):
    run_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="run_id")
    metrics: dict[str, Any] = msgspec.field(name="metrics")


class KnownSamplesPresign(msgspec.Struct, kw_only=True, gc=False):
    run_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="run_id")
    step: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="step")


class KnownPresignedUpload(msgspec.Struct, kw_only=True, gc=False):
    presignedUrl: Annotated[str, Meta(min_length=1)] = msgspec.field(name="presignedUrl")
    s3Key: Annotated[str, Meta(min_length=1)] = msgspec.field(name="s3Key")


class KnownSamplesPresigned(msgspec.Struct, kw_only=True, gc=False):
    data: KnownPresignedUpload = msgspec.field(name="data")


class KnownSamplesConfirm(msgspec.Struct, kw_only=True, gc=False):
    run_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="run_id")
    step: Annotated[int, Meta(ge=0, le=9007199254740991)] = msgspec.field(name="step")
    s3_key: Annotated[str, Meta(min_length=1)] = msgspec.field(name="s3_key")


class KnownRftFinalize(msgspec.Struct, kw_only=True, gc=False):
    run_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="run_id")
    exit_code: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="exit_code", default=ABSENT
    )


class KnownExternalRunStatus(msgspec.Struct, kw_only=True, gc=False):
    status: Literal["completed", "failed"] = msgspec.field(name="status")
    error_message: str | None = msgspec.field(name="error_message", default=ABSENT)


class KnownPredictionRow(msgspec.Struct, kw_only=True, gc=False):
    item_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="item_id")
    latency_ms: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = msgspec.field(
        name="latency_ms", default=ABSENT
    )
    cost_usd: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = msgspec.field(
        name="cost_usd", default=ABSENT
    )
    tokens_in: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = msgspec.field(
        name="tokens_in", default=ABSENT
    )
    tokens_out: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = msgspec.field(
        name="tokens_out", default=ABSENT
    )
    output_words: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)] | None = msgspec.field(
        name="output_words", default=ABSENT
    )
    extra: dict[str, int | float] | None = msgspec.field(name="_extra", default=ABSENT)
    meta: dict[str, Any] = msgspec.field(name="_meta", default=ABSENT)
    error: str | None = msgspec.field(name="_error", default=ABSENT)
    output_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)] | None = msgspec.field(
        name="_output_sha256", default=ABSENT
    )


class KnownFingerprintModel(msgspec.Struct, kw_only=True, gc=False):
    identity_declared: bool = msgspec.field(name="identity_declared")
    revision: str | None = msgspec.field(name="revision", default=ABSENT)
    revision_source: str | None = msgspec.field(name="revision_source", default=ABSENT)
    error: str | None = msgspec.field(name="error", default=ABSENT)


class KnownTaskData(msgspec.Struct, kw_only=True, gc=False):
    idx: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="idx", default=ABSENT
    )
    id: str | None = msgspec.field(name="id", default=ABSENT)
    name: str | None = msgspec.field(name="name", default=ABSENT)
    description: str | None = msgspec.field(name="description", default=ABSENT)
    prompt: str | list[dict[str, Any]] | None = msgspec.field(name="prompt", default=ABSENT)
    system_prompt: str | None = msgspec.field(name="system_prompt", default=ABSENT)
    image: str | None = msgspec.field(name="image", default=ABSENT)
    workdir: str | None = msgspec.field(name="workdir", default=ABSENT)
    agent_user: str | None = msgspec.field(name="agent_user", default=ABSENT)
    skills: list[Any] = msgspec.field(name="skills", default=ABSENT)
    network_allow: list[str] = msgspec.field(name="network_allow", default=ABSENT)
    network_block: list[str] = msgspec.field(name="network_block", default=ABSENT)
    artifacts: list[KnownArtifact] = msgspec.field(name="artifacts", default=ABSENT)
    artifact_max_bytes: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="artifact_max_bytes", default=ABSENT
    )
    timeout: KnownTaskTimeout | None = msgspec.field(name="timeout", default=ABSENT)
    resources: KnownTaskResources | None = msgspec.field(name="resources", default=ABSENT)


class KnownArtifact(msgspec.Struct, kw_only=True, gc=False):
    source: str | None = msgspec.field(name="source", default=ABSENT)
    exclude: list[str] = msgspec.field(name="exclude", default=ABSENT)
    required: bool | None = msgspec.field(name="required", default=ABSENT)


class KnownTaskTimeout(msgspec.Struct, kw_only=True, gc=False):
    setup: int | float | None = msgspec.field(name="setup", default=ABSENT)
    agent: int | float | None = msgspec.field(name="agent", default=ABSENT)
    finalize: int | float | None = msgspec.field(name="finalize", default=ABSENT)
    scoring: int | float | None = msgspec.field(name="scoring", default=ABSENT)


class KnownTaskResources(msgspec.Struct, kw_only=True, gc=False):
    cpu: int | float | None = msgspec.field(name="cpu", default=ABSENT)
    memory: int | float | None = msgspec.field(name="memory", default=ABSENT)
    gpu: str | None = msgspec.field(name="gpu", default=ABSENT)
    disk: int | float | None = msgspec.field(name="disk", default=ABSENT)


class KnownAgentConfig(msgspec.Struct, kw_only=True, gc=False):
    harness: KnownHarnessConfig | None = msgspec.field(name="harness", default=ABSENT)
    runtime: KnownRuntime | None = msgspec.field(name="runtime", default=ABSENT)
    model: str | None = msgspec.field(name="model", default=ABSENT)
    client: KnownClientConfig | None = msgspec.field(name="client", default=ABSENT)
    sampling: KnownSampling | None = msgspec.field(name="sampling", default=ABSENT)
    max_turns: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="max_turns", default=ABSENT
    )
    max_input_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="max_input_tokens", default=ABSENT
    )
    max_output_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="max_output_tokens", default=ABSENT
    )
    max_total_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="max_total_tokens", default=ABSENT
    )
    timeout: KnownAgentTimeout | None = msgspec.field(name="timeout", default=ABSENT)
    retries: KnownRetryConfig | None = msgspec.field(name="retries", default=ABSENT)
    network_notice: bool | None = msgspec.field(name="network_notice", default=ABSENT)


class KnownHarnessConfig(msgspec.Struct, kw_only=True, gc=False):
    id: str | None = msgspec.field(name="id", default=ABSENT)
    env: dict[str, Any] | None = msgspec.field(name="env", default=ABSENT)
    forward_env: list[str] = msgspec.field(name="forward_env", default=ABSENT)
    tool_timeout: int | float | None = msgspec.field(name="tool_timeout", default=ABSENT)
    disabled_tools: list[str] | None = msgspec.field(name="disabled_tools", default=ABSENT)
    skills: list[Any] = msgspec.field(name="skills", default=ABSENT)


class KnownClientConfig(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = msgspec.field(name="type", default=ABSENT)
    base_url: str | None = msgspec.field(name="base_url", default=ABSENT)
    api_key_var: str | None = msgspec.field(name="api_key_var", default=ABSENT)
    headers: dict[str, Any] | None = msgspec.field(name="headers", default=ABSENT)
    headers_from_env: dict[str, Any] | None = msgspec.field(name="headers_from_env", default=ABSENT)


class KnownSampling(msgspec.Struct, kw_only=True, gc=False):
    temperature: int | float | None = msgspec.field(name="temperature", default=ABSENT)
    top_p: int | float | None = msgspec.field(name="top_p", default=ABSENT)
    reasoning_effort: str | None = msgspec.field(name="reasoning_effort", default=ABSENT)
    max_tokens: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="max_tokens", default=ABSENT
    )


class KnownAgentTimeout(msgspec.Struct, kw_only=True, gc=False):
    setup: int | float | None = msgspec.field(name="setup", default=ABSENT)
    rollout: int | float | None = msgspec.field(name="rollout", default=ABSENT)
    finalize: int | float | None = msgspec.field(name="finalize", default=ABSENT)
    scoring: int | float | None = msgspec.field(name="scoring", default=ABSENT)


class KnownRetryConfig(msgspec.Struct, kw_only=True, gc=False):
    max_retries: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = msgspec.field(
        name="max_retries", default=ABSENT
    )


class KnownRuntime(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = msgspec.field(name="type", default=ABSENT)
    id: str | None = msgspec.field(name="id", default=ABSENT)
    borrowed: bool | None = msgspec.field(name="borrowed", default=ABSENT)
    image: str | None = msgspec.field(name="image", default=ABSENT)
    workdir: str | None = msgspec.field(name="workdir", default=ABSENT)


class KnownTool(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = msgspec.field(name="type", default=ABSENT)
    name: str = msgspec.field(name="name")
    namespace: str | None = msgspec.field(name="namespace", default=ABSENT)
    description: str | None = msgspec.field(name="description", default=ABSENT)
    parameters: dict[str, Any] | None = msgspec.field(name="parameters", default=ABSENT)
    strict: bool | None = msgspec.field(name="strict", default=ABSENT)


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
