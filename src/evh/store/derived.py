"""The record of a derived run: what was computed from another run's stored outputs.

Promise: a derived run's record has this one constructor. What says how the outputs came to be (build, dataset, config,
repeat, providers) is the source's; every number is counted from the derived rows; a member that this release does not
know is never copied. The source's own block is nested whole, so no derivation is forgotten. A fingerprint that no
longer describes one measurement has no `hash`, and says why.
Policy: at most `MOST` derivations in a chain. `chain` walks without recursion.
When it breaks: `RecordError` for a chain that is too deep or comes back to itself; the source is not touched.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import msgspec

from evh.errors import RecordError
from evh.protocol import models
from evh.protocol._base import ArmValue
from evh.protocol.codec import decode, encode
from evh.store.aggregate import Aggregate
from evh.store.record import Declared

__all__ = ["MOST", "Block", "ReferenceSet", "chain", "derived_fingerprint", "derived_record"]

MOST = 64
"""Derivations that a chain may have."""
WHY_NO_HASH = "derived: the outputs are of one measurement, the scores of another scorer or other references"

Known: TypeAlias = models.RescoreDerived | models.JudgeDerived | models.ReparseDerived
Block: TypeAlias = Known | models.UnknownDerived


class ReferenceSet(Protocol):
    """What identifies the references that were scored against."""

    @property
    def reference_id(self) -> str: ...
    @property
    def tier(self) -> Any: ...
    @property
    def sha256(self) -> str: ...


def derived_record(
    source: models.RunRecord,
    counted: Aggregate,
    derived: Known,
    *,
    run_id: str,
    adapter: str | None = None,
    declared: Declared | None = None,
    reference_tier: Any = None,
    coverage: tuple[int, int] | None = None,
    fingerprint: models.Fingerprint | None = None,
    params: dict[str, Any] | None = None,
) -> models.RunRecord:
    """The record of a run derived from the one that `source` records.

    `derived` comes without its `source`, which is set here. `adapter` and `params` default to the source's; `coverage`
    is (items with a reference, items), recorded only when some have one and some have none. Raises `RecordError` when
    the chain would be deeper than `MOST`, or a sum cannot be held.
    """
    declared = declared or Declared()
    block = msgspec.structs.replace(derived, source=source.derived)
    made = models.RunRecord(
        run_id=run_id,
        dataset_id=source.dataset_id,
        config_id=source.config_id,
        build=models.Build(ref=source.build.ref, dirty=source.build.dirty, source=source.build.source),
        created_at=derived.at,
        source_created_at=source.created_at,
        scores=counted.scores(),
        n_items=counted.n_items,
        n_errors=counted.n_errors or None,
        params=source.params if params is None else params,
        adapter=source.adapter if adapter is None else adapter,
        fingerprint=fingerprint,
        primary_metric=declared.primary_metric,
        metric_kinds=declared.metric_kinds,
        metric_directions=declared.metric_directions,
        metric_descriptions=declared.metric_descriptions,
        reference_tier=reference_tier,
        reference_coverage=(
            models.ReferenceCoverage(items_with_reference=coverage[0], items=coverage[1])
            if coverage is not None and 0 < coverage[0] < coverage[1]
            else None
        ),
        goal=source.goal,
        format=source.format,
        round=source.round,
        repeat_index=source.repeat_index,
        providers_seen=dict(sorted(source.providers_seen.items())),
        derived=block,
    )
    chain(made)
    return made


def derived_fingerprint(
    source: models.Fingerprint | None,
    adapter_id: str,
    sha256: str | None,
    references: ReferenceSet | None,
    *,
    known_sha256: str | None = None,
) -> models.Fingerprint | None:
    """The fingerprint of a derived run: the measurement's, with the scorer and the references that count now.

    `references` is None when none were used: the data then stay as they are. The first set ever scored against stays
    in `reference_id_at_measurement`. `references_sha256_at_measurement` is the flag that the files of one set changed;
    a move to another set is no such change. `known_sha256` is what an earlier run of the chain recorded of the set that
    is moved to, so that a move there and back is held against it. None when the source has no fingerprint.
    """
    if source is None:
        return None
    found = decode(encode(source), models.Fingerprint)
    found.additional = None
    found.hash = None
    found.hash_invalid_because = WHY_NO_HASH
    found.instrument.adapter = models.FingerprintAdapter(id=adapter_id, sha256=sha256)
    data = found.data
    if references is None:
        return found
    if references.reference_id == data.reference_id:
        first = data.references_sha256_at_measurement or data.references_sha256
    else:
        first = known_sha256
        if data.reference_id_at_measurement is None:
            data.reference_id_at_measurement = data.reference_id
    data.reference_id = references.reference_id
    data.reference_tier = references.tier
    data.references_sha256 = references.sha256
    data.references_sha256_at_measurement = first if first != references.sha256 else None
    return found


def chain(record: models.RunRecord) -> list[Block]:
    """The derived blocks of a record, the newest first; empty for a measured run.

    Raises `RecordError` for more than `MOST` of them, and when one stands in the chain twice.
    """
    blocks: list[Block] = []
    seen: set[tuple[Any, ...]] = set()
    at: Block | None = record.derived
    while at is not None:
        if len(blocks) == MOST:
            raise RecordError(
                f"the chain of derivations is too deep: more than {MOST}; derive from an earlier run",
                pointer="/derived" + "/source" * MOST,
            )
        identity = _identity(at)
        if identity in seen:
            raise RecordError(
                "the derivation stands in its chain twice: the record was edited, for no run is derived from itself",
                pointer="/derived" + "/source" * len(blocks),
            )
        seen.add(identity)
        blocks.append(at)
        at = _source(at)
    return blocks


def _identity(block: Block) -> tuple[Any, ...]:
    if isinstance(block, models.UnknownDerived):
        value = block.value
        return (value.get("kind"), repr(value.get("from")), repr(value.get("at")))
    return (block.kind, block.from_, block.at)


def _source(block: Block) -> Block | None:
    """The block of the source; that of a kind unknown here is found in the object that was kept."""
    if not isinstance(block, models.UnknownDerived):
        return block.source
    inner = block.value.get("source")
    return models.UnknownDerived(value=ArmValue(inner)) if isinstance(inner, dict) else None
