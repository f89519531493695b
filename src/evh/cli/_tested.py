"""The options of a test, what `evh.stats` takes for them, and the items that a test left out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evh.cli._args import Once, add_json, count, number_of
from evh.cli._choice import Choice, add_choice, add_direction, asked_way
from evh.cli._compared import Runs, add_runs, listed

if TYPE_CHECKING:
    from evh.stats.comparison import Options, PairTest
    from evh.stats.direction import Declares
    from evh.stats.opponents import FamilyTest
    from evh.store.arm import Arm

__all__ = ["add_test", "family_name", "family_notices", "family_of", "left_out", "metric_of", "options_of"]

METHODS = ("sign-flip", "mcnemar", "wilcoxon", "t", "bootstrap")


def add_test(parser: Any, method: str = "--method") -> None:
    """What every test can be told; `method` is the option that chooses it."""
    parser.add_argument("--metric", action=Once)
    parser.add_argument(method, choices=METHODS, action=Once, dest="method")
    parser.add_argument("--permutations", type=count, action=Once)
    parser.add_argument("--seed", type=count, action=Once)
    parser.add_argument("--alpha", type=number_of, action=Once)
    add_direction(parser)
    parser.add_argument("--dataset-id", action=Once)
    add_choice(parser)
    add_runs(parser)
    add_json(parser)


def metric_of(arms: Sequence[Arm], asked: str | None, declared: Sequence[Declares]) -> tuple[str, list[str]]:
    """The metric that arms are compared by, and what to say about how it was chosen."""
    from evh.stats.leaderboard import sort_key
    from evh.stats.provenance import records_of

    key = sort_key(arms, records_of(arms), sort=asked, declared=declared)
    return key.metric, key.notices


def options_of(
    options: argparse.Namespace, runs: Runs, choice: Choice, dataset_id: str, declared: Sequence[Declares]
) -> Options:
    """How to compare, by the command line."""
    from evh.stats.comparison import Options
    from evh.stats.streams import PERMUTATIONS, SEED

    family = getattr(options, "family", None)
    return Options(
        method=options.method or "sign-flip",
        clusters=runs.clusters(dataset_id),
        only=choice.only,
        exclude=choice.exclude,
        asked=asked_way(options),
        declared=declared,
        alpha=0.05 if options.alpha is None else options.alpha,
        family=1 if family is None else family,
        permutations=PERMUTATIONS if options.permutations is None else options.permutations,
        seed=SEED if options.seed is None else options.seed,
        bootstrap=bool(getattr(options, "bootstrap", False)),
    )


def family_of(options: argparse.Namespace, runs: Runs, choice: Choice) -> tuple[FamilyTest, list[str]]:
    """The test of an arm against the opponents that `--against` declares, and the notices of all that it read."""
    from evh.stats.opponents import family_test

    a = runs.arm(options.a, options.dataset_id)
    arms, unread = runs.arms(a.dataset_id, match=options.against)
    ours = {os.path.realpath(run.path) for run in a.runs}
    # A derived arm has the config id of the measured one, which is an opponent like any other.
    opponents = [arm for arm in arms if ours.isdisjoint(os.path.realpath(run.path) for run in arm.runs)]
    if not ours.isdisjoint(os.path.realpath(run.path) for run in runs.listing.finished):
        unread.pop(a.config_id, None)
    declared = runs.declared([a, *opponents])
    metric, chosen = metric_of([a], options.metric, declared)
    how = options_of(options, runs, choice, a.dataset_id, declared)
    found = family_test(a, opponents, metric, how, correction=options.correction or "holm", unread=unread)
    missed = choice.missed([a, *opponents])
    return found, [*choice.notices, *missed, *chosen, *runs.told([a, *opponents]), *found.notices]


def family_name(asked: str, found: FamilyTest) -> str:
    """What the arm is called: its config id, or as it was asked for when an opponent has that id too."""
    return asked if any(each.config_id == found.arm for each in found.opponents) else found.arm


def family_notices(found: FamilyTest) -> list[str]:
    """What is to be said about the pairs of a family, each once, with the opponents that it is about."""
    about: dict[str, list[str]] = {}
    for each in found.opponents:
        for said in [] if each.pair is None else each.pair.notices:
            about.setdefault(said, []).append(each.config_id)
    return [f"{listed(names)}: {said}" for said, names in about.items()]


def left_out(found: PairTest) -> str:
    """The items that a pair test dropped and the rows that failed, to print below it."""
    from evh.cli._terminal import printable

    dropped = "; ".join(f"{number:,} {printable(why)}" for why, number in sorted(found.dropped.items())) or "none"
    return f"items dropped: {dropped}; rows that failed: {found.failed[0]:,} and {found.failed[1]:,}"
