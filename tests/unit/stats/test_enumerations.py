"""Every permutation test against all its permutations, in whole numbers: up to 12 items, ties, zeros, clusters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.stats import grouping, mcnemar, sign_flip, wilcoxon
from evh.stats.clusters import Grouping
from evh.stats.ranks import Zeros
from evh.stats.tables import rank_permutation, within_item_ranks

NUMBERS = st.integers(-6, 6)
"""Few enough that ties and zeros are common."""


def clusters_of(codes: Sequence[int]) -> Grouping | None:
    items = [str(at) for at in range(len(codes))]
    return grouping(items, {item: str(code) for item, code in zip(items, codes, strict=True)})


def by_sign(sums: Sequence[int]) -> Fraction:
    """The share of sign patterns whose sum is at least as far from 0 as the one that was seen."""
    seen = abs(sum(sums))
    totals = [0]
    for each in sums:
        totals = [total + each for total in totals] + [total - each for total in totals]
    return Fraction(sum(abs(total) >= seen for total in totals), len(totals))


def by_order(units: Sequence[Sequence[Sequence[int]]]) -> Fraction:
    """The share of orders, one for all rows of a unit, whose column sums are spread at least as far as those seen."""
    columns = len(units[0][0])
    orders = list(permutations(range(columns)))
    sums = [[sum(column) for column in zip(*rows, strict=True)] for rows in units]
    middle = Fraction(sum(map(sum, sums)), columns)

    def spread(turned: Sequence[Sequence[int]]) -> Fraction:
        return sum((sum(column) - middle) ** 2 for column in zip(*turned, strict=True)) or Fraction(0)

    seen, hits, count = spread(sums), 0, 0
    for chosen in product(orders, repeat=len(units)):
        count += 1
        hits += spread([[row[at] for at in order] for row, order in zip(sums, chosen, strict=True)]) >= seen
    return Fraction(hits, count)


@given(st.lists(NUMBERS, min_size=1, max_size=12), st.sampled_from([1, 0.1, 1e-7, 1e120]))
@settings(max_examples=150)
def test_sign_flips(differences: list[int], scale: float) -> None:
    found = sign_flip([each * scale for each in differences])
    assert found.method == "sign flips, exact"
    assert found.p == pytest.approx(float(by_sign(differences)), abs=1e-9)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 8)), min_size=1, max_size=12))
@settings(max_examples=150)
def test_sign_flips_of_clusters(pairs: list[tuple[int, int]]) -> None:
    sums: dict[int, int] = {}
    for value, code in pairs:
        sums[code] = sums.get(code, 0) + value
    found = sign_flip([value / 10 for value, _ in pairs], clusters_of([code for _, code in pairs]))
    assert found.p == pytest.approx(float(by_sign(list(sums.values()))), abs=1e-9)


@given(st.lists(NUMBERS, min_size=1, max_size=12), st.sampled_from(["split", "drop", "pratt"]))
@settings(max_examples=150)
def test_signed_ranks(differences: list[int], zeros: Zeros) -> None:
    used = [each for each in differences if each or zeros != "drop"]
    sizes = sorted(abs(each) for each in used)
    doubled = [sizes.index(abs(each)) * 2 + 1 + sizes.count(abs(each)) for each in used]  # twice the midrank
    signed = [rank * (1 if each > 0 else -1) for rank, each in zip(doubled, used, strict=True) if each]
    # R+ - R- is the sum of signed ranks: its distance from 0 orders the patterns as min(R+, R-) does.
    found = wilcoxon([each / 10 for each in differences], zeros=zeros)
    assert found.p == pytest.approx(float(by_sign(signed)), abs=1e-9)


@given(st.integers(0, 12), st.integers(0, 12))
def test_mcnemar_is_sign_flips_of_ones(wins: int, losses: int) -> None:
    if wins + losses <= 12:
        assert mcnemar(wins, losses).p == pytest.approx(float(by_sign([1] * wins + [-1] * losses)), abs=1e-9)


@pytest.mark.parametrize(("arms", "most"), [(2, 12), (3, 5), (4, 3)])
def test_ranks_of_a_table(arms: int, most: int) -> None:
    row = st.lists(st.integers(0, 2), min_size=arms, max_size=arms)

    @given(st.lists(row, min_size=1, max_size=most))
    @settings(max_examples=15, deadline=None)
    def check(rows: list[list[int]]) -> None:
        ranks = within_item_ranks(rows)
        found = rank_permutation(ranks)
        assert found.method == "permutation of ranks within items, exact"
        doubled = [[round(2 * rank) for rank in each] for each in ranks]
        assert found.p == pytest.approx(float(by_order([[each] for each in doubled])), abs=1e-9)

    check()


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 2), min_size=3, max_size=3), st.integers(0, 3)), min_size=2, max_size=9)
)
@settings(max_examples=25, deadline=None)
def test_ranks_of_a_table_in_clusters(rows: list[tuple[list[int], int]]) -> None:
    groups = clusters_of([code for _, code in rows])
    if groups is None:
        return
    ranks = within_item_ranks([row for row, _ in rows])
    units: dict[int, list[list[int]]] = {}
    for (_, code), each in zip(rows, ranks, strict=True):
        units.setdefault(code, []).append([round(2 * rank) for rank in each])
    found = rank_permutation(ranks, groups)
    assert found.method == "permutation of ranks within clusters, exact"
    assert found.p == pytest.approx(float(by_order(list(units.values()))), abs=1e-9)
