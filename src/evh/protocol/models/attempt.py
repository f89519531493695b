# Generated from schema/v1 by `make generate` (attempt.json, sha256 4736fc5d655f0a6ed2910d3ad1093eeb269403bc635ef1cf74998ccf347e2bcd). Edit the schema, not this file.
"""The closed types of `schema/v1/attempt.json`: attempt."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)


class Attempt(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """One launch of a run, the first or a resume: a line of `attempts.jsonl`, durable before that launch makes its first call."""

    attempt: Annotated[int, Meta(ge=1, le=9007199254740991)]
    """Number of the launch, counted from 1."""
    started_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it began, by the wall clock."""
    harness_version: Annotated[str, Meta(min_length=1)]
    """Version of the harness that was launched."""
    items_done: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items whose rows were there when it began, so that it did not call them again."""
    items_owed: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items it set out to measure."""
    config_path: Annotated[str, Meta(min_length=1)] | None = None
    """File of the config, relative to the project's root with forward slashes; a resume reads it again."""
    concurrency: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = None
    """Calls that may run at once."""
    fsync: str | None = None
    """When rows are synced: `always`, `group` or `never`."""
    accept_failures: bool = field(default_factory=always(False))
    """True when items that failed before get a row with `_error` instead of another call."""
    changed: list[ChangedItem] = field(default_factory=list)
    """Paths of the fingerprint that differ from the manifest's and that the user said to pass over."""
    repairs: list[Repair] = field(default_factory=list)
    """What opening the files had to mend, and rows that were set aside, in sentences for people."""
    host: str | None = None
    """Name of the machine."""
    pid: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = None
    """Process number."""
    additional: OverflowSlot = field(default=None, name="*")


ChangedItem: TypeAlias = Annotated[str, Meta(description="A path, such as `instrument.adapter.sha256`.", min_length=1)]


ModelModel: TypeAlias = Any


Repair: TypeAlias = Annotated[str, Meta(description="One repair.", min_length=1)]
