# Generated from schema/v1 by `make generate` (sync_receipt.json, sha256 34be92f7693bb94a447dd858f0103b9a4aba193c46a82e23b622baa8ebff85f4). Edit the schema, not this file.
"""The closed types of `schema/v1/sync_receipt.json`: sync receipt."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)

ModelModel: TypeAlias = Any


class SyncReceipt(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """A batch that the platform has: a line of `sync/receipts.jsonl`, written when the answer said so and before the cursor moves."""

    kind: Annotated[str, Meta(min_length=1)]
    """What was sent; see the intent."""
    segment: Annotated[str, Meta(min_length=1)]
    """The file of the run, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`, `steps.jsonl`)."""
    start: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where the batch begins in that file, in bytes."""
    end: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where it ends."""
    rows: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows in it."""
    digest: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the bytes that were sent, before compression."""
    bytes: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = None
    """How many bytes that were."""
    upload_id: str | None = None
    """The name that the platform has for it."""
    replayed: bool | None = None
    """True when the platform had it already: an earlier answer was lost. Null where it does not say."""
    retry: bool = field(default_factory=always(False))
    """True for a record that had been refused and was taken now."""
    step: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = None
    """The training step of a table."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the answer came."""
    additional: OverflowSlot = field(default=None, name="*")
