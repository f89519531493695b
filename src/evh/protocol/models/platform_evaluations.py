# Generated from schema/v1 by `make generate` (platform_evaluations.json, sha256 37cf643b774ae34200bfe404ff87848e7bd157ae7f64efa097dae6889be182af). Edit the schema, not this file.
"""The closed types of `schema/v1/platform_evaluations.json`: platform evaluations."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)
from evh.protocol.models._open import (
    Evaluation,
)


class EvaluationPage(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """`GET /evaluations/`: some of the evaluations, the newest first."""

    evaluations: list[Evaluation]
    """The evaluations of this page."""
    total: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """How many there are in all."""
    skip: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """How many came before this page."""
    limit: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """How many a page holds at most."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any


class SamplesPage(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """`GET /evaluations/{id}/samples`: some of an evaluation's samples, in the order they were appended."""

    samples: list[dict[str, Any]]
    """The samples of this page."""
    total: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """How many there are in all."""
    page: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Number of this page, counted from 1."""
    limit: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """How many a page holds at most."""
    hasMore: bool
    """True when there is a next page."""
    additional: OverflowSlot = field(default=None, name="*")
