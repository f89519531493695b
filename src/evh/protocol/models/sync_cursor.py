# Generated from schema/v1 by `make generate` (sync_cursor.json, sha256 79035ccfad540f156bc292cecbfd126b273cbba9b2766d18c2f302383ef4c327). Edit the schema, not this file.
"""The closed types of `schema/v1/sync_cursor.json`: sync cursor."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)

ModelModel: TypeAlias = Any


class SegmentCursor(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """How far one file of a run was dealt with."""

    offset: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Bytes of the file that were sent or refused: always the beginning of a line, and never beyond what is known to be on disk."""
    rows: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows in these bytes."""
    last_start: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where the last batch begins in the file."""
    last_digest: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the file's bytes from `last_start` to `offset`. A file in which they are others was rewritten, and nothing more of it is sent."""
    additional: OverflowSlot = field(default=None, name="*")


class SyncCursor(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """How far a run was uploaded: the `sync/cursor.json` of a run directory, replaced whole after each batch. What lies before a cursor has a receipt or a refusal; what lies behind it is pending."""

    segments: dict[str, SegmentCursor] = field(default_factory=dict)
    """Cursor of each file of episodes and, for a training run, of metrics, by its path below the run's directory."""
    tables: dict[str, SegmentCursor] = field(default_factory=dict)
    """Cursor of each file of episodes for the Parquet tables of a training run, which follow the episodes."""
    tables_sent: dict[str, TablesSentAdditionalProperty] = field(default_factory=dict)
    """How many tables of each training step were sent, by the step's number."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was written."""
    additional: OverflowSlot = field(default=None, name="*")


TablesSentAdditionalProperty: TypeAlias = Annotated[int, Meta(description="Tables.", ge=0, le=9007199254740991)]
