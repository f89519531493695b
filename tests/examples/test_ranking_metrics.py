"""The scorer of the retrieval example: what a text ranks, and what a ranking is worth."""

from __future__ import annotations

import json
import math

import pytest
from example_modules import example_modules

reading, ranking = example_modules("retrieval", "reading", "ranking")
QUALITY = {name for name, (kind, _, _) in ranking.METRICS.items() if kind == "quality"}


def score(output: str, grades: dict[str, float] | None, known: str = "abc") -> dict[str, float]:
    found: dict[str, float] = ranking.score_ranking(output, grades, set(known))
    return found


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("4983, 13734012", ["4983", "13734012"]),
        ("1. 4983923", ["4983923"]),
        ("2) 4983923\n- 17", ["4983923", "17"]),
        ("4983923", ["4983923"]),
        ("Results: [1, 2]", ["1", "2"]),
        ('["a", " b ", 3]', ["a", "b", "3"]),
        ("I looked at all of them.\n[1, 2]", ["1", "2"]),
        ("```json\n[1, 2]\n```", ["1", "2"]),
        ("The order:\n```\na\nb\n```", ["a", "b"]),
        ("a\n\nb\n", ["a", "b"]),
        ("a, a", ["a", "a"]),
        ("[]", []),
    ],
)
def test_a_ranking_is_read(text: str, ids: list[str]) -> None:
    assert reading.read_ranking(text) == ids


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "```\n```",
        "See [4983]",
        "I think so. The best one is this: [1]",
        "A lead-in that is much too long to be taken for a mere label of what comes: [1]",
        "[1, 2",
        "[1, {}]",
        "[true]",
        "[1.5]",
        "[1]\n[2]",
        "the first one is a",
        "a,,b",
        "1.4983 and others",
        "x" * 65,
        "[" * 100_000,
    ],
)
def test_prose_and_fragments_are_no_ranking(text: str) -> None:
    assert reading.read_ranking(text) is None


@pytest.mark.parametrize(
    ("grades", "ndcg", "mrr"),
    [
        ({"b": 1}, 0.63093, 0.5),
        ({"a": 1, "c": 1}, 0.91972, 1.0),
        ({"a": 2, "c": 1}, 0.96394, 1.0),
        ({"a": 1, "b": 0, "c": -1}, 1.0, 1.0),
    ],
)
def test_gains_are_as_published(grades: dict[str, float], ndcg: float, mrr: float) -> None:
    found = score("a\nb\nc\n", grades)
    assert (round(found["ndcg_10"], 5), found["mrr_10"]) == (ndcg, mrr)


def test_an_unknown_id_keeps_its_place() -> None:
    found = score("x\na", {"a": 1})
    assert (found["mrr_10"], found["unknown_ids"], found["n_returned"]) == (0.5, 1, 2)
    assert found["ndcg_10"] == pytest.approx(1 / math.log2(3))


def test_a_repeat_counts_where_it_first_stands() -> None:
    found = score("b\nb\nb\na", {"a": 1})
    assert (found["rank_of_first"], found["duplicate_ids"], found["n_returned"]) == (2, 2, 2)
    assert found["recall_10"] == 1


def test_places_after_the_tenth_count_for_recall_at_a_hundred_alone() -> None:
    ids = [f"d{number}" for number in range(1, 111)]
    found = score("\n".join(ids), {"d11": 1, "d100": 1, "d101": 1, "d102": 1})
    assert (found["ndcg_10"], found["mrr_10"], found["recall_10"], found["recall_100"]) == (0, 0, 0, 0.5)
    assert (found["rank_of_first"], found["found_any"]) == (11, 1)


def test_an_unreadable_output_scores_0_in_every_metric_of_quality() -> None:
    found = score("I am sorry, I can't.", {"a": 1})
    assert {found[name] for name in QUALITY} == {0}
    assert (found["rank_of_first"], found["n_returned"], found["n_relevant"]) == (0, 0, 1)


def test_without_a_reference_only_what_needs_none_is_told() -> None:
    assert score("a\nx", None) == {"n_returned": 2, "unknown_ids": 1, "duplicate_ids": 0}


def test_a_reference_without_a_relevant_document_gives_no_share() -> None:
    assert not score("a", {"a": 0}).keys() & QUALITY


def test_each_metric_is_declared_and_the_place_is_no_order() -> None:
    assert score("a", {"a": 1}).keys() == ranking.METRICS.keys()
    assert ranking.METRICS["rank_of_first"][:2] == ("descriptive", "none")


@pytest.mark.parametrize("text", ['{"a": 1}', '["a"]', '[{"doc_id": "a"}]', '[{"doc_id": "a", "score": "1"}]', "no"])
def test_a_reference_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        ranking.read_grades(text)


def test_a_reference_that_names_a_document_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a twice"):
        ranking.read_grades(json.dumps([{"doc_id": "a", "score": 1}, {"doc_id": "a", "score": 2}]))
