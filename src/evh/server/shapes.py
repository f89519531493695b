"""Rows of the catalog as the wire shows them.

Promise: the members that the released clients require are always there, null where nothing is known. Instants are
RFC 3339, UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from evh.server.records import (
    EnvironmentRow,
    EpisodeHead,
    EvaluationRow,
    MetricsRow,
    Page,
    Receipt,
    RunStep,
    RunSummary,
    TraceAggregate,
    TraceHead,
    TrainingRow,
    TrainingUpload,
)
from evh.server.text import rfc3339

__all__ = [
    "environment", "episode", "episode_totals", "evaluation", "metrics", "page", "receipt", "run", "run_steps", "table",
    "trace", "training_run",
]  # fmt: skip

T = TypeVar("T")
Shape = dict[str, Any]


def _instant(us: int | None) -> str | None:
    return None if us is None else rfc3339(us)


def receipt(row: Receipt) -> Shape:
    return {
        "upload_id": row.upload_id, "status": row.status, "accepted": row.accepted, "replayed": row.replayed,
        "duplicates": row.duplicates, "new_versions": row.new_versions, "bytes": row.bytes,
        "committed_at": rfc3339(row.committed_us),
    }  # fmt: skip


def page(rows: Page[T], shape: Callable[[T], Shape]) -> Shape:
    return {"items": [shape(row) for row in rows.items], "next_cursor": rows.next_cursor}


def trace(row: TraceHead) -> Shape:
    return {
        "trace_id": row.trace_id, "upload_id": row.upload_id, "episode_id": row.episode_id,
        "created_at": rfc3339(row.created_us), "ingested_at": rfc3339(row.ingested_us), "run_id": row.run_id,
        "run_step": row.step, "environment_id": row.environment_id,
        "model": {"provider": row.model_provider, "id": row.model_id},
        "task_id": row.task_id, "agent_name": row.agent_name,
        "score": {"reward": row.reward, "outcome": row.outcome},
        "execution": {"has_error": row.has_error, "is_truncated": row.is_truncated},
        "duration_ms": row.duration_ms, "total_tokens": row.total_tokens, "size_bytes": row.size_bytes,
        "context": row.context,
    }  # fmt: skip


def episode(row: EpisodeHead) -> Shape:
    """Ours adds its digest, version and whatever else its head says."""
    return {
        "episode_id": row.episode_id, "upload_id": row.upload_id, "schema_version": row.schema_version,
        "created_at": rfc3339(row.created_us), "ingested_at": rfc3339(row.ingested_us), "run_id": row.run_id,
        "environment_id": row.environment_id, "outcome": row.outcome, "has_error": row.has_error,
        "error": {"type": row.error_type, "message": row.error_message},
        "run_step": row.step, "task_id": row.task_id, "group_id": row.group_id, "ok": row.ok,
        "is_timeout": row.is_timeout, "reward": row.reward, "trace_count": row.n_traces,
        "digest": row.digest, "version": row.version, "versions": row.versions,
        "size_bytes": row.placement.length, "context": row.context,
    }  # fmt: skip


def episode_totals(row: TraceAggregate) -> Shape:
    return {
        "trace_count": row.trace_count, "total_tokens": row.total_tokens, "total_duration_ms": row.total_duration_ms,
        "any_trace_error": row.any_trace_error, "agent_names": row.agent_names,
    }  # fmt: skip


def run(row: RunSummary) -> Shape:
    return {
        "run_id": row.run_id, "first_trace_created_at": rfc3339(row.first_trace_created_us),
        "last_trace_created_at": rfc3339(row.last_trace_created_us),
        "last_trace_ingested_at": rfc3339(row.last_trace_ingested_us), "trace_count": row.trace_count,
        "episode_count": row.episode_count, "avg_reward": row.avg_reward, "step_min": row.step_min,
        "step_max": row.step_max, "step_count": row.step_count, "has_error": row.has_error, "first_user_id": None,
        "environment_ids": row.environment_ids, "model_ids": row.model_ids, "context": row.context,
    }  # fmt: skip


def run_steps(rows: list[RunStep]) -> Shape:
    return {
        "step_min": rows[0].step if rows else None, "step_max": rows[-1].step if rows else None,
        "step_count": len(rows),
        "items": [
            {
                "step": row.step, "trace_count": row.trace_count, "episode_count": row.episode_count,
                "avg_reward": row.avg_reward,
            }
            for row in rows
        ],
    }  # fmt: skip


def evaluation(row: EvaluationRow, viewer_url: str) -> Shape:
    """What the producer gave, and over it what the server knows."""
    ids = [each["id"] for each in row.environments if isinstance(each, dict) and isinstance(each.get("id"), str)]
    return {
        **row.document, "evaluation_id": row.id, "name": row.name, "status": row.status,
        "error_message": row.error_message, "model_name": row.model_name, "suite_id": row.suite_id,
        "team_id": row.team_id, "environments": row.environments, "environment_ids": ids,
        "environment_names": row.environment_names, "tags": row.tags, "metadata": row.metadata,
        "metrics": row.metrics, "total_samples": row.total_samples, "created_at": rfc3339(row.created_us),
        "updated_at": rfc3339(row.updated_us), "finalized_at": _instant(row.closed_us), "viewer_url": viewer_url,
    }  # fmt: skip


def environment(row: EnvironmentRow) -> Shape:
    return {"id": row.id, "name": row.name, "owner": row.owner, "created_at": rfc3339(row.created_us)}


def training_run(row: TrainingRow) -> Shape:
    return {
        **row.document, "id": row.id, "name": row.name, "status": row.status, "error_message": row.error_message,
        "created_at": rfc3339(row.created_us), "updated_at": rfc3339(row.updated_us),
        "finished_at": _instant(row.closed_us), "last_step": row.last_step,
    }  # fmt: skip


def metrics(rows: Iterable[MetricsRow]) -> list[Shape]:
    return [
        {"seq": row.seq, "step": row.step, "logged_at": rfc3339(row.logged_us), "metrics": row.metrics} for row in rows
    ]


def table(row: TrainingUpload) -> Shape:
    return {
        "s3_key": row.key, "run_id": row.run_id, "step": row.step, "state": row.state, "size_bytes": row.size,
        "digest": row.digest,
    }  # fmt: skip
