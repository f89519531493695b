"""Numbers at the edges: too small to square, too large to cube, constants, minus zero, integers beyond 2^53."""

from __future__ import annotations

import math
import time

import pytest

from evh.errors import UsageError
from evh.stats import (
    bootstrap_interval,
    clopper_pearson,
    detectable,
    items_needed,
    mcnemar,
    mean_interval,
    paired_bootstrap,
    paired_t,
    sign_flip,
    t_interval,
    wilcoxon,
    wilson,
)
from evh.stats.clusters import Grouping
from evh.stats.mcnemar import mcnemar_of

VALUES = [1.0, 2.0, 3.0, 5.0, 9.0]
PAIRS = Grouping((0, 0, 1, 1, 2), 3)
SCALES = [2.0**-660, 2.0**-400, 2.0**-30, 2.0**100, 2.0**400]
"""Powers of two: what is computed of scaled values is the scaled result, to the last digit or nearly."""


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("groups", [None, PAIRS])
def test_a_unit_changes_no_interval_and_no_p(scale: float, groups: Grouping | None) -> None:
    scaled = [each * scale for each in VALUES]
    for interval in (
        t_interval,
        lambda values, groups: bootstrap_interval(values, groups, draws=500),
        lambda values, groups: bootstrap_interval(values, groups, method="bca", draws=500),
    ):
        one, other = interval(VALUES, groups), interval(scaled, groups)
        for name in ("estimate", "low", "high", "se"):
            assert getattr(other, name) == pytest.approx(getattr(one, name) * scale, rel=1e-12)
    for test in (sign_flip, paired_t, paired_bootstrap):
        assert test(scaled, groups).p == pytest.approx(test(VALUES, groups).p, rel=1e-12)
    assert wilcoxon(scaled).p == wilcoxon(VALUES).p


def test_values_that_are_all_alike_have_no_interval_of_no_width() -> None:
    for values in ([1.0] * 5, [0.1] * 10, [-0.0, 0.0, -0.0], [0.1 + 0.2, 0.3, 0.3], [3, 3]):
        for found in (t_interval(values), bootstrap_interval(values), bootstrap_interval(values, method="bca")):
            assert (found.low, found.high, found.se) == (None, None, None)
            assert "items that are all alike show no spread" in str(found)
    cancelled = t_interval([1.0, -1.0, 2.0, -2.0], Grouping((0, 0, 1, 1), 2))
    assert "clusters that are all alike show no spread" in str(cancelled)
    assert mean_interval([1, 1, 1]).low == pytest.approx(0.4385, abs=5e-5)  # a share has Wilson's


def test_one_and_two_values() -> None:
    assert sign_flip([3.0]).p == wilcoxon([3.0]).p == 1.0
    assert paired_t([3.0]).p is None and paired_bootstrap([3.0]).p is None
    assert sign_flip([3.0, 4.0]).p == wilcoxon([3.0, 4.0]).p == 0.5
    assert t_interval([1.0, 2.0]).high == pytest.approx(1.5 + 0.5 * math.tan(math.pi * 0.475))  # Cauchy's quantile
    assert "a bootstrap over 2 items rejects too often: take sign flips" in str(paired_bootstrap([3.0, 4.0]).note)
    assert paired_bootstrap([math.sin(at) for at in range(20)]).note is None


def test_minus_zero_is_zero() -> None:
    assert sign_flip([-0.0, 1.0, -1.0]) == sign_flip([0.0, 1.0, -1.0])
    assert wilcoxon([-0.0, 1.0, 2.0]) == wilcoxon([0.0, 1.0, 2.0])
    assert mcnemar_of([-0.0, 1], [0, 0]).p == 1.0


def test_integers_beyond_2_to_53_are_not_rounded_apart() -> None:
    big = 2**53 + 1
    assert sign_flip([big, -big, big, -big]).p == 1.0
    assert wilcoxon([big, big, -big]).statistic == 2.0
    for test in (sign_flip, paired_t, paired_bootstrap, wilcoxon, t_interval):
        with pytest.raises(UsageError, match="numbers between -1e150 and 1e150, not of 1000000"):
            test([10**400, 1])
        with pytest.raises(UsageError, match="not of nan"):
            test([1.0, 2.0, math.nan])


def test_levels_and_alphas_next_to_their_ends() -> None:
    level = math.nextafter(1, 0)
    for found in (wilson(3, 7, level=level), t_interval(VALUES, level=level), clopper_pearson(3, 7, level=level)):
        assert -math.inf < (found.low or 0) < found.estimate < (found.high or 0) < math.inf
    assert detectable(1.0, alpha=1e-20) == pytest.approx(10.1777, abs=5e-5)
    assert detectable(1.0, alpha=5e-324) > detectable(1.0, alpha=1e-300) > 37


def test_needed_items_are_one_or_more_or_out_of_reach() -> None:
    assert items_needed(0.1, between=0) == 1
    for difference in (1e-160, -1e-200, 5e-324):
        with pytest.raises(UsageError, match="no number of items shows a difference as small"):
            items_needed(difference, between=0.1)


def test_b106_a_p_too_small_for_a_double_is_not_0() -> None:
    many = [1.0 + at % 7 / 1e9 for at in range(2_000)]
    for found in (mcnemar(3_000, 0), mcnemar(3_000, 0, method="yates"), wilcoxon(many), paired_t(many)):
        assert 0 < (found.p or 0) < 1e-300, found.method
    assert mcnemar(3_000, 0).smallest_p == mcnemar(3_000, 0).p


@pytest.mark.parametrize(("wins", "losses"), [(520, 480), (450, 551), (601, 500), (900, 1_100), (1, 1_040)])
def test_many_items_that_differ_are_counted_exactly_and_at_once(wins: int, losses: int) -> None:
    term, tail = 1, 0
    for count in range(min(wins, losses) + 1):
        tail += term
        term = term * (wins + losses - count) // (count + 1)
    assert mcnemar(wins, losses).p == pytest.approx(min(1.0, 2 * tail / 2 ** (wins + losses)), rel=1e-9)
    start = time.process_time()
    assert 0 < (mcnemar(1_000_000, 1_001_000).p or 0) < 1
    assert time.process_time() - start < 1


def test_what_would_never_end_is_refused() -> None:
    with pytest.raises(UsageError, match=r"from 1 to 10,000,000, not 1000000000000"):
        sign_flip([1.0 + at for at in range(60)], draws=10**12)
    with pytest.raises(UsageError, match=r"from 1 to 10,000,000, not 2\.5"):
        sign_flip([1.0, 2.0], draws=2.5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="for up to 300 ranks, not 400: take normal"):
        wilcoxon([1.0 + at for at in range(400)], method="exact")


def test_values_and_clusters_of_other_items_are_refused() -> None:
    for call in (t_interval, bootstrap_interval, sign_flip, paired_t, paired_bootstrap):
        with pytest.raises(UsageError, match="5 items have clusters, 3 have values"):
            call([1.0, 2.0, 3.0], PAIRS)
    with pytest.raises(UsageError, match="values of 2 and of 1 items"):
        mcnemar_of([1, 0], [1])
