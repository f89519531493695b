# Generated from schema/v1 by `make generate` (run_end.json, sha256 d96cd322c2e492c7451b76d2ecd75f5df22d67fdc4558994a6fcafd58b7b922e). Edit the schema, not this file.
"""The closed types of `schema/v1/run_end.json`: run end."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)

Loss: TypeAlias = Annotated[str, Meta(description="One loss.", min_length=1)]


ModelModel: TypeAlias = Any


class RunCounts(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """What a run holds."""

    episodes: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows of episodes, in all segments."""
    steps: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows of metrics by step."""
    segments: dict[str, SegmentsAdditionalProperty] = field(default_factory=dict)
    """Rows of each file of episodes, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`)."""
    additional: OverflowSlot = field(default=None, name="*")


class RunEnd(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """How a run that was held open ended: the `end.json` of a live or training run, written last, when everything that it counts is in place. A live run without it is not closed: it is being written, or its process died."""

    status: str
    """`completed`: the program said so. `failed`: it met an error. `cancelled`: it was stopped on purpose (Ctrl-C, a cancelled task, SIGTERM). `crashed`: its process ended without closing the run."""
    ended_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the run was closed, by the wall clock."""
    counts: RunCounts
    """What the run holds, counted from its files."""
    lost: Annotated[int, Meta(ge=0, le=9007199254740991)] = field(default_factory=always(0))
    """Records that the writer was given and that are not in the run, because they cannot be written at all or the disk refused them. Records that a platform refused are in the run and do not count."""
    losses: list[Loss] = field(default_factory=list)
    """Which records were lost and why, in sentences for people: the first ones when there are many."""
    error: Annotated[str, Meta(max_length=4096)] | None = None
    """Why the run did not complete: the error's message, without secrets and cut to 4096 characters."""
    summary: dict[str, Any] | None = None
    """What the program said of the run as a whole when it closed it; null when it said nothing."""
    additional: OverflowSlot = field(default=None, name="*")


SegmentsAdditionalProperty: TypeAlias = Annotated[int, Meta(description="Rows of the file.", ge=0, le=9007199254740991)]
