# Generated from schema/v1 by `make generate` (item_error.json, sha256 2f91729f07c839215b371eb568282016d2b112c36cb6f19c5665bed00fbe0afa). Edit the schema, not this file.
"""The closed types of `schema/v1/item_error.json`: item error."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)


class ItemError(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A failed attempt at an item, retries used up: a line of `errors.jsonl`. The item is owed until a later attempt measures it or the user accepts the failure."""

    item_id: Annotated[str, Meta(min_length=1)]
    """The item, as the dataset names it."""
    attempt: Annotated[int, Meta(ge=1, le=9007199254740991)]
    """Launch of the run in which it failed, as in `attempts.jsonl`."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it failed."""
    tries: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = None
    """Calls that were made, the first one included."""
    type: Annotated[str, Meta(min_length=1)]
    """Class of the last error."""
    message: str
    """What it said, with secrets masked."""
    traceback: str | None = None
    """Where in the adapter it came from, with secrets masked; cut in the middle when it is long."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
