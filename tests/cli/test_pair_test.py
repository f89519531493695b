"""`evh pair-test`: what it prints, which arms it takes, and the answers it does not give."""

from __future__ import annotations

import pytest
from cli_support import Evh
from compared_support import Compared, values

from tests.unit.stats.made_arms import scores


def test_everything_that_decides_the_answer_is_printed(evh: Evh, compared: Compared) -> None:
    compared.arms()
    ran = evh("pair-test", "reranked", "bm25", "--family", "3")
    assert ran.code == 0 and not ran.err
    for said in (
        "12 shared items", "t 95 %, n=12", "items dropped: none", "rows that failed: 0 and 0", "reranked is better",
        "exact", "threshold 0.0166667, alpha 0.05 shared by a family of 3 (Bonferroni)", "80 % power",
    ):  # fmt: skip
        assert said in ran.out, said
    data = evh("pair-test", "reranked", "bm25", "--json").json
    assert data["ok"] and data["verdict"] == "better" and data["test"]["p"] == 2 / 2**12
    turned = evh("pair-test", "bm25", "reranked", "--json").json
    assert turned["verdict"] == "worse" and turned["test"]["p"] == data["test"]["p"]


def test_b106_a_drawn_p_is_never_0(evh: Evh, compared: Compared) -> None:
    compared.arm("low", scores([0.1 + at / 1000 for at in range(60)]))
    compared.arm("high", scores([0.9 - at / 1001 for at in range(60)]))
    data = evh("pair-test", "high", "low", "--json").json
    assert data["test"]["p"] == 1 / 20001 and (data["test"]["draws"], data["test"]["seed"]) == (20000, 20260926)


def test_b107_draws_that_tie_with_what_was_observed_count(evh: Evh, compared: Compared) -> None:
    compared.arm("ones", scores([1, 1, 1, 1, 1]))
    compared.arm("zeros", scores([0, 0, 0, 0, 0]))
    data = evh("pair-test", "ones", "zeros", "--json").json
    assert data["test"]["p"] == 0.0625 and data["verdict"] == "out of reach"
    assert "no result could separate these arms" in evh("pair-test", "ones", "zeros").out


def test_e12_a_metric_of_one_repeat_counts_where_it_is(evh: Evh, compared: Compared) -> None:
    compared.arm("a", scores([1, 1, 1, 0]), {f"i{at}": {"other": 1.0} for at in range(4)})
    compared.arm("b", scores([0, 0, 0, 0]))
    data = evh("pair-test", "a", "b", "--json").json
    assert data["mean_a"] == 0.75 and data["n"] == 4


def test_e57_arms_that_share_too_little_are_no_test(evh: Evh, compared: Compared) -> None:
    compared.arm("a", scores([1, 1, 1]))
    compared.arm("b", {f"other{at}": {"score": 1} for at in range(4)})
    ran = evh("pair-test", "a", "b")
    assert ran.code == 1 and "share 0 items" in ran.err and "3 only in a; 4 only in b" in ran.err


def test_an_arm_is_a_config_an_address_or_a_run(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", *[values(gain) for gain in (0.0, 0.1)])
    compared.arm("arm", *[values(gain) for gain in (0.0, 0.3)], folder="runs-rescored")
    data = evh("pair-test", "arm_r1", "arm_r2", "--json").json
    assert data["n"] == 12 and data["verdict"] == "worse"
    data = evh("pair-test", "data/runs-rescored/d/arm", "data/runs/d/arm", "--json").json
    assert data["verdict"] == "better"
    data = evh("pair-test", "data/runs-rescored/arm_r1", "arm_r1", "--json").json
    assert data["verdict"] == "identical" and data["test"]["p"] == 1
    assert "did you mean 'arm'" in evh("pair-test", "arn", "arm").err
    compared.arm("there", values(0.0), dataset_id="d")
    compared.arm("here", values(0.0), dataset_id="e")
    assert evh("pair-test", "there", "here").code == 2


def test_a_config_of_several_datasets_needs_one_named(evh: Evh, compared: Compared) -> None:
    compared.arm("a", values(0.0))
    (compared.runs / "a").rename(compared.runs / "first")
    compared.arm("a", values(0.0), dataset_id="e")
    compared.arm("b", values(0.1))
    ran = evh("pair-test", "a", "b")
    assert ran.code == 2 and "d, e" in ran.err
    assert evh("pair-test", "a", "b", "--dataset-id", "d").code == 0


@pytest.mark.parametrize("method", ["sign-flip", "wilcoxon", "t", "bootstrap"])
def test_every_method_answers(evh: Evh, compared: Compared, method: str) -> None:
    compared.arms()
    assert evh("pair-test", "reranked", "bm25", "--method", method, "--json").json["verdict"] == "better"


def test_the_metric_and_the_items_can_be_chosen(evh: Evh, compared: Compared) -> None:
    compared.arms()
    data = evh("pair-test", "reranked", "bm25", "--metric", "cost_usd", "--bootstrap", "--json").json
    assert data["verdict"] == "worse" and data["difference"]["kind"].startswith("bootstrap")
    (compared.root / "few.txt").write_text("i00\ni01\ni02\n")
    data = evh("pair-test", "reranked", "bm25", "--items", "few.txt", "--json").json
    assert data["n"] == 3 and data["dropped"] == {"not among the items asked for": 9}
    assert evh("pair-test", "reranked", "bm25", "--metric", "none").code == 2
    assert evh("pair-test", "reranked", "bm25", "--alpha", "2").code == 2
    assert evh("pair-test", "reranked", "bm25", "--family", "0").code == 2


def test_a_list_of_items_ends_its_lines_at_lf_alone_and_names_ids_that_no_arm_has(evh: Evh, compared: Compared) -> None:
    odd = ["a\u2028b", " spaced ", "c\x85d", "plain"]
    compared.arm("a", {item: {"score": 1.0} for item in [*odd, "other"]})
    compared.arm("b", {item: {"score": 0.0} for item in [*odd, "other"]})
    listed = "\ufeff" + "\r\n".join([*odd, "plian", ""]) + "\n\n"
    (compared.root / "few.txt").write_bytes(listed.encode())
    data = evh("pair-test", "a", "b", "--items", "few.txt", "--json").json
    assert data["n"] == 4 and data["dropped"] == {"not among the items asked for": 1}
    assert "1 of the items asked for are in none of the arms: 'plian'" in data["notices"]
    family = evh("family-test", "a", "--against", "b", "--items", "few.txt", "--json").json
    assert "1 of the items asked for are in none of the arms: 'plian'" in family["notices"]


def test_two_arms_of_one_config_are_told_apart_by_their_addresses(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", values(0.0))
    compared.arm("arm", values(0.3), folder="runs-rescored")
    ran = evh("pair-test", "data/runs-rescored/d/arm", "arm")
    assert "  data/runs-rescored/d/arm is better" in ran.out and "data/runs-rescored/d/arm: 0." in ran.out


def test_no_number_of_a_user_is_a_crash(evh: Evh, compared: Compared) -> None:
    compared.arms()
    for said in (
        ("--alpha", "1e-20"), ("--alpha", "5e-324"), ("--seed", "9" * 300), ("--alpha", "0.3", "--family", "1000000"),
    ):  # fmt: skip
        assert evh("pair-test", "reranked", "bm25", *said).code == 0, said
    for wrong in (("--family", "9" * 400), ("--permutations", "9" * 20), ("--permutations", "0"), ("--alpha", "0")):
        assert evh("pair-test", "reranked", "bm25", *wrong).code == 2, wrong


def test_values_beyond_what_can_be_squared_are_a_fault_of_the_data(evh: Evh, compared: Compared) -> None:
    compared.arm("a", scores([0.5, 1e308, 0.25]))
    compared.arm("b", scores([0.5, -1e308, 0.25]))
    ran = evh("pair-test", "a", "b")
    assert ran.code == 1 and "the item 'i1' in 'a' is 1e+308" in ran.err
    assert evh("compare", "--baseline", "a", "--candidate", "b", "--json").code == 0
    assert evh("diff", "a", "b", "--json").code == 0


def test_a_difference_alike_on_all_items_has_no_interval(evh: Evh, compared: Compared) -> None:
    compared.arm("ones", scores([1, 1, 1, 1, 1]))
    compared.arm("zeros", scores([0, 0, 0, 0, 0]))
    ran = evh("pair-test", "ones", "zeros")
    assert "difference: 1 (no interval: items that are all alike show no spread; n=5)" in ran.out
    assert "80 % power" not in ran.out and evh("pair-test", "ones", "zeros", "--json").json["seed"] == 20260926


def test_a_list_of_items_that_cannot_be_read_is_told_in_words(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.root / "latin.txt").write_bytes(b"i00\ncaf\xe9\n")
    (compared.root / "folder").mkdir()
    for name, said in (
        ("nowhere.txt", "nowhere.txt: the list of items cannot be read: No such file or directory"),
        ("folder", "folder: the list of items cannot be read: Is a directory"),
        ("latin.txt", "latin.txt:2: the list of items is not UTF-8"),
        ("nul\0", "the list of items cannot be read: embedded null byte"),
    ):
        ran = evh("pair-test", "reranked", "bm25", "--items", name)
        assert ran.code == 1 and said in ran.err and "Errno" not in ran.err and "codec" not in ran.err
