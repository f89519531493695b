# Generated from schema/v1 by `make generate` (all files, sha256 fd111b4c66d2d66dc2ecdb934f95a0d28d2074f1e6f9fb02ac59c13b55fb02a4). Edit the schema, not this file.
"""What the schemas say, as data for the explaining reader, the upgrade and the checks."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["CLASSES", "FILES", "RETIRED", "ROOTS", "SECRETS", "UNIONS", "ClassTable", "MemberTable", "UnionTable"]


class MemberTable(NamedTuple):
    """A member: its kind, how it may be missing, and our annotations on it.

    A kind is `(what, type name)`, `(what, kind of the items)` or `(what,)`; a third entry says that items may be null.
    """

    kind: tuple[Any, ...]
    required: bool = False
    nullable: bool = False
    marks: frozenset[str] = frozenset()


class ClassTable(NamedTuple):
    """An object type: closed or open, its members by wire name, its tag member when it is a variant of a union, and the
    kind of the members it does not name where an open type has one (metrics are numbers)."""

    closed: bool
    members: dict[str, MemberTable]
    tag: str | None = None
    rest: tuple[Any, ...] | None = None


class UnionTable(NamedTuple):
    """A union: the tag member, the class of each tag, the arm for unknown tags."""

    tag: str
    variants: dict[str, str]
    arm: str


CLASSES: dict[str, ClassTable] = {
    "Attempt": ClassTable(
        True,
        {
            "attempt": MemberTable(("integer",), required=True),
            "started_at": MemberTable(("scalar",), required=True),
            "harness_version": MemberTable(("scalar",), required=True),
            "items_done": MemberTable(("integer",), required=True),
            "items_owed": MemberTable(("integer",), required=True),
            "config_path": MemberTable(("scalar",), nullable=True),
            "concurrency": MemberTable(("integer",), nullable=True),
            "fsync": MemberTable(("scalar",), nullable=True),
            "accept_failures": MemberTable(("scalar",)),
            "changed": MemberTable(("array", ("scalar",)), marks=frozenset(["omit-empty"])),
            "repairs": MemberTable(("array", ("scalar",)), marks=frozenset(["omit-empty"])),
            "host": MemberTable(("scalar",), nullable=True),
            "pid": MemberTable(("integer",), nullable=True),
        },
    ),
    "Baseline": ClassTable(
        True,
        {
            "baseline_id": MemberTable(("scalar",), required=True),
            "dataset_id": MemberTable(("scalar",), required=True),
            "promoted_from": MemberTable(("scalar",), required=True),
            "promoted_at": MemberTable(("scalar",), required=True),
            "scores": MemberTable(("map", ("number",)), required=True),
            "build": MemberTable(("class", "Build"), required=True),
            "reason": MemberTable(("scalar",), nullable=True),
            "supersedes": MemberTable(("scalar",), nullable=True),
        },
    ),
    "Config": ClassTable(
        True,
        {
            "config_id": MemberTable(("scalar",), required=True),
            "dataset_id": MemberTable(("scalar",), required=True),
            "adapter": MemberTable(("scalar",), nullable=True),
            "params": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
            "goal": MemberTable(("scalar",), nullable=True),
            "format": MemberTable(("scalar",), nullable=True),
            "round": MemberTable(("scalar",), nullable=True),
        },
    ),
    "Dataset": ClassTable(
        True,
        {
            "dataset_id": MemberTable(("scalar",), required=True),
            "version": MemberTable(("scalar",), required=True),
            "created_at": MemberTable(("scalar",), required=True),
            "description": MemberTable(("scalar",), nullable=True),
            "source_dir": MemberTable(("scalar",), nullable=True),
            "items": MemberTable(("array", ("class", "DatasetItem")), required=True),
        },
    ),
    "DatasetItem": ClassTable(
        True,
        {
            "item_id": MemberTable(("scalar",), required=True),
            "source_sha256": MemberTable(("scalar",), required=True),
            "source_path": MemberTable(("scalar",), nullable=True),
            "tags": MemberTable(("array", ("scalar",)), marks=frozenset(["omit-empty"])),
        },
    ),
    "RescoreDerived": ClassTable(
        True,
        {
            "kind": MemberTable(("scalar",), required=True),
            "from": MemberTable(("scalar",), required=True),
            "at": MemberTable(("scalar",), required=True),
            "with": MemberTable(("class", "RescoreWith"), required=True),
            "source": MemberTable(("union", "Derived"), nullable=True),
        },
        "kind",
    ),
    "JudgeDerived": ClassTable(
        True,
        {
            "kind": MemberTable(("scalar",), required=True),
            "from": MemberTable(("scalar",), required=True),
            "at": MemberTable(("scalar",), required=True),
            "with": MemberTable(("class", "JudgeWith"), required=True),
            "source": MemberTable(("union", "Derived"), nullable=True),
        },
        "kind",
    ),
    "ReparseDerived": ClassTable(
        True,
        {
            "kind": MemberTable(("scalar",), required=True),
            "from": MemberTable(("scalar",), required=True),
            "at": MemberTable(("scalar",), required=True),
            "with": MemberTable(("class", "ReparseWith"), required=True),
            "source": MemberTable(("union", "Derived"), nullable=True),
        },
        "kind",
    ),
    "RescoreWith": ClassTable(
        True,
        {
            "adapter": MemberTable(("scalar",), required=True),
            "sha256": MemberTable(("scalar",), required=True),
            "scorer": MemberTable(("map", ("scalar",)), marks=frozenset(["omit-empty"])),
            "rows_sha256": MemberTable(("scalar",), nullable=True),
            "harness_version": MemberTable(("scalar",), nullable=True),
        },
    ),
    "JudgeWith": ClassTable(
        True,
        {
            "scorer": MemberTable(("scalar",), required=True),
            "sha256": MemberTable(("scalar",), required=True),
            "model": MemberTable(("scalar",), required=True),
            "file": MemberTable(("scalar",), nullable=True),
            "file_sha256": MemberTable(("scalar",), nullable=True),
            "prompt_sha256": MemberTable(("scalar",), nullable=True),
            "parser_sha256": MemberTable(("scalar",), nullable=True),
            "params": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
            "models_seen": MemberTable(("map", ("integer",)), marks=frozenset(["omit-empty"])),
            "rows_sha256": MemberTable(("scalar",), nullable=True),
            "harness_version": MemberTable(("scalar",), nullable=True),
        },
    ),
    "ReparseWith": ClassTable(
        True,
        {
            "parser": MemberTable(("scalar",), required=True),
            "parser_sha256": MemberTable(("scalar",), nullable=True),
            "adapter": MemberTable(("scalar",), nullable=True),
            "scorer_sha256": MemberTable(("scalar",), required=True),
            "rows_sha256": MemberTable(("scalar",), nullable=True),
            "harness_version": MemberTable(("scalar",), nullable=True),
        },
    ),
    "Episode": ClassTable(
        True,
        {
            "schema": MemberTable(("scalar",), nullable=True),
            "id": MemberTable(("scalar",), required=True),
            "env": MemberTable(("class", "EnvInfo")),
            "task": MemberTable(("class", "TraceTask"), required=True),
            "group": MemberTable(("class", "GroupInfo"), nullable=True),
            "run": MemberTable(("union", "RunInfo"), nullable=True),
            "ok": MemberTable(("scalar",)),
            "is_timeout": MemberTable(("scalar",)),
            "errors": MemberTable(("array", ("class", "Error"))),
            "traces": MemberTable(("array", ("class", "Trace"))),
            "info": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
            "num_input_tokens": MemberTable(("integer",), nullable=True, marks=frozenset(["computed"])),
            "num_output_tokens": MemberTable(("integer",), nullable=True, marks=frozenset(["computed"])),
            "num_total_tokens": MemberTable(("integer",), nullable=True, marks=frozenset(["computed"])),
        },
    ),
    "EnvInfo": ClassTable(
        True,
        {
            "id": MemberTable(("scalar",)),
            "name": MemberTable(("scalar",), nullable=True),
        },
    ),
    "GroupInfo": ClassTable(
        True,
        {
            "id": MemberTable(("scalar",), required=True),
        },
    ),
    "Goal": ClassTable(
        True,
        {
            "goal_id": MemberTable(("scalar",), required=True),
            "statement": MemberTable(("scalar",), required=True),
            "dataset_id": MemberTable(("scalar",), required=True),
            "metric": MemberTable(("scalar",), required=True),
            "direction": MemberTable(("scalar",), required=True),
            "cut_over": MemberTable(("scalar",), required=True),
            "requires": MemberTable(("class", "GoalRequires")),
        },
    ),
    "GoalRequires": ClassTable(
        True,
        {
            "reference_tier": MemberTable(("scalar",), nullable=True),
            "primary_metric": MemberTable(("scalar",), nullable=True),
            "min_items": MemberTable(("integer",), nullable=True),
            "build_clean": MemberTable(("scalar",)),
        },
    ),
    "ItemError": ClassTable(
        True,
        {
            "item_id": MemberTable(("scalar",), required=True),
            "attempt": MemberTable(("integer",), required=True),
            "at": MemberTable(("scalar",), required=True),
            "tries": MemberTable(("integer",), nullable=True),
            "type": MemberTable(("scalar",), required=True),
            "message": MemberTable(("scalar",), required=True),
            "traceback": MemberTable(("scalar",), nullable=True),
        },
    ),
    "Lease": ClassTable(
        True,
        {
            "token": MemberTable(("scalar",), required=True),
            "host": MemberTable(("scalar",), required=True),
            "machine_id": MemberTable(("scalar",), nullable=True),
            "boot_id": MemberTable(("scalar",), nullable=True),
            "pid_space": MemberTable(("scalar",), nullable=True),
            "pid": MemberTable(("integer",), required=True),
            "pid_started": MemberTable(("scalar",), nullable=True),
            "acquired_at": MemberTable(("scalar",), required=True),
            "beat_at": MemberTable(("scalar",), required=True),
        },
    ),
    "PredictionRow": ClassTable(
        False,
        {
            "item_id": MemberTable(("scalar",), required=True),
            "latency_ms": MemberTable(("number",), nullable=True),
            "cost_usd": MemberTable(("number",), nullable=True),
            "tokens_in": MemberTable(("number",), nullable=True),
            "tokens_out": MemberTable(("number",), nullable=True),
            "output_words": MemberTable(("number",), nullable=True),
            "_extra": MemberTable(("map", ("number",)), nullable=True),
            "_meta": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
            "_error": MemberTable(("scalar",), nullable=True),
            "_output_sha256": MemberTable(("scalar",), nullable=True),
        },
        rest=("number",),
    ),
    "ReferenceManifest": ClassTable(
        True,
        {
            "dataset_id": MemberTable(("scalar",), required=True),
            "tier": MemberTable(("scalar",), required=True),
            "created_at": MemberTable(("scalar",), required=True),
            "n_items": MemberTable(("integer",), required=True),
            "source": MemberTable(("scalar",), nullable=True),
            "authored_by": MemberTable(("scalar",), nullable=True),
            "authored_with": MemberTable(("scalar",), nullable=True),
            "model": MemberTable(("scalar",), nullable=True),
            "system_under_test": MemberTable(("class", "FingerprintSystem"), nullable=True),
            "params": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
            "cost_usd": MemberTable(("number",), nullable=True),
            "caveat": MemberTable(("scalar",), nullable=True),
        },
    ),
    "EvalRunInfo": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "id": MemberTable(("scalar",), required=True),
            "name": MemberTable(("scalar",), nullable=True),
        },
        "type",
    ),
    "TrainRunInfo": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "id": MemberTable(("scalar",), required=True),
            "name": MemberTable(("scalar",), nullable=True),
            "work": MemberTable(("union", "WorkInfo"), required=True),
        },
        "type",
    ),
    "TrainWorkInfo": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "step": MemberTable(("integer",), required=True),
            "policy": MemberTable(("class", "PolicySpan"), nullable=True),
        },
        "type",
    ),
    "EvalWorkInfo": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "step": MemberTable(("integer",), required=True),
            "policy": MemberTable(("class", "PolicySpan"), nullable=True),
        },
        "type",
    ),
    "PolicySpan": ClassTable(
        True,
        {
            "start": MemberTable(("integer",), required=True),
            "end": MemberTable(("integer",), required=True),
        },
    ),
    "RunManifest": ClassTable(
        True,
        {
            "schema": MemberTable(("scalar",), nullable=True),
            "run_id": MemberTable(("scalar",), required=True),
            "kind": MemberTable(("scalar",)),
            "dataset_id": MemberTable(("scalar",), nullable=True),
            "config_id": MemberTable(("scalar",), nullable=True),
            "started_at": MemberTable(("scalar",), required=True),
            "harness_version": MemberTable(("scalar",), required=True),
            "config": MemberTable(("object", "JsonObject"), required=True),
            "build": MemberTable(("class", "Build"), nullable=True),
            "fingerprint": MemberTable(("class", "Fingerprint"), nullable=True),
            "imported": MemberTable(("class", "Imported"), nullable=True),
            "n_items_planned": MemberTable(("integer",), nullable=True),
            "repeat_index": MemberTable(("integer",), nullable=True),
            "repeats": MemberTable(("integer",), nullable=True),
            "name": MemberTable(("scalar",), nullable=True),
            "environments": MemberTable(("array", ("scalar",)), marks=frozenset(["omit-empty"])),
            "model": MemberTable(("scalar",), nullable=True),
            "framework": MemberTable(("scalar",), nullable=True),
            "num_examples": MemberTable(("integer",), nullable=True),
            "rollouts_per_example": MemberTable(("integer",), nullable=True),
            "config_source": MemberTable(("class", "ConfigSource"), nullable=True),
            "host": MemberTable(("scalar",), nullable=True),
            "pid": MemberTable(("integer",), nullable=True),
        },
    ),
    "ConfigSource": ClassTable(
        True,
        {
            "format": MemberTable(("scalar",), required=True),
            "text": MemberTable(("scalar",), required=True),
            "filename": MemberTable(("scalar",), nullable=True),
        },
    ),
    "RunRecord": ClassTable(
        True,
        {
            "run_id": MemberTable(("scalar",), required=True),
            "dataset_id": MemberTable(("scalar",), required=True),
            "config_id": MemberTable(("scalar",), required=True),
            "build": MemberTable(("class", "Build"), required=True),
            "created_at": MemberTable(("scalar",), required=True),
            "source_created_at": MemberTable(("scalar",), nullable=True),
            "scores": MemberTable(("map", ("number",)), required=True),
            "n_items": MemberTable(("integer",), required=True),
            "n_errors": MemberTable(("integer",), nullable=True),
            "params": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
            "adapter": MemberTable(("scalar",), nullable=True),
            "fingerprint": MemberTable(("class", "Fingerprint"), nullable=True),
            "primary_metric": MemberTable(("scalar",), nullable=True),
            "metric_kinds": MemberTable(("map", ("scalar",)), marks=frozenset(["omit-empty"])),
            "metric_directions": MemberTable(("map", ("scalar",)), marks=frozenset(["omit-empty"])),
            "metric_descriptions": MemberTable(("map", ("scalar",)), marks=frozenset(["omit-empty"])),
            "reference_tier": MemberTable(("scalar",), nullable=True),
            "reference_coverage": MemberTable(("class", "ReferenceCoverage"), nullable=True),
            "goal": MemberTable(("scalar",), nullable=True),
            "format": MemberTable(("scalar",), nullable=True),
            "round": MemberTable(("scalar",), nullable=True),
            "repeat_index": MemberTable(("integer",), nullable=True),
            "resume": MemberTable(("class", "Resume"), nullable=True),
            "providers_seen": MemberTable(("map", ("integer",)), marks=frozenset(["omit-empty"])),
            "warmup_ms": MemberTable(("number",), nullable=True),
            "imported": MemberTable(("class", "Imported"), nullable=True),
            "derived": MemberTable(("union", "Derived"), nullable=True),
        },
    ),
    "Build": ClassTable(
        True,
        {
            "ref": MemberTable(("scalar",), required=True),
            "dirty": MemberTable(("scalar",), nullable=True),
            "source": MemberTable(("scalar",), nullable=True),
        },
    ),
    "ReferenceCoverage": ClassTable(
        True,
        {
            "items_with_reference": MemberTable(("integer",), required=True),
            "items": MemberTable(("integer",), required=True),
        },
    ),
    "Resume": ClassTable(
        True,
        {
            "resumed_items": MemberTable(("integer",), required=True),
            "attempts": MemberTable(("integer",), required=True),
            "last_at": MemberTable(("scalar",), required=True),
        },
    ),
    "Imported": ClassTable(
        True,
        {
            "from": MemberTable(("scalar",), required=True),
            "at": MemberTable(("scalar",), required=True),
            "sha256": MemberTable(("scalar",), required=True),
            "tool": MemberTable(("scalar",), nullable=True),
            "lossy": MemberTable(("array", ("scalar",)), marks=frozenset(["omit-empty"])),
        },
    ),
    "Fingerprint": ClassTable(
        True,
        {
            "version": MemberTable(("integer",), required=True),
            "instrument": MemberTable(("class", "FingerprintInstrument"), required=True),
            "system_under_test": MemberTable(("class", "FingerprintSystem"), nullable=True),
            "data": MemberTable(("class", "FingerprintData"), required=True),
            "host": MemberTable(("class", "FingerprintHost"), nullable=True),
            "arm": MemberTable(("class", "FingerprintArm"), required=True),
            "hash": MemberTable(("scalar",), nullable=True),
            "hash_invalid_because": MemberTable(("scalar",), nullable=True),
        },
    ),
    "FingerprintInstrument": ClassTable(
        True,
        {
            "harness": MemberTable(("class", "FingerprintHarness"), required=True),
            "adapter": MemberTable(("class", "FingerprintAdapter"), required=True),
        },
    ),
    "FingerprintHarness": ClassTable(
        True,
        {
            "commit": MemberTable(("scalar",), nullable=True),
            "dirty": MemberTable(("scalar",), nullable=True),
        },
    ),
    "FingerprintAdapter": ClassTable(
        True,
        {
            "id": MemberTable(("scalar",), required=True),
            "sha256": MemberTable(("scalar",), nullable=True),
        },
    ),
    "FingerprintSystem": ClassTable(
        True,
        {
            "model": MemberTable(("open", "FingerprintModel"), required=True),
            "libraries": MemberTable(("map", ("scalar",)), marks=frozenset(["omit-empty"])),
        },
    ),
    "FingerprintModel": ClassTable(
        False,
        {
            "identity_declared": MemberTable(("scalar",), required=True),
            "revision": MemberTable(("scalar",), nullable=True),
            "revision_source": MemberTable(("scalar",), nullable=True),
            "error": MemberTable(("scalar",), nullable=True),
        },
    ),
    "FingerprintData": ClassTable(
        True,
        {
            "dataset_id": MemberTable(("scalar",), required=True),
            "items_sha256": MemberTable(("scalar",), required=True),
            "n_items": MemberTable(("integer",), required=True),
            "reference_id": MemberTable(("scalar",), nullable=True),
            "reference_tier": MemberTable(("scalar",), nullable=True),
            "references_sha256": MemberTable(("scalar",), nullable=True),
            "reference_id_at_measurement": MemberTable(("scalar",), nullable=True),
            "references_sha256_at_measurement": MemberTable(("scalar",), nullable=True),
        },
    ),
    "FingerprintHost": ClassTable(
        True,
        {
            "label": MemberTable(("scalar",), nullable=True),
            "platform": MemberTable(("scalar",), nullable=True),
            "release": MemberTable(("scalar",), nullable=True),
            "processor": MemberTable(("scalar",), nullable=True),
            "cpu_count": MemberTable(("integer",), nullable=True),
            "python": MemberTable(("scalar",), nullable=True),
        },
    ),
    "FingerprintArm": ClassTable(
        True,
        {
            "config_id": MemberTable(("scalar",), required=True),
            "params": MemberTable(("object", "JsonObject"), marks=frozenset(["omit-empty"])),
        },
    ),
    "Trace": ClassTable(
        True,
        {
            "version": MemberTable(("integer",)),
            "id": MemberTable(("scalar",), required=True),
            "verifiers": MemberTable(("class", "VersionInfo"), nullable=True),
            "task": MemberTable(("class", "TraceTask"), required=True),
            "agent": MemberTable(("class", "AgentInfo"), required=True),
            "tools": MemberTable(("array", ("open", "Tool"))),
            "nodes": MemberTable(("array", ("class", "MessageNode"))),
            "calls": MemberTable(("array", ("class", "ModelCall"))),
            "mm_token_type_id_map": MemberTable(("map", ("integer",))),
            "request_rewrites": MemberTable(("array", ("class", "InterceptRecord"))),
            "response_rewrites": MemberTable(("array", ("class", "InterceptRecord"))),
            "rewards": MemberTable(("map", ("class", "Reward"), True)),
            "metrics": MemberTable(("map", ("number",), True)),
            "info": MemberTable(("object", "JsonObject")),
            "root_reply": MemberTable(("scalar",), nullable=True),
            "extra_usage": MemberTable(("array", ("class", "Usage"))),
            "is_completed": MemberTable(("scalar",)),
            "ok": MemberTable(("scalar",)),
            "stop_condition": MemberTable(("scalar",), nullable=True),
            "is_timeout": MemberTable(("scalar",)),
            "errors": MemberTable(("array", ("class", "Error"))),
            "timing": MemberTable(("class", "Timing"), required=True),
            "num_input_tokens": MemberTable(("integer",), nullable=True, marks=frozenset(["computed"])),
            "num_output_tokens": MemberTable(("integer",), nullable=True, marks=frozenset(["computed"])),
            "num_total_tokens": MemberTable(("integer",), nullable=True, marks=frozenset(["computed"])),
        },
    ),
    "VersionInfo": ClassTable(
        True,
        {
            "version": MemberTable(("scalar",), required=True),
            "commit": MemberTable(("scalar",), nullable=True),
        },
    ),
    "TraceTask": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "data": MemberTable(("open", "TaskData"), required=True),
            "key": MemberTable(("scalar",), nullable=True),
            "hash": MemberTable(("scalar",), nullable=True),
        },
    ),
    "TaskData": ClassTable(
        False,
        {
            "idx": MemberTable(("integer",), nullable=True),
            "id": MemberTable(("scalar",), nullable=True),
            "name": MemberTable(("scalar",), nullable=True),
            "description": MemberTable(("scalar",), nullable=True),
            "prompt": MemberTable(("scalar",), nullable=True),
            "system_prompt": MemberTable(("scalar",), nullable=True),
            "image": MemberTable(("scalar",), nullable=True),
            "workdir": MemberTable(("scalar",), nullable=True),
            "agent_user": MemberTable(("scalar",), nullable=True),
            "skills": MemberTable(("array", ("any",))),
            "network_allow": MemberTable(("array", ("scalar",))),
            "network_block": MemberTable(("array", ("scalar",))),
            "artifacts": MemberTable(("array", ("open", "Artifact"))),
            "artifact_max_bytes": MemberTable(("integer",), nullable=True),
            "timeout": MemberTable(("open", "TaskTimeout"), nullable=True),
            "resources": MemberTable(("open", "TaskResources"), nullable=True),
        },
    ),
    "Artifact": ClassTable(
        False,
        {
            "source": MemberTable(("scalar",), nullable=True),
            "exclude": MemberTable(("array", ("scalar",))),
            "required": MemberTable(("scalar",), nullable=True),
        },
    ),
    "TaskTimeout": ClassTable(
        False,
        {
            "setup": MemberTable(("number",), nullable=True),
            "agent": MemberTable(("number",), nullable=True),
            "finalize": MemberTable(("number",), nullable=True),
            "scoring": MemberTable(("number",), nullable=True),
        },
    ),
    "TaskResources": ClassTable(
        False,
        {
            "cpu": MemberTable(("number",), nullable=True),
            "memory": MemberTable(("number",), nullable=True),
            "gpu": MemberTable(("scalar",), nullable=True),
            "disk": MemberTable(("number",), nullable=True),
        },
    ),
    "AgentInfo": ClassTable(
        True,
        {
            "config": MemberTable(("open", "AgentConfig"), required=True),
            "runtime": MemberTable(("open", "Runtime"), nullable=True),
            "name": MemberTable(("scalar",)),
            "trainable": MemberTable(("scalar",)),
        },
    ),
    "AgentConfig": ClassTable(
        False,
        {
            "harness": MemberTable(("open", "HarnessConfig"), nullable=True),
            "runtime": MemberTable(("open", "Runtime"), nullable=True),
            "model": MemberTable(("scalar",), nullable=True),
            "client": MemberTable(("open", "ClientConfig"), nullable=True),
            "sampling": MemberTable(("open", "Sampling"), nullable=True),
            "max_turns": MemberTable(("integer",), nullable=True),
            "max_input_tokens": MemberTable(("integer",), nullable=True),
            "max_output_tokens": MemberTable(("integer",), nullable=True),
            "max_total_tokens": MemberTable(("integer",), nullable=True),
            "timeout": MemberTable(("open", "AgentTimeout"), nullable=True),
            "retries": MemberTable(("open", "RetryConfig"), nullable=True),
            "network_notice": MemberTable(("scalar",), nullable=True),
        },
    ),
    "HarnessConfig": ClassTable(
        False,
        {
            "id": MemberTable(("scalar",), nullable=True),
            "env": MemberTable(("map", ("any",)), nullable=True, marks=frozenset(["secret"])),
            "forward_env": MemberTable(("array", ("scalar",))),
            "tool_timeout": MemberTable(("number",), nullable=True),
            "disabled_tools": MemberTable(("array", ("scalar",)), nullable=True),
            "skills": MemberTable(("array", ("any",))),
        },
    ),
    "ClientConfig": ClassTable(
        False,
        {
            "type": MemberTable(("scalar",), nullable=True),
            "base_url": MemberTable(("scalar",), nullable=True),
            "api_key_var": MemberTable(("scalar",), nullable=True),
            "headers": MemberTable(("map", ("any",)), nullable=True, marks=frozenset(["secret"])),
            "headers_from_env": MemberTable(("map", ("any",)), nullable=True),
        },
    ),
    "Sampling": ClassTable(
        False,
        {
            "temperature": MemberTable(("number",), nullable=True),
            "top_p": MemberTable(("number",), nullable=True),
            "reasoning_effort": MemberTable(("scalar",), nullable=True),
            "max_tokens": MemberTable(("integer",), nullable=True),
        },
    ),
    "AgentTimeout": ClassTable(
        False,
        {
            "setup": MemberTable(("number",), nullable=True),
            "rollout": MemberTable(("number",), nullable=True),
            "finalize": MemberTable(("number",), nullable=True),
            "scoring": MemberTable(("number",), nullable=True),
        },
    ),
    "RetryConfig": ClassTable(
        False,
        {
            "max_retries": MemberTable(("integer",), nullable=True),
        },
    ),
    "Runtime": ClassTable(
        False,
        {
            "type": MemberTable(("scalar",), nullable=True),
            "id": MemberTable(("scalar",), nullable=True),
            "borrowed": MemberTable(("scalar",), nullable=True),
            "image": MemberTable(("scalar",), nullable=True),
            "workdir": MemberTable(("scalar",), nullable=True),
        },
    ),
    "Tool": ClassTable(
        False,
        {
            "type": MemberTable(("scalar",), nullable=True),
            "name": MemberTable(("scalar",), required=True),
            "namespace": MemberTable(("scalar",), nullable=True),
            "description": MemberTable(("scalar",), nullable=True),
            "parameters": MemberTable(("object", "JsonObject"), nullable=True),
            "strict": MemberTable(("scalar",), nullable=True),
        },
    ),
    "MessageNode": ClassTable(
        True,
        {
            "parent": MemberTable(("integer",), nullable=True),
            "tools": MemberTable(("array", ("open", "Tool")), marks=frozenset(["omit-empty"])),
            "semantic_parents": MemberTable(("array", ("class", "ParentLink"))),
            "message": MemberTable(("union", "Message"), required=True),
            "sampled": MemberTable(("scalar",)),
            "timestamp": MemberTable(("number",), nullable=True),
            "token_ids": MemberTable(("array", ("integer",)), marks=frozenset(["stream"])),
            "mask": MemberTable(("array", ("scalar",)), marks=frozenset(["stream"])),
            "is_content": MemberTable(("array", ("scalar",)), marks=frozenset(["stream"])),
            "logprobs": MemberTable(("array", ("number",)), marks=frozenset(["stream"])),
            "advantages": MemberTable(("array", ("number",)), nullable=True, marks=frozenset(["stream"])),
            "reference_logprobs": MemberTable(("array", ("number",)), nullable=True, marks=frozenset(["stream"])),
            "trainer_logprobs": MemberTable(("array", ("number",)), nullable=True, marks=frozenset(["stream"])),
            "entropies": MemberTable(("array", ("number",)), nullable=True, marks=frozenset(["stream"])),
            "loss_weights": MemberTable(("map", ("array", ("number",))), nullable=True, marks=frozenset(["stream"])),
            "multi_modal_data": MemberTable(("object", "JsonObject"), nullable=True, marks=frozenset(["wire"])),
            "routed_experts": MemberTable(("tensor", "Tensor"), nullable=True, marks=frozenset(["wire"])),
            "sampling_mask": MemberTable(("class", "SamplingMask"), nullable=True, marks=frozenset(["wire"])),
        },
    ),
    "SamplingMask": ClassTable(
        True,
        {
            "ids": MemberTable(("tensor", "Tensor"), required=True),
            "counts": MemberTable(("tensor", "Tensor"), required=True),
        },
    ),
    "ParentLink": ClassTable(
        True,
        {
            "node": MemberTable(("integer",), required=True),
            "type": MemberTable(("scalar",), required=True),
        },
    ),
    "SystemMessage": ClassTable(
        True,
        {
            "role": MemberTable(("scalar",), required=True),
            "content": MemberTable(("parts", ("union", "ContentPart")), required=True),
        },
        "role",
    ),
    "UserMessage": ClassTable(
        True,
        {
            "role": MemberTable(("scalar",), required=True),
            "content": MemberTable(("parts", ("union", "ContentPart")), required=True),
        },
        "role",
    ),
    "AssistantMessage": ClassTable(
        True,
        {
            "role": MemberTable(("scalar",), required=True),
            "content": MemberTable(("scalar",), nullable=True),
            "reasoning_content": MemberTable(("scalar",), nullable=True),
            "tool_calls": MemberTable(("array", ("class", "ToolCall")), nullable=True),
            "provider_state": MemberTable(("array", ("object", "JsonObject")), nullable=True),
        },
        "role",
    ),
    "ToolMessage": ClassTable(
        True,
        {
            "role": MemberTable(("scalar",), required=True),
            "tool_call_id": MemberTable(("scalar",), required=True),
            "content": MemberTable(("parts", ("union", "ContentPart")), required=True),
            "name": MemberTable(("scalar",), nullable=True),
        },
        "role",
    ),
    "TextPart": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "text": MemberTable(("scalar",), required=True),
        },
        "type",
    ),
    "ImageUrlPart": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "image_url": MemberTable(("class", "ImageSource"), required=True),
        },
        "type",
    ),
    "ImageSource": ClassTable(
        True,
        {
            "url": MemberTable(("scalar",), required=True),
        },
    ),
    "ToolCall": ClassTable(
        True,
        {
            "id": MemberTable(("scalar",), required=True),
            "type": MemberTable(("scalar",)),
            "name": MemberTable(("scalar",), required=True),
            "namespace": MemberTable(("scalar",), nullable=True),
            "arguments": MemberTable(("scalar",), required=True),
        },
    ),
    "ModelCall": ClassTable(
        True,
        {
            "node": MemberTable(("integer",), nullable=True),
            "model": MemberTable(("scalar",), nullable=True),
            "sampling": MemberTable(("open", "Sampling"), nullable=True),
            "endpoint": MemberTable(("scalar",), nullable=True),
            "finish_reason": MemberTable(("scalar",), nullable=True),
            "usage": MemberTable(("class", "Usage"), nullable=True),
            "time": MemberTable(("class", "TimeSpan")),
            "error": MemberTable(("class", "Error"), nullable=True),
            "policy": MemberTable(("class", "PolicyEvent"), nullable=True),
            "acp": MemberTable(("class", "ACPInfo"), nullable=True),
        },
    ),
    "Usage": ClassTable(
        True,
        {
            "prompt_tokens": MemberTable(("integer",), required=True),
            "completion_tokens": MemberTable(("integer",), required=True),
            "cached_input_tokens": MemberTable(("integer",), nullable=True),
            "reasoning_tokens": MemberTable(("integer",), nullable=True),
            "cost": MemberTable(("number",), nullable=True),
        },
    ),
    "TimeSpan": ClassTable(
        True,
        {
            "start": MemberTable(("number",)),
            "end": MemberTable(("number",)),
        },
    ),
    "TimeSplit": ClassTable(
        True,
        {
            "duration": MemberTable(("number",)),
        },
    ),
    "AgentSpan": ClassTable(
        True,
        {
            "start": MemberTable(("number",)),
            "end": MemberTable(("number",)),
            "model": MemberTable(("class", "TimeSplit")),
            "harness": MemberTable(("class", "TimeSplit")),
        },
    ),
    "Timing": ClassTable(
        True,
        {
            "start": MemberTable(("number",), required=True),
            "boot": MemberTable(("class", "TimeSpan")),
            "setup": MemberTable(("class", "TimeSpan")),
            "agent": MemberTable(("class", "AgentSpan")),
            "finalize": MemberTable(("class", "TimeSpan")),
            "scoring": MemberTable(("class", "TimeSpan")),
        },
    ),
    "PolicyEvent": ClassTable(
        True,
        {
            "code": MemberTable(("scalar",), required=True),
            "paths": MemberTable(("array", ("scalar",)), required=True),
        },
    ),
    "ACPInfo": ClassTable(
        True,
        {
            "request_id": MemberTable(("scalar",), required=True),
        },
    ),
    "InterceptRecord": ClassTable(
        True,
        {
            "handler": MemberTable(("scalar",), required=True),
        },
    ),
    "Reward": ClassTable(
        True,
        {
            "score": MemberTable(("number",), required=True),
            "weight": MemberTable(("number",)),
        },
    ),
    "Error": ClassTable(
        True,
        {
            "type": MemberTable(("scalar",), required=True),
            "message": MemberTable(("scalar",), required=True),
            "status_code": MemberTable(("integer",), nullable=True),
            "traceback": MemberTable(("scalar",), nullable=True),
        },
    ),
}

UNIONS: dict[str, UnionTable] = {
    "Derived": UnionTable(
        "kind", {"rescore": "RescoreDerived", "judge": "JudgeDerived", "reparse": "ReparseDerived"}, "UnknownDerived"
    ),
    "RunInfo": UnionTable("type", {"eval": "EvalRunInfo", "train": "TrainRunInfo"}, "UnknownRunInfo"),
    "WorkInfo": UnionTable("type", {"train": "TrainWorkInfo", "eval": "EvalWorkInfo"}, "UnknownWorkInfo"),
    "Message": UnionTable(
        "role",
        {"system": "SystemMessage", "user": "UserMessage", "assistant": "AssistantMessage", "tool": "ToolMessage"},
        "UnknownMessage",
    ),
    "ContentPart": UnionTable("type", {"text": "TextPart", "image_url": "ImageUrlPart"}, "UnknownContentPart"),
}

ROOTS: dict[str, str] = {
    "Attempt": "attempt",
    "Baseline": "baseline",
    "Config": "config",
    "Dataset": "dataset",
    "Derived": "derived",
    "Episode": "episode",
    "Goal": "goal",
    "ItemError": "item_error",
    "Lease": "lease",
    "PredictionRow": "prediction_row",
    "ReferenceManifest": "reference_manifest",
    "RunInfo": "run_info",
    "RunManifest": "run_manifest",
    "RunRecord": "run_record",
    "Trace": "trace",
}
"""Schema file stem of each type that can be a document."""

FILES: dict[str, str] = {
    "ACPInfo": "trace",
    "AgentConfig": "trace",
    "AgentInfo": "trace",
    "AgentSpan": "trace",
    "AgentTimeout": "trace",
    "Artifact": "trace",
    "AssistantMessage": "trace",
    "Attempt": "attempt",
    "Baseline": "baseline",
    "Build": "run_record",
    "ClientConfig": "trace",
    "Config": "config",
    "ConfigSource": "run_manifest",
    "ContentPart": "trace",
    "Dataset": "dataset",
    "DatasetItem": "dataset",
    "Derived": "derived",
    "EnvInfo": "episode",
    "Episode": "episode",
    "Error": "trace",
    "EvalRunInfo": "run_info",
    "EvalWorkInfo": "run_info",
    "Fingerprint": "run_record",
    "FingerprintAdapter": "run_record",
    "FingerprintArm": "run_record",
    "FingerprintData": "run_record",
    "FingerprintHarness": "run_record",
    "FingerprintHost": "run_record",
    "FingerprintInstrument": "run_record",
    "FingerprintModel": "run_record",
    "FingerprintSystem": "run_record",
    "Goal": "goal",
    "GoalRequires": "goal",
    "GroupInfo": "episode",
    "HarnessConfig": "trace",
    "ImageSource": "trace",
    "ImageUrlPart": "trace",
    "Imported": "run_record",
    "InterceptRecord": "trace",
    "ItemError": "item_error",
    "JudgeDerived": "derived",
    "JudgeWith": "derived",
    "Lease": "lease",
    "Message": "trace",
    "MessageNode": "trace",
    "ModelCall": "trace",
    "ParentLink": "trace",
    "PolicyEvent": "trace",
    "PolicySpan": "run_info",
    "PredictionRow": "prediction_row",
    "ReferenceCoverage": "run_record",
    "ReferenceManifest": "reference_manifest",
    "ReparseDerived": "derived",
    "ReparseWith": "derived",
    "RescoreDerived": "derived",
    "RescoreWith": "derived",
    "Resume": "run_record",
    "RetryConfig": "trace",
    "Reward": "trace",
    "RunInfo": "run_info",
    "RunManifest": "run_manifest",
    "RunRecord": "run_record",
    "Runtime": "trace",
    "Sampling": "trace",
    "SamplingMask": "trace",
    "SystemMessage": "trace",
    "TaskData": "trace",
    "TaskResources": "trace",
    "TaskTimeout": "trace",
    "TextPart": "trace",
    "TimeSpan": "trace",
    "TimeSplit": "trace",
    "Timing": "trace",
    "Tool": "trace",
    "ToolCall": "trace",
    "ToolMessage": "trace",
    "Trace": "trace",
    "TraceTask": "trace",
    "TrainRunInfo": "run_info",
    "TrainWorkInfo": "run_info",
    "Usage": "trace",
    "UserMessage": "trace",
    "VersionInfo": "trace",
    "WorkInfo": "run_info",
}
"""Schema file stem of every type."""

RETIRED: dict[str, dict[str, str]] = {
    "RunRecord": {
        "judge_label": "read derived.with.scorer; run judge-score again to have it",
        "judged_from": "read derived.from; run judge-score again to have it",
        "judged_with": "read derived.with; run judge-score again to have it",
        "primary_metric_asc": "read metric_directions",
        "reparsed_at": "read derived.at; re-parse again to have it",
        "reparsed_from": "read derived.from; re-parse again to have it",
        "reparsed_with": "read derived.with; re-parse again to have it",
        "rescore_dropped_metrics": "compare scores with those of the run that derived.from names",
        "rescored_at": "read derived.at; run rescore again to have it",
        "rescored_from": "read derived.from; run rescore again to have it",
        "rescored_with": "read derived.with; run rescore again to have it",
    },
    "Trace": {"run": "read Episode.run"},
}
"""Retired members by class, with the advice for each."""

SECRETS: frozenset[str] = frozenset(["ClientConfig.headers", "HarnessConfig.env"])
"""Maps whose values are masked in run directories and uploads."""
