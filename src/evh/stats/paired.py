"""Tests of a mean paired difference, over items or whole clusters: sign flips, paired t, paired bootstrap.

Promise: a p-value is two-sided and never 0 by counting: a Monte Carlo p is (1 + hits)/(draws + 1). Draws that tie with
what was observed count as hits, float noise aside (a tolerance of 1e-12 of the mean absolute difference). All
differences 0 give 1. The same stream gives the same p. With clusters the sign of a whole cluster flips, whole clusters
are drawn, and the t test stands on the clustered standard error.
Policy: sign patterns are enumerated when there are at most as many as draws (2^14 by default). Groups whose differences
cancel take no part, for their sign changes nothing; so `smallest_p` is what these data can reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evh.errors import UsageError
from evh.stats._libraries import load
from evh.stats._numbers import above_zero, checked
from evh.stats._resampling import bootstrap_means, flipped_sums
from evh.stats.clusters import Grouping
from evh.stats.intervals import TOLERANCE, clustered_se, no_spread, standard_error
from evh.stats.streams import BOOTSTRAP_DRAWS, PERMUTATIONS, Stream, check_draws
from evh.store.aggregate import exact_mean, exact_sum

__all__ = ["TestOutcome", "paired_bootstrap", "paired_t", "sign_flip"]

FEW_DRAWN = 20
"""Fewer items or clusters than this are too few for the paired bootstrap to keep its level."""


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What a test said, and everything needed to get it again."""

    __test__ = False  # no test of a test runner

    method: str
    p: float | None
    """None when the test is undefined; `note` says why."""
    statistic: float | None
    n: int
    clusters: int | None = None
    smallest_p: float | None = None
    """The smallest p-value that the test could have reached on these data, where there is such a limit."""
    draws: int | None = None
    seed: int | None = None
    note: str | None = None

    @property
    def signature(self) -> str:
        """The test in one line, to print beside its result."""
        parts = [self.method, f"n={self.n}"]
        parts += [f"{self.clusters} clusters"] if self.clusters is not None else []
        parts += [f"{self.draws} draws, seed {self.seed}"] if self.draws is not None else []
        return ", ".join(parts)


def sign_flip(
    differences: Sequence[float],
    groups: Grouping | None = None,
    *,
    draws: int = PERMUTATIONS,
    stream: Stream | None = None,
) -> TestOutcome:
    """The permutation test of a mean paired difference: under no effect each difference could have either sign."""
    n, clusters = _sizes(differences, groups)
    check_draws(draws)
    noise = TOLERANCE * exact_sum([abs(each) for each in differences])
    sums = list(differences) if groups is None else groups.sums(differences)
    sums = [each for each in sums if abs(each) > noise] if groups is not None else [each for each in sums if each]
    observed = abs(exact_sum(sums))
    method = "sign flips" if groups is None else "sign flips of clusters"
    mean = abs(exact_mean(differences))
    if not sums:
        return TestOutcome(f"{method}, exact", 1.0, 0.0, n, clusters, 1.0, note="no difference is other than 0")
    if 2 ** len(sums) <= draws:
        # The other half of the patterns is the mirror image: it hits as often.
        totals = [sums[0]]
        for each in sums[1:]:
            totals = [total + each for total in totals] + [total - each for total in totals]
        hits = sum(abs(total) >= observed - noise for total in totals)
        smallest = 1 / len(totals)
        return TestOutcome(f"{method}, exact", hits / len(totals), mean, n, clusters, smallest)
    stream = stream or Stream()
    np = load("numpy")
    drawn = np.abs(flipped_sums(sums, draws, stream.generator("signs")))
    p = (1 + int((drawn >= observed - noise).sum())) / (draws + 1)
    return TestOutcome(f"{method}, Monte Carlo", p, mean, n, clusters, 1 / (draws + 1), draws, stream.seed)


def paired_t(differences: Sequence[float], groups: Grouping | None = None) -> TestOutcome:
    """Student's paired t; with clusters on the corrected clustered standard error and C - 1 degrees of freedom."""
    n, clusters = _sizes(differences, groups)
    method = "paired t" if groups is None else "paired t, clustered (CR1)"
    if not any(differences):
        return TestOutcome(method, 1.0, 0.0, n, clusters, note="no difference is other than 0")
    se = standard_error(differences) if groups is None else clustered_se(differences, groups)
    mean = exact_mean(differences)
    if se is None or no_spread(se, differences):
        return TestOutcome(method, None, None, n, clusters, note="the differences show no spread: take sign flips")
    t = mean / se
    freedom = (n if groups is None else groups.count) - 1
    p = 2 * float(load("scipy.special").stdtr(freedom, -abs(t)))
    return TestOutcome(f"{method}, df {freedom}", above_zero(p), t, n, clusters)


def paired_bootstrap(
    differences: Sequence[float],
    groups: Grouping | None = None,
    *,
    draws: int = BOOTSTRAP_DRAWS,
    stream: Stream | None = None,
) -> TestOutcome:
    """The paired bootstrap test: how often a draw is as far from the observed mean as the observed mean is from 0.

    It rejects too often when items or clusters are few, and says so; sign flips do not.
    """
    n, clusters = _sizes(differences, groups)
    check_draws(draws)
    method = "paired bootstrap" if groups is None else "paired cluster bootstrap"
    if not any(differences):
        return TestOutcome(method, 1.0, 0.0, n, clusters, note="no difference is other than 0")
    if clusters == 1 or n == 1:
        return TestOutcome(method, None, None, n, clusters, note="one cluster or item shows no spread")
    np = load("numpy")
    stream = stream or Stream()
    mean = exact_mean(differences)
    means = bootstrap_means(differences, groups, draws, stream.generator("bootstrap"))
    noise = TOLERANCE * exact_mean([abs(each) for each in differences])
    if float(means.max() - means.min()) <= noise:
        return TestOutcome(method, None, None, n, clusters, note="the differences show no spread: take sign flips")
    p = (1 + int((np.abs(means - mean) >= abs(mean) - noise).sum())) / (draws + 1)
    drawn = n if clusters is None else clusters
    few = f"a bootstrap over {drawn} {'items' if clusters is None else 'clusters'} rejects too often: take sign flips"
    note = few if drawn < FEW_DRAWN else None
    return TestOutcome(method, p, mean, n, clusters, 1 / (draws + 1), draws, stream.seed, note)


def _sizes(differences: Sequence[float], groups: Grouping | None) -> tuple[int, int | None]:
    if not differences:
        raise UsageError("a paired test needs at least one difference")
    checked(differences)
    if groups is not None:
        groups.check(differences)
    return len(differences), None if groups is None else groups.count
