"""`evh family-test`: the family that was declared is the family that is corrected for."""

from __future__ import annotations

import json

from cli_support import Evh
from compared_support import Compared, values


def test_the_table_names_correction_and_seed(evh: Evh, compared: Compared) -> None:
    compared.arms()
    ran = evh("family-test", "reranked", "--against", "e")
    assert ran.code == 0
    assert "separated from 1 of 1, better than 1; correction: Holm over 1" in ran.out and "seed 20260926" in ran.out
    ran = evh("family-test", "reranked", "--against", "", "--method", "bh")
    assert ran.code == 2


def test_adding_an_opponent_changes_nobody_elses_p(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("dense_b", values(0.19))
    before = {
        e["config_id"]: e for e in evh("family-test", "reranked", "--against", "dense", "--json").json["opponents"]
    }
    compared.arm("dense_c", values(0.21))
    after = {
        e["config_id"]: e for e in evh("family-test", "reranked", "--against", "dense", "--json").json["opponents"]
    }
    assert before.keys() < after.keys()
    for name, each in before.items():
        assert after[name]["pair"]["test"]["p"] == each["pair"]["test"]["p"]
        assert after[name]["adjusted"] >= each["adjusted"]


def test_opponents_that_cannot_be_tested_count(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("dense_far", {f"x{at}": {"score": 1.0} for at in range(5)})
    compared.arm("dense_two", values(0.0))
    (compared.runs / "dense_two").rename(compared.runs / "one")
    compared.arm("dense_two", values(0.1))
    data = evh("family-test", "reranked", "--against", "dense", "--json").json
    assert data["size"] == 3
    skipped = {each["config_id"]: each["skipped"] for each in data["opponents"] if each["skipped"]}
    assert set(skipped) == {"dense_far", "dense_two"} and "share 0 items" in skipped["dense_far"]
    [tested] = [each for each in data["opponents"] if each["pair"]]
    assert tested["adjusted"] == 3 * tested["pair"]["test"]["p"]
    ran = evh("family-test", "reranked", "--against", "dense")
    assert ran.code == 0 and "skipped dense_far" in ran.out and "Holm over 3" in ran.out


def test_e57_a_family_without_a_test_fails(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("far", {f"x{at}": {"score": 1.0} for at in range(5)})
    assert evh("family-test", "reranked", "--against", "far").code == 1
    assert evh("family-test", "reranked", "--against", "nobody").code == 2
    assert evh("family-test", "nobody", "--against", "dense").code == 1


def test_what_was_used_drawn_and_dropped_is_printed(evh: Evh, compared: Compared) -> None:
    compared.arms()
    ran = evh("family-test", "reranked", "--against", "dense")
    assert "items dropped: none; rows that failed: none" in ran.out and "intervals (uncorrected): t 95 %" in ran.out
    compared.arm("high", values(0.5, items=40))
    compared.arm("low", {**values(0.0, items=41), "bad": {"_error": "E: x"}})
    ran = evh("family-test", "high", "--against", "low")
    assert "test: sign flips, Monte Carlo, 20,000 draws; " in ran.out
    assert "low: items dropped: 2 only in low; rows that failed: 0 and 1" in ran.out


def test_clusters_are_counted(evh: Evh, compared: Compared) -> None:
    compared.arms()
    items = [{"item_id": f"i{at:02}", "source_sha256": "a" * 64, "tags": [f"cluster:{at // 2}"]} for at in range(12)]
    dataset = {"dataset_id": "d", "version": "1.0", "created_at": "2026-10-04T08:15:30Z", "items": items}
    (compared.root / "data" / "datasets").mkdir()
    (compared.root / "data" / "datasets" / "d.json").write_text(json.dumps(dataset))
    ran = evh("family-test", "reranked", "--against", "dense")
    assert "test: sign flips of clusters, exact, 6 clusters; " in ran.out and "clustered t 95 %" in ran.out
    assert "12 shared items in 6 clusters" in evh("pair-test", "reranked", "dense").out


def test_what_is_said_of_a_pair_names_the_opponent(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", values(0.2, items=4))
    for name in ("few_a", "few_b"):
        compared.arm(name, values(0.0, items=4))
    compared.arm("few_same", values(0.2, items=4))
    ran = evh("family-test", "arm", "--against", "few")
    assert "note: few_a, few_b: no result could separate these arms" in ran.out
    assert "note: few_same: no difference is other than 0" in ran.out


def test_the_measured_arm_is_an_opponent_of_the_derived_one(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("bm25", values(0.3), folder="runs-reparsed")
    address = "data/runs-reparsed/d/bm25"
    data = evh("family-test", address, "--against", "bm25", "--json").json
    assert [each["config_id"] for each in data["opponents"]] == ["bm25"] and data["ahead"] == 1
    assert f"{address} against 1 opponent" in evh("family-test", address, "--against", "bm25").out
    title = evh("plot", "forest", address, "--against", "bm25", "-o", "a.svg", "--json").json["title"]
    assert title == f"{address} minus each opponent: score on d"
    assert evh("family-test", "bm25", "--against", "bm25").code == 2
    (compared.runs / "bm25").rename(compared.runs / "another")
    compared.arm("bm25", values(0.1))
    ran = evh("family-test", address, "--against", "bm25")
    assert ran.code == 1 and "none of 1 opponents of 'bm25' can be tested: 'bm25': 2 runs claim" in ran.err
