# Generated from schema/v1 by `make generate` (step_row.json, sha256 e44a7ae3939a196a0a957c0b57c8a02e341018ef18f69108c21f6ba5a3f92186). Edit the schema, not this file.
"""The closed types of `schema/v1/step_row.json`: step row."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)

ModelModel: TypeAlias = Any


class StepRow(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Metrics of a live run at one moment, as a rule a training step: a line of `steps.jsonl`, or of `steps/<writer>.jsonl` when a process other than the run's owner wrote it. Rows of one step add up: the last value of a name counts."""

    step: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None = None
    """The step that the metrics are of; null for metrics of none."""
    metrics: dict[str, int | float]
    """Name to value; numbers that are not finite are never written."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When they were logged, by the wall clock."""
    additional: OverflowSlot = field(default=None, name="*")
