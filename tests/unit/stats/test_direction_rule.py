"""The direction rule: each level of authority, and what happens when a level contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import UsageError
from evh.protocol import models
from evh.stats import Direction, change, direction_of, kind_of
from evh.stats.direction import kinds_conflicts


class Declared:
    """What an adapter declares today."""

    def __init__(self, directions: dict[str, str] | None = None, kinds: dict[str, str] | None = None) -> None:
        self.metric_directions = directions or {}
        self.metric_kinds = kinds or {}


def record(name: str = "arm", **members: Any) -> models.RunRecord:
    return models.RunRecord(
        run_id=name,
        dataset_id="d",
        config_id=name,
        build=models.Build(ref="abc"),
        created_at="2026-10-04T08:15:30Z",
        scores={},
        n_items=0,
        **members,
    )


def test_the_command_line_beats_every_declaration() -> None:
    found = direction_of("wer", asked="higher", declared=[Declared({"wer": "lower"})], records=[record()])
    assert found == Direction("higher", "asked for")


def test_the_current_adapter_beats_old_records() -> None:
    old = record(metric_directions={"wer": "higher"})
    assert direction_of("wer", declared=[Declared({"wer": "lower"})], records=[old]).value == "lower"
    assert direction_of("wer", declared=[Declared({"other": "lower"})], records=[old]).value == "higher"


def test_a_record_beats_kinds_and_names() -> None:
    assert direction_of("latency_ms", records=[record(metric_directions={"latency_ms": "higher"})]).value == "higher"
    said = record(metric_directions={"n": "lower"}, metric_kinds={"n": "descriptive"})
    assert direction_of("n", records=[said, record()]).value == "lower"


@pytest.mark.parametrize(
    ("kind", "way"), [("descriptive", "none"), ("cost", "lower"), ("speed", "lower"), ("quality", "higher")]
)
def test_a_kind_has_a_direction(kind: str, way: str) -> None:
    assert direction_of("k", records=[record(metric_kinds={"k": kind})]).value == way
    assert direction_of("k", declared=[Declared(kinds={"k": kind})]).value == way


@pytest.mark.parametrize(
    ("metric", "way"),
    [
        ("cost_usd", "lower"),
        ("tokens_in", "lower"),
        ("total_tokens_out", "lower"),
        ("total_cost_usd", "lower"),
        ("latency_ms", "lower"),
        ("judge_cost_usd", "lower"),
        ("output_words", "none"),
        ("output_chars", "none"),
        ("n_items", "none"),
        ("score", "higher"),
    ],
)
def test_names_have_built_in_directions(metric: str, way: str) -> None:
    assert direction_of(metric).value == way
    assert direction_of(metric).conflict is None


def test_e59_records_that_contradict_each_other_leave_no_direction() -> None:
    records = [record("a", metric_directions={"k": "higher"}), record("b", metric_directions={"k": "lower"})]
    found = direction_of("k", records=records)
    assert (found.value, found.sign) == ("none", 0)
    assert "higher (a)" in str(found.conflict) and "lower (b)" in str(found.conflict)
    assert direction_of("k", declared=[Declared({"k": "lower"})], records=records).value == "lower"
    assert direction_of("k", asked="higher", records=records).conflict is None


def test_e59_adapters_that_contradict_each_other_are_not_settled_by_a_record() -> None:
    adapters = [Declared({"k": "higher"}), Declared({"k": "lower"})]
    found = direction_of("k", declared=adapters, records=[record(metric_directions={"k": "lower"})])
    assert found.value == "none" and found.conflict is not None


def test_e59_kinds_that_contradict_each_other_leave_no_direction() -> None:
    records = [record("a", metric_kinds={"k": "quality"}), record("b", metric_kinds={"k": "descriptive"})]
    assert direction_of("k", records=records).conflict is not None
    assert kinds_conflicts(["k", "other"], records) == ["runs disagree on the kind of 'k': descriptive, quality"]
    agreeing = [record("a", metric_kinds={"k": "cost"}), record("b", metric_kinds={"k": "speed"})]
    assert direction_of("k", records=agreeing).value == "lower"


def test_a_direction_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="higher, lower or none, not 'up'"):
        direction_of("k", asked="up")  # type: ignore[arg-type]


def test_kinds_come_from_adapters_then_records_then_names() -> None:
    said = record(metric_kinds={"k": "cost"})
    assert kind_of("k", declared=[Declared(kinds={"k": "speed"})], records=[said]) == "speed"
    assert kind_of("k", records=[said]) == "cost"
    assert [kind_of(name) for name in ("latency_ms", "total_cost_usd", "output_words", "k")] == [
        "speed",
        "cost",
        "descriptive",
        "quality",
    ]


@pytest.mark.parametrize(
    ("delta", "way", "noise", "word"),
    [
        (0.0, "higher", None, "identical"),
        (0.0, "higher", 0.0, "identical"),
        (0.1, "higher", None, "better"),
        (0.1, "lower", None, "worse"),
        (-0.1, "lower", 0.0, "better"),
        (0.1, "none", None, "changed"),
        (-0.1, "higher", 0.1, "noise"),
        (-0.2, "higher", 0.1, "worse"),
    ],
)
def test_a_difference_in_a_word(delta: float, way: Any, noise: float | None, word: str) -> None:
    assert change(delta, Direction(way, "test"), noise=noise) == word


def test_noise_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="from 0 on"):
        change(1, Direction("higher", "test"), noise=float("nan"))
