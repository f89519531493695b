"""The plain values that cross the storage interfaces.

Promise: frozen structs of plain Python values; instants are microseconds since the epoch, UTC; text is as it was
uploaded, NUL characters and lone surrogates included (but see `evh.server.text`). Nothing here knows SQL or HTTP.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

__all__ = [
    "CLOSED", "SCOPES", "BatchKey", "BlobInfo", "EnvironmentRow", "EpisodeHead", "EvaluationRow",
    "EvaluationStatus", "LineFormat", "MetricsRow", "Page", "Placement", "Principal", "ProjectRow", "Receipt",
    "RunStep", "RunSummary", "SampleRow", "Scope", "TokenRow", "TraceAggregate", "TraceHead", "TrainingRow",
    "TrainingUpload", "Usage",
]  # fmt: skip

T = TypeVar("T")
Scope = Literal["traces:read", "traces:write", "evals:read", "evals:write", "admin"]
SCOPES: tuple[Scope, ...] = ("traces:read", "traces:write", "evals:read", "evals:write", "admin")
LineFormat = Literal["trace", "episode"]
EvaluationStatus = Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"]
CLOSED: frozenset[str] = frozenset({"COMPLETED", "FAILED", "CANCELLED"})


class Placement(Struct, frozen=True, gc=False):
    """Where a line is: `length` bytes at `offset` of what the segment is when unpacked, without the line's LF."""

    segment: str
    offset: int
    length: int


class BlobInfo(Struct, frozen=True, gc=False):
    """A stored blob: its key, its length, when it was stored."""

    key: str
    size: int
    modified_us: int


class Principal(Struct, frozen=True):
    """Who asks: one project, what they may do in it, and by which token (None: loopback without one)."""

    project: int
    project_name: str
    scopes: frozenset[str]
    token: str | None = None
    name: str = ""

    def may(self, scope: str) -> bool:
        """Whether the scope is held; `admin` holds them all."""
        return scope in self.scopes or "admin" in self.scopes


class ProjectRow(Struct, frozen=True):
    """A project and its limits; a limit of None is none."""

    id: int
    name: str
    created_us: int
    max_bytes: int | None = None
    max_episodes: int | None = None
    bytes_per_second: int | None = None
    episodes_per_second: int | None = None


class Usage(Struct, frozen=True):
    """What a project has stored."""

    bytes: int
    episodes: int
    traces: int
    batches: int


class TokenRow(Struct, frozen=True):
    """A token as it may be shown: never its secret."""

    prefix: str
    project: int
    project_name: str
    name: str
    scopes: frozenset[str]
    created_us: int
    expires_us: int | None
    last_used_us: int | None
    revoked_us: int | None


class BatchKey(Struct, frozen=True):
    """What makes an upload the same one: its key, and the digest (64 hex) and line format that it came with."""

    key: str
    digest: str
    line_format: LineFormat


class Receipt(Struct, frozen=True):
    """What an upload was answered with. `replayed` is true only of the answer to a repeat."""

    upload_id: str
    accepted: int
    duplicates: int
    new_versions: int
    bytes: int
    committed_us: int
    status: str = "committed"
    replayed: bool = False


class EpisodeHead(Struct, frozen=True, kw_only=True):
    """What is known of an episode without reading its line. `seq` grows in order of arrival within the project;
    `version` counts from 1 the contents that came under one id within one run."""

    seq: int
    upload_id: str
    episode_id: str
    run_id: str | None
    digest: str
    version: int
    versions: int
    placement: Placement
    created_us: int
    ingested_us: int
    environment_id: str | None
    environment_name: str | None
    task_id: str | None
    group_id: str | None
    step: int | None
    work: str | None
    ok: bool
    has_error: bool
    is_timeout: bool
    outcome: str | None
    error_type: str | None
    error_message: str | None
    n_traces: int
    reward: float | None
    schema_version: int
    context: dict[str, str]


class TraceHead(Struct, frozen=True, kw_only=True):
    """What is known of a trace. `position` is its index in the episode's `traces`, -1 for a line of its own;
    `placement` is that of the line."""

    seq: int
    upload_id: str
    trace_id: str
    episode_id: str | None
    episode_seq: int | None
    position: int
    digest: str
    placement: Placement
    created_us: int
    ingested_us: int
    run_id: str | None
    step: int | None
    environment_id: str | None
    model_provider: str | None
    model_id: str | None
    task_id: str | None
    agent_name: str | None
    reward: float | None
    outcome: str | None
    has_error: bool
    is_truncated: bool
    duration_ms: int
    total_tokens: int
    size_bytes: int
    context: dict[str, str]


class TraceAggregate(Struct, frozen=True):
    """The traces of an episode, rolled up when read."""

    trace_count: int
    total_tokens: int
    total_duration_ms: int
    any_trace_error: bool
    agent_names: list[str]


class RunSummary(Struct, frozen=True, kw_only=True):
    """Totals over the traces of a run, computed when read. `context` is that of its newest trace."""

    run_id: str
    first_trace_created_us: int
    last_trace_created_us: int
    last_trace_ingested_us: int
    trace_count: int
    episode_count: int
    avg_reward: float | None
    step_min: int | None
    step_max: int | None
    step_count: int
    has_error: bool
    environment_ids: list[str]
    model_ids: list[str]
    context: dict[str, str]


class RunStep(Struct, frozen=True):
    """One training step of a run."""

    step: int
    trace_count: int
    episode_count: int
    avg_reward: float | None


class EnvironmentRow(Struct, frozen=True):
    """An environment of the hub: made when it was first asked for."""

    id: str
    owner: str
    name: str
    created_us: int


class EvaluationRow(Struct, frozen=True, kw_only=True):
    """An evaluation. `document` holds what the producer gave beside the members that have names here."""

    id: str
    name: str
    status: EvaluationStatus
    created_us: int
    updated_us: int
    closed_us: int | None
    evh_run_id: str | None
    environments: list[dict[str, Any]]
    environment_names: list[str]
    tags: list[str]
    model_name: str | None
    suite_id: str | None
    team_id: str | None
    metadata: dict[str, Any] | None
    metrics: dict[str, Any] | None
    error_message: str | None
    document: dict[str, Any]
    total_samples: int


class SampleRow(Struct, frozen=True):
    """A sample of an evaluation; its bytes are at `placement`."""

    seq: int
    placement: Placement


class TrainingRow(Struct, frozen=True, kw_only=True):
    """A training run. `document` is what it was created with."""

    id: str
    name: str | None
    status: str
    created_us: int
    updated_us: int
    closed_us: int | None
    error_message: str | None
    document: dict[str, Any]
    last_step: int | None


class MetricsRow(Struct, frozen=True):
    """Metrics that a training run logged at a step (null when it named none)."""

    seq: int
    step: int | None
    logged_us: int
    metrics: dict[str, Any]


class TrainingUpload(Struct, frozen=True):
    """A table of samples of a training step, from `presigned` over `stored` to `confirmed`."""

    key: str
    run_id: str
    step: int
    state: str
    expires_us: int
    size: int | None
    digest: str | None


class Page(Struct, Generic[T], frozen=True):
    """Some items in order, and the cursor of what follows (None at the end)."""

    items: list[T]
    next_cursor: str | None
