"""What an adapter returns, as it may stand in a row: numbers, names, members."""

from __future__ import annotations

from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest

from evh import Episode
from evh.errors import RecordError
from evh.harness.result import Result, check_names, checked_result, row_metrics
from evh.store.numbers import finite


class Scalar:
    """What numpy's scalars look like to those who do not know numpy."""

    shape: tuple[int, ...] = ()

    def __init__(self, value: Any) -> None:
        self._value = value

    def item(self) -> Any:
        return self._value


class Array(Scalar):
    shape = (1,)


class Grade(IntEnum):
    GOOD = 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1), (2**60, 2**60), (0.5, 0.5), (1e-12, 1e-12), (True, 1.0), (False, 0.0), (Grade.GOOD, 2),
        (Decimal("0.25"), 0.25), (Fraction(1, 4), 0.25), (Scalar(3), 3.0),
        (Scalar(2**60), float(2**60)), (Scalar(0.5), 0.5), (Scalar(True), 1.0),
    ],
)  # fmt: skip
def test_e48_b034_numbers_of_any_kind_become_plain_ones(value: Any, expected: float) -> None:
    found = finite(value, "it")
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "value",
    [
        "1", None, "", [], {}, 1j, b"1", object(), Array(1.0), Scalar("1"), Scalar(None), Scalar(2**60 + 1),
        10**400, Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN"), Fraction(10**400),
    ],
    ids=[
        "text", "null", "empty", "list", "map", "complex", "bytes", "object", "array", "a-text", "a-null", "rounded",
        "huge", "nan", "infinity", "signalling-nan", "huge-fraction",
    ],
)  # fmt: skip
def test_e48_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(RecordError, match="item 'a', metric 'f1': expected a finite number"):
        finite(value, "item 'a', metric 'f1'")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), Scalar(float("nan")), 1e400])
def test_e09_b058_b059_not_a_number_and_infinities_are_refused_by_item_and_metric(value: Any) -> None:
    with pytest.raises(RecordError, match=r"^/f1: item 'a', metric 'f1'"):
        row_metrics({"f1": value}, {}, "a")
    with pytest.raises(RecordError, match=r"^/extra/odd: item 'a', extra 'odd'"):
        checked_result(Result("x", extra={"odd": value}), "a")


def test_numpy_scalars_are_numbers_and_arrays_are_not() -> None:
    numpy = pytest.importorskip("numpy")
    for value, expected in ((numpy.int64(3), 3.0), (numpy.float32(0.5), 0.5), (numpy.bool_(True), 1.0)):
        assert finite(value, "it") == expected and type(finite(value, "it")) is type(expected)
    for value in (numpy.array([1.0]), numpy.float64("nan")):
        with pytest.raises(RecordError):
            finite(value, "it")


@pytest.mark.parametrize(
    "name",
    [
        "total_cost_usd", "total_x", "item_id", "_x", "latency_ms", "cost_usd", "tokens_in", "tokens_out",
        "",
    ],
)  # fmt: skip
def test_e49_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(RecordError, match="item 'a'"):
        row_metrics({name: 1}, {}, "a")
    with pytest.raises(RecordError, match="item 'a'"):
        checked_result({"output": "x", "extra": {name: 1}}, "a")


def test_names_are_texts() -> None:
    with pytest.raises(RecordError, match="the name of a metric is a text, not 3"):
        check_names([3])


def test_e50_a_name_on_both_sides_is_refused_naming_both() -> None:
    with pytest.raises(RecordError, match=r"scorer's metric 'hits' and the adapter's extra 'hits'"):
        row_metrics({"hits": 1}, {"hits": 2}, "a")


def test_metrics_and_extras_make_the_row() -> None:
    assert row_metrics({"f1": True}, {"truncated": 0.0}) == {"f1": 1.0, "truncated": 0.0}
    assert row_metrics(None, {}) == {}


def test_a_text_a_mapping_and_a_result_are_results() -> None:
    assert checked_result("hi") == Result("hi")
    said = {"output": "hi", "tokens_in": 3, "extra": {"n": True}, "meta": {"id": "r"}, "cost_usd": None}
    assert checked_result(said) == Result("hi", tokens_in=3, extra={"n": 1.0}, meta={"id": "r"})
    assert checked_result(Result("hi", cost_usd=Decimal("0.5"))).cost_usd == 0.5  # type: ignore
    # What one call says is never seen in another's result.
    assert Result("a").extra is not Result("b").extra


def test_an_episode_is_returned_as_it_is() -> None:
    episode = Episode(task={"type": "T", "data": {}}, traces=[])  # type: ignore[arg-type]
    assert checked_result(episode) is episode


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "the adapter returned nothing"),
        (3, "the adapter returned a value of type int; expected a Result, a text, a mapping"),
        (("a", 1), "a value of type tuple"),
        ({"outputs": "x"}, "no member 'outputs': did you mean output?"),
        ({"output": "x", "score": 1}, "no member 'score': expected output, tokens_in"),
        ({}, "expected the output as text, found None"),
        (Result(None), "expected the output as text, found None"),  # type: ignore[arg-type]
        (Result(b"x"), "expected the output as text, found b'x'"),  # type: ignore[arg-type]
        (Result("x", tokens_in=-1), "expected tokens_in to be 0 or more, found -1"),
        (Result("x", latency_ms="3"), "latency_ms: expected a finite number, found '3'"),  # type: ignore[arg-type]
        (Result("x", extra=[1]), "expected a mapping of names to numbers"),  # type: ignore[arg-type]
        (Result("x", meta="m"), "expected an object of JSON"),  # type: ignore[arg-type]
        (Result("x", meta={"a": [object()]}), r"^/meta/a/0: item 'i': meta is not JSON"),
        (Result("x", meta={"a": float("nan")}), "meta is not JSON"),
        (Result("x", meta={1: 2}), "meta is not JSON"),
    ],
)
def test_anything_else_is_refused_with_item_and_member(value: Any, said: str) -> None:
    with pytest.raises(RecordError, match=said) as raised:
        checked_result(value, "i")
    assert "item 'i'" in str(raised.value)
