"""From rows to scores: known answers, and laws that hold for any rows."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import RecordError
from evh.store.aggregate import Aggregate, Series, aggregate, exact_mean, exact_sum
from evh.store.rows import MetricRow

NUMBERS = st.integers(-(2**60), 2**60) | st.floats(-1e300, 1e300)
METRICS = st.dictionaries(st.sampled_from(["score", "cost_usd", "tokens_in", "k"]), NUMBERS)


def row(number: int, metrics: dict[str, Any], failed: bool = False, provider: str | None = None) -> MetricRow:
    return MetricRow(f"i{number}", metrics, failed, provider, number + 1)


def rows(*metrics: dict[str, Any]) -> list[MetricRow]:
    return [row(number, each) for number, each in enumerate(metrics)]


@pytest.mark.parametrize("count", range(1, 12))
def test_tenths_however_many_are_one_tenth(count: int) -> None:
    assert aggregate(rows(*[{"score": 0.1}] * count)).scores() == {"score": 0.1}


def test_no_rows_have_no_scores() -> None:
    counted = aggregate([])
    assert (counted.scores(), counted.counts, counted.n_items, counted.total("cost_usd")) == ({}, {}, 0, 0)


def test_e11_b013_missing_is_not_zero_and_every_count_is_known() -> None:
    scored = [row(n, {"score": value}) for n, value in enumerate((1, 0, 1, 0))]
    unscored = [row(n, {"k": 1}) for n in range(4, 7)]
    failed = [row(n, {}, failed=True) for n in range(7, 10)]
    counted = aggregate([*scored, *unscored, *failed])
    assert counted.scores() == {"k": 1.0, "score": 0.5}
    assert counted.counts == {"k": 3, "score": 4}
    assert (counted.n_items, counted.n_errors) == (10, 3)


@pytest.mark.parametrize("first", range(4))
def test_b056_a_failed_row_hides_no_metric_wherever_it_stands(first: int) -> None:
    some = [row(n, {"score": 1.0}) for n in range(3)]
    some.insert(first, row(9, {}, failed=True))
    counted = aggregate(some)
    assert (counted.scores(), counted.counts, counted.n_errors) == ({"score": 1.0}, {"score": 3}, 1)


def test_b082_a_row_without_metrics_is_an_item_and_nothing_else() -> None:
    counted = aggregate(rows({}, {"score": 1}))
    assert (counted.n_items, counted.counts) == (2, {"score": 1})


def test_b115_totals_are_the_sum_of_the_rows_however_often_they_are_counted() -> None:
    some = rows({"tokens_in": 10, "tokens_out": 3}, {"tokens_in": 20})
    for _ in range(5):
        scores = aggregate(some).scores()
        assert (scores["total_tokens_in"], scores["total_tokens_out"]) == (30, 3)
        assert (scores["tokens_in"], scores["tokens_out"]) == (15, 3)
        assert "total_cost_usd" not in scores


def test_e46_a_total_is_over_the_rows_that_carry_a_bill() -> None:
    counted = aggregate(rows({"cost_usd": 0.5}, {}, {"cost_usd": 0.25}, {}))
    assert counted.scores() == {"cost_usd": 0.375, "total_cost_usd": 0.75}
    assert counted.counts == {"cost_usd": 2}


def test_e47_huge_integers_are_exact_and_tiny_costs_are_not_zero() -> None:
    counted = aggregate(rows({"tokens_in": 2**53}, {"tokens_in": 1}, {"tokens_in": 1}))
    assert counted.scores()["total_tokens_in"] == 2**53 + 2
    assert type(counted.scores()["total_tokens_in"]) is int
    assert aggregate(rows({"cost_usd": 1e-12}, {"cost_usd": 1e-12})).scores()["total_cost_usd"] == 2e-12
    assert exact_sum([0.5, -0.5], 2**53 + 1) == float(2**53 + 1)
    assert exact_sum([0.5], 2**53 + 1) == 2**53 + 2


@pytest.mark.parametrize("values", [[1.7e308, 1.7e308], [10**400], [10**400, 0.5]])
def test_a_sum_beyond_a_double_is_refused_by_the_metrics_name(values: list[Any]) -> None:
    counted = aggregate(rows(*({"cost_usd": value} for value in values)))
    with pytest.raises(RecordError, match="the sum of the metric 'cost_usd' is beyond"):
        counted.scores()
    if float in map(type, values):  # integers alone have an exact sum, which only a mean cannot show
        with pytest.raises(RecordError, match="the sum of the metric 'cost_usd' is beyond"):
            counted.total("cost_usd")


def test_providers_are_counted() -> None:
    counted = aggregate([row(0, {}, provider="a"), row(1, {}, provider="b"), row(2, {}, provider="a"), row(3, {})])
    assert counted.providers == {"a": 2, "b": 1}


@given(st.lists(METRICS, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_and_sums_are_rounded_once(
    metrics: list[dict[str, Any]], chance: random.Random
) -> None:
    some = rows(*metrics)
    scores = aggregate(some).scores()
    chance.shuffle(some)
    assert aggregate(some).scores() == scores
    for name in {name for each in metrics for name in each}:
        values = [each[name] for each in metrics if name in each]
        exact = sum(map(Fraction, values), Fraction(0))
        assert scores[name] == float(exact / len(values))
    assert list(scores) == sorted(scores)


@given(st.lists(st.floats(-1e9, 1e9) | st.integers(-(10**25), 10**25), min_size=1))
def test_an_exact_sum_is_the_true_one_rounded(values: list[Any]) -> None:
    series = Series()
    for value in values:
        series.add(value)
    true = float(sum(map(Fraction, values), Fraction(0)))
    assert abs(series.total() - true) <= math.ulp(true)


@given(st.lists(METRICS, max_size=12), st.integers(0, 12))
def test_rows_counted_in_parts_and_merged_are_the_same_numbers(metrics: list[dict[str, Any]], at: int) -> None:
    some = [row(number, each, number % 3 == 0, "ab"[number % 2]) for number, each in enumerate(metrics)]
    merged = Aggregate()
    for part in (some[:at], some[at:]):
        merged.merge(aggregate(part))
    known = aggregate(some)
    assert (merged.n_items, merged.n_errors, merged.providers) == (known.n_items, known.n_errors, known.providers)
    assert merged.counts == known.counts and merged.scores() == known.scores()


@given(st.floats(-1e300, 1e300), st.integers(1, 40))
def test_equal_values_are_their_mean(value: float, count: int) -> None:
    assert exact_mean([value] * count) == value
    assert exact_mean([value] * count, 0, count) == pytest.approx(value / 2, rel=1e-15, abs=5e-324)


@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.1, 1 / 3, 5e-324, -5e-324]), min_size=1, max_size=30))
def test_a_mean_is_the_true_one_rounded_within_its_values_in_any_order(values: list[float]) -> None:
    mean = exact_mean(values)
    assert mean == float(sum(map(Fraction, values), Fraction(0)) / len(values))
    assert min(values) <= mean <= max(values)
    assert exact_mean(values[::-1]) == exact_mean(sorted(values)) == exact_mean([*values, *values]) == mean
