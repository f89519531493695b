# Generated from schema/v1 by `make generate` (sync_state.json, sha256 cc4f5b0ad60122b161fd4b345005f2d45770bbf8d577ff8548f92c9bcfbb133e). Edit the schema, not this file.
"""The closed types of `schema/v1/sync_state.json`: sync state."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)

ModelModel: TypeAlias = Any


NextTryAt: TypeAlias = Annotated[
    str,
    Meta(
        max_length=30,
        pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
    ),
]


Note: TypeAlias = Annotated[str, Meta(description="A sentence.", min_length=1)]


class SeenRows(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """How much of a file was counted."""

    offset: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Bytes that were counted: the beginning of a line."""
    rows: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows in them."""
    additional: OverflowSlot = field(default=None, name="*")


class SyncState(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """What the uploader of a run does now: the `sync/state.json` of a run directory, replaced whole. For people and progress bars; nothing is decided by it."""

    state: Annotated[str, Meta(min_length=1)]
    """`starting`, `sending`, `waiting` (for records), `retrying` (the platform does not answer), `paused` (it answers no, to everything), `finished` (everything is sent and the run is closed there), `stopped`."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was written."""
    error: Annotated[str, Meta(max_length=4096)] | None = None
    """What keeps the upload from going on, in a sentence for people; null when nothing does."""
    next_try_at: NextTryAt | None = None
    """When it is tried again."""
    seen: dict[str, SeenRows] = field(default_factory=dict)
    """Files of the run as the uploader last saw them, so that nobody has to count their rows from the start."""
    notes: list[Note] = field(default_factory=list)
    """What was odd, in sentences for people: a torn last line, say."""
    host: Annotated[str, Meta(min_length=1)]
    """Name of the uploader's machine."""
    machine_id: Annotated[str, Meta(min_length=1)] | None = None
    """What tells the machine from others of its name; null where it has no such thing."""
    boot_id: Annotated[str, Meta(min_length=1)] | None = None
    """What tells this boot of the machine from any other."""
    pid_space: Annotated[str, Meta(min_length=1)] | None = None
    """What tells the machine's process numbers from those of its containers."""
    pid: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Process number of the uploader."""
    pid_started: Annotated[str, Meta(min_length=1)] | None = None
    """When that process began, in the system's own count."""
    additional: OverflowSlot = field(default=None, name="*")
