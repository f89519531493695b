"""Metrics of a whole arm: the paired bootstrap of macro-F1 and its like."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats

from evh.errors import UsageError
from evh.stats import Stream, bootstrap_interval, grouping, paired_bootstrap_of
from tests.unit.stats.test_intervals import clustered_values

Labels = tuple[str, str]
"""What an item is, and what an arm took it for."""


def macro_f1(rows: Sequence[Labels]) -> float:
    """The mean over classes that occur of 2 tp / (2 tp + fp + fn)."""
    classes = {label for row in rows for label in row}
    found = []
    for each in classes:
        hits = sum(row == (each, each) for row in rows)
        found.append(2 * hits / sum((is_ == each) + (said == each) for is_, said in rows))
    return sum(found) / len(found)


def mean(rows: Sequence[float]) -> float:
    return math.fsum(rows) / len(rows)


def labelled(accuracy: float, seed: int, n: int = 80) -> list[Labels]:
    draw = random.Random(seed)
    return [(is_, is_ if draw.random() < accuracy else "abc"[(at + 1) % 3]) for at, is_ in enumerate("abc" * n)][:n]


def test_macro_f1_agrees_with_scipy_within_the_error_of_drawing() -> None:
    first, second = labelled(0.9, 1), labelled(0.7, 2)
    found = paired_bootstrap_of(macro_f1, first, second, draws=2_000)

    def gap(places: np.ndarray) -> float:
        return macro_f1([first[at] for at in places]) - macro_f1([second[at] for at in places])

    theirs = scipy.stats.bootstrap(
        (np.arange(80),), gap, n_resamples=2_000, method="percentile", vectorized=False, rng=1
    )
    low, high = theirs.confidence_interval
    assert found.first - found.second == found.difference.estimate == macro_f1(first) - macro_f1(second)
    assert (found.difference.low, found.difference.high) == pytest.approx((low, high), abs=0.1 * (high - low))
    assert found.difference.se == pytest.approx(float(theirs.standard_error), rel=0.08)
    assert (found.test.draws, found.test.seed, found.test.n) == (2_000, 20260926, 80)
    assert found.test.signature == "paired bootstrap of the metric, n=80, 2000 draws, seed 20260926"


def test_of_a_mean_it_is_the_bootstrap_of_the_differences() -> None:
    values, groups = clustered_values(30, 4)
    zeros = [0.0] * len(values)
    for clusters in (None, groups):
        found = paired_bootstrap_of(mean, values, zeros, clusters)
        other = bootstrap_interval(values, clusters, draws=5_000)
        assert (found.difference.kind, found.difference.clusters) == (other.kind, other.clusters)
        assert found.difference.se == pytest.approx(other.se or 0, rel=0.05)
        reach = (other.high or 0) - (other.low or 0)
        assert (found.difference.low, found.difference.high) == pytest.approx((other.low, other.high), abs=0.06 * reach)


def test_the_p_is_never_below_one_draw_and_knows_no_direction() -> None:
    first, second = labelled(1.0, 1), labelled(0.3, 2)
    found = paired_bootstrap_of(macro_f1, first, second, draws=400)
    assert (found.test.p, found.test.smallest_p) == (1 / 400, 1 / 400)
    turned = paired_bootstrap_of(macro_f1, second, first, draws=400)
    assert turned.test.p == found.test.p and turned.difference.estimate == -found.difference.estimate
    assert paired_bootstrap_of(macro_f1, first, second, draws=400) == found
    middling = labelled(0.75, 3), labelled(0.7, 4)
    one, other = (paired_bootstrap_of(macro_f1, *middling, draws=400, stream=Stream(seed)) for seed in (1, 2))
    assert one.difference != other.difference


def test_arms_that_are_alike_give_1_and_no_interval() -> None:
    rows = labelled(0.7, 1)
    found = paired_bootstrap_of(macro_f1, rows, rows, draws=200)
    assert (found.test.p, found.difference.estimate, found.difference.low) == (1.0, 0.0, None)
    assert "show no spread" in str(found.difference)


def test_one_item_or_cluster_is_undefined_and_not_0() -> None:
    one = grouping(["a", "b", "c"], dict.fromkeys("abc", "same"))
    for found in (paired_bootstrap_of(mean, [1.0], [0.5]), paired_bootstrap_of(mean, [1.0, 2.0, 4.0], [0.0] * 3, one)):
        assert (found.test.p, found.difference.low, found.difference.se) == (None, None, None)
    shifted = paired_bootstrap_of(mean, [2.0] * 9, [1.0] * 9, draws=100)
    assert shifted.test.p is None and "all draws of items are alike" in str(shifted.test.note)


def test_few_items_are_said_to_be_few() -> None:
    found = paired_bootstrap_of(mean, [1.0, 2.0, 4.0], [0.0, 1.0, 1.0], draws=100)
    assert "a bootstrap over 3 items rejects too often" in str(found.test.note)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="rows of the same items are compared, not 2 with 1"):
        paired_bootstrap_of(mean, [1.0, 2.0], [1.0])
    with pytest.raises(UsageError, match="3 items have clusters, 2 have values"):
        paired_bootstrap_of(mean, [1.0, 2.0], [1.0, 3.0], grouping(["a", "b", "c"], {"a": "x", "b": "x"}))
    for wrong in (math.nan, math.inf, None, "0.5x"):
        with pytest.raises(UsageError, match="a finite number whatever is drawn, not "):
            paired_bootstrap_of(lambda rows: wrong, [1.0, 2.0], [1.0, 3.0])  # type: ignore[arg-type,return-value]  # noqa: B023
    with pytest.raises(UsageError, match="the number of draws is from 2"):
        paired_bootstrap_of(mean, [1.0, 2.0], [1.0, 3.0], draws=1)
