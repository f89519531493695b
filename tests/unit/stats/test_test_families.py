"""Families of tests: published values, statsmodels, and what skipping an opponent must not do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evh.errors import UsageError
from evh.stats import adjust, benjamini_hochberg, holm

PAPER = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
PAPER += [0.7590, 1]
STDLIB = [0.319, 0.201, 0.4, 0.374, 0.113]


def adjusted(tests: list[object]) -> list[float]:
    return [each.adjusted for each in tests]  # type: ignore[attr-defined]


def rejected(tests: list[object]) -> list[int]:
    return [at for at, each in enumerate(tests, 1) if each.rejected]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("p_values", "expected", "which"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02], [1, 4]),
        ([0.01, 0.011], [0.02, 0.02], [1, 2]),
        ([0.001, 0.02, 0.021, 0.9], [0.004, 0.06, 0.06, 0.9], [1]),
        ([0.025, 0.05], [0.05, 0.05], [1, 2]),
        (STDLIB, [0.957, 0.804, 0.957, 0.957, 0.565], []),
        (PAPER, [0.0015, 0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213] + [1.0] * 6, [1, 2, 3]),
    ],
)
def test_known_holm(p_values: list[float], expected: list[float], which: list[int]) -> None:
    found = holm(p_values)
    assert adjusted(list(found)) == pytest.approx(expected, abs=1e-9)
    assert rejected(list(found)) == which


def test_known_benjamini_hochberg() -> None:
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.063857, 0.063857, 0.0645, 0.0765, 0.486, 0.581182]
    expected += [0.714875, 0.753231, 0.813214, 1]
    found = benjamini_hochberg(PAPER)
    assert adjusted(list(found)) == pytest.approx(expected, abs=5e-7)
    assert rejected(list(found)) == [1, 2, 3, 4]
    assert adjusted(list(benjamini_hochberg(STDLIB))) == pytest.approx([0.4] * 5, abs=1e-12)


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.025, 0.05]), min_size=1, max_size=12))
def test_corrections_agree_with_statsmodels(p_values: list[float]) -> None:
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
        _, expected, _, _ = multipletests(p_values, alpha=0.05, method=theirs)
        found = adjust(p_values, ours)  # type: ignore[arg-type]
        assert [each.adjusted for each in found] == pytest.approx(list(expected), abs=1e-9)


def test_tests_that_could_not_be_made_count() -> None:
    found = holm([0.02, None, None])
    assert found[0].adjusted == pytest.approx(0.06) and not found[0].rejected
    assert found[1] == (None, None, False)
    assert benjamini_hochberg([0.02, None, None])[0].adjusted == pytest.approx(0.06)
    assert holm([0.02])[0].rejected


def test_the_boundary_is_rejected_whatever_floats_make_of_it() -> None:
    assert 11 * (0.05 / 11) > 0.05
    for size in range(1, 200):
        p_values = [0.05 / size, *[1.0] * (size - 1)]
        for method in ("holm", "bh"):
            found = adjust(p_values, method)  # type: ignore[arg-type]
            assert [each.rejected for each in found] == [True] + [False] * (size - 1), (method, size)
            assert all(each.rejected == ((each.adjusted or 0) <= 0.05) for each in found)


def test_equal_p_values_are_decided_alike() -> None:
    for method in ("holm", "bh"):
        found = adjust([0.03, 0.02, 0.03, 0.02], method)  # type: ignore[arg-type]
        assert found[0] == found[2] and found[1] == found[3]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match=r"between 0 and 1: 1\.5"):
        holm([1.5])
    with pytest.raises(UsageError, match=r"such as 0\.05, not 5"):
        holm([0.5], alpha=5)
    with pytest.raises(UsageError, match="holm or bh, not 'sidak'"):
        adjust([0.5], "sidak")  # type: ignore[arg-type]
