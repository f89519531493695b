"""Two arms compared on the items they share: `pair_test`, a pure function over arms.

Promise: one direction, one set of items and one set of clusters feed the difference, its interval, the p-value and the
verdict. What was dropped, failed or unlike between the arms is in the result. A p-value does not depend on the
direction, on the order of files, or on what else is compared. Separated means p at most the threshold (`<=`).
Policy: sign flips at 5 %; alpha/m for a pair of a family of m (Bonferroni); the interval of the difference is t,
clustered when the items are. McNemar and Wilcoxon take items as independent and are refused with clusters.
When it breaks: fewer than three shared items, arms of two datasets, a metric that an arm lacks: an error, no number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from evh.errors import UsageError, cut
from evh.stats.clusters import Grouping, grouping
from evh.stats.direction import Declares, Direction, Way, direction_of
from evh.stats.families import check_alpha
from evh.stats.intervals import Interval, bootstrap_interval, t_interval
from evh.stats.mcnemar import mcnemar_of
from evh.stats.paired import TestOutcome, paired_bootstrap, paired_t, sign_flip
from evh.stats.pairing import Pairing, pair
from evh.stats.power import detectable
from evh.stats.provenance import confounds, records_of
from evh.stats.ranks import wilcoxon
from evh.stats.streams import BOOTSTRAP_DRAWS, PERMUTATIONS, SEED, Stream
from evh.store.aggregate import exact_mean
from evh.store.arm import Arm

__all__ = ["Method", "Options", "PairTest", "Verdict", "pair_test"]

Method = Literal["sign-flip", "mcnemar", "wilcoxon", "t", "bootstrap"]
Verdict = Literal["better", "worse", "changed", "identical", "not separated", "out of reach", "no verdict"]
FEW_CLUSTERS = 10
MOST_TESTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to compare. `clusters` maps items to clusters; `only` and `exclude` choose items; `asked` is a direction from
    the command line, `declared` are the current adapters of the arms."""

    method: Method = "sign-flip"
    clusters: Mapping[str, str] | None = None
    only: Collection[str] | None = None
    exclude: Collection[str] = ()
    asked: Way | None = None
    declared: Sequence[Declares] = ()
    alpha: float = 0.05
    family: int = 1
    level: float = 0.95
    permutations: int = PERMUTATIONS
    draws: int = BOOTSTRAP_DRAWS
    seed: int = SEED
    bootstrap: bool = False
    """The interval of the difference by bootstrap instead of t."""

    def check(self) -> Options:
        """Itself. Raises `UsageError` for what makes no sense."""
        check_alpha(self.alpha)
        if self.method not in get_args(Method):
            raise UsageError(f"the method is {', '.join(get_args(Method))}, not {cut(self.method)}")
        if not 1 <= self.family <= MOST_TESTS:
            raise UsageError(f"a family has 1 to {MOST_TESTS:,} tests, not {cut(self.family)}")
        if self.clusters and self.method in ("mcnemar", "wilcoxon"):
            raise UsageError(
                f"{self.method} takes items as independent, and these are in clusters: take sign-flip or t"
            )
        return self


@dataclass(frozen=True, slots=True)
class PairTest:
    """What a comparison of arm `a` with arm `b` said. Differences are a minus b."""

    dataset_id: str
    metric: str
    a: str
    b: str
    n: int
    dropped: dict[str, int]
    failed: tuple[int, int]
    """Accepted failures among the rows of each arm."""
    clusters: int | None
    mean_a: float
    mean_b: float
    difference: Interval
    wins: int
    """Items on which a is better by the direction (has more, when there is none)."""
    ties: int
    losses: int
    test: TestOutcome
    direction: Direction
    alpha: float
    threshold: float
    """What the p-value is held against: alpha, shared out among the family."""
    separated: bool
    verdict: Verdict
    detectable: float | None
    """The smallest true difference that this comparison shows with 80 % power at the threshold."""
    notices: list[str]


def pair_test(a: Arm, b: Arm, metric: str, options: Options | None = None) -> PairTest:
    """The test of one metric between two arms of one dataset.

    Raises `SourceError` for fewer than three shared items, `UsageError` for what cannot be compared.
    """
    options = (options or Options()).check()
    check_one_dataset([a, b])
    shared = pair(a, b, metric, only=options.only, exclude=options.exclude).check(a.config_id, b.config_id, metric)
    direction = direction_of(metric, asked=options.asked, declared=options.declared, records=records_of([a, b]))
    return compare(a, b, metric, shared, direction, options)


def compare(a: Arm, b: Arm, metric: str, shared: Pairing, direction: Direction, options: Options) -> PairTest:
    """The test of a pairing that was made already."""
    groups = grouping(shared.items, options.clusters)
    stream = Stream.of(options.seed, a.dataset_id, (a.config_id, b.config_id), metric)
    differences = shared.differences
    outcome = _tests(shared, differences, groups, stream, options)[options.method]()
    if options.bootstrap:
        difference = bootstrap_interval(differences, groups, level=options.level, draws=options.draws, stream=stream)
    else:
        difference = t_interval(differences, groups, level=options.level)
    threshold = options.alpha / options.family
    way = direction.sign or 1
    separated = outcome.p is not None and outcome.p <= threshold and any(differences)
    notices = confounds([a, b])
    notices += [direction.conflict] if direction.conflict else []
    notices += _notes(outcome, threshold, groups, any(differences))
    return PairTest(
        dataset_id=a.dataset_id,
        metric=metric,
        a=a.config_id,
        b=b.config_id,
        n=len(shared.items),
        dropped=shared.dropped,
        failed=(a.n_errors, b.n_errors),
        clusters=None if groups is None else groups.count,
        mean_a=exact_mean(shared.first),
        mean_b=exact_mean(shared.second),
        difference=difference,
        wins=sum(each * way > 0 for each in differences),
        ties=sum(each == 0 for each in differences),
        losses=sum(each * way < 0 for each in differences),
        test=outcome,
        direction=direction,
        alpha=options.alpha,
        threshold=threshold,
        separated=separated,
        verdict=verdict(difference.estimate, any(differences), separated, outcome, threshold, direction),
        detectable=None if difference.se is None else detectable(difference.se, alpha=threshold),
        notices=notices,
    )


def verdict(
    mean: float, differs: bool, separated: bool, outcome: TestOutcome, threshold: float, direction: Direction
) -> Verdict:
    """The comparison in a word, from the first arm's side."""
    if not differs:
        return "identical"
    if direction.conflict:
        return "no verdict"
    if separated:
        if not direction.sign:
            return "changed"
        return "better" if mean * direction.sign > 0 else "worse"
    out_of_reach = outcome.smallest_p is not None and outcome.smallest_p > threshold
    return "out of reach" if out_of_reach or outcome.p is None else "not separated"


def check_one_dataset(arms: Sequence[Arm]) -> None:
    """Raises `UsageError` when arms are of several datasets: their items are not the same."""
    names = sorted({arm.dataset_id for arm in arms})
    if len(names) > 1:
        raise UsageError(f"arms of one dataset are compared, not of {', '.join(map(cut, names))}")


def _tests(
    shared: Pairing, differences: list[float], groups: Grouping | None, stream: Stream, options: Options
) -> dict[Method, Callable[[], TestOutcome]]:
    return {
        "sign-flip": lambda: sign_flip(differences, groups, draws=options.permutations, stream=stream),
        "mcnemar": lambda: mcnemar_of(shared.first, shared.second),
        "wilcoxon": lambda: wilcoxon(differences),
        "t": lambda: paired_t(differences, groups),
        "bootstrap": lambda: paired_bootstrap(differences, groups, draws=options.draws, stream=stream),
    }


def _notes(outcome: TestOutcome, threshold: float, groups: Grouping | None, differs: bool) -> list[str]:
    notices = [outcome.note] if outcome.note else []
    if differs and outcome.smallest_p is not None and outcome.smallest_p > threshold:
        what = "draws" if outcome.draws is not None else "items" if groups is None else "clusters"
        notices.append(
            f"no result could separate these arms: the smallest p of the test is {outcome.smallest_p:.3g}, above "
            f"{threshold:.3g}; it takes more {what}"
        )
    if groups is not None and groups.count < FEW_CLUSTERS:
        notices.append(f"{groups.count} clusters are few: clustered errors tend to come out too small")
    return notices
