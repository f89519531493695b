"""Tests over a whole table: published values, brute force, scipy."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.errors import SourceError, UsageError
from evh.stats import friedman, grouping, nemenyi, table_test
from evh.stats.tables import rank_permutation, within_item_ranks

ROWS = [
    [0.9, 0.8, 0.7],
    [0.85, 0.8, 0.6],
    [0.7, 0.75, 0.65],
    [0.95, 0.9, 0.9],
    [0.6, 0.5, 0.4],
    [0.8, 0.8, 0.7],
]


def test_known_ranks_friedman_and_distance() -> None:
    found = friedman(within_item_ranks(ROWS))
    assert [round(each, 4) for each in found.mean_ranks] == [1.25, 1.8333, 2.9167]
    assert (round(found.statistic, 4), round(found.p, 5)) == (9.3636, 0.00926)
    assert round(nemenyi(3, 6) or 0, 4) == 1.3531
    table = table_test(["a", "b", "c"], ROWS)
    assert table.differing == [("a", "c")]
    assert table.friedman == found


@pytest.mark.parametrize(
    ("k", "quantile"),
    [(2, 1.9600), (3, 2.3437), (5, 2.7278), (10, 3.1637), (25, 3.6579), (26, 3.6776), (40, 3.8876)],
)
def test_known_nemenyi_quantiles(k: int, quantile: float) -> None:
    n = 50
    assert round((nemenyi(k, n) or 0) / math.sqrt(k * (k + 1) / (6 * n)), 4) == quantile


def test_no_value_is_none_and_not_that_of_fewer_arms() -> None:
    assert nemenyi(1, 10) is None


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=3, max_size=8))
@settings(max_examples=40)
def test_ranks_and_friedman_agree_with_scipy(rows: list[list[int]]) -> None:
    ranks = within_item_ranks(rows, sign=-1)
    assert ranks == pytest.approx(scipy.stats.rankdata(rows, axis=1))
    if all(len(set(row)) == 1 for row in rows):
        assert friedman(ranks).p == 1.0
        return
    theirs = scipy.stats.friedmanchisquare(*zip(*rows, strict=True))
    assert friedman(ranks).statistic == pytest.approx(float(theirs.statistic), rel=1e-9, abs=1e-9)
    assert friedman(ranks).p == pytest.approx(float(theirs.pvalue), rel=1e-9, abs=1e-9)


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=4))
@settings(max_examples=30)
def test_a_small_permutation_of_ranks_is_an_enumeration(rows: list[list[int]]) -> None:
    ranks = within_item_ranks(rows)
    doubled = [[round(2 * rank) for rank in row] for row in ranks]
    middle = 4  # twice the middle rank of three
    observed = sum((sum(column) - middle * len(rows)) ** 2 for column in zip(*doubled, strict=True))
    hits = total = 0
    for orders in product(*(permutations(row) for row in doubled)):
        total += 1
        hits += sum((sum(column) - middle * len(rows)) ** 2 for column in zip(*orders, strict=True)) >= observed
    assert rank_permutation(ranks).p == pytest.approx(hits / total, abs=1e-9)


def test_drawn_permutations_agree_with_the_enumeration_and_with_friedman() -> None:
    exact = rank_permutation(within_item_ranks(ROWS), draws=10_000)
    drawn = rank_permutation(within_item_ranks(ROWS), draws=5_000)
    assert (exact.method, exact.draws) == ("permutation of ranks within items, exact", None)
    assert (drawn.method, drawn.draws) == ("permutation of ranks within items, Monte Carlo", 5_000)
    assert drawn.p == pytest.approx(exact.p, abs=0.005)
    rows = np.random.Generator(np.random.PCG64(3)).normal(size=(60, 5)) + np.array([0.3, 0.1, 0, 0, 0])
    ranks = within_item_ranks(rows.tolist())
    assert rank_permutation(ranks).p == pytest.approx(friedman(ranks).p, abs=0.02)


def test_a_large_table_takes_the_limit_which_is_friedmans() -> None:
    rows = np.random.Generator(np.random.PCG64(4)).normal(size=(900, 12)) + np.linspace(0, 0.15, 12)
    ranks = within_item_ranks(rows.tolist())
    found = rank_permutation(ranks)
    assert (found.method, found.draws) == ("permutation of ranks within items, chi-squared", None)
    assert found.p == pytest.approx(friedman(ranks).p, rel=1e-9)
    assert rank_permutation(ranks, draws=4000).p == pytest.approx(found.p, abs=0.02)


def test_clusters_are_permuted_and_drawn_whole() -> None:
    items = [f"i{at}" for at in range(24)]
    groups = grouping(items, {item: f"c{at // 6}" for at, item in enumerate(items)})
    assert groups is not None
    rows = [[0.9, 0.5], [0.9, 0.5], [0.9, 0.5], [0.4, 0.6]]
    rows = [row for row in rows for _ in range(6)]
    alone, clustered = table_test(["a", "b"], rows), table_test(["a", "b"], rows, groups)
    assert alone.p < 0.05
    assert clustered.p == pytest.approx(10 / 16)  # like the sign flips of four equal sums, one of them turned
    assert (clustered.friedman, clustered.critical_distance, clustered.clusters) == (None, None, 4)
    assert "left out" in clustered.notices[0]


def test_e58_arms_that_are_all_tied_have_no_first() -> None:
    table = table_test(["a", "b", "c"], [[0.5, 0.5, 0.5]] * 5)
    assert (table.p, table.differing) == (1.0, [])
    assert [(each.first, each.top, each.bottom) for each in table.places] == [(0.0, 0.0, 0.0)] * 3


def test_e58_one_arm_has_no_order() -> None:
    with pytest.raises(UsageError, match="one arm has no order"):
        table_test(["a"], [[1.0]] * 5)


def test_e57_fewer_than_three_items_are_no_table() -> None:
    with pytest.raises(SourceError, match="2 items have a value of all 2 arms; a test needs 3"):
        table_test(["a", "b"], [[1.0, 2.0]] * 2)


def test_places_follow_the_direction() -> None:
    rows = [[1.0 + at % 2, 5.0, 9.0] for at in range(10)]
    assert [each.first for each in table_test(["a", "b", "c"], rows, sign=-1).places] == [1.0, 0.0, 0.0]
    assert [each.first for each in table_test(["a", "b", "c"], rows).places] == [0.0, 0.0, 1.0]
    assert [each.bottom for each in table_test(["a", "b", "c"], rows).places] == [1.0, 0.0, 0.0]


def test_two_that_share_the_first_place_are_not_first() -> None:
    table = table_test(["a", "b", "c"], [[1.0, 1.0, 0.0]] * 5)
    assert [each.first for each in table.places] == [0.0, 0.0, 0.0]
    assert table.places[2].bottom == 1.0


def test_a_table_that_is_none_is_refused() -> None:
    for rows in ([[1.0, 2.0], [1.0], [2.0, 1.0]], [[], [], []]):
        with pytest.raises(UsageError, match="in each row a value of every arm"):
            table_test(["a", "b"], rows)
    with pytest.raises(UsageError, match="names 3 arms and has values of 2"):
        table_test(["a", "b", "c"], [[1.0, 2.0]] * 4)


def test_no_direction_is_no_order() -> None:
    with pytest.raises(UsageError, match="no order without a direction"):
        table_test(["a", "b"], [[1.0, 2.0]] * 5, sign=0)


def test_no_p_of_a_table_is_0() -> None:
    rows = [[1.0, 0.0, 2.0]] * 4_000
    found = table_test(["a", "b", "c"], rows)
    assert found.method.endswith("chi-squared") and 0 < found.p < 1e-300
    assert found.friedman is not None and 0 < found.friedman.p < 1e-300
