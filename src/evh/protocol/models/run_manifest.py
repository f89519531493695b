# Generated from schema/v1 by `make generate` (run_manifest.json, sha256 df0bbd8c3b2d029acc99316836b02cf9aabd8c9c41d752ad851b85d02fe70635). Edit the schema, not this file.
"""The closed types of `schema/v1/run_manifest.json`: run manifest."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
)

from .run_record import Build, Fingerprint, Imported


class ConfigSource(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """A launch file, word for word: at most 256 KiB of UTF-8."""

    format: str
    """How to read `text`."""
    text: Annotated[str, Meta(max_length=262144)]
    """The file's text."""
    filename: str | None = None
    """Name of the file, without its folder."""
    additional: OverflowSlot = field(default=None, name="*")


Environment: TypeAlias = Annotated[str, Meta(description="Id of an environment, such as `gsm8k`.", min_length=1)]


ModelModel: TypeAlias = Any


NItemsPlanned: TypeAlias = Annotated[int, Meta(ge=0, le=9007199254740991)]


class RunManifest(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """What a run set out to do: the `run.json` of a run directory, durable before the first item is measured or the first episode logged, and never changed. With it a run that crashed can still be named, listed, resumed and uploaded. What happened later is in the other files of the directory."""

    schema: Annotated[str, Meta(max_length=32, pattern="^evh:1\\.(0|[1-9][0-9]{0,3}):run_manifest(?!\\n)$")] | None = (
        None
    )
    """Version of this schema that the writer knew, as `evh:<major>.<minor>:run_manifest`. Optional on reading."""
    run_id: Annotated[str, Meta(min_length=1)]
    """Identity of the run, ours from the first byte to the last; the name of its directory."""
    kind: str = field(default_factory=always("measured"))
    """What kind of run the directory holds: `measured`, the items of a dataset (it ends with `metrics.json` and can be resumed); `eval`, an evaluation held open by the program that runs it (it ends with `metrics.json` and `end.json`); `train`, a training run (it ends with `end.json`). A reader that does not know a kind lists the run and leaves it alone."""
    dataset_id: Annotated[str, Meta(min_length=1)] | None = None
    """The dataset, copied into the record. Given for `measured` and `eval`; null for a training run, which has no items."""
    config_id: Annotated[str, Meta(min_length=1)] | None = None
    """The configuration, copied into the record. Given for `measured` and `eval`; null for a training run."""
    started_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the directory was made, by the wall clock. Not a metric: durations come from the monotonic clock."""
    harness_version: Annotated[str, Meta(min_length=1)]
    """Version of the harness that made the directory. A resume refuses a run by this, not by members it misses."""
    config: dict[str, Any]
    """The configuration as it was resolved, defaults and parameters included, with secrets masked. A resume compares it."""
    build: Build | None = None
    """Version of the system under test when the run began, copied into the record."""
    fingerprint: Fingerprint | None = None
    """Fingerprint of a `measured` run when it began. A resume compares it and refuses by the path that differs."""
    imported: Imported | None = None
    """Where the outputs come from when the run is an import. Such a run can't be resumed."""
    n_items_planned: NItemsPlanned | None = None
    """Items the run is to measure: the first so many of the dataset."""
    repeat_index: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = None
    """Which pass of its arm this run is, counted from 1."""
    repeats: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = None
    """Passes that were asked for; a resume finishes this one and then makes the rest."""
    name: str | None = None
    """A name for people, shown where the run is uploaded; need not be unique."""
    environments: list[Environment] = field(default_factory=list)
    """Ids of the environments whose episodes the run holds."""
    model: str | None = None
    """The model that is evaluated or trained."""
    framework: str | None = None
    """The program that runs the episodes, as the platform is to show it."""
    description: str | None = None
    """What the run is for, in words, as the platform is to show it."""
    tags: list[Tag] = field(default_factory=list)
    """Labels by which the platform is to find the run."""
    num_examples: Annotated[int, Meta(ge=-1, le=9007199254740991)] | None = None
    """Tasks of the run; -1 when all of them are meant and their number is not known."""
    rollouts_per_example: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = None
    """Episodes per task."""
    config_source: ConfigSource | None = None
    """The file the run was launched from, word for word. Null when there was none, or when it could hold a secret and was left out."""
    host: str | None = None
    """Name of the machine that made the directory. For messages only: who holds the run now is in `lease.json`."""
    pid: Annotated[int, Meta(ge=0, le=9007199254740991)] | None = None
    """Process that made the directory. For messages only."""
    additional: OverflowSlot = field(default=None, name="*")


Tag: TypeAlias = Annotated[str, Meta(description="A label.", min_length=1)]
