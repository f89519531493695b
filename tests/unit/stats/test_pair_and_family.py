"""Arms compared: pairs and families, and what is said about their items and their instruments."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from evh.errors import RecordError, SourceError, UsageError
from evh.stats import Options, family_test, pair_test, t_interval
from evh.store import Arm
from evh.store.fingerprint import scorer_digest
from tests.unit.stats.made_arms import OTHER, SHA, fingerprint, make_arm, reparsed, rescored, scores

ONE = [0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.75, 0.85]
TWO = [0.5, 0.6, 0.7, 0.4, 0.5, 0.6, 0.45, 0.65]


def noisy(seed: int, n: int = 60, shift: float = 0.0) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(shift, 1) for _ in range(n)]


def test_a_pair_is_reported_with_everything_that_made_it(tmp_path: Path) -> None:
    found = pair_test(make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO)), "score")
    assert (found.a, found.b, found.n, found.wins, found.ties, found.losses) == ("a", "b", 8, 7, 1, 0)
    assert found.test.p == 2 / 2**7
    assert (found.separated, found.verdict, found.threshold) == (True, "better", 0.05)
    assert found.difference == t_interval([x - y for x, y in zip(ONE, TWO, strict=True)])
    assert found.mean_a - found.mean_b == pytest.approx(found.difference.estimate)
    assert found.detectable == pytest.approx(2.80159 * (found.difference.se or 0), rel=1e-5)
    assert found.notices == []
    assert msgspec.json.decode(msgspec.json.encode(found))["difference"]["kind"] == "t"


def test_b109_the_direction_turns_the_verdict_and_not_the_p(tmp_path: Path) -> None:
    lower = {"metric_directions": {"wer": "lower"}}
    a = make_arm(tmp_path, "a", scores(ONE, "wer"), **lower)
    b = make_arm(tmp_path, "b", scores(TWO, "wer"), **lower)
    found = pair_test(a, b, "wer")
    assert (found.verdict, found.wins, found.losses) == ("worse", 0, 7)
    asked = pair_test(a, b, "wer", Options(asked="higher"))
    assert (asked.verdict, asked.test.p) == ("better", found.test.p)
    assert pair_test(a, b, "wer", Options(asked="none")).verdict == "changed"


def test_e59_a_contradiction_leaves_no_verdict_and_names_both(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", scores(ONE), metric_directions={"score": "higher"})
    b = make_arm(tmp_path, "b", scores(TWO), metric_directions={"score": "lower"})
    found = pair_test(a, b, "score")
    assert found.verdict == "no verdict" and found.separated
    assert any("higher (a) and lower (b)" in notice for notice in found.notices)


def test_the_same_pair_in_either_order_and_any_order_of_rows_has_one_p(tmp_path: Path) -> None:
    rows = scores(noisy(1))
    a, b = make_arm(tmp_path, "a", rows), make_arm(tmp_path, "b", scores(noisy(2)))
    turned = make_arm(tmp_path / "turned", "a", dict(reversed(rows.items())))
    first = pair_test(a, b, "score")
    assert first.test.method.endswith("Monte Carlo")
    assert pair_test(b, a, "score").test.p == first.test.p == pair_test(turned, b, "score").test.p
    assert pair_test(a, b, "score", Options(seed=1)).test.p != first.test.p


def test_dropped_items_are_counted_by_reason(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", {**scores(ONE), "x": {"score": 1}, "y": {"other": 1}, "z": {}, "w": {"score": 1}})
    b = make_arm(tmp_path, "b", {**scores(TWO), "y": {"score": 1}, "z": {}, "q": {}, "w": {}})
    chosen = [f"i{at}" for at in range(7)]
    found = pair_test(a, b, "score", Options(only=[*chosen, "x", "y", "z", "w", "q"], exclude=["i0"]))
    assert found.n == 6
    assert found.dropped == {
        "excluded": 1,
        "not among the items asked for": 1,
        "only in b": 1,
        "only in a": 1,
        "without score in a": 1,
        "without score in both": 1,
        "without score in b": 1,
    }


def test_e57_arms_that_share_too_little_are_no_test(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", scores(ONE))
    b = make_arm(tmp_path, "b", {"x": {"score": 1}, "i0": {"score": 1}})
    with pytest.raises(SourceError, match=r"share 1 items with 'score', and a test needs 3: 7 only in a; 1 only in b"):
        pair_test(a, b, "score")


def test_e12_repeats_count_as_one_value_per_item(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", {**scores([1, 1, 1]), "k": {}}, scores([0, 1, 0]))
    found = pair_test(a, make_arm(tmp_path, "b", scores([0, 0, 0])), "score")
    assert (found.n, found.mean_a, found.test.p) == (3, pytest.approx(2 / 3), 0.25)


def test_what_no_result_could_separate_is_out_of_reach(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores([1, 1, 1, 1, 1])), make_arm(tmp_path, "b", scores([0, 0, 0, 0, 0]))
    found = pair_test(a, b, "score")
    assert (found.test.p, found.verdict, found.separated) == (0.0625, "out of reach", False)
    assert "the smallest p of the test is 0.0625, above 0.05; it takes more items" in found.notices[-1]
    assert pair_test(a, a, "score").verdict == "identical"


def test_a_family_shares_out_alpha(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO))
    found = pair_test(a, b, "score", Options(family=4))
    assert (found.threshold, found.separated, found.verdict) == (0.0125, False, "out of reach")


def test_clusters_are_respected_by_the_test_and_the_interval(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO))
    clusters = {f"i{at}": f"c{at // 2}" for at in range(8)}
    found = pair_test(a, b, "score", Options(clusters=clusters))
    assert (found.clusters, found.difference.kind, found.test.p) == (4, "clustered t", 2 / 2**4)
    assert found.test.method == "sign flips of clusters, exact"
    assert any("4 clusters are few" in notice for notice in found.notices)
    for method in ("mcnemar", "wilcoxon"):
        with pytest.raises(UsageError, match="takes items as independent"):
            pair_test(a, b, "score", Options(clusters=clusters, method=method))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "name"),
    [("t", "paired t, df 7"), ("wilcoxon", "Wilcoxon signed ranks, zeros split, exact"), ("bootstrap", "paired boot")],
)
def test_other_tests_are_a_choice(tmp_path: Path, method: str, name: str) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO))
    found = pair_test(a, b, "score", Options(method=method, bootstrap=True))  # type: ignore[arg-type]
    assert found.test.method.startswith(name) and found.separated
    assert found.difference.kind == "bootstrap, percentile"


def test_mcnemar_is_for_metrics_of_0_and_1(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores([1, 1, 1, 1, 0])), make_arm(tmp_path, "b", scores([0, 0, 1, 0, 1]))
    assert pair_test(a, b, "score", Options(method="mcnemar")).test.p == 0.625
    assert pair_test(a, b, "score").test.p == 0.625


def test_different_instruments_are_noticed(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", scores(ONE), **rescored())
    b = make_arm(tmp_path, "b", scores(TWO), **rescored(OTHER))
    same = make_arm(tmp_path, "c", scores(TWO), **rescored())
    part = make_arm(tmp_path, "e", scores(TWO), **rescored(parser=OTHER))
    measured = make_arm(tmp_path, "m", scores(TWO), fingerprint=fingerprint())
    other = make_arm(tmp_path, "o", scores(TWO), fingerprint=fingerprint(OTHER))
    for one, two, noticed in ((a, b, True), (a, same, False), (a, part, True), (a, measured, False), (a, other, True)):
        said = any("not measured with one instrument" in each for each in pair_test(one, two, "score").notices)
        assert said is noticed, (one.config_id, two.config_id)


def test_other_references_data_and_providers_are_noticed(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", scores(ONE), fingerprint=fingerprint(), providers_seen={"p": 8})
    b = make_arm(
        tmp_path,
        "b",
        scores(TWO),
        fingerprint=fingerprint(references=OTHER, items=OTHER),
        providers_seen={"q": 8},
        reference_coverage={"items_with_reference": 3, "items": 8},
    )
    c = make_arm(tmp_path, "c", scores(TWO), providers_seen={"p": 4, "q": 4})
    said = "\n".join(pair_test(a, b, "score").notices)
    for part in ("different references", "different versions", "different providers: p, q", "only some items of 'b'"):
        assert part in said
    assert "'c' was answered by several providers: p, q" in pair_test(a, c, "score").notices


def test_adding_an_opponent_changes_nobodys_p(tmp_path: Path) -> None:
    a = make_arm(tmp_path, "a", scores(noisy(0, shift=0.4)))
    others = [make_arm(tmp_path, f"b{at}", scores(noisy(at))) for at in range(1, 5)]
    few, many = family_test(a, others[:2], "score"), family_test(a, others, "score")

    def raw(found: object) -> dict[str, float | None]:
        return {each.config_id: each.pair.test.p for each in found.opponents if each.pair}  # type: ignore[attr-defined]

    assert raw(few).items() <= raw(many).items()
    assert raw(many) == {arm.config_id: pair_test(a, arm, "score").test.p for arm in others}
    assert raw(family_test(a, others[::-1], "score")) == raw(many)


def test_a_family_counts_the_opponents_that_were_skipped(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO))
    c = make_arm(tmp_path, "c", {"x": {"score": 1}})
    d = make_arm(tmp_path, "d", scores(ONE, "other"))
    alone = family_test(a, [b], "score")
    assert (alone.size, alone.opponents[0].adjusted, alone.separated, alone.ahead) == (1, 2 / 128, 1, 1)
    found = family_test(a, [d, c, b], "score", unread={"e": "unreadable"})
    assert [each.config_id for each in found.opponents] == ["b", "c", "d", "e"]
    assert (found.size, found.opponents[0].adjusted) == (4, 4 * 2 / 128)
    assert (found.separated, found.opponents[0].verdict) == (0, "not separated")
    assert "share 0 items" in str(found.opponents[1].skipped)
    assert "has no metric 'score'; it has other" in str(found.opponents[2].skipped)
    assert found.opponents[3].skipped == "unreadable"
    assert found.notices[0].startswith("3 of 4 opponents were skipped")
    assert family_test(a, [b, c], "score", correction="bh").opponents[0].adjusted == 2 * 2 / 128


def test_e57_a_family_without_a_test_is_an_error(tmp_path: Path) -> None:
    a, c = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "c", {"x": {"score": 1}})
    with pytest.raises(SourceError, match="none of 1 opponents of 'a' can be tested: 'c': "):
        family_test(a, [c], "score")


def test_values_beyond_what_can_be_squared_are_named(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores([0.5, 1e200, 0.25]))
    with pytest.raises(RecordError, match=r"the metric 'score' of the item 'i1' in 'b' is 1e\+200; .* up to 5e\+149"):
        pair_test(a, b, "score")
    with pytest.raises(SourceError, match=r"none of 1 opponents .*the item 'i1' in 'b' is 1e\+200"):
        family_test(a, [b], "score")
    large = make_arm(tmp_path, "c", scores([5e149, -5e149, 5e149])), make_arm(tmp_path, "d", scores([-5e149, 5e149, 1]))
    assert pair_test(*large, "score", Options(bootstrap=True)).test.p == 1.0


def test_a_difference_alike_on_all_items_has_no_interval_and_shows_no_smallest_difference(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores([1, 1, 1, 1, 1])), make_arm(tmp_path, "b", scores([0, 0, 0, 0, 0]))
    for bootstrap in (False, True):
        found = pair_test(a, b, "score", Options(bootstrap=bootstrap))
        assert (found.difference.low, found.detectable, found.test.p) == (None, None, 0.0625)


def test_a_bootstrap_over_few_items_is_noticed(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO))
    notices = pair_test(a, b, "score", Options(method="bootstrap")).notices
    assert "a bootstrap over 8 items rejects too often: take sign flips" in notices


def another_dataset(tmp_path: Path) -> Arm:
    return make_arm(tmp_path, "z", scores(TWO), dataset_id="other")


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    a, b = make_arm(tmp_path, "a", scores(ONE)), make_arm(tmp_path, "b", scores(TWO))
    with pytest.raises(UsageError, match="one dataset are compared, not of 'd', 'other'"):
        pair_test(a, another_dataset(tmp_path), "score")
    with pytest.raises(UsageError, match="'a' has no metric 'wer'; it has score"):
        pair_test(a, b, "wer")
    with pytest.raises(UsageError, match=r"the method is sign-flip, mcnemar, .*, not 'z'"):
        pair_test(a, b, "score", Options(method="z"))  # type: ignore[arg-type]
    for size in (0, 10**400):
        with pytest.raises(UsageError, match="a family has 1 to 1,000,000 tests, not "):
            pair_test(a, b, "score", Options(family=size))
    with pytest.raises(UsageError, match="a family has at least one"):
        family_test(a, [], "score")
    with pytest.raises(UsageError, match="named once each"):
        family_test(a, [a, b], "score")


def test_scorers_are_held_against_their_like(tmp_path: Path) -> None:
    """A re-parse states one digest over its scorer's file and parts, a rescore both, a measured run the file alone."""
    whole = scorer_digest(SHA, {"words": OTHER})
    parts = {"fingerprint": fingerprint(), **reparsed(whole)}
    arms = {
        "measured": {"fingerprint": fingerprint()},
        "reparsed": {"fingerprint": fingerprint(), **reparsed()},
        "with_parts": parts,
        "rescored": rescored(words=OTHER),
        "chat": {"fingerprint": fingerprint(name="evh:chat")},
        "command": {"fingerprint": fingerprint(OTHER, name="evh:command")},
        "other": {"fingerprint": fingerprint(OTHER)},
    }
    made = {name: make_arm(tmp_path, name, scores(ONE), **members) for name, members in arms.items()}
    alike = {
        ("measured", "reparsed"), ("measured", "with_parts"), ("measured", "rescored"), ("with_parts", "rescored"),
        ("chat", "command"),
    }  # fmt: skip
    for one, two in combinations(arms, 2):
        said = any("different scorers" in each for each in pair_test(made[one], made[two], "score").notices)
        assert said is ((one, two) not in alike), (one, two)


def test_outputs_rebuilt_by_other_parsers_are_noticed(tmp_path: Path) -> None:
    a, b = (make_arm(tmp_path, name, scores(ONE), **reparsed(parser=f"{name}.py")) for name in "ab")
    again = make_arm(tmp_path, "c", scores(TWO), **reparsed(parser="a.py"))
    said = "the outputs of the arms were rebuilt by different parsers"
    assert said in pair_test(a, b, "score").notices
    assert said not in pair_test(a, again, "score").notices


def test_repeats_that_are_alike_but_for_noise_of_rounding_are_ties(tmp_path: Path) -> None:
    once = [0.6309297535714575, 0.1, 1 / 3, 0.7, 0.9]
    a = make_arm(tmp_path, "a", *[scores([*once, 1.0])] * 3)
    b = make_arm(tmp_path, "b", scores([*once, 0.5]))
    found = pair_test(a, b, "score")
    assert (found.wins, found.ties, found.losses, found.test.smallest_p) == (1, 5, 0, 1.0)


def test_a_derived_arm_has_the_measured_one_for_an_opponent(tmp_path: Path) -> None:
    measured = make_arm(tmp_path / "runs", "a", scores(TWO))
    derived = make_arm(tmp_path / "derived", "a", scores(ONE))
    assert [each.config_id for each in family_test(derived, [measured], "score").opponents] == ["a"]
    with pytest.raises(UsageError, match="the arm itself is none of them"):
        family_test(measured, [measured], "score")


def test_notices_tell_two_arms_of_one_config_apart(tmp_path: Path) -> None:
    one = make_arm(tmp_path / "runs", "a", scores(ONE))
    two = make_arm(tmp_path / "derived", "a", scores(TWO), providers_seen={"p": 1, "q": 2})
    assert "the second arm was answered by several providers: p, q" in pair_test(one, two, "score").notices
