"""From the options of a test to what `evh.stats` takes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evh.cli._compared import Choice, Runs, asked_way

if TYPE_CHECKING:
    from evh.stats.comparison import Options
    from evh.stats.direction import Declares
    from evh.stats.opponents import FamilyTest
    from evh.store.arm import Arm

__all__ = ["family_of", "metric_of", "options_of"]


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
    opponents = [arm for arm in arms if arm.config_id != a.config_id]
    unread.pop(a.config_id, None)
    declared = runs.declared([a, *opponents])
    metric, chosen = metric_of([a], options.metric, declared)
    how = options_of(options, runs, choice, a.dataset_id, declared)
    found = family_test(a, opponents, metric, how, correction=options.correction or "holm", unread=unread)
    return found, [*choice.notices, *chosen, *runs.told([a, *opponents]), *found.notices]
