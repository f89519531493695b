# Generated from schema/v1 by `make generate` (derived.json, sha256 e5231eb3bc688c4aa18d6c10d8b3fe160509d1ea09f089fc0917b9773c820e4c). Edit the schema, not this file.
"""The closed types of `schema/v1/derived.json`: derived."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    ArmValue,
    Model,
    OverflowSlot,
    UnknownArm,
)

FileSha256: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


class JudgeDerived(
    Model,
    kw_only=True,
    tag_field="kind",
    tag="judge",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A judge model was asked about stored outputs."""

    kind: ClassVar[Literal["judge"]] = "judge"
    from_: Annotated[str, Meta(min_length=1)] = field(name="from")
    """Directory of the source run, relative to the folder that holds this run's runs directory, with forward slashes; never below a home folder. The source may be gone since."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was derived; the record's `created_at`."""
    with_: JudgeWith = field(name="with")
    """The judge."""
    source: RescoreDerived | JudgeDerived | ReparseDerived | UnknownDerived | None = None
    """The source's own block when the source was itself derived; null when it was measured."""
    additional: OverflowSlot = field(default=None, name="*")


class JudgeWith(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """The judge of a judged run. Its `sha256` covers all that decides a score, so two judged runs under one scorer id with different digests are not one judge."""

    scorer: Annotated[str, Meta(max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?!\\n)$")]
    """Id of the judge's scorer; also the name of the folder its runs stand in, hence no separators."""
    sha256: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """Digest over all that decides a score: prompt, parser, parameters and model."""
    model: Annotated[str, Meta(min_length=1)]
    """The judge model, as it was asked for."""
    file: Annotated[str, Meta(min_length=1)] | None = None
    """The scorer's file, relative to the project's root with forward slashes, so that its digest can be computed again."""
    file_sha256: FileSha256 | None = None
    """Digest of the bytes of the scorer's file."""
    prompt_sha256: PromptSha256 | None = None
    """Digest of what the judge is asked with: the code and the texts that make the prompt."""
    parser_sha256: ParserSha256 | None = None
    """Digest of the code that reads a verdict out of a reply."""
    params: dict[str, Any] = field(default_factory=dict)
    """What else the judge was called with (base URL, temperature, token limit, name of the key's variable), with secrets masked."""
    models_seen: dict[str, ModelsSeenAdditionalProperty] = field(default_factory=dict)
    """Name of a model, as replies gave it, to the number of replies. A service may answer for one name with another model, or change it in the middle of a pass."""
    rows_sha256: RowsSha256 | None = None
    """Digest of the bytes of the source's `predictions.jsonl` as it was read. The rows carry the digests of their outputs, so this says whether the source changed since."""
    harness_version: str | None = None
    """Version of the harness that aggregated the scores."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any


ModelsSeenAdditionalProperty: TypeAlias = Annotated[int, Meta(ge=0, le=9007199254740991)]


ParserSha256: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


PromptSha256: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


class ReparseDerived(
    Model,
    kw_only=True,
    tag_field="kind",
    tag="reparse",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """Outputs were rebuilt from stored raw replies by another parser and scored anew; no model was called."""

    kind: ClassVar[Literal["reparse"]] = "reparse"
    from_: Annotated[str, Meta(min_length=1)] = field(name="from")
    """Directory of the source run, relative to the folder that holds this run's runs directory, with forward slashes; never below a home folder. The source may be gone since."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was derived; the record's `created_at`."""
    with_: ReparseWith = field(name="with")
    """What parsed and scored."""
    source: RescoreDerived | JudgeDerived | ReparseDerived | UnknownDerived | None = None
    """The source's own block when the source was itself derived; null when it was measured."""
    additional: OverflowSlot = field(default=None, name="*")


class ReparseWith(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The parser and the scorer of a re-parse."""

    parser: Annotated[str, Meta(min_length=1)]
    """The parser: a file relative to the project's root with forward slashes, with the name of the function where one file holds several."""
    parser_sha256: ParserSha256 | None = None
    """Digest of the bytes of the parser's file."""
    adapter: Annotated[str, Meta(min_length=1)] | None = None
    """Id of the adapter whose scorer scored what was parsed: the path of its file relative to the project's root, with forward slashes."""
    scorer_sha256: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """Digest of the scorer that scored what was parsed."""
    rows_sha256: RowsSha256 | None = None
    """Digest of the bytes of the source's `predictions.jsonl` as it was read. The rows carry the raw replies, so this says whether the source changed since."""
    harness_version: str | None = None
    """Version of the harness that aggregated the scores."""
    additional: OverflowSlot = field(default=None, name="*")


class RescoreDerived(
    Model,
    kw_only=True,
    tag_field="kind",
    tag="rescore",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """Stored outputs were scored anew by an adapter's scorer; no model was called."""

    kind: ClassVar[Literal["rescore"]] = "rescore"
    from_: Annotated[str, Meta(min_length=1)] = field(name="from")
    """Directory of the source run, relative to the folder that holds this run's runs directory, with forward slashes; never below a home folder. The source may be gone since."""
    at: Annotated[
        str,
        Meta(
            max_length=30,
            pattern="^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
        ),
    ]
    """When it was derived; the record's `created_at`."""
    with_: RescoreWith = field(name="with")
    """What scored."""
    source: RescoreDerived | JudgeDerived | ReparseDerived | UnknownDerived | None = None
    """The source's own block when the source was itself derived; null when it was measured."""
    additional: OverflowSlot = field(default=None, name="*")


class RescoreWith(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """The scorer of a rescore. Which references it used is in the record's `fingerprint.data`."""

    adapter: Annotated[str, Meta(min_length=1)]
    """Id of the adapter that scored: the path of its file relative to the project's root, with forward slashes."""
    sha256: Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]
    """Digest of the bytes of the adapter's file."""
    scorer: dict[str, ScorerAdditionalProperty] = field(default_factory=dict)
    """Name of a part that decides a score (a parser, a word list) to the digest the adapter's `scorer_id` hook gave it. Empty when the adapter has no such hook."""
    rows_sha256: RowsSha256 | None = None
    """Digest of the bytes of the source's `predictions.jsonl` as it was read. The rows carry the digests of their outputs, so this says whether the source changed since."""
    harness_version: str | None = None
    """Version of the harness that aggregated the scores."""
    additional: OverflowSlot = field(default=None, name="*")


RowsSha256: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


ScorerAdditionalProperty: TypeAlias = Annotated[str, Meta(max_length=64, min_length=64, pattern="^[0-9a-f]{64}$")]


class UnknownDerived(
    UnknownArm,
    Model,
    kw_only=True,
    tag_field="kind",
    tag="*",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """A Derived whose `kind` this release does not know, kept whole in `value`."""

    value: ArmValue = field(name="*")
    """The object as it was read."""
