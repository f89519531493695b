# Generated from schema/v1 by `make generate` (config.json, sha256 b23992c808d1301b82f44c8ab03e9281e4b212b29bf5fdb7847b6af62abfc61c). Edit the schema, not this file.
"""The closed types of `schema/v1/config.json`: config."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)


class Config(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """One way to produce outputs: the YAML file `data/configs/<name>.yaml`, read by the safe loader, as JSON. An unknown key is a typing error and refused before the first call."""

    config_id: Annotated[str, Meta(min_length=1)]
    """Name of the instrument; a change that makes its numbers incomparable needs a new one."""
    dataset_id: Annotated[str, Meta(min_length=1)]
    """The dataset to measure."""
    adapter: Annotated[str, Meta(min_length=1)] | None = None
    """The adapter's file, looked for in the config's folder first, then in the project's root; null means the one that comes with the harness."""
    params: dict[str, Any] = field(default_factory=dict)
    """Knobs handed to the adapter as they stand, and published in the record; keys of services are named by variable (`api_key_env`), never written here."""
    goal: str | None = None
    """Id of the goal policy the runs are made under; copied into the record."""
    format: str | None = None
    """Output format the arm is asked for; copied into the record."""
    round: str | None = None
    """Round of a sweep, a text (`"3"`, not `3`); copied into the record."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
