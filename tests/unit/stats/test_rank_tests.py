"""Ranks, Wilcoxon, Spearman and McNemar: published values, brute force, scipy and statsmodels."""

from __future__ import annotations

import math
from itertools import product

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

from evh.errors import UsageError
from evh.stats import mcnemar, midranks, sign_flip, spearman, wilcoxon
from evh.stats.intervals import share_se
from evh.stats.mcnemar import mcnemar_of
from evh.stats.ranks import Zeros
from tests.unit.stats.test_paired_tests import TEN

DARWIN = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
DEMSAR = [0.005, -0.008, 0.017, 0.033, 0.006, -0.005, 0.007, 0, 0.063, 0, 0.022, 0.047, 0.009, 0.021]


@pytest.mark.parametrize(
    ("counts", "method", "statistic", "p"),
    [
        ((12, 2), "yates", "5.785714", "0.016157"),
        ((12, 2), "exact", "2", "0.012939453125"),
        ((59, 121), "yates", "20.672222", "5.45e-06"),
        ((59, 121), "uncorrected", "21.3556", None),
        ((13, 1), "yates", "8.64286", "0.00328"),
        ((13, 1), "exact", "1", "0.00183105"),
    ],
)
def test_known_mcnemar(counts: tuple[int, int], method: str, statistic: str, p: str | None) -> None:
    found = mcnemar(*counts, method=method)  # type: ignore[arg-type]
    for number, digits in ((found.statistic, statistic), (found.p, p)):
        if digits is not None:
            figures = len(digits.partition("e")[0].replace(".", "").lstrip("0"))
            assert f"{number:.{figures}g}" == digits
    theirs = their_mcnemar([[0, counts[0]], [counts[1], 0]], exact=method == "exact", correction=method == "yates")
    assert found.p == pytest.approx(float(theirs.pvalue), rel=1e-9)


def test_mcnemar_of_arms_counts_the_items_on_which_they_differ() -> None:
    found = mcnemar_of([1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    assert (found.p, found.n, found.statistic) == (0.625, 6, 1.0)
    assert mcnemar_of([1, 0], [1, 0]).p == 1.0
    with pytest.raises(UsageError, match=r"a metric of 0 and 1; one item has 0\.5"):
        mcnemar_of([1, 0.5], [1, 0])


def test_pairing_sees_what_two_samples_do_not() -> None:
    """220 items: 70 solved by both arms, 30 and 12 by one of them. Two samples say p = 0.080, pairs 0.008."""
    first, second = (70 + 30) / 220, (70 + 12) / 220
    error = math.hypot(share_se(first, 220) or 0, share_se(second, 220) or 0)
    unpaired = math.erfc((first - second) / error / math.sqrt(2))
    assert (round(unpaired, 3), round(mcnemar(30, 12, n=220).p or 0, 3)) == (0.080, 0.008)
    assert sign_flip([1.0] * 30 + [-1.0] * 12 + [0.0] * 178).p == pytest.approx(0.008, abs=0.003)


def test_known_wilcoxon() -> None:
    found = wilcoxon(DARWIN)
    assert (found.statistic, found.p) == (24, 0.041259765625)
    assert wilcoxon(DARWIN, method="normal").p == pytest.approx(0.0408881, abs=5e-8)
    assert wilcoxon(TEN).p == 0.02734375


def test_known_wilcoxon_with_zeros() -> None:
    found = wilcoxon(DEMSAR, method="normal")
    assert found.statistic == 12
    assert found.p == pytest.approx(0.010968, abs=5e-7)
    assert found.method == "Wilcoxon signed ranks, zeros split, normal approximation"
    assert wilcoxon(DEMSAR, zeros="drop").statistic == 6.5


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=11), st.sampled_from(["split", "drop", "pratt"]))
@settings(max_examples=60)
def test_exact_wilcoxon_is_an_enumeration(differences: list[int], zeros: Zeros) -> None:
    used = [each for each in differences if each or zeros != "drop"]
    ranks = midranks([abs(each) for each in used])
    signed = [(rank, each > 0) for rank, each in zip(ranks, used, strict=True) if each]
    plus = sum(rank for rank, positive in signed if positive)
    total = sum(rank for rank, _ in signed)
    observed = min(plus, total - plus)
    patterns = list(product((0, 1), repeat=len(signed)))
    drawn = [sum(rank for (rank, _), sign in zip(signed, signs, strict=True) if sign) for signs in patterns]
    expected = sum(min(each, total - each) <= observed for each in drawn) / len(patterns)
    assert wilcoxon(differences, zeros=zeros).p == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("zeros", "theirs"), [("split", "zsplit"), ("drop", "wilcox")])
def test_the_normal_approximation_agrees_with_scipy(zeros: Zeros, theirs: str) -> None:
    values = [((each * 29) % 17 - 6) / 4 for each in range(90)]
    expected = scipy.stats.wilcoxon(values, zero_method=theirs, method="asymptotic")
    found = wilcoxon(values, zeros=zeros)
    assert found.method.endswith("normal approximation")
    assert (found.statistic, found.p) == pytest.approx((float(expected.statistic), float(expected.pvalue)), rel=1e-9)


def test_exact_wilcoxon_agrees_with_scipy() -> None:
    values = [each * (-1) ** (each % 4 == 0) + 0.25 for each in range(1, 41)]
    assert wilcoxon(values).p == pytest.approx(float(scipy.stats.wilcoxon(values, method="exact").pvalue), rel=1e-9)


def test_known_spearman() -> None:
    assert spearman([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(0.9486833, abs=5e-8)
    assert spearman([1, 2, 3], [5, 5, 5]) is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_midranks_agree_with_scipy(values: list[int]) -> None:
    assert midranks(values) == list(scipy.stats.rankdata(values))


def test_noise_does_not_part_equals_and_small_costs_stay_apart() -> None:
    assert midranks([0.1 + 0.2, 0.3, 0.1]) == [2.5, 2.5, 1.0]
    assert midranks([1e-12, 2e-12, 3e-12]) == [1.0, 2.0, 3.0]
    assert midranks([1e6, 1e6 + 0.001]) == [1.0, 2.0]
