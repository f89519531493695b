# Generated from schema/v1 by `make generate` (reference_manifest.json, sha256 190b081d65f72acbbdf24adc3dc6df99de40ff3f034cadd6c3240bc13a4c6687). Edit the schema, not this file.
"""The closed types of `schema/v1/reference_manifest.json`: reference manifest."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)

from .run_record import FingerprintSystem

CostUsdInteger: TypeAlias = Annotated[int, Meta(ge=0)]


CostUsdNumber: TypeAlias = Annotated[float, Meta(ge=0.0)]


ModelModel: TypeAlias = Any


class ReferenceManifest(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """Where a set of references comes from: the `manifest.json` beside them in `data/references/<tier>/<dataset_id>/`."""

    dataset_id: Annotated[str, Meta(min_length=1)]
    """The dataset whose items they answer."""
    tier: Literal["gold", "silver"]
    """Who wrote them."""
    created_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the set was made."""
    n_items: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items that have a reference."""
    source: Annotated[str, Meta(min_length=1)] | None = None
    """The folder or file they were copied from, relative to the project's root with forward slashes; null when a config wrote them."""
    authored_by: Annotated[str, Meta(min_length=1)] | None = None
    """The config that wrote them; null when they were copied."""
    authored_with: Annotated[str, Meta(min_length=1)] | None = None
    """Id of the adapter that wrote them."""
    model: str | None = None
    """The model that wrote them, as it was asked for."""
    system_under_test: FingerprintSystem | None = None
    """Identity of what wrote them."""
    params: dict[str, Any] = field(default_factory=dict)
    """Knobs it was called with, with secrets masked."""
    cost_usd: CostUsdInteger | CostUsdNumber | None = None
    """US dollars they cost; null when that is not known."""
    caveat: str | None = None
    """What a reader should know before trusting them."""
    additional: OverflowSlot = field(default=None, name="*")
