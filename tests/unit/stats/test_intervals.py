"""Intervals: published values to the digits given, and scipy and statsmodels where the code is ours."""

from __future__ import annotations

import math
import random

import pytest
import scipy.stats
import statsmodels.api
from statsmodels.stats.proportion import proportion_confint

from evh.errors import UsageError
from evh.stats import (
    bootstrap_interval,
    clopper_pearson,
    clustered_se,
    grouping,
    mean_interval,
    t_interval,
    wilson,
)
from evh.stats.clusters import Grouping
from evh.stats.intervals import share_se, standard_error

TREATED = [94, 197, 16, 38, 99, 141, 23]
CONTROL = [52, 104, 146, 10, 51, 30, 40, 27, 46]
SLEEP = [0.7 - 1.9, -1.6 - 0.8, -0.2 - 1.1, -1.2 - 0.1, -0.1 + 0.1, 3.4 - 4.4, 3.7 - 5.5, 0.8 - 1.6, -4.6, 2 - 3.4]


def clustered_values(clusters: int, size: int) -> tuple[list[float], Grouping]:
    draw = random.Random(7)
    values, names = [], {}
    for cluster in range(clusters):
        shift = draw.gauss(0, 1)
        for _ in range(size):
            names[f"{len(values)}"] = f"{cluster}"
            values.append(shift + draw.gauss(0, 1))
    groups = grouping([f"{at}" for at in range(len(values))], names)
    assert groups is not None
    return values, groups


@pytest.mark.parametrize(
    ("share", "n", "points"),
    [
        (0.655, 5000, 0.672),
        (0.63, 5000, 0.683),
        (0.836, 164, 2.891),
        (0.867, 164, 2.652),
        (0.753, 2500, 0.863),
        (0.78, 2500, 0.828),
    ],
)
def test_known_errors_of_shares(share: float, n: int, points: float) -> None:
    assert round(100 * (share_se(share, n) or 0), 3) == points


def test_known_errors_of_means_and_of_their_difference() -> None:
    treated, control = standard_error(TREATED) or 0, standard_error(CONTROL) or 0
    assert (round(treated, 2), round(control, 2), round(math.hypot(treated, control), 2)) == (25.24, 14.16, 28.94)
    means = [t_interval(each).estimate for each in (TREATED, CONTROL)]
    assert [round(each, 2) for each in (*means, means[0] - means[1])] == [86.86, 56.22, 30.63]


def test_known_interval_of_a_paired_difference() -> None:
    found = t_interval(SLEEP)
    assert found.low == pytest.approx(-2.459886, abs=5e-7)
    assert found.high == pytest.approx(-0.700114, abs=5e-7)


@pytest.mark.parametrize(
    ("successes", "n", "score", "exact"),
    [
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
        (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
        (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
        (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
    ],
)
def test_known_intervals_of_shares(
    successes: int, n: int, score: tuple[float, float], exact: tuple[float, float]
) -> None:
    for found, expected in ((wilson(successes, n), score), (clopper_pearson(successes, n), exact)):
        assert (round(found.low or 0, 4), round(found.high or 0, 4)) == expected


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_shares_agree_with_statsmodels(n: int) -> None:
    for successes in range(n + 1):
        for ours, name in ((wilson, "wilson"), (clopper_pearson, "beta")):
            found = ours(successes, n, level=0.9)
            assert (found.low, found.high) == pytest.approx(
                proportion_confint(successes, n, alpha=0.1, method=name), abs=1e-9
            )


def test_t_agrees_with_scipy() -> None:
    found = t_interval(TREATED, level=0.9)
    theirs = scipy.stats.ttest_1samp(TREATED, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_clustered_errors_agree_with_statsmodels_and_name_their_convention() -> None:
    values, groups = clustered_values(20, 5)
    fitted = statsmodels.api.OLS(values, [1.0] * len(values)).fit(
        cov_type="cluster", cov_kwds={"groups": list(groups.codes)}
    )
    corrected = clustered_se(values, groups) or 0
    assert corrected == pytest.approx(float(fitted.bse[0]), rel=1e-9)
    plain = clustered_se(values, groups, corrected=False) or 0
    assert plain == pytest.approx(corrected * math.sqrt(19 / 20), rel=1e-12)
    # The pair of numbers of the published example has that ratio too.
    assert 0.0859620 * math.sqrt(19 / 20) == pytest.approx(0.0837854, abs=5e-8)
    assert t_interval(values, groups).convention == "CR1, C/(C-1)"
    assert t_interval(values, groups, corrected=False).convention == "CR0, uncorrected"
    reach = float(scipy.stats.t.ppf(0.975, 19)) * corrected
    found = t_interval(values, groups)
    assert (found.low, found.high) == pytest.approx((found.estimate - reach, found.estimate + reach), rel=1e-9)


def test_one_cluster_and_one_item_are_undefined_and_not_0() -> None:
    one = grouping(["a", "b", "c"], dict.fromkeys("abc", "same"))
    for found in (t_interval([1.0, 2.0, 3.0], one), bootstrap_interval([1.0, 2.0, 3.0], one), t_interval([2.0])):
        assert (found.low, found.high, found.se) == (None, None, None)
        assert "shows no spread" in str(found)
    assert t_interval([1.0, 2.0, 3.0], one).estimate == 2.0


def test_clusters_of_one_item_are_no_clusters() -> None:
    assert grouping(["a", "b"], {"a": "x", "b": "y"}) is None
    assert grouping(["a", "b"], {}) is None


def test_the_interval_fits_the_values() -> None:
    assert mean_interval([0, 1, 1, 1]).kind == "Wilson"
    assert mean_interval([0, 0.5, 1]).kind == "t"
    groups = grouping(["a", "b", "c"], {"a": "x", "b": "x"})
    assert mean_interval([0, 1, 1], groups).kind == "clustered t"


def test_b032_the_mean_is_the_middle_of_its_own_interval() -> None:
    values, groups = clustered_values(6, 3)
    values, codes = [*values, 9.0], Grouping((*groups.codes, 0), groups.count)
    found = t_interval(values, codes)
    assert found.estimate == math.fsum(values) / len(values)
    assert found.estimate == pytest.approx(((found.low or 0) + (found.high or 0)) / 2, rel=1e-12)
    drawn = bootstrap_interval(values, codes)
    assert (drawn.low or 0) < found.estimate < (drawn.high or 0)


def test_the_mean_of_ten_tenths_is_a_tenth() -> None:
    assert t_interval([0.1] * 10).estimate == 0.1


def test_bootstraps_agree_with_scipy_within_the_error_of_drawing() -> None:
    values = [math.exp(each / 9) for each in range(40)]
    for method in ("percentile", "BCa"):
        theirs = scipy.stats.bootstrap(
            (values,), lambda x, axis: x.mean(axis=axis), n_resamples=20_000, method=method, rng=1
        )
        found = bootstrap_interval(values, method=method.lower(), draws=20_000)  # type: ignore[arg-type]
        low, high = theirs.confidence_interval
        tolerance = 0.04 * (high - low)
        assert (found.low, found.high) == pytest.approx((low, high), abs=tolerance)
        assert found.se == pytest.approx(float(theirs.standard_error), rel=0.03)


def test_a_cluster_bootstrap_has_the_error_of_clusters() -> None:
    values, groups = clustered_values(40, 10)
    drawn = bootstrap_interval(values, groups)
    assert drawn.se == pytest.approx(clustered_se(values, groups, corrected=False) or 0, rel=0.05)
    assert (drawn.clusters, drawn.draws, drawn.kind) == (40, 10_000, "cluster bootstrap, percentile")
    assert (bootstrap_interval(values).se or 0) < (drawn.se or 0) / 1.5
    assert bootstrap_interval(values, groups, method="bca").kind == "cluster bootstrap, BCa"


def test_an_interval_prints_everything_that_makes_it() -> None:
    values, groups = clustered_values(20, 5)
    assert "(clustered t 95 %, n=100, 20 clusters, CR1, C/(C-1))" in str(t_interval(values, groups))
    assert "n=100, 200 draws, seed 20260926)" in str(bootstrap_interval(values, draws=200))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: t_interval([]), "at least one item"),
        (lambda: t_interval([1, 2], level=95), "between 0 and 1, such as 0.95, not 95"),
        (lambda: wilson(3, 2), "no share"),
        (lambda: bootstrap_interval([1, 2], draws=0), "from 2 to 10,000,000, not 0"),
        (lambda: bootstrap_interval([1, 2], method="abc"), "percentile or bca"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()  # type: ignore[operator]
