"""`evh compare`: a word for each difference, by the direction of its metric."""

from __future__ import annotations

from cli_support import Evh
from compared_support import Compared, values


def verdicts(evh: Evh, *arguments: str) -> dict[str, str]:
    return {each["metric"]: each["verdict"] for each in evh("compare", *arguments, "--json").json["metrics"]}


def test_the_words_follow_the_direction(evh: Evh, compared: Compared) -> None:
    rows = values(0.2)
    for row in rows.values():
        row["output_words"] = 5
    compared.arm("new", rows)
    rows = values(0.0)
    for row in rows.values():
        row |= {"output_words": 4, "old_only": 1}
    compared.arm("old", rows)
    assert verdicts(evh, "--baseline", "old", "--candidate", "new") == {
        "score": "better", "cost_usd": "worse", "total_cost_usd": "worse", "output_words": "changed",
        "old_only": "only in the baseline",
    }  # fmt: skip
    assert set(verdicts(evh, "--baseline", "new", "--candidate", "new").values()) == {"identical"}
    ran = evh("compare", "--baseline", "old", "--candidate", "new")
    assert ran.code == 0 and "no test was made" in ran.out and "rows that failed: 0 and 0" in ran.out


def test_noise_of_0_is_not_none(evh: Evh, compared: Compared) -> None:
    compared.arms()
    both = ("--baseline", "bm25", "--candidate", "dense")
    assert verdicts(evh, *both)["score"] == verdicts(evh, *both, "--noise", "0")["score"] == "better"
    assert verdicts(evh, *both, "--noise", "0.1")["score"] == "noise"
    assert (
        "no noise level" in evh("compare", *both).out and "noise up to 0;" in evh("compare", *both, "--noise", "0").out
    )
    assert evh("compare", *both, "--noise", "-1").code == 2
    assert evh("compare", *both, "--noise", "nan").code == 2


def test_a_promoted_baseline_is_compared_by_what_it_scored(evh: Evh, compared: Compared) -> None:
    compared.arm("old", values(0.0), scores={"score": 0.25})
    compared.arm("new", values(0.2))
    assert evh("promote", "old", "--as", "main", "--reason", "the first of all").code == 0
    data = evh("compare", "--baseline", "main", "--candidate", "new", "--json").json
    found = {each["metric"]: each for each in data["metrics"]}
    assert found["score"]["baseline"] == 0.25 and found["score"]["verdict"] == "better"
    for path in (compared.runs / "old").iterdir():
        path.unlink()
    (compared.runs / "old").rmdir()
    assert verdicts(evh, "--baseline", "main", "--candidate", "new")["score"] == "better"
    assert "rows that failed: unknown and 0" in evh("compare", "--baseline", "main", "--candidate", "new").out


def test_two_datasets_are_refused(evh: Evh, compared: Compared) -> None:
    compared.arm("here", values(0.0))
    compared.arm("there", values(0.0), dataset_id="e")
    ran = evh("compare", "--baseline", "here", "--candidate", "there")
    assert ran.code == 1 and "only results on one dataset" in ran.err
    assert evh("compare", "--baseline", "none", "--candidate", "there").code == 1


def test_sides_without_a_common_item_are_refused(evh: Evh, compared: Compared) -> None:
    compared.arm("a", {f"a{at}": {"score": 1.0} for at in range(4)})
    compared.arm("b", {f"b{at}": {"score": 1.0} for at in range(3)})
    ran = evh("compare", "--baseline", "a", "--candidate", "b")
    assert ran.code == 1 and not ran.out
    assert "'a' and 'b' share no item: 4 are only in the baseline, 3 only in the candidate" in ran.err
    assert evh("promote", "a", "--as", "main", "--reason", "a first complete run", "--allow-unknown-build").code == 0
    assert evh("compare", "--baseline", "main", "--candidate", "b").code == 1


def test_items_of_one_side_only_are_told(evh: Evh, compared: Compared) -> None:
    compared.arm("a", {f"i{at}": {"score": 1.0} for at in range(4)})
    compared.arm("b", {f"i{at}": {"score": 1.0} for at in range(2, 7)})
    ran = evh("compare", "--baseline", "a", "--candidate", "b")
    assert ran.code == 0 and "2 items are only in the baseline and 3 only in the candidate" in ran.out
    assert "items are only in" not in evh("compare", "--baseline", "a", "--candidate", "a").out


def test_repeats_that_are_alike_are_identical_to_the_baseline(evh: Evh, compared: Compared) -> None:
    rows = {f"i{at}": {"score": 0.1} for at in range(3)}
    compared.arm("once", rows)
    compared.arm("thrice", rows, rows, rows)
    assert set(verdicts(evh, "--baseline", "once", "--candidate", "thrice").values()) == {"identical"}
