"""V3, V5 and V8: what runs claim about their build and their arm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.rules.arms import is_measurement
from evh.store import layout
from tests.unit.rules.whole_tree import Made, said


def test_v3_e68_an_unknown_build(made: Made) -> None:
    made.run()
    made.run("b_1", config_id="b", build={"ref": "unknown"})
    outcome = made.check("V3")
    [finding] = outcome.findings
    assert outcome.checked == 2 and "b_1" in finding.file and finding.pointer == "/build/ref"


# --- V5 --------------------------------------------------------------------------------------------------------------


def test_v5_two_configs_with_other_params_and_the_same_results(made: Made) -> None:
    made.run()
    made.run("b_1", config_id="b", params={"k": 2})
    made.run("b_2", config_id="b", params={"k": 2})
    [finding] = made.check("V5").findings
    assert "'a' and 'b'" in finding.message and "a_1" in finding.message and "b_1" in finding.file


def test_v5_time_money_and_tokens_do_not_tell_two_apart(made: Made) -> None:
    made.run()
    path = made.run("b_1", config_id="b", params={"k": 2})
    rows = [json.loads(line) for line in (path / layout.PREDICTIONS).read_text().splitlines()]
    for at, row in enumerate(reversed(rows)):
        row.update(latency_ms=at, cost_usd=at / 7, tokens_in=at, _meta={"at": at})
    made.rows(path, rows[::-1])
    assert made.check("V5").finding_count == 1


@pytest.mark.parametrize(
    ("params", "scores"),
    [
        ({"k": 1}, {"q1": 1.0, "q2": 0.5, "q3": 0.1}),  # the same params: one instrument under two names
        ({}, {"q1": 1.0, "q2": 0.5, "q3": 0.1}),  # none recorded
        ({"k": 2}, {"q1": 0.5, "q2": 1.0, "q3": 0.1}),  # the same mean, other items
        ({"k": 2}, {"q1": 1.0, "q2": 0.5}),  # fewer items
    ],
)
def test_v5_what_is_not_suspicious(made: Made, params: dict[str, Any], scores: dict[str, float]) -> None:
    made.run()
    made.run("b_1", config_id="b", params=params, scores=scores)
    assert said(made.check("V5")) == ""


def test_v5_repeats_of_one_config_with_other_seeds_may_agree(made: Made) -> None:
    made.run("a_r1", params={"seed": 0}, repeat_index=1)
    made.run("a_r2", params={"seed": 1}, repeat_index=2)
    assert made.check("V5").status == "ok"


def test_v5_rows_that_cannot_be_read_never_match(made: Made) -> None:
    for name, params in (("a", {"k": 1}), ("b", {"k": 2})):
        path = made.run(f"{name}_1", config_id=name, params=params)
        rows = path / layout.PREDICTIONS
        rows.write_text(rows.read_text().replace("0.5", "NaN"))
    assert made.check("V5").status == "nothing to check"


def test_v5_runs_that_measured_nothing_but_time_never_match(made: Made) -> None:
    for name, params in (("a", {"k": 1}), ("b", {"k": 2})):
        path = made.run(f"{name}_1", config_id=name, params=params)
        made.rows(path, [{"item_id": "q1", "latency_ms": 3, "_extra": {}}])
    assert made.check("V5").status == "nothing to check"


@pytest.mark.parametrize("name", ["latency_ms", "cost_usd", "judge_cost_usd", "total_tokens_in", "reasoning_tokens"])
def test_v5_measurements_are_known_by_name(name: str) -> None:
    assert is_measurement(name, {})


def test_v5_measurements_are_known_by_the_records_kinds() -> None:
    assert is_measurement("speed", {"speed": "speed"}) and not is_measurement("speed", {"speed": "quality"})


# --- V8 --------------------------------------------------------------------------------------------------------------


def test_v8_e54_two_runs_of_one_arm_that_are_no_repeats(made: Made) -> None:
    made.run("a_1")
    made.run("a_2")
    [finding] = made.check("V8").findings
    assert "a_1, a_2" in finding.message and "keep one set" in finding.advice


def test_v8_e55_a_repeat_that_crashed_leaves_a_set_of_two(made: Made) -> None:
    made.run("a_r1", repeat_index=1)
    made.run("a_r2", repeat_index=2, finished=False)
    made.run("a_r3", repeat_index=3)
    assert made.check("V8").status == "ok"


def test_v8_e56_repeats_are_known_by_the_record_not_by_names_alone(made: Made) -> None:
    made.run("arm", config_id="arm")
    made.run("arm_r1", config_id="arm_r1", repeat_index=1)
    assert made.check("V8").status == "ok"
    other = made.run("arm_r2", config_id="arm_r1", repeat_index=2)
    assert made.check("V8").status == "ok"
    made.change(other / layout.RECORD, repeat_index=None)
    assert made.check("V8").finding_count == 1


def test_v8_repeats_of_before_0_4_0_are_known_by_their_names(made: Made) -> None:
    made.run("arm_r1", config_id="arm")
    made.run("arm_r3", config_id="arm")
    assert made.check("V8").status == "ok"
    made.run("arm_x", config_id="arm")
    assert made.check("V8").finding_count == 1


def test_v8_runs_directories_are_looked_at_one_by_one(made: Made) -> None:
    made.run()
    made.run(runs=made.root / "data" / "runs-rescored")
    assert made.check("V8").what == "2 runs" and made.check("V8").status == "ok"


def test_v8_a_folder_has_the_name_of_its_run(made: Made) -> None:
    path = made.run()
    path.rename(path.with_name("renamed"))
    [finding] = made.check("V8").findings
    assert "'a_1', its folder 'renamed'" in finding.message
