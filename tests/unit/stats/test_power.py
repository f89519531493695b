"""Power: the example of the paper, and the formula turned around."""

from __future__ import annotations

import math

import pytest

from evh.errors import UsageError
from evh.stats import detectable, items_needed, minimum_detectable
from evh.stats.power import z_sum


def test_the_paper_needs_969_items() -> None:
    assert z_sum() == pytest.approx(2.80159, abs=5e-6)
    assert items_needed(0.03, between=1 / 9) == 969


def test_n_items_show_the_difference_that_needs_n_items() -> None:
    for n in (3, 100, 969):
        difference = minimum_detectable(n, between=0.1, within=(0.2, 0.3), repeats=(2, 5))
        assert items_needed(difference, between=0.1, within=(0.2, 0.3), repeats=(2, 5)) == n
        assert difference == pytest.approx(detectable(math.sqrt((0.1 + 0.2 / 2 + 0.3 / 5) / n)))


def test_repeats_divide_only_what_varies_within_an_item() -> None:
    many = minimum_detectable(100, between=0.1, within=(0.2, 0.2), repeats=(10**9, 10**9))
    assert many == pytest.approx(minimum_detectable(100, between=0.1), rel=1e-6)


@pytest.mark.parametrize("difference", [0.0, math.nan, math.inf])
def test_what_makes_no_sense_is_refused(difference: float) -> None:
    with pytest.raises(UsageError, match="finite number other than 0"):
        items_needed(difference, between=0.1)
    for call in (
        lambda: items_needed(0.1, between=-1),
        lambda: items_needed(0.1, between=math.nan),
        lambda: minimum_detectable(0, between=1),
        lambda: detectable(math.nan),
        lambda: z_sum(power=80),
    ):
        with pytest.raises(UsageError):
            call()
