"""What stands behind an arm's numbers, as far as it decides whether two arms can be compared.

Promise: every run of an arm is looked at, not the first. What differs between arms for a reason other than the one
under test is a notice; nothing is refused here.
Policy: the scorer is the adapter's file of a measured run, and whatever the derived block names for a derived one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evh.errors import cut
from evh.protocol import models
from evh.store.arm import Arm

__all__ = ["MEASURED", "Provenance", "confounds", "different_instruments", "provenance_of", "records_of"]


MEASURED = frozenset({"measured", "imported"})


class Provenance(NamedTuple):
    """Of all runs of an arm: how they were derived, with which scorers, against what, by whom answered."""

    kinds: frozenset[str]
    """`measured`, `imported`, or the kind of the derivation."""
    scorers: frozenset[tuple[str, ...]]
    tiers: frozenset[str]
    references: frozenset[tuple[str, str]]
    data: frozenset[str]
    providers: frozenset[str]
    partly_referenced: int
    """Runs of which only some items have a reference."""


def records_of(arms: Iterable[Arm]) -> list[models.RunRecord]:
    """The records of all runs of arms."""
    return [run.record for arm in arms for run in arm.runs if run.record is not None]


def provenance_of(arm: Arm) -> Provenance:
    """What stands behind an arm."""
    records = records_of([arm])
    data = [record.fingerprint.data for record in records if record.fingerprint is not None]
    return Provenance(
        kinds=frozenset(map(_kind, records)),
        scorers=frozenset(scorer for record in records if (scorer := _scorer(record)) is not None),
        tiers=frozenset(record.reference_tier for record in records if record.reference_tier is not None),
        references=frozenset((each.reference_id or "", each.references_sha256 or "") for each in data),
        data=frozenset(each.items_sha256 for each in data),
        providers=frozenset(name for record in records for name in record.providers_seen),
        partly_referenced=sum(record.reference_coverage is not None for record in records),
    )


def _kind(record: models.RunRecord) -> str:
    if record.derived is None:
        return "imported" if record.imported is not None else "measured"
    if isinstance(record.derived, models.UnknownDerived):
        return "derived"
    return record.derived.kind


def _scorer(record: models.RunRecord) -> tuple[str, ...] | None:
    """What decided the scores: digests, with what they are of; None when the record does not say."""
    match record.derived:
        case models.RescoreDerived(with_=made):
            parts = tuple(f"{name}={digest}" for name, digest in sorted(made.scorer.items()))
            return ("adapter", made.sha256, *parts)
        case models.JudgeDerived(with_=judge):
            return "judge", judge.sha256
        case models.ReparseDerived(with_=parsed):
            return "reparse", parsed.scorer_sha256, parsed.parser_sha256 or ""
        case None if record.fingerprint is not None and record.fingerprint.instrument.adapter.sha256 is not None:
            return "adapter", record.fingerprint.instrument.adapter.sha256
        case _:
            return None


def confounds(arms: Sequence[Arm]) -> list[str]:
    """Why a difference between arms may not be the one under test, a sentence each."""
    found = [(arm.config_id, provenance_of(arm)) for arm in arms]
    notices = []
    for name, each in found:
        if len(each.providers) > 1:
            notices.append(f"{cut(name)} was answered by several providers: {', '.join(sorted(each.providers))}")
        if len(each.kinds) > 1:
            notices.append(f"{cut(name)} mixes {' and '.join(sorted(each.kinds))} runs")
        if len(each.scorers) > 1:
            notices.append(f"{cut(name)} was scored by {len(each.scorers)} scorers")
        if each.partly_referenced:
            notices.append(f"only some items of {cut(name)} have a reference")
    if said := different_instruments([each for _, each in found]):
        notices.append(said)
    if _differ([each.references for _, each in found]):
        notices.append("the arms were scored against different references")
    if _differ([each.data for _, each in found]):
        notices.append("the arms were measured on different versions of the dataset's items")
    if _differ([each.providers for _, each in found if len(each.providers) == 1]):
        names = sorted({next(iter(each.providers)) for _, each in found if len(each.providers) == 1})
        notices.append(f"the arms were answered by different providers: {', '.join(names)}")
    return notices


def different_instruments(found: Sequence[Provenance]) -> str | None:
    """That arms were not scored by one scorer, when that is so."""
    derived = [each for each in found if each.kinds - MEASURED]
    if not _differ([_bare(each.scorers) for each in found]) and not _differ([each.scorers for each in derived]):
        return None
    advice = "; derive them again with one scorer" if derived else ""
    return f"the arms were scored by different scorers: they were not measured with one instrument{advice}"


def _bare(scorers: frozenset[tuple[str, ...]]) -> frozenset[str]:
    """The digest of the file alone: a measured run does not name the parts that a rescore names."""
    return frozenset(scorer[1] for scorer in scorers)


def _differ(sets: Sequence[frozenset[object]]) -> bool:
    return len({each for each in sets if each}) > 1
