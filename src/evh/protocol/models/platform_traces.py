# Generated from schema/v1 by `make generate` (platform_traces.json, sha256 f9dacc6aa18172d6c127242a79ab1d0668e41f5750cb41ab7e799f32ad189925). Edit the schema, not this file.
"""The closed types of `schema/v1/platform_traces.json`: platform traces."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
)
from evh.protocol.models._open import (
    EpisodeSummary,
    IndexedCall,
    IndexedNode,
    RunStep,
    RunSummary,
    SearchMatch,
    TraceSummary,
)
from evh.protocol.models._slots import (
    SearchCoverageSlot,
)


class CallPage(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """`GET /traces/{id}/calls`: some of a trace's model calls, in order."""

    items: list[IndexedCall]
    """The calls of this page."""
    next_cursor: str | None
    """Asks for the next page, with the same filters only; null on the last one."""
    partial_index: bool
    """True when the index stops before the trace does: the rest is in the document."""
    additional: OverflowSlot = field(default=None, name="*")


class EpisodePage(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """`GET /episodes`: some of the episodes, the newest first."""

    items: list[EpisodeSummary]
    """The episodes of this page."""
    next_cursor: str | None
    """Asks for the next page, with the same filters only; null on the last one."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any


class NodePage(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """`GET /traces/{id}/nodes`: some of a trace's nodes, in order."""

    items: list[IndexedNode]
    """The nodes of this page."""
    next_cursor: str | None
    """Asks for the next page, with the same filters only; null on the last one."""
    partial_index: bool
    """True when the index stops before the trace does: the rest is in the document."""
    additional: OverflowSlot = field(default=None, name="*")


class RunPage(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """`GET /runs`: some of the runs, the most recently stored first."""

    items: list[RunSummary]
    """The runs of this page."""
    next_cursor: str | None
    """Asks for the next page, with the same filters only; null on the last one."""
    additional: OverflowSlot = field(default=None, name="*")


class RunSteps(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """`GET /runs/{id}/steps`: all training steps of a run, the oldest first."""

    step_min: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None
    """The first."""
    step_max: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)] | None
    """The last."""
    step_count: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """How many."""
    items: list[RunStep]
    """The steps."""
    additional: OverflowSlot = field(default=None, name="*")


class SearchPage(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """`GET /runs/{id}/search`: some of the matches."""

    items: list[SearchMatch]
    """The matches of this page."""
    next_cursor: str | None
    """Asks for the next page, with the same filters only; null on the last one."""
    coverage: SearchCoverageSlot | None = None
    """What could not be seen; on the first page only."""
    additional: OverflowSlot = field(default=None, name="*")


class TracePage(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """`GET /traces`: some of the traces, the newest first."""

    items: list[TraceSummary]
    """The traces of this page."""
    next_cursor: str | None
    """Asks for the next page, with the same filters only; null on the last one."""
    additional: OverflowSlot = field(default=None, name="*")
