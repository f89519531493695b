"""One arm against many: `family_test`, with p-values adjusted for their number.

Promise: the family is every opponent that was declared, those skipped included, so that dropping one does not make the
others look better. A p-value of one opponent does not depend on the others; only its adjusted value does. Skipped
opponents are listed with the reason.
Policy: Holm by default. One direction for all, so records of opponents that contradict each other leave no verdict.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evh.errors import EvhError, SourceError, UsageError, cut
from evh.stats.comparison import Options, PairTest, Verdict, check_one_dataset, compare, verdict
from evh.stats.direction import Direction, direction_of
from evh.stats.families import Adjusted, Correction, adjust
from evh.stats.pairing import paired_values, values_of
from evh.stats.provenance import records_of
from evh.store.arm import Arm

__all__ = ["FamilyTest", "Opponent", "family_test"]


@dataclass(frozen=True, slots=True)
class Opponent:
    """One opponent: its pair test and its adjusted p-value, or why it was skipped."""

    config_id: str
    pair: PairTest | None
    adjusted: float | None
    separated: bool
    verdict: Verdict | None
    """By the adjusted p-value, from the tested arm's side."""
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class FamilyTest:
    """An arm against its opponents, in the order of their ids."""

    dataset_id: str
    metric: str
    arm: str
    size: int
    """How many tests the correction counts: all declared opponents."""
    correction: Correction
    alpha: float
    seed: int
    direction: Direction
    opponents: list[Opponent]
    separated: int
    ahead: int
    """Opponents that the arm is separated from and better than."""
    notices: list[str]


def family_test(
    a: Arm,
    opponents: Sequence[Arm],
    metric: str,
    options: Options | None = None,
    *,
    correction: Correction = "holm",
    unread: Mapping[str, str] | None = None,
) -> FamilyTest:
    """The test of one metric of an arm against each opponent. `unread` are declared opponents that could not be read,
    with the reason; they count.

    Raises `SourceError` when not one opponent can be tested, `UsageError` for what makes no sense.
    """
    options = replace(options or Options(), family=1).check()
    names = [arm.config_id for arm in opponents] + list(unread or {})
    if not names:
        raise UsageError(f"{cut(a.config_id)} has no opponent: a family has at least one")
    own = {os.path.realpath(run.path) for run in a.runs}
    if len(set(names)) < len(names) or any(os.path.realpath(run.path) in own for arm in opponents for run in arm.runs):
        raise UsageError("opponents are named once each, and the arm itself is none of them")
    check_one_dataset([a, *opponents])
    direction = direction_of(
        metric, asked=options.asked, declared=options.declared, records=records_of([a, *opponents])
    )
    ours = values_of(a, metric)
    pairs: dict[str, PairTest] = {}
    skipped = dict(unread or {})
    for arm in opponents:
        try:
            theirs = (arm.config_id, arm.items, values_of(arm, metric))
            shared = paired_values((a.config_id, a.items, ours), theirs, metric, options.only, options.exclude)
            shared.check(a.config_id, arm.config_id, metric)
        except EvhError as error:
            skipped[arm.config_id] = error.message
            continue
        pairs[arm.config_id] = compare(a, arm, metric, shared, direction, options)
    if not pairs:
        said = "; ".join(f"{cut(name)}: {why}" for name, why in sorted(skipped.items())[:5])
        raise SourceError(f"none of {len(names)} opponents of {cut(a.config_id)} can be tested: {said}")
    ordered = sorted(names)
    tests = adjust([pairs[name].test.p if name in pairs else None for name in ordered], correction, alpha=options.alpha)
    found = [_opponent(name, pairs.get(name), test, skipped) for name, test in zip(ordered, tests, strict=True)]
    return FamilyTest(
        dataset_id=a.dataset_id,
        metric=metric,
        arm=a.config_id,
        size=len(names),
        correction=correction,
        alpha=options.alpha,
        seed=options.seed,
        direction=direction,
        opponents=found,
        separated=sum(each.separated for each in found),
        ahead=sum(each.verdict == "better" for each in found),
        notices=_notices(found, direction, len(skipped), len(names)),
    )


def _opponent(name: str, made: PairTest | None, test: Adjusted, skipped: Mapping[str, str]) -> Opponent:
    if made is None:
        return Opponent(name, None, None, False, None, skipped[name])
    differs = made.ties < made.n
    separated = test.rejected and differs
    # What one opponent could reach by itself says nothing about the adjusted value: it was tested at alpha.
    word = verdict(made.difference.estimate, differs, separated, made.test, made.alpha, made.direction)
    return Opponent(name, made, test.adjusted, separated, word)


def _notices(found: Sequence[Opponent], direction: Direction, skipped: int, declared: int) -> list[str]:
    notices = [direction.conflict] if direction.conflict else []
    if skipped:
        notices.append(f"{skipped} of {declared} opponents were skipped; the correction counts them all the same")
    shared = {each.pair.n for each in found if each.pair is not None}
    if len(shared) > 1:
        notices.append(f"opponents share between {min(shared)} and {max(shared)} items with the arm")
    return notices
