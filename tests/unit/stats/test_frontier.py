"""The frontier, against the definition tried on every pair."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evh.stats.frontier import Standing, dominated

AXIS = st.integers(0, 3).map(float)


@given(st.lists(st.builds(Standing, AXIS, AXIS, AXIS), max_size=12))
def test_the_sweep_is_the_definition(standings: list[Standing]) -> None:
    def beats(one: Standing, other: Standing) -> bool:
        a, b = (-one[0], one[1], one[2]), (-other[0], other[1], other[2])  # type: ignore[operator]
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))  # type: ignore[operator]

    expected = [any(beats(other, each) for other in standings) for each in standings]
    assert dominated(standings) == expected


def test_an_axis_that_nobody_has_is_left_out() -> None:
    assert dominated([Standing(1, None, 5), Standing(0, None, 6)]) == [False, True]
    assert dominated([Standing(1, None, None), Standing(0, None, None)]) == [False, True]


def test_an_arm_that_lacks_what_others_have_is_not_judged() -> None:
    assert dominated([Standing(1, 2, 5), Standing(0, None, 6), Standing(0, 3, 6)]) == [False, None, True]
    assert dominated([Standing(None, 2, 5), Standing(None, 1, 4)]) == [None, None]
