"""R6: goal policies and their cut-over."""

from __future__ import annotations

from typing import Any

import pytest

from evh.store import layout
from tests.unit.rules.whole_tree import Made, said

BEFORE, AT, AFTER = "2026-05-31T23:59:59.999Z", "2026-06-01T00:00:00Z", "2026-06-01T00:00:01Z"


def test_without_goals_there_is_nothing_to_check(made: Made) -> None:
    made.run()
    assert made.check("R6").status == "nothing to check"


@pytest.mark.parametrize(("created", "bound"), [(BEFORE, False), (AT, True), (AFTER, True)])
def test_the_instant_of_the_cut_over_counts_as_after(made: Made, created: str, *, bound: bool) -> None:
    made.goal()
    made.run(created_at=created)
    outcome = made.check("R6")
    assert outcome.finding_count == bound and outcome.counts == {"goals": 1, "records": 1}
    if bound:
        assert "names no goal" in said(outcome) and outcome.findings[0].pointer == "/goal"


def test_a_rescore_made_after_the_cut_over_is_bound_by_its_own_time(made: Made) -> None:
    made.goal()
    made.run(runs=made.root / "data" / "runs-rescored", created_at=AFTER, source_created_at=BEFORE)
    assert made.check("R6").finding_count == 1


def test_runs_on_another_dataset_are_not_bound(made: Made) -> None:
    made.goal(dataset_id="other")
    made.run(created_at=AFTER)
    assert made.check("R6").what == "1 goal"


@pytest.mark.parametrize(
    ("requires", "pointer"),
    [
        ({"reference_tier": "gold"}, "/reference_tier"),
        ({"primary_metric": "exact"}, "/primary_metric"),
        ({"min_items": 4}, "/n_items"),
        ({"build_clean": True}, "/build"),
    ],
)
def test_a_bound_run_meets_what_the_goal_requires(made: Made, requires: dict[str, Any], pointer: str) -> None:
    made.goal(requires=requires)
    path = made.run(created_at=AFTER, goal="g", build={"ref": "abc", "dirty": True})
    [finding] = made.check("R6").findings
    assert finding.pointer == pointer and "requires" in finding.message
    made.change(path / layout.RECORD, reference_tier="gold", primary_metric="exact", n_items=4, build={"ref": "abc"})
    assert made.check("R6").status == "ok"


def test_a_run_bound_by_two_goals_names_one_and_meets_both(made: Made) -> None:
    made.goal()
    made.goal(goal_id="h", requires={"min_items": 10})
    made.run(created_at=AFTER, goal="g")
    [finding] = made.check("R6").findings
    assert "'h' requires at least 10 items" in finding.message


@pytest.mark.parametrize("cut_over", ["2026-06-01T00:00:00", "someday", "2026-02-30T00:00:00Z"])
def test_a_cut_over_that_is_no_instant_fails(made: Made, cut_over: str) -> None:
    made.goal(cut_over=cut_over)
    made.run(created_at=AFTER)
    assert "no run can be held to it" in said(made.check("R6"))


def test_a_record_without_a_zone_fails_and_is_never_before(made: Made) -> None:
    made.goal()
    made.run(created_at="2020-01-01T00:00:00")
    assert "nobody can say whether a goal binds it" in said(made.check("R6"))
