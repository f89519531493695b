# Generated from schema/v1 by `make generate` (sync_remote.json, sha256 2f329dee96e5e451bac92c849cb3a458c81a238cf10e4f996bf49344640e2c71). Edit the schema, not this file.
"""The closed types of `schema/v1/sync_remote.json`: sync remote."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)

ModelModel: TypeAlias = Any


class SyncRemote(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """What a platform calls a run: the `sync/remote.json` of a run directory. Written before the run is opened there, so that a try whose answer is lost is asked about before another one is made."""

    state: Annotated[str, Meta(min_length=1)]
    """`creating`: the platform was or is about to be asked to open the run. `open`: it has. `closed`: it was told how the run ended."""
    kind: Annotated[str, Meta(min_length=1)]
    """What the run is there."""
    base_url: Annotated[str, Meta(min_length=1)]
    """Address of the platform. Records of the run go nowhere else."""
    team_id: str | None = None
    """The team that the run belongs to there; null means the owner of the key."""
    remote_id: Annotated[str, Meta(min_length=1)] | None = None
    """The platform's own id of the run; null until it answered."""
    url: str | None = None
    """Where people look at it; null when the platform did not say."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When this state was written."""
    transport: str = field(default_factory=always("traces"))
    """How episodes go there: `traces`, whole and compressed, or `samples`, as rows of its sample table, for an account that has no traces service."""
    status: str | None = None
    """The status that the run has there since it was closed, as the platform says it (`COMPLETED`, `FAILED`, `CANCELLED`)."""
    doubts: Annotated[int, Meta(ge=0, le=9007199254740991)] = field(default_factory=always(0))
    """Tries to open a training run whose answer was lost and that nobody can ask about: so many runs without any records may stand there as well."""
    additional: OverflowSlot = field(default=None, name="*")
