"""The whole schema of the catalog, as it began.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    text,
)

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "projects",
        Column("id", NUMBER, nullable=False),
        Column("name", String(100), nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("max_bytes", NUMBER, nullable=True),
        Column("max_episodes", NUMBER, nullable=True),
        Column("bytes_per_second", NUMBER, nullable=True),
        Column("episodes_per_second", NUMBER, nullable=True),
        Column("used_bytes", NUMBER, nullable=False),
        Column("used_episodes", NUMBER, nullable=False),
        Column("used_traces", NUMBER, nullable=False),
        Column("used_batches", NUMBER, nullable=False),
        Column("next_seq", NUMBER, nullable=False),
        PrimaryKeyConstraint("id", name="pk_projects"),
        UniqueConstraint("name", name="uq_projects_name"),
    )
    op.create_table(
        "batches",
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, autoincrement=False, nullable=False),
        Column("key", LargeBinary(), nullable=False),
        Column("digest", LargeBinary(), nullable=False),
        Column("line_format", String(16), nullable=False),
        Column("accepted", NUMBER, nullable=False),
        Column("duplicates", NUMBER, nullable=False),
        Column("new_versions", NUMBER, nullable=False),
        Column("bytes", NUMBER, nullable=False),
        Column("committed_us", NUMBER, nullable=False),
        Column("context", LargeBinary(), nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_batches_project"),
        PrimaryKeyConstraint("project", "seq", name="pk_batches"),
    )
    op.create_index("ix_batches_digest", "batches", ["project", "digest"])
    op.create_index("uq_batches_key", "batches", ["project", "key"], unique=True)
    op.create_table(
        "contexts",
        Column("project", NUMBER, nullable=False),
        Column("batch", NUMBER, autoincrement=False, nullable=False),
        Column("key", LargeBinary(), nullable=False),
        Column("value", LargeBinary(), nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_contexts_project"),
        PrimaryKeyConstraint("project", "batch", "key", name="pk_contexts"),
    )
    op.create_index("ix_contexts_value", "contexts", ["project", "key", "value", "batch"])
    op.create_table(
        "environments",
        Column("id", String(64), nullable=False),
        Column("project", NUMBER, nullable=False),
        Column("owner", LargeBinary(), nullable=False),
        Column("name", LargeBinary(), nullable=False),
        Column("created_us", NUMBER, nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_environments_project"),
        PrimaryKeyConstraint("id", name="pk_environments"),
    )
    op.create_index("uq_environments_name", "environments", ["project", "owner", "name"], unique=True)
    op.create_table(
        "episodes",
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, autoincrement=False, nullable=False),
        Column("batch", NUMBER, nullable=False),
        Column("episode_id", LargeBinary(), nullable=False),
        Column("run_id", LargeBinary(), nullable=True),
        Column("digest", LargeBinary(), nullable=False),
        Column("version", NUMBER, nullable=False),
        Column("latest", Boolean(), nullable=False),
        Column("segment", String(64), nullable=False),
        Column("offset", NUMBER, nullable=False),
        Column("length", NUMBER, nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("ingested_us", NUMBER, nullable=False),
        Column("environment_id", LargeBinary(), nullable=True),
        Column("environment_name", LargeBinary(), nullable=True),
        Column("task_id", LargeBinary(), nullable=True),
        Column("group_id", LargeBinary(), nullable=True),
        Column("step", NUMBER, nullable=True),
        Column("work", LargeBinary(), nullable=True),
        Column("ok", Boolean(), nullable=False),
        Column("has_error", Boolean(), nullable=False),
        Column("is_timeout", Boolean(), nullable=False),
        Column("outcome", LargeBinary(), nullable=True),
        Column("error_type", LargeBinary(), nullable=True),
        Column("error_message", LargeBinary(), nullable=True),
        Column("n_traces", NUMBER, nullable=False),
        Column("reward", Float(precision=53), nullable=True),
        Column("schema_version", NUMBER, nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_episodes_project"),
        PrimaryKeyConstraint("project", "seq", name="pk_episodes"),
    )
    op.create_index("ix_episodes_batch", "episodes", ["project", "batch"])
    op.create_index("ix_episodes_created", "episodes", ["project", "created_us", "seq"])
    op.create_index("ix_episodes_run", "episodes", ["project", "run_id", "created_us", "seq"])
    op.create_table(
        "evaluations",
        Column("id", String(64), nullable=False),
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, nullable=False),
        Column("evh_run_id", LargeBinary(), nullable=True),
        Column("name", LargeBinary(), nullable=False),
        Column("status", String(16), nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("updated_us", NUMBER, nullable=False),
        Column("closed_us", NUMBER, nullable=True),
        Column("model_name", LargeBinary(), nullable=True),
        Column("suite_id", LargeBinary(), nullable=True),
        Column("team_id", LargeBinary(), nullable=True),
        Column("error_message", LargeBinary(), nullable=True),
        Column("environments", LargeBinary(), nullable=False),
        Column("tags", LargeBinary(), nullable=False),
        Column("metadata", LargeBinary(), nullable=True),
        Column("metrics", LargeBinary(), nullable=True),
        Column("document", LargeBinary(), nullable=False),
        Column("total_samples", NUMBER, nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_evaluations_project"),
        PrimaryKeyConstraint("id", name="pk_evaluations"),
    )
    op.create_index("ix_evaluations_seq", "evaluations", ["project", "seq"])
    op.create_index("uq_evaluations_evh_run_id", "evaluations", ["project", "evh_run_id"], unique=True)
    op.create_table(
        "tokens",
        Column("prefix", String(32), nullable=False),
        Column("project", NUMBER, nullable=False),
        Column("name", LargeBinary(), nullable=False),
        Column("scopes", String(200), nullable=False),
        Column("secret", LargeBinary(), nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("expires_us", NUMBER, nullable=True),
        Column("last_used_us", NUMBER, nullable=True),
        Column("revoked_us", NUMBER, nullable=True),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_tokens_project"),
        PrimaryKeyConstraint("prefix", name="pk_tokens"),
    )
    op.create_index("ix_tokens_project", "tokens", ["project"])
    op.create_table(
        "tombstones",
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, autoincrement=False, nullable=False),
        Column("kind", String(16), nullable=False),
        Column("name", LargeBinary(), nullable=False),
        Column("copies", NUMBER, nullable=False),
        Column("deleted_us", NUMBER, nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_tombstones_project"),
        PrimaryKeyConstraint("project", "seq", name="pk_tombstones"),
    )
    op.create_table(
        "traces",
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, autoincrement=False, nullable=False),
        Column("batch", NUMBER, nullable=False),
        Column("trace_id", LargeBinary(), nullable=False),
        Column("episode_id", LargeBinary(), nullable=True),
        Column("episode_seq", NUMBER, nullable=True),
        Column("position", NUMBER, nullable=False),
        Column("digest", LargeBinary(), nullable=False),
        Column("latest", Boolean(), nullable=False),
        Column("deleted_us", NUMBER, nullable=True),
        Column("segment", String(64), nullable=False),
        Column("offset", NUMBER, nullable=False),
        Column("length", NUMBER, nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("ingested_us", NUMBER, nullable=False),
        Column("run_id", LargeBinary(), nullable=True),
        Column("step", NUMBER, nullable=True),
        Column("environment_id", LargeBinary(), nullable=True),
        Column("model_provider", LargeBinary(), nullable=True),
        Column("model_id", LargeBinary(), nullable=True),
        Column("task_id", LargeBinary(), nullable=True),
        Column("agent_name", LargeBinary(), nullable=True),
        Column("reward", Float(precision=53), nullable=True),
        Column("outcome", LargeBinary(), nullable=True),
        Column("has_error", Boolean(), nullable=False),
        Column("is_truncated", Boolean(), nullable=False),
        Column("duration_ms", NUMBER, nullable=False),
        Column("total_tokens", NUMBER, nullable=False),
        Column("size_bytes", NUMBER, nullable=False),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_traces_project"),
        PrimaryKeyConstraint("project", "seq", name="pk_traces"),
    )
    op.create_index("ix_traces_batch", "traces", ["project", "batch"])
    op.create_index("ix_traces_created", "traces", ["project", "created_us", "seq"])
    op.create_index("ix_traces_episode", "traces", ["project", "episode_seq", "position"])
    op.create_index("ix_traces_id", "traces", ["project", "trace_id"])
    op.create_index("ix_traces_run", "traces", ["project", "run_id", "created_us", "seq"])
    op.create_table(
        "training_runs",
        Column("id", String(64), nullable=False),
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, nullable=False),
        Column("name", LargeBinary(), nullable=True),
        Column("status", String(16), nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("updated_us", NUMBER, nullable=False),
        Column("closed_us", NUMBER, nullable=True),
        Column("error_message", LargeBinary(), nullable=True),
        Column("document", LargeBinary(), nullable=False),
        Column("last_step", NUMBER, nullable=True),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_training_runs_project"),
        PrimaryKeyConstraint("id", name="pk_training_runs"),
    )
    op.create_index("ix_training_runs_seq", "training_runs", ["project", "seq"])
    op.create_table(
        "evaluation_environments",
        Column("evaluation", String(64), nullable=False),
        Column("position", NUMBER, autoincrement=False, nullable=False),
        Column("project", NUMBER, nullable=False),
        Column("name", LargeBinary(), nullable=False),
        ForeignKeyConstraint(["evaluation"], ["evaluations.id"], name="fk_evaluation_environments_evaluation"),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_evaluation_environments_project"),
        PrimaryKeyConstraint("evaluation", "position", name="pk_evaluation_environments"),
    )
    op.create_index("ix_evaluation_environments_name", "evaluation_environments", ["project", "name", "evaluation"])
    op.create_table(
        "samples",
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, autoincrement=False, nullable=False),
        Column("evaluation", String(64), nullable=False),
        Column("segment", String(64), nullable=False),
        Column("offset", NUMBER, nullable=False),
        Column("length", NUMBER, nullable=False),
        ForeignKeyConstraint(["evaluation"], ["evaluations.id"], name="fk_samples_evaluation"),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_samples_project"),
        PrimaryKeyConstraint("project", "seq", name="pk_samples"),
    )
    op.create_index("ix_samples_evaluation", "samples", ["evaluation", "seq"])
    op.create_table(
        "training_metrics",
        Column("project", NUMBER, nullable=False),
        Column("seq", NUMBER, autoincrement=False, nullable=False),
        Column("run", String(64), nullable=False),
        Column("step", NUMBER, nullable=True),
        Column("logged_us", NUMBER, nullable=False),
        Column("metrics", LargeBinary(), nullable=False),
        Column("digest", LargeBinary(), nullable=True),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_training_metrics_project"),
        ForeignKeyConstraint(["run"], ["training_runs.id"], name="fk_training_metrics_run"),
        PrimaryKeyConstraint("project", "seq", name="pk_training_metrics"),
    )
    op.create_index("ix_training_metrics_run", "training_metrics", ["run", "seq"])
    op.create_index("uq_training_metrics_digest", "training_metrics", ["run", "digest"], unique=True)
    op.create_table(
        "training_uploads",
        Column("key", String(200), nullable=False),
        Column("project", NUMBER, nullable=False),
        Column("run", String(64), nullable=False),
        Column("step", NUMBER, nullable=False),
        Column("state", String(16), nullable=False),
        Column("secret", LargeBinary(), nullable=False),
        Column("created_us", NUMBER, nullable=False),
        Column("expires_us", NUMBER, nullable=False),
        Column("size", NUMBER, nullable=True),
        Column("digest", LargeBinary(), nullable=True),
        ForeignKeyConstraint(["project"], ["projects.id"], name="fk_training_uploads_project"),
        ForeignKeyConstraint(["run"], ["training_runs.id"], name="fk_training_uploads_run"),
        PrimaryKeyConstraint("key", name="pk_training_uploads"),
    )
    op.create_index("ix_training_uploads_run", "training_uploads", ["run", "step"])
    op.create_index(
        "uq_episodes_version",
        "episodes",
        ["project", "episode_id", text("coalesce(run_id, '')"), "version"],
        unique=True,
    )
