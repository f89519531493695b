"""What stands behind an arm's numbers, as far as it decides whether two arms can be compared.

Promise: every run of an arm is looked at, not the first. What differs between arms for a reason other than the one
under test is a notice; nothing is refused here.
Policy: the scorer is the file of the adapter that scored, whose digest every record has, and the parts that it names
beside it (`scorer_id`), which only derived runs state: parts are held against parts, files against files. The adapters
that come with evh score with one function, so they are one scorer. A judge is a scorer of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evh.errors import cut
from evh.protocol import models
from evh.store.arm import Arm
from evh.store.fingerprint import scorer_digest

__all__ = ["MEASURED", "Provenance", "confounds", "differences", "provenance_of", "records_of"]


MEASURED = frozenset({"measured", "imported"})
NOTHING: frozenset[Any] = frozenset()
BUNDLED = "evh:"


class Scorer(NamedTuple):
    """What decided the scores of a run."""

    file: str
    """What it is, as far as every record says it: a digest, or that it came with evh."""
    whole: str | None
    """The digest over the file and the parts that it names, where the record states them."""


class Provenance(NamedTuple):
    """Of all runs of an arm: how they were derived, with which scorers, against what, by whom answered."""

    kinds: frozenset[str]
    """`measured`, `imported`, or the kind of the derivation."""
    scorers: frozenset[Scorer]
    parsers: frozenset[str]
    """Names and digests of the parsers that rebuilt the outputs."""
    tiers: frozenset[str]
    references: frozenset[tuple[str, str]]
    data: frozenset[str]
    providers: frozenset[str]
    partly_referenced: int
    """Runs of which only some items have a reference."""

    @property
    def scorer_count(self) -> int:
        """How many scorers there are for certain: a run that states no parts may have been scored with any."""
        files = {each.file for each in self.scorers}
        wholes = {each for each in self.scorers if each.whole is not None}
        return len(wholes) + len(files - {each.file for each in wholes})


def records_of(arms: Iterable[Arm]) -> list[models.RunRecord]:
    """The records of all runs of arms."""
    return [run.record for arm in arms for run in arm.runs if run.record is not None]


def provenance_of(arm: Arm) -> Provenance:
    """What stands behind an arm."""
    found = [_of_record(run.record) for run in arm.runs if run.record is not None]
    if len(found) == 1:
        return found[0]
    return Provenance(
        kinds=NOTHING.union(*(each.kinds for each in found)),
        scorers=NOTHING.union(*(each.scorers for each in found)),
        parsers=NOTHING.union(*(each.parsers for each in found)),
        tiers=NOTHING.union(*(each.tiers for each in found)),
        references=NOTHING.union(*(each.references for each in found)),
        data=NOTHING.union(*(each.data for each in found)),
        providers=NOTHING.union(*(each.providers for each in found)),
        partly_referenced=sum(each.partly_referenced for each in found),
    )


def _of_record(record: models.RunRecord) -> Provenance:
    scorer = _scorer(record)
    tier = record.reference_tier
    data = None if record.fingerprint is None else record.fingerprint.data
    return Provenance(
        kinds=frozenset((_kind(record),)),
        scorers=NOTHING if scorer is None else frozenset((scorer,)),
        parsers=_parsers(record),
        tiers=NOTHING if tier is None else frozenset((tier,)),
        references=NOTHING if data is None else frozenset(((data.reference_id or "", data.references_sha256 or ""),)),
        data=NOTHING if data is None else frozenset((data.items_sha256,)),
        providers=frozenset(record.providers_seen),
        partly_referenced=int(record.reference_coverage is not None),
    )


def _kind(record: models.RunRecord) -> str:
    if record.derived is None:
        return "imported" if record.imported is not None else "measured"
    if isinstance(record.derived, models.UnknownDerived):
        return "derived"
    return record.derived.kind


def _scorer(record: models.RunRecord) -> Scorer | None:
    """What decided the scores; None when the record does not say."""
    stamp = None if record.fingerprint is None else record.fingerprint.instrument.adapter
    match record.derived:
        case None:
            return None if stamp is None or stamp.sha256 is None else Scorer(_file(stamp.id, stamp.sha256), None)
        case models.RescoreDerived(with_=made):
            file = _file(made.adapter, made.sha256)
            return Scorer(file, scorer_digest(file, made.scorer))
        case models.JudgeDerived(with_=judge):
            return Scorer(f"judge {judge.sha256}", judge.sha256)
        case models.ReparseDerived(with_=parsed):
            # The block's digest is over file and parts; that of the file alone stands in the fingerprint.
            digest = None if stamp is None else stamp.sha256
            file = _file(parsed.adapter, digest or parsed.scorer_sha256)
            return Scorer(file, None if file == BUNDLED else parsed.scorer_sha256)
        case _:
            return None


def _file(adapter: str | None, digest: str) -> str:
    return BUNDLED if adapter is not None and adapter.startswith(BUNDLED) else digest


def _parsers(record: models.RunRecord) -> frozenset[str]:
    """The parser that rebuilt the outputs, whatever scored them after that."""
    block = record.derived
    while block is not None and not isinstance(block, models.UnknownDerived):
        if isinstance(block, models.ReparseDerived):
            return frozenset((f"{block.with_.parser} {block.with_.parser_sha256}",))
        block = block.source
    return NOTHING


def confounds(arms: Sequence[Arm]) -> list[str]:
    """Why a difference between arms may not be the one under test, a sentence each."""
    names = [cut(arm.config_id) for arm in arms]
    if len(set(names)) < len(arms) == 2:  # one config, measured and derived
        names = ["the first arm", "the second arm"]
    found = [(name, provenance_of(arm)) for name, arm in zip(names, arms, strict=True)]
    notices = []
    for name, each in found:
        if len(each.providers) > 1:
            notices.append(f"{name} was answered by several providers: {', '.join(sorted(each.providers))}")
        if len(each.kinds) > 1:
            notices.append(f"{name} mixes {' and '.join(sorted(each.kinds))} runs")
        if each.scorer_count > 1:
            notices.append(f"{name} was scored by {each.scorer_count} scorers")
        if len(each.parsers) > 1:
            notices.append(f"the outputs of {name} were rebuilt by {len(each.parsers)} parsers")
        if each.partly_referenced:
            notices.append(f"only some items of {name} have a reference")
    notices += differences([each for _, each in found])
    if _differ([each.providers for _, each in found if len(each.providers) == 1]):
        names = sorted({next(iter(each.providers)) for _, each in found if len(each.providers) == 1})
        notices.append(f"the arms were answered by different providers: {', '.join(names)}")
    return notices


def differences(found: Sequence[Provenance]) -> list[str]:
    """In what arms differ that should be alike in every table: the scorer, the references, the items."""
    notices = []
    files = [frozenset(scorer.file for scorer in each.scorers) for each in found]
    wholes = [frozenset(scorer.whole for scorer in each.scorers if scorer.whole is not None) for each in found]
    if _differ(files) or _differ(wholes):
        advice = "; derive them again with one scorer" if any(each.kinds - MEASURED for each in found) else ""
        notices.append(f"the arms were scored by different scorers: they were not measured with one instrument{advice}")
    if _differ([each.parsers for each in found]):
        notices.append("the outputs of the arms were rebuilt by different parsers")
    if _differ([each.references for each in found]):
        notices.append("the arms were scored against different references")
    if _differ([each.data for each in found]):
        notices.append("the arms were measured on different versions of the dataset's items")
    return notices


def _differ(sets: Sequence[frozenset[Any]]) -> bool:
    return len({each for each in sets if each}) > 1
