"""`evh leaderboard`: order, intervals, what was left out, and the forms of the table."""

from __future__ import annotations

import csv
import gc
import io
import json

import pytest
from cli_support import Evh
from compared_support import Compared, values

from tests.unit.stats.made_arms import scores


def test_the_table_says_what_its_numbers_are(evh: Evh, compared: Compared) -> None:
    compared.arms()
    ran = evh("leaderboard")
    assert ran.code == 0 and not ran.err
    rows = [line.split()[:3] for line in ran.out.splitlines()[1:4]]
    assert rows == [["1", "*", "reranked"], ["2", "*", "dense"], ["3", "*", "bm25"]]
    for said in ("better is higher", "intervals: t 95 %", "12 items in every arm", "seed 20260926", "Nemenyi"):
        assert said in ran.out
    data = evh("leaderboard", "--json").json
    assert data["ok"] and [row["config_id"] for row in data["rows"]] == ["reranked", "dense", "bm25"]
    assert data["direction"] == {"value": "higher", "why": "nothing declares it", "conflict": None}
    assert evh("leaderboard", "--format", "json").json == data


def test_csv_is_whole_and_markdown_is_a_table(evh: Evh, compared: Compared) -> None:
    compared.arm("=1+1", values(0.05))
    compared.arm("a|b", values(0.0))
    ran = evh("leaderboard", "--format", "csv")
    listed = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["config"] for row in listed] == ["'=1+1", "a|b"]
    assert float(listed[0]["score"]) == evh("leaderboard", "--json").json["rows"][0]["value"]["estimate"]
    assert "better is higher" in ran.err
    lines = evh("leaderboard", "--format", "md").out.splitlines()
    assert lines[1].startswith("| --- |") and "a\\|b" in lines[3]
    assert evh("leaderboard", "--json", "--format", "md").code == 2


def test_b109_lower_is_better_in_order_frontier_block_and_picture(evh: Evh, compared: Compared) -> None:
    compared.arm("good", {f"i{at}": {"wer": 0.1 + at / 100} for at in range(6)}, metric_directions={"wer": "lower"})
    compared.arm("poor", {f"i{at}": {"wer": 0.4 + at / 100} for at in range(6)}, metric_directions={"wer": "lower"})
    data = evh("leaderboard", "--sort", "wer", "--json").json
    assert [row["config_id"] for row in data["rows"]] == ["good", "poor"]
    assert [row["dominated"] for row in data["rows"]] == [False, True]
    block = dict(zip(data["significance"]["arms"], data["significance"]["places"], strict=True))
    assert block["good"]["first"] == 1.0 and block["poor"]["first"] == 0.0
    turned = evh("leaderboard", "--sort", "wer", "--desc", "--json").json
    assert [row["config_id"] for row in turned["rows"]] == ["poor", "good"]
    assert turned["significance"]["places"][turned["significance"]["arms"].index("poor")]["first"] == 1.0
    assert evh("plot", "leaderboard", "--metric", "wer", "-o", "w.svg").code == 0
    picture = (compared.root / "w.svg").read_text("utf-8")
    assert picture.index(">1 good<") < picture.index(">2 poor<")


def test_e53_runs_without_a_record_are_left_out_and_counted(evh: Evh, compared: Compared) -> None:
    compared.arms()
    half = compared.runs / "half"
    half.mkdir()
    (half / "predictions.jsonl").write_text('{"item_id": "i00", "score": 1.0}\n')
    ran = evh("leaderboard")
    assert ran.code == 0 and "1 unfinished run left out: half" in ran.out
    assert len(evh("leaderboard", "--json").json["rows"]) == 3


def test_e54_two_runs_that_are_no_repeats_are_never_chosen_between(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("twice", values(0.0))
    (compared.runs / "twice").rename(compared.runs / "one")
    compared.arm("twice", values(0.3))
    ran = evh("leaderboard", "--json")
    assert ran.code == 1 and not ran.json["ok"]
    assert "twice" not in [row["config_id"] for row in ran.json["rows"]]
    assert any("not the repeats of one launch" in each for each in ran.json["notices"])
    refused = evh("pair-test", "twice", "bm25")
    assert refused.code == 1 and "not the repeats of one launch" in refused.err
    assert evh("compare", "--baseline", "bm25", "--candidate", "twice").code == 1
    found = evh("family-test", "bm25", "--against", "twice", "--json")
    assert found.code == 1 and "none of 1 opponents" in found.json["error"]["message"]


def test_e55_a_set_of_repeats_with_a_gap_is_one_arm(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", *[values(gain) for gain in (0.0, 0.1, 0.2)])
    for path in (compared.runs / "arm_r2").iterdir():
        path.unlink()
    (compared.runs / "arm_r2").rmdir()
    compared.arm("other", values(0.0))
    data = evh("leaderboard", "--json").json
    assert {row["config_id"]: row["runs"] for row in data["rows"]} == {"arm": 2, "other": 1}


def test_e56_ids_that_look_like_repeats_are_arms_of_their_own(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", values(0.0))
    compared.arm("arm_r1", values(0.1))
    data = evh("leaderboard", "--json").json
    assert [(row["config_id"], row["runs"]) for row in data["rows"]] == [("arm_r1", 1), ("arm", 1)]


def test_e58_one_arm_or_equal_arms_have_no_order(evh: Evh, compared: Compared) -> None:
    compared.arm("a", values(0.0))
    alone = evh("leaderboard", "--json").json
    assert alone["significance"] is None or alone["significance"]["places"][0]["first"] == 0
    compared.arm("b", values(0.0))
    ran = evh("leaderboard")
    assert [line.split()[0] for line in ran.out.splitlines()[1:3]] == ["1.5=", "1.5="]
    assert "share a rank" in ran.out
    data = evh("leaderboard", "--json").json
    assert [each["first"] for each in data["significance"]["places"]] == [0.0, 0.0]


def test_e59_runs_that_contradict_each_other_leave_no_verdict(evh: Evh, compared: Compared) -> None:
    compared.arm("a", values(0.0), metric_directions={"score": "higher"})
    compared.arm("b", values(0.1), metric_directions={"score": "lower"})
    data = evh("leaderboard", "--json").json
    assert data["direction"]["conflict"] and [row["rank"] for row in data["rows"]] == [None, None]
    assert evh("pair-test", "a", "b", "--json").json["verdict"] == "no verdict"
    found = {
        each["metric"]: each["verdict"]
        for each in evh("compare", "--baseline", "a", "--candidate", "b", "--json").json["metrics"]
    }
    assert found["score"] == "no verdict" and found["cost_usd"] == "worse"
    asked = evh("pair-test", "a", "b", "--desc", "--json").json
    assert asked["verdict"] == "worse"


def test_the_current_adapter_settles_what_old_records_got_wrong(evh: Evh, compared: Compared) -> None:
    from tests.unit.stats.made_arms import fingerprint

    stamped = fingerprint()
    stamped["instrument"]["adapter"]["id"] = "data/configs/adapter.py"
    (compared.root / "data" / "configs").mkdir()
    adapter = compared.root / "data" / "configs" / "adapter.py"
    adapter.write_text("METRIC_DIRECTIONS = {'score': 'lower'}\ndef score(output, reference):\n    return {}\n")
    compared.arm("a", values(0.0), fingerprint=stamped, metric_directions={"score": "higher"})
    compared.arm("b", values(0.1), fingerprint=stamped, metric_directions={"score": "higher"})
    data = evh("leaderboard", "--json").json
    assert data["direction"]["why"] == "the adapter declares it" and data["rows"][0]["config_id"] == "a"
    adapter.write_text("raise ValueError\n")
    data = evh("leaderboard", "--json").json
    assert data["rows"][0]["config_id"] == "b"
    assert any("cannot be loaded" in each for each in data["notices"])


def test_e12_b031_an_arm_is_the_mean_over_items_not_of_runs(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", scores([1, 1, 1]), scores([0]))
    [row] = evh("leaderboard", "--json").json["rows"]
    assert row["value"]["estimate"] == pytest.approx(2.5 / 3) and (row["n"], row["items"]) == (3, 3)


def test_b032_the_mean_and_its_interval_are_of_one_set_of_values(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", scores([0.25, 0.5, 1.0]), scores([0.75]))
    [row] = evh("leaderboard", "--json").json["rows"]
    value = row["value"]
    assert value["estimate"] == pytest.approx((value["low"] + value["high"]) / 2)
    assert value["estimate"] == pytest.approx((0.5 + 0.5 + 1.0) / 3) and value["n"] == 3


def test_e46_money_says_how_many_items_have_a_price(evh: Evh, compared: Compared) -> None:
    rows = values(0.0)
    for item in list(rows)[6:]:
        del rows[item]["cost_usd"]
    compared.arm("half", rows)
    compared.arm("whole", values(0.0))
    data = evh("leaderboard", "--json").json
    half = next(row for row in data["rows"] if row["config_id"] == "half")
    assert half["priced"] == 6 and half["cost"] == pytest.approx(0.06)
    assert any("'half' 6 of 12" in each for each in data["notices"])


def test_b080_tables_come_from_the_folders(evh: Evh, compared: Compared) -> None:
    compared.arm("first", values(0.0))
    assert len(evh("leaderboard", "--json").json["rows"]) == 1
    compared.arm("second", values(0.1))
    assert len(evh("leaderboard", "--json").json["rows"]) == 2


def test_items_and_datasets_are_chosen_and_told(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.root / "few.txt").write_text("i00\ni01\n\ni02\nelsewhere\n")
    data = evh("leaderboard", "--items", "few.txt", "--json").json
    assert {row["items"] for row in data["rows"]} == {3} and data["rows_left_out"] == 27
    assert "only the 4 items of few.txt" in data["notices"]
    datasets = compared.root / "data" / "datasets"
    datasets.mkdir()
    items = [{"item_id": f"i{at:02}", "source_sha256": "a" * 64, "source_path": f"{at}.txt"} for at in range(2)]
    document = {"dataset_id": "dev", "version": "1.0", "created_at": "2026-10-04T08:15:30Z", "items": items}
    (datasets / "dev.json").write_text(json.dumps(document))
    data = evh("leaderboard", "--exclude-dataset", "dev", "--json").json
    assert {row["items"] for row in data["rows"]} == {10}
    assert evh("leaderboard", "--exclude-dataset", "none").code == 1
    assert evh("leaderboard", "--items", "missing.txt").code == 1


def test_an_arm_without_an_item_that_counts_is_told(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("elsewhere", scores([1, 1, 1], "score") | {"x": {"score": 1}})
    (compared.root / "few.txt").write_text("i00\ni01\ni02\n")
    data = evh("leaderboard", "--items", "few.txt", "--json").json
    assert "left out, not one row of the items that count: elsewhere" in data["notices"]
    assert not any("not the mean of its rows" in each for each in data["notices"])


def test_e3_arms_that_failed_on_every_item_are_nothing_to_rank(evh: Evh, compared: Compared) -> None:
    compared.arm("a", {f"i{at}": {"_error": "ValueError: x"} for at in range(3)}, n_errors=3)
    ran = evh("leaderboard")
    assert ran.code == 1 and "no arm has a metric to rank by" in ran.err


def test_e10_a_nan_of_an_old_row_is_told_and_no_value(evh: Evh, compared: Compared) -> None:
    compared.arm("a", values(0.0))
    path = compared.runs / "a" / "predictions.jsonl"
    first, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(first) | {"score": float("nan")}) + "\n" + rest)
    data = evh("leaderboard", "--json").json
    [row] = data["rows"]
    assert (row["n"], row["items"], row["unscored"]) == (11, 12, 1)
    assert any("predictions.jsonl:1" in each for each in data["notices"])


def test_e52_a_run_without_a_manifest_is_in_the_table(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.runs / "dense" / "run.json").unlink()
    assert len(evh("leaderboard", "--json").json["rows"]) == 3


def test_what_makes_no_sense_is_refused(evh: Evh, compared: Compared) -> None:
    assert evh("leaderboard").code == 1
    compared.arms()
    assert evh("leaderboard", "--asc", "--desc").code == 2
    assert "there are cost_usd, score" in evh("leaderboard", "--sort", "nothing").err
    assert evh("leaderboard", "--dataset-id", "nothing").code == 1
    assert evh("leaderboard", "--runs-dir", "nowhere").code == 2
    compared.arm("else", values(0.0), dataset_id="e")
    ran = evh("leaderboard")
    assert ran.code == 2 and "--dataset-id d, e" in ran.err
    assert len(evh("leaderboard", "--match", "dense", "--json").json["rows"]) == 1


def test_an_unreadable_run_is_named_and_hides_no_other(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.runs / "dense" / "metrics.json").write_text("{")
    ran = evh("leaderboard")
    assert ran.code == 1 and "left out, it cannot be read: data/runs/dense" in ran.out
    (compared.runs / "bm25" / "predictions.jsonl").write_text("nonsense\n{}\n")
    data = evh("leaderboard", "--json").json
    assert [row["config_id"] for row in data["rows"]] == ["reranked"] and not data["ok"]


def test_the_collector_of_cycles_is_on_again(evh: Evh, compared: Compared) -> None:
    compared.arms()
    assert gc.isenabled() and evh("leaderboard").code == 0 and evh("leaderboard", "--sort", "none").code == 2
    assert gc.isenabled()


def test_csv_has_a_name_for_each_column_and_whole_ranks(evh: Evh, compared: Compared) -> None:
    for name in ("one", "two"):
        compared.arm(name, scores([0.5, 0.6, 0.7]))
    compared.arm("low", scores([0.1, 0.2, 0.3]))
    listed = list(csv.DictReader(io.StringIO(evh("leaderboard", "--format", "csv").out)))
    assert [(row["rank"], row["frontier"]) for row in listed] == [("1.5", "*"), ("1.5", "*"), ("3", "")]
    assert "" not in listed[0] and "cost of a pass" not in listed[0]
    assert "cost of a pass" not in evh("leaderboard").out
    compared.arm("paid", values(0.0))
    assert "cost of a pass" in evh("leaderboard").out


@pytest.mark.parametrize("value", [2e150, -1e308])
def test_a_value_beyond_statistics_is_named_with_its_item_and_arm(evh: Evh, compared: Compared, value: float) -> None:
    compared.arm("good", scores([0.5, 0.6, 0.7]))
    compared.arm("huge", scores([0.5, value, 0.7]))
    for command in (("leaderboard",), ("plot", "leaderboard", "-o", "a.svg")):
        ran = evh(*command)
        assert ran.code == 1 and f"the metric 'score' of the item 'i1' in 'huge' is {value:g}" in ran.err


def test_items_that_no_arm_has_are_named(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.root / "few.txt").write_text("i00\ni01\ni02\nplian\n")
    said = "1 of the items asked for are in none of the arms: 'plian'"
    assert said in evh("leaderboard", "--items", "few.txt", "--json").json["notices"]
    ran = evh("plot", "leaderboard", "--items", "few.txt", "-o", "a.svg", "--json")
    assert said in ran.json["notices"] and said in (compared.root / "a.svg").read_text("utf-8").replace("&#x27;", "'")
