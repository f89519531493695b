"""`evh family-test`: the family that was declared is the family that is corrected for."""

from __future__ import annotations

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
