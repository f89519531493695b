# Generated from schema/v1 by `make generate` (baseline.json, sha256 fa972773c0552769fc13a02d9a46f73af2aef9ebe2a43c5f3f8426da8bb95116). Edit the schema, not this file.
"""The closed types of `schema/v1/baseline.json`: baseline."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)

from .run_record import Build


class Baseline(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A run that others are compared with: `data/baselines/<baseline_id>.json`, a copy of what it scored when it was promoted. The baseline it replaced is kept in the folder `superseded`."""

    baseline_id: Annotated[str, Meta(min_length=1)]
    """Name of the baseline; also the stem of its file."""
    dataset_id: Annotated[str, Meta(min_length=1)]
    """The dataset it was measured on."""
    promoted_from: Annotated[str, Meta(min_length=1)]
    """Id of the run that was promoted."""
    promoted_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was promoted."""
    scores: dict[str, int | float]
    """The run's scores, unrounded."""
    build: Build
    """The run's build."""
    reason: str | None = None
    """Why it was promoted, in at least three words."""
    supersedes: Annotated[str, Meta(min_length=1)] | None = None
    """Id of the run behind the baseline that this one replaced; null for the first."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
