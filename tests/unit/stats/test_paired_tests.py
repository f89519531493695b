"""Tests of a paired difference: known answers, enumeration by brute force, scipy and statsmodels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.errors import UsageError
from evh.stats import Stream, grouping, paired_bootstrap, paired_t, sign_flip, t_interval, wilcoxon
from evh.stats.clusters import Grouping
from tests.unit.stats.test_intervals import SLEEP, clustered_values

TEN = [0.1, 0.2, -0.05, 0.3, 0.15, -0.02, 0.08, 0.11, 0.09, -0.01]
KNOWN: list[tuple[list[float], float]] = [
    ([1, 1, 1, 1, 1], 0.0625),
    ([0.5, -0.25, 0.25, 0.75, 0.125, 0], 0.25),
    ([1, -1, 1, -1], 1.0),
    ([0, 0, 0], 1.0),
    ([3, 1, 2], 0.25),
    (TEN, 0.017578125),
    ([0.1, 0.2, -0.3, 0.01], 1.0),
    ([0.1, 0.2, -0.3, 0.05], 1.0),
]


def brute_force(sums: Sequence[int]) -> float:
    """The share of all sign patterns that reach the observed sum, in whole numbers."""
    observed = abs(sum(sums))
    patterns = list(product((1, -1), repeat=len(sums)))
    return sum(abs(sum(s * d for s, d in zip(signs, sums, strict=True))) >= observed for signs in patterns) / len(
        patterns
    )


@pytest.mark.parametrize(("differences", "p"), KNOWN)
def test_known_sign_flips(differences: list[float], p: float) -> None:
    found = sign_flip(differences)
    assert found.p == p
    assert found.method == "sign flips, exact"
    if any(differences):
        theirs = scipy.stats.permutation_test(
            (differences,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", vectorized=True
        )
        assert p == pytest.approx(float(theirs.pvalue), abs=1e-9)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
@settings(max_examples=60)
def test_sign_flips_are_an_enumeration(differences: list[int]) -> None:
    assert sign_flip([each / 10 for each in differences]).p == pytest.approx(brute_force(differences), abs=1e-9)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 5)), min_size=2, max_size=14))
@settings(max_examples=60)
def test_whole_clusters_flip(pairs: list[tuple[int, int]]) -> None:
    items = [str(at) for at in range(len(pairs))]
    groups = grouping(items, {item: str(cluster) for item, (_, cluster) in zip(items, pairs, strict=True)})
    sums: dict[int, int] = {}
    for value, cluster in pairs:
        sums[cluster] = sums.get(cluster, 0) + value
    found = sign_flip([value / 10 for value, _ in pairs], groups)
    assert found.p == pytest.approx(brute_force(list(sums.values())), abs=1e-9)


def test_b107_draws_that_tie_with_what_was_observed_count() -> None:
    assert sign_flip([1, 1, 1, 1, 1]).p == 0.0625
    drawn = sign_flip([1, 1, 1, 1, 1], draws=31)
    assert drawn.method == "sign flips, Monte Carlo" and (drawn.p or 0) > 1 / 32


def test_b106_a_drawn_p_is_never_0() -> None:
    found = sign_flip([1000.0 + each for each in range(200)])
    assert (found.p, found.smallest_p, found.draws) == (1 / 20_001, 1 / 20_001, 20_000)
    assert paired_bootstrap([1000.0 + each for each in range(200)], draws=999).p == 1 / 1000


def test_the_smallest_p_is_what_the_data_can_reach() -> None:
    assert sign_flip([1, 2, 3, 4, 5]).smallest_p == 0.0625
    assert sign_flip([1, 2, 3, 0, 0]).smallest_p == 0.25
    assert sign_flip([1] * 14).method.endswith("exact") and sign_flip([1] * 15).method.endswith("Monte Carlo")


def test_drawn_signs_agree_with_the_enumeration() -> None:
    differences = [((each * 37) % 23 - 9) / 7 for each in range(13)]
    exact = sign_flip(differences).p or 0
    drawn = sign_flip(differences, draws=8000).p or 0
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 8000))


@pytest.mark.parametrize("n", [15, 16, 17])
def test_drawn_signs_reach_every_difference(n: int) -> None:
    values = [math.sin(7 * at) + 0.2 for at in range(n)]
    enumerated = sign_flip(values, draws=2**17)
    assert enumerated.method == "sign flips, exact"
    assert sign_flip(values).p == pytest.approx(enumerated.p, abs=0.015)


@pytest.mark.parametrize("n", [100, 333, 2000])
def test_drawn_signs_are_near_the_normal_limit(n: int) -> None:
    values = [math.sin(7 * at) + 1.2 / math.sqrt(n) for at in range(n)]
    z = abs(sum(values)) / math.sqrt(sum(each * each for each in values))
    assert sign_flip(values).p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.015)


def test_known_paired_t() -> None:
    found = paired_t(SLEEP)
    assert found.statistic == pytest.approx(-4.062128, abs=5e-7)
    assert found.p == pytest.approx(0.00283289, abs=5e-9)
    assert found.method == "paired t, df 9"
    theirs = scipy.stats.ttest_1samp(SLEEP, 0)
    assert found.p == pytest.approx(float(theirs.pvalue), rel=1e-9)


def test_a_clustered_t_stands_on_the_clustered_error() -> None:
    import statsmodels.api

    values, groups = clustered_values(20, 5)
    fitted = statsmodels.api.OLS(values, [1.0] * len(values)).fit(
        cov_type="cluster", cov_kwds={"groups": list(groups.codes)}, use_t=True
    )
    assert paired_t(values, groups).p == pytest.approx(float(fitted.pvalues[0]), rel=1e-9)


def test_a_paired_bootstrap_is_near_the_normal_limit() -> None:
    values, groups = clustered_values(60, 5)
    values = [each + 0.25 for each in values]
    for clusters in (None, groups):
        t = paired_t(values, clusters).statistic or 0
        limit = math.erfc(abs(t) / math.sqrt(2))
        assert paired_bootstrap(values, clusters).p == pytest.approx(limit, abs=0.03)


@pytest.mark.parametrize("test", [sign_flip, paired_t, paired_bootstrap])
def test_no_difference_gives_1(test: Any) -> None:
    assert test([0.0, 0.0, 0.0]).p == 1.0
    assert test([0.0, 0.0, 0.0], Grouping((0, 0, 1), 2)).p == 1.0


@pytest.mark.parametrize("test", [paired_t, paired_bootstrap])
def test_differences_without_spread_have_no_p_and_no_0(test: Any) -> None:
    found = test([0.1 + 0.2, 0.3, 0.3])
    assert found.p is None and "take sign flips" in str(found.note)


def test_the_stream_belongs_to_the_question() -> None:
    values = [((each * 37) % 23 - 8) / 7 for each in range(40)]
    stream = Stream.of(1, "d", ("a", "b"), "score")
    assert sign_flip(values, stream=stream) == sign_flip(values, stream=Stream.of(1, "d", ("b", "a"), "score"))
    others = [Stream.of(2, "d", ("a", "b"), "score"), Stream.of(1, "d", ("a", "c"), "score")]
    others += [Stream.of(1, "e", ("a", "b"), "score"), Stream.of(1, "d", ("a", "b"), "wer")]
    numbers = {each.generator("signs").integers(0, 2**62) for each in [stream, *others]}
    numbers.add(stream.generator("bootstrap").integers(0, 2**62))
    assert len(numbers) == 6


def test_a_signature_says_how_to_get_the_number_again() -> None:
    values = [1.0, -2.0] * 10
    assert sign_flip(values).signature == "sign flips, Monte Carlo, n=20, 20000 draws, seed 20260926"
    groups = grouping([str(at) for at in range(20)], {str(at): str(at // 2) for at in range(20)})
    assert paired_t(values, groups).signature.startswith("paired t, clustered (CR1)")


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one difference"):
        sign_flip([])
    for wrong in (math.nan, math.inf, 1e308):
        for test in (sign_flip, paired_t, paired_bootstrap, wilcoxon, t_interval):
            with pytest.raises(UsageError, match="numbers between -1e150 and 1e150"):
                test([1.0, wrong, -wrong, wrong])
    with pytest.raises(UsageError, match="from 1 to 10,000,000, not 0"):
        sign_flip([1.0], draws=0)
    with pytest.raises(UsageError, match="2 items have clusters, 3 have values"):
        paired_t([1.0, 2.0, 3.0], Grouping((0, 0), 1))
