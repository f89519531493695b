"""Arms: every repeat, averaged per item, against an oracle that does it the long way."""

from __future__ import annotations

import math
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_runs import make_run

from evh.errors import RecordError, SourceError, UsageError
from evh.store import Value, list_runs, read_arm
from evh.store.arm import group_runs, repeat_stem

Repeat = dict[str, dict[str, float]]
VALUES = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
REPEATS: st.SearchStrategy[list[Repeat]] = st.lists(
    st.dictionaries(
        st.sampled_from(["a", "b", "c", "d"]), st.dictionaries(st.sampled_from(["score", "cost_usd"]), VALUES)
    ),
    min_size=1,
    max_size=4,
)


def make_arm(folder: Path, *repeats: Repeat) -> None:
    for number, rows in enumerate(repeats, 1):
        make_run(folder, f"arm_r{number}", [{"item_id": item, **metrics} for item, metrics in rows.items()])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(REPEATS)
def test_values_are_means_over_repeats_then_over_items(tmp_path: Path, repeats: list[Repeat]) -> None:
    folder = tmp_path / "runs"
    shutil.rmtree(folder, ignore_errors=True)
    make_arm(folder, *repeats)
    arm = read_arm(folder, "d", "arm")
    items = {item for rows in repeats for item in rows}
    assert set(arm.items) == items
    for metric in ("score", "cost_usd"):
        expected: dict[str, Fraction] = {}
        for item in items:
            values = [Fraction(rows[item][metric]) for rows in repeats if metric in rows.get(item, {})]
            if values:
                expected[item] = sum(values, Fraction(0)) / len(values)
        found = arm.values(metric)
        assert found == {item: float(value) for item, value in expected.items()}
        value = arm.value(metric)
        if not expected:
            assert value is None
            continue
        assert value is not None
        total = float(sum(expected.values(), Fraction(0)))
        assert (value.n, value.of) == (len(expected), len(items))
        assert math.isclose(value.mean, total / len(expected), rel_tol=1e-9, abs_tol=1e-9)
        assert math.isclose(arm.total(metric), total, rel_tol=1e-9, abs_tol=1e-9)
        spent = float(sum(Fraction(each[metric]) for rows in repeats for each in rows.values() if metric in each))
        assert math.isclose(arm.spent(metric), spent, rel_tol=1e-9, abs_tol=1e-9)


def test_b031_repeats_of_three_items_and_one_weigh_by_item(tmp_path: Path) -> None:
    ones: Repeat = {item: {"score": 1.0} for item in "abc"}
    make_arm(tmp_path, ones, {"a": {"score": 0.0}})
    assert read_arm(tmp_path, "d", "arm").value("score") == Value((0.5 + 1 + 1) / 3, 3, 3)
    shutil.rmtree(tmp_path)
    make_arm(tmp_path, ones, {"d": {"score": 0.0}})
    assert read_arm(tmp_path, "d", "arm").value("score") == Value(0.75, 4, 4)


@pytest.mark.parametrize("value", [0.6309297535714575, 0.1, 1 / 3, 5e-324])
@pytest.mark.parametrize("repeats", [2, 3, 5, 7])
def test_what_came_out_alike_in_every_repeat_is_the_value(tmp_path: Path, value: float, repeats: int) -> None:
    make_arm(tmp_path, *[{item: {"score": value} for item in "abc"}] * repeats)
    arm = read_arm(tmp_path, "d", "arm")
    assert arm.values("score") == dict.fromkeys("abc", value)
    assert arm.value("score") == Value(value, 3, 3) and arm.means("score") == [value] * repeats
    assert arm.spread("score") == 0


def test_e12_a_metric_of_one_repeat_only_is_a_mean_over_those_that_have_it(tmp_path: Path) -> None:
    make_arm(tmp_path, {"a": {"score": 1, "k": 4}, "b": {"score": 1}}, {"a": {"score": 0}, "b": {"score": 1}})
    arm = read_arm(tmp_path, "d", "arm")
    assert arm.values("k") == {"a": 4.0}
    assert str(arm.value("k")) == "4 over 1 of 2"
    assert str(arm.value("score")) == "0.75"
    assert arm.metrics == ["k", "score"]
    assert (arm.spread("score"), arm.spread("k"), arm.value("none")) == (0.5, None, None)


def test_the_mean_of_each_run_is_known_and_tells_how_far_they_spread(tmp_path: Path) -> None:
    make_arm(tmp_path, {"a": {"score": 1}, "b": {"score": 0}}, {"a": {"k": 1}}, {"c": {"score": 1}})
    arm = read_arm(tmp_path, "d", "arm")
    assert arm.means("score") == [0.5, None, 1.0] and arm.spread("score") == 0.5
    assert arm.items == ["a", "b", "c"] and arm.n_on_all == 0


def test_e54_runs_that_are_no_repeats_are_refused_and_named(tmp_path: Path) -> None:
    make_run(tmp_path, "one", [])
    make_run(tmp_path, "two", [])
    with pytest.raises(RecordError, match=r"2 runs claim the config 'arm' on 'd' .*: one, two; keep one set"):
        read_arm(tmp_path, "d", "arm")


@pytest.mark.parametrize("names", [["arm_r1", "other_r2"], ["arm_r1", "arm"], ["arm-2_r1", "arm_r2"]])
def test_e54_repeats_of_two_launches_are_not_mixed(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        make_run(tmp_path, name, [])
    with pytest.raises(RecordError, match="not the repeats of one launch"):
        read_arm(tmp_path, "d", "arm")


def test_e54_one_repeat_that_stands_twice_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path, "arm_r1", [])
    shutil.copytree(tmp_path / "arm_r1", tmp_path / "copy")
    with pytest.raises(RecordError, match="not the repeats of one launch"):
        read_arm(tmp_path, "d", "arm")


def test_e55_a_set_with_a_gap_is_a_set(tmp_path: Path) -> None:
    make_run(tmp_path, "arm_r1", [{"item_id": "a", "score": 1}])
    make_run(tmp_path, "arm_r2", [], finished=False)
    make_run(tmp_path, "arm_r3", [{"item_id": "a", "score": 0}])
    arm = read_arm(tmp_path, "d", "arm")
    assert len(arm.runs) == 2
    assert arm.value("score") == Value(0.5, 1, 1)


def test_e56_repeats_are_known_by_their_record_and_not_by_their_names(tmp_path: Path) -> None:
    make_run(tmp_path, "arm", [{"item_id": "a", "score": 1}])
    make_run(tmp_path, "arm_r1", [{"item_id": "a", "score": 0}], config_id="arm_r1")
    assert read_arm(tmp_path, "d", "arm").value("score") == Value(1.0, 1, 1)
    assert read_arm(tmp_path, "d", "arm_r1").value("score") == Value(0.0, 1, 1)
    assert [key for key, _ in group_runs(list_runs(tmp_path).finished)] == [("d", "arm"), ("d", "arm_r1")]
    assert repeat_stem("arm_r1", None) is None
    assert repeat_stem("arm_r12", 2) is None
    assert repeat_stem("arm_r12", 12) == "arm"


def test_an_arm_that_is_not_there_is_told_with_what_is(tmp_path: Path) -> None:
    make_run(tmp_path, "half", [], finished=False)
    with pytest.raises(SourceError, match=r"no finished run of 'arm' on 'd' \(0 finished, 1 unfinished, 0 unreadable"):
        read_arm(tmp_path, "d", "arm")


def test_accepted_failures_are_counted(tmp_path: Path) -> None:
    make_run(tmp_path, "arm", [{"item_id": "a", "_error": "E: no"}, {"item_id": "b", "score": 1}])
    arm = read_arm(tmp_path, "d", "arm")
    assert (arm.n_errors, str(arm.value("score"))) == (1, "1 over 1 of 2")


def test_what_no_double_can_hold_is_refused_by_name(tmp_path: Path) -> None:
    make_run(tmp_path, "arm", [{"item_id": "a", "k": 2**53}, {"item_id": "b", "k": 10**400}])
    with pytest.raises(RecordError, match="the metric 'k' is beyond") as told:
        read_arm(tmp_path, "d", "arm")
    assert (told.value.source, told.value.line) == (str(tmp_path / "arm" / "predictions.jsonl"), 2)
    make_run(tmp_path, "big", [{"item_id": item, "k": 1.7e308} for item in "ab"], config_id="big")
    arm = read_arm(tmp_path, "d", "big")
    for read in (arm.value, arm.total, arm.spent):
        with pytest.raises(RecordError, match="the sum of the metric 'k' is beyond"):
            read("k")


@pytest.mark.parametrize("names", [["old_r1", "old_r2"], ["old_r1", "old_r3", "old_r12"]])
def test_e56_repeats_of_records_without_an_index_are_known_by_their_names(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        make_run(tmp_path, name, [{"item_id": "a", "score": 1}], manifest=False, repeat_index=None)
    assert len(read_arm(tmp_path, "d", "arm").runs) == len(names)


@pytest.mark.parametrize("names", [["old_r1", "new_r2"], ["old", "old_r1"], ["old_r1", "old_r01"], ["old", "older"]])
def test_e54_names_that_make_no_set_are_refused(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        make_run(tmp_path, name, [], manifest=False, repeat_index=None)
    with pytest.raises(RecordError, match="not the repeats of one launch"):
        read_arm(tmp_path, "d", "arm")


def test_e56_where_one_record_has_an_index_all_need_one(tmp_path: Path) -> None:
    make_run(tmp_path, "arm_r1", [])
    make_run(tmp_path, "arm_r2", [], repeat_index=None)
    with pytest.raises(RecordError, match="not the repeats of one launch"):
        read_arm(tmp_path, "d", "arm")


def test_an_arm_is_read_by_its_address_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "runs", "arm_r1", [{"item_id": "a", "score": 1}])
    assert read_arm(f"{tmp_path}/runs/d/arm").value("score") == Value(1.0, 1, 1)
    assert read_arm(tmp_path / "runs" / "d" / "arm/").dataset_id == "d"
    monkeypatch.chdir(tmp_path / "runs")
    assert read_arm("d/arm").config_id == "arm"
    with pytest.raises(SourceError, match=r"runs: holds no finished run of 'other' on 'd'"):
        read_arm(tmp_path / "runs" / "d" / "other")


@pytest.mark.parametrize("given", [("runs",), ("runs/d/arm", "d"), ("runs/d/arm", None, "arm")])
def test_half_an_address_is_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="an arm is named by a runs directory, a dataset_id and a config_id"):
        read_arm(*given)


def test_a_record_that_counts_other_rows_is_told_by_its_run(tmp_path: Path) -> None:
    make_run(tmp_path, "arm_r1", [{"item_id": "a", "score": 1}], n_items=7)
    (run,) = read_arm(tmp_path, "d", "arm").runs
    assert [(notice.kind, notice.value) for notice in run.notices] == [("count", 7)]
