# Generated from schema/v1 by `make generate` (goal.json, sha256 87d79596df17bb69dd5dddce80001d575f6e2b341adbad0d07ba544dbd99473a). Edit the schema, not this file.
"""The closed types of `schema/v1/goal.json`: goal."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)


class Goal(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A goal policy: `data/goals/<goal_id>.json`. A run on its dataset whose own `created_at` is at or after the cut-over must name the goal and meet what it requires; earlier runs are exempt. A rescore made after the cut-over is bound, whenever its source was measured."""

    goal_id: Annotated[str, Meta(min_length=1)]
    """Name of the goal; also the stem of its file."""
    statement: Annotated[str, Meta(min_length=1)]
    """The goal in a sentence, for people."""
    dataset_id: Annotated[str, Meta(min_length=1)]
    """The dataset it is about."""
    metric: Annotated[str, Meta(min_length=1)]
    """The metric it is about."""
    direction: Literal["higher", "lower"]
    """Which way the metric is to move."""
    cut_over: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """From when on runs are bound; the instant itself counts as after."""
    requires: GoalRequires = field(default_factory=lambda: GoalRequires())
    """What a bound run must meet."""
    additional: OverflowSlot = field(default=None, name="*")


class GoalRequires(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """Conditions on a run; what is absent is not asked for."""

    reference_tier: Literal["gold", "silver"] | None = None
    """Tier the run must be scored against."""
    primary_metric: Annotated[str, Meta(min_length=1)] | None = None
    """Primary metric the run must declare."""
    min_items: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = None
    """Rows the run must have at least."""
    build_clean: bool = field(default_factory=always(False))
    """True when the run's build must be known and not dirty."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
