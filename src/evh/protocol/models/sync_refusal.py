# Generated from schema/v1 by `make generate` (sync_refusal.json, sha256 6b50c1102fb4d8e069616529733e0ab34754c85337410a82cddadacdb1b78f5a). Edit the schema, not this file.
"""The closed types of `schema/v1/sync_refusal.json`: sync refusal."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)

ModelModel: TypeAlias = Any


class SyncRefusal(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """A record that the platform does not take: a line of `sync/refused.jsonl`. The record stays in the run and is not sent again until somebody asks for it (`evh sync --retry-refused`)."""

    segment: Annotated[str, Meta(min_length=1)]
    """The file of the run, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`, `steps.jsonl`)."""
    start: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where the record begins in that file, in bytes."""
    end: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Where it ends."""
    row: Annotated[int, Meta(ge=1, le=9007199254740991)]
    """Which row of the file it is, counted from 1."""
    episode_id: str | None = None
    """Id of the episode; null where the record has none."""
    status: Annotated[int, Meta(ge=100, le=9007199254740991)] | None = None
    """HTTP status of the refusal; null when the record was not sent, because it is known what the service does not take."""
    code: Annotated[str, Meta(min_length=1)] | None = None
    """The service's own code, or ours: `line_too_long`, `sample_too_large`, `not_a_row`."""
    message: Annotated[str, Meta(min_length=1)]
    """What was said."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was refused."""
    additional: OverflowSlot = field(default=None, name="*")
