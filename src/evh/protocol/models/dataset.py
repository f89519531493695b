# Generated from schema/v1 by `make generate` (dataset.json, sha256 c25482d72b7062997b1f4f61aad82505a64d474ce0b3447072779a0069a082b3). Edit the schema, not this file.
"""The closed types of `schema/v1/dataset.json`: dataset."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)


class Dataset(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A frozen, named list of items: `data/datasets/<dataset_id>.json`. The digests make it a contract: runs of one dataset were measured on the same bytes."""

    dataset_id: Annotated[str, Meta(max_length=250, min_length=1, pattern="^[a-z0-9_]+(?!\\n)$")]
    """Name of the dataset; also the stem of its file."""
    version: Annotated[str, Meta(min_length=1)]
    """Version of this file format, such as `1.0`."""
    created_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was frozen; kept when it is made again from identical items."""
    description: str | None = None
    """What the items are, for people."""
    source_dir: str | None = None
    """Where the items were taken from, relative to the project's root; a label, never absolute."""
    items: Annotated[list[DatasetItem], Meta(min_length=1)]
    """The items, in the order they are measured. No two have one id."""
    additional: OverflowSlot = field(default=None, name="*")


class DatasetItem(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """One input."""

    item_id: Annotated[str, Meta(min_length=1)]
    """Name of the item within the dataset; by default the path of its source without the last suffix, so it may hold slashes. Never used as a file name as it stands."""
    source_sha256: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """Digest of the bytes of the source when it was frozen."""
    source_path: Annotated[str, Meta(min_length=1)] | None = None
    """The source's file below the materialized dataset, with forward slashes; null means that it is named like the item."""
    tags: list[str] = field(default_factory=list)
    """Labels to select or group items by."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
