# Generated from schema/v1 by `make generate` (sync_intent.json, sha256 e9d09a165e00e5c7588807e0b1cfe19a1e8bd64181f3ebd13c0800054cf352e9). Edit the schema, not this file.
"""The closed types of `schema/v1/sync_intent.json`: sync intent."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)

ModelModel: TypeAlias = Any


class SyncIntent(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The batch that is about to be sent, or was and got no answer yet: the `sync/intent.json` of a run directory, durable before the first byte of the batch leaves. `sync/intent.body` holds the exact bytes. After a crash the same bytes are sent under the same name, so that a service that has them already says so."""

    kind: Annotated[str, Meta(min_length=1)]
    """What is sent: `traces` (lines of episodes), `samples` (rows of the sample table), `metrics` (metrics by step), `table` (a Parquet table of one training step)."""
    segment: Annotated[str, Meta(min_length=1)]
    """The file of the run, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`, `steps.jsonl`)."""
    start: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where the batch begins in that file, in bytes."""
    end: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where it ends: the byte behind its last line end."""
    rows: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows in it."""
    digest: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """SHA-256 of `intent.body`: the name under which it is sent."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was written."""
    retry: bool = field(default_factory=always(False))
    """True for a record that was refused before and is sent again on demand: the cursor does not move for it."""
    step: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = None
    """The training step of a table."""
    place: Annotated[str, Meta(min_length=1)] | None = None
    """The name that the platform has for a table once it said where the bytes go."""
    additional: OverflowSlot = field(default=None, name="*")
