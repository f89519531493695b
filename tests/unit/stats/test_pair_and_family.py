"""Arms compared: pairs and families, and what is said about their items and their instruments."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from evh.errors import SourceError, UsageError
from evh.stats import Options, family_test, pair_test, t_interval
from evh.store import Arm
from tests.unit.stats.made_arms import OTHER, fingerprint, make_arm, rescored, scores

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
    with pytest.raises(UsageError, match="at least one test, not 0"):
        pair_test(a, b, "score", Options(family=0))
    with pytest.raises(UsageError, match="a family has at least one"):
        family_test(a, [], "score")
    with pytest.raises(UsageError, match="named once each"):
        family_test(a, [a, b], "score")
