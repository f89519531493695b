# Generated from schema/v1 by `make generate` (lease.json, sha256 8a213e5a1953601753414402da51c9a229c22528aa112ca5f34a9dbe08c85799). Edit the schema, not this file.
"""The closed types of `schema/v1/lease.json`: lease."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)


class Lease(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Who writes a run directory now: its `lease.json`, replaced whole at every beat and removed when the writer closes the run. A lease is taken over only when its process is provably gone: another boot of the same host, or no such process (or a younger one of the same number) on this boot. A silent one is stale, never presumed dead; an explicit flag takes over all the same. Readers need no lease."""

    token: Annotated[str, Meta(min_length=1)]
    """Random name of this hold. A writer that finds another token at a beat has been replaced, and stops."""
    host: Annotated[str, Meta(min_length=1)]
    """Name of the writer's machine."""
    machine_id: Annotated[str, Meta(min_length=1)] | None = None
    """What tells the machine from others of its name, through all its boots: a digest of the id that its system gave it; null where it has none."""
    boot_id: Annotated[str, Meta(min_length=1)] | None = None
    """What tells this boot of the machine from any other; null where the system has no such thing."""
    pid_space: Annotated[str, Meta(min_length=1)] | None = None
    """What tells the machine's process numbers from those of its containers; null where the system has no such thing."""
    pid: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Process number of the writer."""
    pid_started: Annotated[str, Meta(min_length=1)] | None = None
    """When that process began, in the system's own count, which is compared and not read: a number used again for a younger process is told by it. Null where the system does not say."""
    acquired_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the writer took the lease."""
    beat_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the writer last said that it lives."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
