# Generated from schema/v1 by `make generate` (run_record.json, sha256 b3daf326ecbc7a2457719216b04dd742ec38bb48c4c11dfda60c5406bc49b9d7). Edit the schema, not this file.
"""The closed types of `schema/v1/run_record.json`: run record."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    ABSENT,
    Model,
    OverflowSlot,
    RetiredSlot,
)
from evh.protocol.models._slots import (
    FingerprintModelSlot,
)

from .derived import JudgeDerived, ReparseDerived, RescoreDerived, UnknownDerived


class Build(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Version of the system under test. A run whose `ref` is `unknown` can't be promoted without saying so."""

    ref: Annotated[str, Meta(min_length=1)]
    """A commit, a tag or a version; `unknown` when nothing could be learned."""
    dirty: bool | None = None
    """True when the working tree differed from `ref`; null when that is not known, as for a declared ref."""
    source: str | None = None
    """Where `ref` was learned: `git`, or the variable or option that declared it."""
    additional: OverflowSlot = field(default=None, name="*")


CpuCount: TypeAlias = Annotated[int, Meta(ge=0, le=9007199254740991)]


class Fingerprint(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """Identity of a measurement, in parts that can be compared one by one. Two runs whose parts differ anywhere but in `arm` differ for a reason other than the one under test."""

    version: Annotated[int, Meta(ge=1, le=9007199254740991)]
    """Version of the fingerprint's rules. Hashes of different versions can't be compared."""
    instrument: FingerprintInstrument
    """What measured."""
    system_under_test: FingerprintSystem | None = None
    """What was measured; null when the run was imported and nobody said."""
    data: FingerprintData
    """What it was measured on."""
    host: FingerprintHost | None = None
    """Where it ran; null when the run was imported and nobody said."""
    arm: FingerprintArm
    """What was varied on purpose."""
    hash: Hash | None = None
    """Digest of the whole fingerprint without this member, as canonical JSON. Null in a derived run, whose scores no longer belong to what the fingerprint describes."""
    hash_invalid_because: str | None = None
    """Why a derived run has no `hash`, in a sentence for people."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintAdapter(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """Identity of the adapter."""

    id: Annotated[str, Meta(min_length=1)]
    """Path of its file relative to the project's root, with forward slashes."""
    sha256: Sha256 | None = None
    """Digest of the bytes of its file; null when it has no file."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintArm(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """What tells this arm from another on purpose."""

    config_id: Annotated[str, Meta(min_length=1)]
    """The configuration."""
    params: dict[str, Any] = field(default_factory=dict)
    """Its knobs, with secrets masked."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintData(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The data: items and references."""

    dataset_id: Annotated[str, Meta(min_length=1)]
    """The dataset."""
    items_sha256: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """Digest over the dataset's items, in order: `item_id`, then `source_sha256`."""
    n_items: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items in the dataset."""
    reference_id: str | None = None
    """The reference set scored against, as `<tier>/<dataset_id>`; null when none."""
    reference_tier: Literal["gold", "silver"] | None = None
    """Tier of that set."""
    references_sha256: ReferencesSha256 | None = None
    """Digest over that set's files in name order, each as name, byte 0x00, content, byte 0x1E."""
    reference_id_at_measurement: str | None = None
    """The set the outputs were first scored against, when a derived run moved to another one. A rescore of a rescore copies it."""
    references_sha256_at_measurement: ReferencesSha256AtMeasurement | None = None
    """`references_sha256` of the source run, when the files of the same set changed since. That is the flag that the references changed."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintHarness(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """State of the harness's source."""

    commit: Annotated[str, Meta(max_length=12, min_length=12, pattern="^[0-9a-f]{12}$")] | None = None
    """First 12 hexadecimal digits of its commit; null when it is not run from a repository."""
    dirty: bool | None = None
    """True when the source differed from `commit`; null when not known."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintHost(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The machine, as far as it bears on speed and numerics."""

    label: str | None = None
    """Name the user gave the machine (`EVAL_HOST_LABEL`)."""
    platform: str | None = None
    """Operating system and architecture, such as `Linux/x86_64`."""
    release: str | None = None
    """Release of the operating system."""
    processor: str | None = None
    """The processor, as the system names it."""
    cpu_count: CpuCount | None = None
    """Logical processors."""
    python: str | None = None
    """Version of Python."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintInstrument(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The code that measured: the harness and the adapter."""

    harness: FingerprintHarness
    """The harness."""
    adapter: FingerprintAdapter
    """The adapter; in a derived run, the one that scored anew."""
    additional: OverflowSlot = field(default=None, name="*")


class FingerprintSystem(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The system under test."""

    model: FingerprintModelSlot
    """What the adapter says the system is."""
    libraries: dict[str, str] = field(default_factory=dict)
    """Name of an installed distribution to its version, for those on the watch-list that are installed."""
    additional: OverflowSlot = field(default=None, name="*")


Hash: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


class Imported(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Where an imported run's outputs came from. Such a run is measured, but not by this harness: it can't be resumed."""

    from_: Annotated[str, Meta(min_length=1)] = field(name="from")
    """The file or folder that was read: relative with forward slashes where possible, never below a home folder; `-` for standard input."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was imported, by the importing machine's clock."""
    sha256: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """Digest of what was read: the bytes of the file; for a folder, over its files in name order, each as name, byte 0x00, content, byte 0x1E."""
    tool: str | None = None
    """What wrote the source, with its version where known, such as `verifiers 0.4.0`."""
    lossy: list[LossyItem] = field(default_factory=list)
    """What the source held and a run directory has no place for, one entry a member or feature. Empty when everything fitted."""
    additional: OverflowSlot = field(default=None, name="*")


LossyItem: TypeAlias = Annotated[str, Meta(description="Name or JSON Pointer of what did not fit.", min_length=1)]


ModelModel: TypeAlias = Any


NErrors: TypeAlias = Annotated[int, Meta(ge=0, le=9007199254740991)]


ProvidersSeenAdditionalProperty: TypeAlias = Annotated[int, Meta(ge=0, le=9007199254740991)]


class ReferenceCoverage(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """How many of a run's items could be scored against a reference."""

    items_with_reference: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items that have a reference."""
    items: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items of the run."""
    additional: OverflowSlot = field(default=None, name="*")


ReferencesSha256: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


ReferencesSha256AtMeasurement: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


class Resume(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """How a run that was stopped came to its end. Its metrics cover all rows, whichever attempt wrote them."""

    resumed_items: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Items whose rows were already there when the last attempt began, so that it did not call them again."""
    attempts: Annotated[int, Meta(ge=1, le=9007199254740991)]
    """Launches of the run, the first one included."""
    last_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When the last attempt began."""
    additional: OverflowSlot = field(default=None, name="*")


class RunRecord(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """What a whole run measured: the `metrics.json` of a run directory, written once and only on a clean exit. A measured run called a system (or imported what one wrote); a derived run was computed from another run's stored outputs and says so in `derived`. Closed: a record with any other member is not valid."""

    run_id: Annotated[str, Meta(min_length=1)]
    """Identity of the run; the name of its directory."""
    dataset_id: Annotated[str, Meta(min_length=1)]
    """The dataset that was measured. Only runs of one dataset are compared."""
    config_id: Annotated[str, Meta(min_length=1)]
    """The configuration that produced the outputs. All runs of one config on one dataset are one arm."""
    build: Build
    """Version of the system under test."""
    created_at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When this record was made: for a measured run the end of its last attempt, for an import what its source's record says (when it was imported is `imported.at`), for a derived run the moment of the derivation, never its source's time."""
    source_created_at: SourceCreatedAt | None = None
    """`created_at` of the run that this one was derived from directly. Derived runs only."""
    scores: dict[str, int | float]
    """Metric name to its mean over the rows that have the metric; totals, not means, for `total_cost_usd` (US dollars), `total_tokens_in` and `total_tokens_out` (tokens). Stored unrounded; empty when no row has a metric."""
    n_items: Annotated[int, Meta(ge=0, le=9007199254740991)]
    """Rows in `predictions.jsonl`, rows with `_error` included. Not the number of items that were planned."""
    n_errors: NErrors | None = None
    """Rows that are failures the user accepted (`_error` set). Present only when there are such rows. The one member beyond the list of RFC-002."""
    params: dict[str, Any] = field(default_factory=dict)
    """The knobs actually used, as they were handed to the adapter, with secrets masked."""
    adapter: Annotated[str, Meta(min_length=1)] | None = None
    """Id of the adapter: the path of its file relative to the project's root, with forward slashes; never absolute, never below a home folder."""
    fingerprint: Fingerprint | None = None
    """What was measured with what: everything that can make two runs incomparable."""
    primary_metric: str | None = None
    """The metric the adapter wants its arms ranked by."""
    metric_kinds: dict[str, Literal["quality", "descriptive", "cost", "speed"]] = field(default_factory=dict)
    """Metric name to what it is: `quality` of the output, `descriptive` (says something, is neither good nor bad), `cost` or `speed`."""
    metric_directions: dict[str, Literal["higher", "lower", "none"]] = field(default_factory=dict)
    """Metric name to which way is better: `higher`, `lower`, or `none` when neither is. Read by the direction rule of every command."""
    metric_descriptions: dict[str, str] = field(default_factory=dict)
    """Metric name to what it means, in the adapter's words; refreshed by a rescore."""
    reference_tier: Literal["gold", "silver"] | None = None
    """Tier of the references that the outputs were scored against; null when there were none."""
    reference_coverage: ReferenceCoverage | None = None
    """How many items had a reference. Present only when some had one and some had none."""
    goal: str | None = None
    """Id of the goal policy the run was made under, from the config."""
    format: str | None = None
    """Output format the arm was asked for, from the config."""
    round: str | None = None
    """Round of a sweep, from the config."""
    repeat_index: Annotated[int, Meta(ge=1, le=9007199254740991)] | None = None
    """Which pass of its arm this run is, counted from 1."""
    resume: Resume | None = None
    """That the run was stopped and continued; null when one launch measured it all."""
    providers_seen: dict[str, ProvidersSeenAdditionalProperty] = field(default_factory=dict)
    """Name of a provider, as its replies gave it, to the number of rows it answered. More than one member means that the arm was not one system."""
    warmup_ms: WarmupMsInteger | WarmupMsNumber | None = None
    """Milliseconds of the warm-up (an index build, a model load) before the first item of the last attempt; kept outside `scores` because it is no metric of an item."""
    imported: Imported | None = None
    """That the outputs were made elsewhere and imported; null when the harness called the system itself."""
    derived: RescoreDerived | JudgeDerived | ReparseDerived | UnknownDerived | None = None
    """What derived the run, from which run, when and with what; null for a measured run."""
    retired_rescored_from: RetiredSlot = field(default=ABSENT, name="rescored_from")
    retired_rescored_at: RetiredSlot = field(default=ABSENT, name="rescored_at")
    retired_rescored_with: RetiredSlot = field(default=ABSENT, name="rescored_with")
    retired_rescore_dropped_metrics: RetiredSlot = field(default=ABSENT, name="rescore_dropped_metrics")
    retired_judged_from: RetiredSlot = field(default=ABSENT, name="judged_from")
    retired_judged_with: RetiredSlot = field(default=ABSENT, name="judged_with")
    retired_judge_label: RetiredSlot = field(default=ABSENT, name="judge_label")
    retired_reparsed_from: RetiredSlot = field(default=ABSENT, name="reparsed_from")
    retired_reparsed_at: RetiredSlot = field(default=ABSENT, name="reparsed_at")
    retired_reparsed_with: RetiredSlot = field(default=ABSENT, name="reparsed_with")
    retired_primary_metric_asc: RetiredSlot = field(default=ABSENT, name="primary_metric_asc")
    additional: OverflowSlot = field(default=None, name="*")


Sha256: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


SourceCreatedAt: TypeAlias = Annotated[
    str,
    Meta(
        max_length=30,
        pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
    ),
]


WarmupMsInteger: TypeAlias = Annotated[int, Meta(ge=0)]


WarmupMsNumber: TypeAlias = Annotated[float, Meta(ge=0.0)]
