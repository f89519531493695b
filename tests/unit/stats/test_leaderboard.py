"""The table of arms: order, ranks, intervals, the metric it is sorted by, the frontier, what to beware of."""

from __future__ import annotations

import gc
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.errors import SourceError, UsageError
from evh.stats import Leaderboard, leaderboard
from evh.store import Arm, open_run_dir
from tests.unit.stats.made_arms import OTHER, fingerprint, make_arm, rescored, scores

NUMBER = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
METRICS: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(("score", "cost_usd", "latency_ms"), NUMBER)
ROWS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.fixed_dictionaries(METRICS)
    | st.fixed_dictionaries({}, optional={**METRICS, "_error": st.just("E: x"), "_extra": st.just({"tokens_in": 3})}),
)


def order(table: Leaderboard) -> list[tuple[str, float | None]]:
    return [(row.config_id, row.rank) for row in table.rows]


def noticed(table: Leaderboard, part: str) -> bool:
    return any(part in notice for notice in table.notices)


def test_equal_arms_share_a_rank_and_say_so(tmp_path: Path) -> None:
    arms = [
        make_arm(tmp_path, name, scores(values))
        for name, values in {"d": [0.1] * 4, "b": [0.5] * 4, "c": [0.5] * 4, "a": [0.9] * 4}.items()
    ]
    table = leaderboard(arms, sort="score")
    assert order(table) == [("a", 1), ("b", 2.5), ("c", 2.5), ("d", 4)]
    assert [row.tied for row in table.rows] == [0, 1, 1, 0]
    assert order(leaderboard(arms, sort="score", asked="lower")) == [("d", 1), ("b", 2.5), ("c", 2.5), ("a", 4)]
    assert msgspec.json.decode(msgspec.json.encode(table))["rows"][0]["value"]["kind"] == "t"


@pytest.mark.parametrize("asked", ["higher", "lower"])
def test_e3_an_arm_without_the_metric_is_last_and_has_no_rank(tmp_path: Path, asked: Any) -> None:
    failed = {f"i{at}": {"_error": "ValueError: x"} for at in range(4)}
    arms = [make_arm(tmp_path, "a", failed, n_errors=4), make_arm(tmp_path, "b", scores([1, 0, 1, 1]))]
    table = leaderboard(arms, sort="score", asked=asked)
    assert order(table) == [("b", 1), ("a", None)]
    assert (table.rows[1].value, table.rows[1].n, table.rows[1].failed, table.rows[1].items) == (None, 0, 4, 4)
    assert noticed(table, "with failed rows: 'a'")


def test_b013_scored_unscored_and_failed_are_three_counts(tmp_path: Path) -> None:
    rows: dict[str, dict[str, Any]] = {**scores([1, 1, 0, 0])}
    rows |= {f"u{at}": {} for at in range(3)} | {f"f{at}": {"_error": "ValueError: x"} for at in range(3)}
    row = leaderboard([make_arm(tmp_path, "a", rows)]).rows[0]
    assert (row.n, row.unscored, row.failed, row.items) == (4, 3, 3, 10)
    assert row.value is not None and row.value.estimate == 0.5
    assert (row.cells["score"].n, row.cells["score"].of) == (4, 10)


def test_b031_and_b082_repeats_weigh_by_item(tmp_path: Path) -> None:
    row = leaderboard([make_arm(tmp_path, "a", {**scores([1, 1, 1]), "e": {}}, {"d": {"score": 0}})]).rows[0]
    assert row.value is not None
    assert (row.value.estimate, row.n, row.items, row.runs, row.spread, row.unscored) == (0.75, 4, 5, 2, 1.0, None)


def test_an_interval_fits_the_values_and_the_clusters(tmp_path: Path) -> None:
    arms = [make_arm(tmp_path, "a", scores([1, 0, 1, 1])), make_arm(tmp_path, "b", scores([0.5, 0, 1, 1]))]
    kinds = {row.config_id: row.value.kind for row in leaderboard(arms).rows if row.value}
    assert kinds == {"a": "Wilson", "b": "t"}
    table = leaderboard(arms, clusters={"i0": "x", "i1": "x"})
    assert {row.value.kind for row in table.rows if row.value} == {"clustered t"}
    assert table.significance is not None and table.significance.clusters == 3


def test_the_primary_metric_of_most_runs_sorts(tmp_path: Path) -> None:
    rows = {f"i{at}": {"f1": 0.5, "acc": 0.1} for at in range(3)}
    arms = [make_arm(tmp_path, name, rows, primary_metric=metric) for name, metric in (("a", "f1"), ("b", "acc"))]
    table = leaderboard(arms)
    assert table.metric == "acc"  # as many runs each: by name
    assert noticed(table, "different primary metrics: acc (1), f1 (1); ranked by acc")
    assert leaderboard([*arms, make_arm(tmp_path, "c", rows, primary_metric="f1")]).metric == "f1"
    assert leaderboard(arms, sort="f1").metric == "f1"


def test_without_a_primary_metric_the_first_quality_one_sorts_with_a_notice(tmp_path: Path) -> None:
    rows = {f"i{at}": {"a_count": 3, "b_score": 0.5, "cost_usd": 1.0} for at in range(3)}
    kinds = {"metric_kinds": {"a_count": "descriptive"}, "primary_metric": "gone"}
    table = leaderboard([make_arm(tmp_path, "a", rows, **kinds)])
    assert table.metric == "b_score"
    assert noticed(table, "ranked by b_score, the first quality one")
    assert table.columns == {"a_count": "descriptive", "b_score": "quality", "cost_usd": "cost"}
    only = {item: {"a_count": 3, "cost_usd": 1.0} for item in rows}
    table = leaderboard([make_arm(tmp_path, "b", only, **kinds)])
    assert table.metric == "a_count"
    assert noticed(table, "a_count has no better end (its kind is descriptive): the order is by size, not by merit")


def test_b109_e59_one_direction_for_rank_frontier_and_significance(tmp_path: Path) -> None:
    said = {"metric_directions": {"wer": "lower"}, "primary_metric": "wer"}
    arms = [
        make_arm(tmp_path, name, {f"i{at}": {"wer": value + at / 100, "cost_usd": 1.0} for at in range(6)}, **said)
        for name, value in (("bad", 0.9), ("good", 0.1), ("fair", 0.5))
    ]
    table = leaderboard(arms)
    assert order(table) == [("good", 1), ("fair", 2), ("bad", 3)]
    assert [row.dominated for row in table.rows] == [False, True, True]
    assert table.significance is not None
    places = dict(zip(table.significance.arms, table.significance.places, strict=True))
    assert (places["good"].first, places["bad"].bottom) == (1.0, 1.0)
    assert dict(zip(table.significance.arms, table.significance.mean_ranks, strict=True))["good"] == 1.0


def test_e59_a_contradiction_leaves_no_rank(tmp_path: Path) -> None:
    arms = [
        make_arm(tmp_path, name, scores([0.1, 0.2, 0.3]), metric_directions={"score": way})
        for name, way in (("b", "higher"), ("a", "lower"))
    ]
    table = leaderboard(arms)
    assert order(table) == [("a", None), ("b", None)]
    assert [row.dominated for row in table.rows] == [None, None]
    assert noticed(table, "declared as higher (b) and lower (a)")
    assert table.significance is None and noticed(table, "no significance block: no order without a direction")


def test_a_metric_without_a_better_end_is_ordered_by_size_and_not_tested(tmp_path: Path) -> None:
    arms = [make_arm(tmp_path, name, scores([size] * 3, "output_words")) for name, size in (("a", 5), ("b", 9))]
    table = leaderboard(arms)
    assert order(table) == [("b", 1), ("a", 2)]
    assert table.significance is None and {row.dominated for row in table.rows} == {None}
    assert noticed(table, "output_words has no better end") and noticed(table, "no order without a direction")


def test_e58_one_arm_is_no_order(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, "a", scores([0.1, 0.2, 0.3]))
    assert leaderboard([arm]).significance is None
    with pytest.raises(UsageError, match="one arm has no order"):
        leaderboard([arm], significance=True)


def test_e57_arms_that_share_too_little_have_no_block(tmp_path: Path) -> None:
    arms = [make_arm(tmp_path, "a", scores([1, 2, 3])), make_arm(tmp_path, "b", {"x": {"score": 1}})]
    table = leaderboard(arms)
    assert (table.shared, table.significance) == (0, None)
    assert noticed(table, "no significance block: 0 items have a value of all 2 arms")
    with pytest.raises(SourceError, match="a test needs 3"):
        leaderboard(arms, significance=True)


def test_e46_money_is_what_is_known_and_says_of_how_many(tmp_path: Path) -> None:
    rows = {"a": {"score": 1, "cost_usd": 0.25}, "b": {"score": 1}, "c": {"score": 1, "cost_usd": 0.5}}
    full = {item: {"score": 0, "cost_usd": 1.0} for item in rows}
    table = leaderboard([make_arm(tmp_path, "half", rows), make_arm(tmp_path, "full", full, full)])
    half, full_row = table.rows
    assert (half.cost, half.priced, half.items, half.dominated) == (0.75, 2, 3, None)
    assert (full_row.cost, full_row.spent, full_row.priced) == (3.0, 6.0, 3)
    assert noticed(table, "items with a price: 'half' 2 of 3; totals are of those")
    assert noticed(leaderboard([make_arm(tmp_path, "free", scores([1]))]), "no cost was recorded")


def test_e60_what_a_judge_could_not_judge_is_no_0(tmp_path: Path) -> None:
    rows = {"a": {"judged": 0.8, "judge_unparsed": 0}, "b": {"judge_unparsed": 1}, "c": {"judged": 0.6}}
    table = leaderboard([make_arm(tmp_path, "a", rows)])
    row = table.rows[0]
    assert table.metric == "judged" and row.value is not None
    assert (row.value.estimate, row.n, row.items, row.unscored) == (pytest.approx(0.7), 2, 3, 1)


def test_e51_a_record_of_a_newer_writer_is_in_the_table(tmp_path: Path) -> None:
    table = leaderboard([make_arm(tmp_path, "a", scores([1, 0, 1]), of_a_later_version={"x": 1})])
    assert order(table) == [("a", 1)]


def test_what_to_beware_of_is_said(tmp_path: Path) -> None:
    two = {"primary_metric": "score", "scores": {"score": 0.333}, "reference_tier": "silver"}
    rows = scores([0.0, 0.0, 1.0])
    arms = [
        make_arm(tmp_path, "prompt_v1", rows, **two, fingerprint=fingerprint()),
        make_arm(tmp_path, "prompt_v2", rows, **rescored(OTHER), providers_seen={"p": 1, "q": 2}),
        make_arm(tmp_path, "other", rows, reference_coverage={"items_with_reference": 1, "items": 3}),
        make_arm(tmp_path, "kind", rows, metric_kinds={"k": "cost", "score": "quality"}),
    ]
    table = leaderboard(arms)
    for part in (
        "several versions of one config: 'prompt_v1', 'prompt_v2'",
        "(silver): 'prompt_v1'",
        "derived, not measured: 'prompt_v2'",
        "references for some items only: 'other'",
        "several providers: 'prompt_v2'",
        "not the mean of its rows (rounded?); the rows count: 'prompt_v1'",
        "different scorers",
    ):
        assert noticed(table, part), (part, table.notices)


def test_b013_rows_without_the_metric_that_did_not_fail_are_told(tmp_path: Path) -> None:
    rows = {**scores([1, 0]), "u": {}, "f": {"_error": "ValueError: x"}}
    arms = [make_arm(tmp_path, "a", rows), make_arm(tmp_path, "b", scores([1, 0]))]
    assert noticed(leaderboard(arms), "items without score that did not fail: 'a' 1 of 4")
    assert not noticed(leaderboard(arms[1:]), "that did not fail")


def test_e29_other_references_or_items_are_told(tmp_path: Path) -> None:
    stamps = {"a": fingerprint(), "b": fingerprint(references=OTHER), "c": fingerprint(items=OTHER)}
    arms = [make_arm(tmp_path, name, scores([1, 0, 1]), fingerprint=stamp) for name, stamp in stamps.items()]
    assert noticed(leaderboard(arms[:2]), "the arms were scored against different references")
    assert noticed(leaderboard([arms[0], arms[2]]), "measured on different versions of the dataset's items")
    assert leaderboard(arms[:1]).notices == [
        "no run declares a primary metric: ranked by score, the first quality one", "no cost was recorded"
    ]  # fmt: skip


def test_a_record_that_says_another_number_is_told_of_every_run(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, "a", scores([1, 0]), scores([1, 1]), scores={"score": 0.5})
    assert noticed(leaderboard([arm]), "not the mean of its rows (rounded?); the rows count: 'a'")


def test_a_record_of_all_rows_is_not_held_against_some_of_them(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1, 0]), scores={"score": 0.5})
    some = Arm([open_run_dir(tmp_path / "a")], keep=lambda item: item == "i0")
    assert some.left_out == 1 and not noticed(leaderboard([some]), "not the mean of its rows")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.lists(ROWS, min_size=1, max_size=2), min_size=1, max_size=4))
def test_a_table_is_the_same_however_its_rows_were_read(tmp_path: Path, made: list[list[Any]]) -> None:
    folder = tmp_path / "runs"
    shutil.rmtree(folder, ignore_errors=True)
    arms = [make_arm(folder, f"a{at}", *repeats) for at, repeats in enumerate(made)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evh.store.arm.read_columns", lambda path: None)
        by_row = [Arm([open_run_dir(run.path) for run in arm.runs]) for arm in arms]
    try:
        table = leaderboard(arms, significance=False)
    except SourceError as error:
        with pytest.raises(SourceError, match=re.escape(str(error))):
            leaderboard(by_row, significance=False)
    else:
        assert leaderboard(by_row, significance=False) == table


def test_the_collector_of_cycles_is_on_again(tmp_path: Path) -> None:
    leaderboard([make_arm(tmp_path, "a", scores([1]))])
    with pytest.raises(UsageError):
        leaderboard([])
    assert gc.isenabled()


def test_many_arms_are_ranked_without_a_block_unless_asked(tmp_path: Path) -> None:
    arms = [make_arm(tmp_path, f"a{at:02}", scores([at, at + 1, at - 1])) for at in range(42)]
    table = leaderboard(arms)
    assert table.significance is None and noticed(table, "42 arms are more than 40")
    assert [row.rank for row in table.rows] == [float(at) for at in range(1, 43)]
    asked = leaderboard(arms, significance=True).significance
    assert asked is not None and len(asked.places) == 42


def test_the_order_of_arms_changes_nothing(tmp_path: Path) -> None:
    arms = [make_arm(tmp_path, name, scores([0.1, at, 0.5, 0.7])) for at, name in enumerate("abc")]
    assert leaderboard(arms) == leaderboard(arms[::-1])


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, "a", scores([1]))
    with pytest.raises(UsageError, match="at least one arm"):
        leaderboard([])
    with pytest.raises(UsageError, match="no arm has the metric 'wer'; there are score"):
        leaderboard([arm], sort="wer")
    with pytest.raises(SourceError, match="no arm has a metric"):
        leaderboard([make_arm(tmp_path, "e", {"i": {}})])
    with pytest.raises(UsageError, match="two arms are called 'a': a table is of one runs directory"):
        leaderboard([arm, make_arm(tmp_path / "more", "a", scores([1]))])
    with pytest.raises(UsageError, match="one dataset"):
        leaderboard([arm, make_arm(tmp_path, "z", scores([1]), dataset_id="other")])


def test_importing_loads_neither_numpy_nor_scipy() -> None:
    program = (
        "import sys, evh.stats; print([name for name in ('numpy', 'scipy', 'statsmodels') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from evh.stats import sign_flip

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(UsageError, match=r"needs numpy, which is not installed: pip install 'evh\[stats\]'"):
        sign_flip([1.0, 2.0] * 20)
