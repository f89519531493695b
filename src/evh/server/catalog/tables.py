"""The one schema of the catalog, for every database. The migrations make the same tables (a test holds them together).

Promise: every row belongs to a project, and every index begins with it. `seq` is counted per project, in order of
arrival, under the lock of the project's own row. Nothing here holds a document: those are in segments.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, MetaData, String, Table, func, literal_column

from evh.server.catalog.types import BigInt, Digest, ForeignText, Json

__all__ = [
    "batches", "contexts", "environments", "episodes", "evaluation_environments", "evaluations", "metadata", "projects",
    "samples", "tokens", "tombstones", "traces", "training_metrics", "training_runs", "training_uploads",
]  # fmt: skip

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)


def _number(name: str, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInt, nullable=nullable)


def _text(name: str, nullable: bool = True) -> Column[Any]:
    return Column(name, ForeignText, nullable=nullable)


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False)


def _project(primary_key: bool = False) -> Column[Any]:
    return Column("project", BigInt, ForeignKey("projects.id"), nullable=False, primary_key=primary_key)


def _seq() -> Column[Any]:
    return Column("seq", BigInt, primary_key=True, autoincrement=False)


def _placement() -> list[Column[Any]]:
    return [Column("segment", String(64), nullable=False), _number("offset"), _number("length")]


projects = Table(
    "projects", metadata,
    Column("id", BigInt, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    _number("created_us"),
    _number("max_bytes", True), _number("max_episodes", True),
    _number("bytes_per_second", True), _number("episodes_per_second", True),
    _number("used_bytes"), _number("used_episodes"), _number("used_traces"), _number("used_batches"),
    _number("next_seq"),
)  # fmt: skip

tokens = Table(
    "tokens", metadata,
    Column("prefix", String(32), primary_key=True),
    _project(),
    _text("name", False),
    Column("scopes", String(200), nullable=False),
    Column("secret", Digest, nullable=False),
    _number("created_us"), _number("expires_us", True), _number("last_used_us", True), _number("revoked_us", True),
    Index("ix_tokens_project", "project"),
)  # fmt: skip

batches = Table(
    "batches", metadata,
    _project(True), _seq(),
    _text("key", False),
    Column("digest", Digest, nullable=False),
    Column("line_format", String(16), nullable=False),
    _number("accepted"), _number("duplicates"), _number("new_versions"), _number("bytes"), _number("committed_us"),
    Column("context", Json, nullable=False),
    Index("uq_batches_key", "project", "key", unique=True),
    Index("ix_batches_digest", "project", "digest"),
)  # fmt: skip

contexts = Table(
    "contexts", metadata,
    _project(True),
    Column("batch", BigInt, primary_key=True, autoincrement=False),
    Column("key", ForeignText, primary_key=True),
    _text("value", False),
    Index("ix_contexts_value", "project", "key", "value", "batch"),
)  # fmt: skip

episodes = Table(
    "episodes", metadata,
    _project(True), _seq(),
    _number("batch"),
    _text("episode_id", False), _text("run_id"),
    Column("digest", Digest, nullable=False),
    _number("version"), _flag("latest"),
    *_placement(),
    _number("created_us"), _number("ingested_us"),
    _text("environment_id"), _text("environment_name"), _text("task_id"), _text("group_id"),
    _number("step", True), _text("work"),
    _flag("ok"), _flag("has_error"), _flag("is_timeout"), _text("outcome"),
    _text("error_type"), _text("error_message"),
    _number("n_traces"), Column("reward", Float(53)), _number("schema_version"),
    Index("ix_episodes_created", "project", "created_us", "seq"),
    Index("ix_episodes_run", "project", "run_id", "created_us", "seq"),
    Index("ix_episodes_batch", "project", "batch"),
)  # fmt: skip
Index(
    "uq_episodes_version",
    episodes.c.project,
    episodes.c.episode_id,
    func.coalesce(episodes.c.run_id, literal_column("''")),
    episodes.c.version,
    unique=True,
)

traces = Table(
    "traces", metadata,
    _project(True), _seq(),
    _number("batch"),
    _text("trace_id", False), _text("episode_id"), _number("episode_seq", True), _number("position"),
    Column("digest", Digest, nullable=False),
    _flag("latest"), _number("deleted_us", True),
    *_placement(),
    _number("created_us"), _number("ingested_us"),
    _text("run_id"), _number("step", True), _text("environment_id"),
    _text("model_provider"), _text("model_id"), _text("task_id"), _text("agent_name"),
    Column("reward", Float(53)), _text("outcome"), _flag("has_error"), _flag("is_truncated"),
    _number("duration_ms"), _number("total_tokens"), _number("size_bytes"),
    Index("ix_traces_id", "project", "trace_id"),
    Index("ix_traces_created", "project", "created_us", "seq"),
    Index("ix_traces_run", "project", "run_id", "created_us", "seq"),
    Index("ix_traces_episode", "project", "episode_seq", "position"),
    Index("ix_traces_batch", "project", "batch"),
)  # fmt: skip

environments = Table(
    "environments", metadata,
    Column("id", String(64), primary_key=True),
    _project(),
    _text("owner", False), _text("name", False), _number("created_us"),
    Index("uq_environments_name", "project", "owner", "name", unique=True),
)  # fmt: skip

evaluations = Table(
    "evaluations", metadata,
    Column("id", String(64), primary_key=True),
    _project(), _number("seq"),
    _text("evh_run_id"), _text("name", False), Column("status", String(16), nullable=False),
    _number("created_us"), _number("updated_us"), _number("closed_us", True),
    _text("model_name"), _text("suite_id"), _text("team_id"), _text("error_message"),
    Column("environments", Json, nullable=False), Column("tags", Json, nullable=False),
    Column("metadata", Json), Column("metrics", Json), Column("document", Json, nullable=False),
    _number("total_samples"),
    Index("uq_evaluations_evh_run_id", "project", "evh_run_id", unique=True),
    Index("ix_evaluations_seq", "project", "seq"),
)  # fmt: skip

evaluation_environments = Table(
    "evaluation_environments", metadata,
    Column("evaluation", String(64), ForeignKey("evaluations.id"), primary_key=True),
    Column("position", BigInt, primary_key=True, autoincrement=False),
    _project(), _text("name", False),
    Index("ix_evaluation_environments_name", "project", "name", "evaluation"),
)  # fmt: skip

samples = Table(
    "samples", metadata,
    _project(True), _seq(),
    Column("evaluation", String(64), ForeignKey("evaluations.id"), nullable=False),
    *_placement(),
    Index("ix_samples_evaluation", "evaluation", "seq"),
)  # fmt: skip

training_runs = Table(
    "training_runs", metadata,
    Column("id", String(64), primary_key=True),
    _project(), _number("seq"),
    _text("name"), Column("status", String(16), nullable=False),
    _number("created_us"), _number("updated_us"), _number("closed_us", True), _text("error_message"),
    Column("document", Json, nullable=False), _number("last_step", True),
    Index("ix_training_runs_seq", "project", "seq"),
)  # fmt: skip

training_metrics = Table(
    "training_metrics", metadata,
    _project(True), _seq(),
    Column("run", String(64), ForeignKey("training_runs.id"), nullable=False),
    _number("step", True), _number("logged_us"), Column("metrics", Json, nullable=False), Column("digest", Digest),
    Index("ix_training_metrics_run", "run", "seq"),
    Index("uq_training_metrics_digest", "run", "digest", unique=True),
)  # fmt: skip

training_uploads = Table(
    "training_uploads", metadata,
    Column("key", String(200), primary_key=True),
    _project(),
    Column("run", String(64), ForeignKey("training_runs.id"), nullable=False),
    _number("step"), Column("state", String(16), nullable=False), Column("secret", Digest, nullable=False),
    _number("created_us"), _number("expires_us"), _number("size", True), Column("digest", Digest),
    Index("ix_training_uploads_run", "run", "step"),
)  # fmt: skip

tombstones = Table(
    "tombstones", metadata,
    _project(True), _seq(),
    Column("kind", String(16), nullable=False), _text("name", False), _number("copies"), _number("deleted_us"),
)  # fmt: skip
