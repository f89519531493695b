"""Any row, however odd: what is taken comes back, converting twice is converting once, and nothing else is raised."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.errors import EvhError
from evh.protocol.convert import TARGETS, convert_document, restore_document
from tests.support.leaves import leaves_accounted
from tests.unit.convert.converted_rows import made

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=4)
    | st.sampled_from(["None", "prime", "e2b", "tool", "*", "/", ""])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abx") | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


ROWS = [made(newer=True), made(newer=False)]
PLACES = [[place for place in places(row) if place] for row in ROWS]


def change(row: Any, place: tuple[Any, ...], value: Any, how: str) -> None:
    try:
        for part in place[:-1]:
            row = row[part]
        if isinstance(row, dict) and not isinstance(place[-1], str):
            return
        if how == "delete":
            del row[place[-1]]
        elif how == "set":
            row[place[-1]] = value
        elif isinstance(row, dict):
            row["x_new"] = value
        else:
            row.append(value)
    except (AttributeError, LookupError, TypeError):
        return  # an earlier change took this place away


@st.composite
def odd_rows(draw: st.DrawFn) -> dict[str, Any]:
    index = draw(st.integers(0, 1))
    row = copy.deepcopy(ROWS[index])
    for _ in range(draw(st.integers(1, 4))):
        how = draw(st.sampled_from(["delete", "set", "set", "add"]))
        change(row, draw(st.sampled_from(PLACES[index])), draw(VALUES), how)
    return row


@RELAXED
@given(row=odd_rows(), target=st.sampled_from(TARGETS))
def test_what_a_conversion_takes_comes_back(row: dict[str, Any], target: str) -> None:
    before = copy.deepcopy(row)
    try:
        result, steps = convert_document(row, target)
    except EvhError:
        assert row == before
        return
    assert row == before
    leaves_accounted(row, result, steps)
    assert convert_document(result, target)[0] == result
    json.dumps(result, allow_nan=False).encode()
    if row.get("traces"):
        assert restore_document(result)[0] == row


@RELAXED
@given(row=odd_rows(), first=st.sampled_from(TARGETS), second=st.sampled_from(TARGETS))
def test_a_chain_of_conversions_ends_where_one_does(row: dict[str, Any], first: str, second: str) -> None:
    try:
        direct = convert_document(row, second)[0]
        through = convert_document(row, first)[0]
    except EvhError:
        return
    if row.get("traces"):
        assert convert_document(through, second)[0] == direct


@RELAXED
@given(value=VALUES)
def test_anything_at_all_raises_nothing_of_others(value: Any) -> None:
    for doc in (value, {"traces": value}, {"traces": [{"info": value}]}, {"traces": [{"info": {"evh": value}}]}):
        for function in (restore_document, lambda row: convert_document(row, TARGETS[0])):
            with suppress(EvhError):
                function(doc)
