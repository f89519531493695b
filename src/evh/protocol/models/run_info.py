# Generated from schema/v1 by `make generate` (run_info.json, sha256 1f7166fa3f6465a25aa5f66f491d14ad647da7cef3f730c17609ef9a651c5244). Edit the schema, not this file.
"""The closed types of `schema/v1/run_info.json`: run info."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    ArmValue,
    Model,
    OverflowSlot,
    UnknownArm,
)


class EvalRunInfo(
    Model,
    kw_only=True,
    tag_field="type",
    tag="eval",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A stand-alone evaluation run."""

    type: ClassVar[Literal["eval"]] = "eval"
    id: str
    """Identity of the run: stable from its first byte, never reused."""
    name: str | None = None
    """A name for people; may change and need not be unique."""
    additional: OverflowSlot = field(default=None, name="*")


class EvalWorkInfo(
    Model,
    kw_only=True,
    tag_field="type",
    tag="eval",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """Episodes of an evaluation inside a training run."""

    type: ClassVar[Literal["eval"]] = "eval"
    step: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]
    """Training step at dispatch."""
    policy: PolicySpan | None = None
    """Versions of the policy that sampled the episode; null for a frozen policy."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any


class PolicySpan(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The policy versions in use while an episode was sampled, both ends included. `end` is never before `start`."""

    start: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]
    """Version at the first sampled token."""
    end: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]
    """Version at the last sampled token."""
    additional: OverflowSlot = field(default=None, name="*")


class TrainRunInfo(
    Model,
    kw_only=True,
    tag_field="type",
    tag="train",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A training run, with what the episode was dispatched for."""

    type: ClassVar[Literal["train"]] = "train"
    id: str
    """Identity of the run: stable from its first byte, never reused."""
    name: str | None = None
    """A name for people; may change and need not be unique."""
    work: TrainWorkInfo | EvalWorkInfo | UnknownWorkInfo
    """What the episode was dispatched for."""
    additional: OverflowSlot = field(default=None, name="*")


class TrainWorkInfo(
    Model,
    kw_only=True,
    tag_field="type",
    tag="train",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """Episodes dispatched to be trained on."""

    type: ClassVar[Literal["train"]] = "train"
    step: Annotated[int, Meta(ge=-9007199254740991, le=9007199254740991)]
    """Training step at dispatch."""
    policy: PolicySpan | None = None
    """Versions of the policy that sampled the episode; null for a frozen policy."""
    additional: OverflowSlot = field(default=None, name="*")


class UnknownRunInfo(
    UnknownArm,
    Model,
    kw_only=True,
    tag_field="type",
    tag="*",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A RunInfo whose `type` this release does not know, kept whole in `value`."""

    value: ArmValue = field(name="*")
    """The object as it was read."""


class UnknownWorkInfo(
    UnknownArm,
    Model,
    kw_only=True,
    tag_field="type",
    tag="*",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A WorkInfo whose `type` this release does not know, kept whole in `value`."""

    value: ArmValue = field(name="*")
    """The object as it was read."""
