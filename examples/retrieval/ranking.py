"""What a ranking is worth: the scorer of the retrieval arms, the reranking ones too.

Promise: a function of the output, the reference and the ids of the corpus alone. An id that the corpus does not have
keeps its place, so that inventing ids never pays; a repeated id counts where it first stands. An output that states no
ranking scores 0 in every metric of quality.
Gains are `2^grade - 1`, discounted by `log2(rank + 1)`; a document is relevant when its grade is over 0. For grades of
0 and 1 the numbers are those of trec_eval, whose gain is the grade itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from typing import Any

from reading import read_ranking

PRIMARY_METRIC = "ndcg_10"
METRICS = {
    "ndcg_10": ("quality", "higher", "normalised discounted cumulative gain of the first ten places"),
    "recall_10": ("quality", "higher", "share of the relevant documents among the first ten"),
    "recall_100": ("quality", "higher", "share of the relevant documents among the first hundred"),
    "mrr_10": ("quality", "higher", "1 / place of the first relevant document; 0 when it is not among the first ten"),
    "rank_of_first": ("descriptive", "none", "place of the first relevant document; 0: none was found"),
    "found_any": ("descriptive", "higher", "1 when a relevant document is anywhere in the ranking"),
    "n_returned": ("descriptive", "none", "documents in the ranking, repeats left out"),
    "n_relevant": ("descriptive", "none", "documents that the reference calls relevant"),
    "unknown_ids": ("descriptive", "lower", "ids in the ranking that the corpus does not have"),
    "duplicate_ids": ("descriptive", "lower", "repeats in the ranking"),
}


def read_grades(reference: str) -> dict[str, float]:
    """The grade of each document of a reference: a JSON list of `{"doc_id", "score"}`. Raises ValueError."""
    grades: dict[str, float] = {}
    found: Any = json.loads(reference)
    if not isinstance(found, list):
        raise ValueError("the reference is not a JSON list of doc_id and score")
    for each in found:
        if not isinstance(each, dict) or "doc_id" not in each or not isinstance(each.get("score"), int | float):
            raise ValueError(f"the reference holds {each!r}, not an object of doc_id and score")
        key = str(each["doc_id"]).strip()
        if key in grades:
            raise ValueError(f"the reference names {key} twice")
        grades[key] = each["score"]
    return grades


def score_ranking(output: str, grades: dict[str, float] | None, known: Collection[str]) -> dict[str, float]:
    """The metrics of one output; without grades those that need none."""
    named = read_ranking(output) or []
    ranking = list(dict.fromkeys(named))
    metrics: dict[str, float] = {
        "n_returned": len(ranking),
        "unknown_ids": sum(each not in known for each in ranking),
        "duplicate_ids": len(named) - len(ranking),
    }
    if grades is None:
        return metrics
    relevant = {key: grade for key, grade in grades.items() if grade > 0}
    metrics["n_relevant"] = len(relevant)
    if not relevant:
        return metrics  # nothing could have been found: shares of it are no numbers
    places = [place for place, each in enumerate(ranking, 1) if each in relevant]
    first = places[0] if places else 0
    best = _gain(sorted(relevant.values(), reverse=True)[:10])
    return metrics | {
        "ndcg_10": _gain([relevant.get(each, 0) for each in ranking[:10]]) / best,
        "recall_10": sum(place <= 10 for place in places) / len(relevant),
        "recall_100": sum(place <= 100 for place in places) / len(relevant),
        "mrr_10": 1 / first if 0 < first <= 10 else 0.0,
        "rank_of_first": first,
        "found_any": float(bool(places)),
    }


def _gain(grades: list[float]) -> float:
    return math.fsum((2**grade - 1) / math.log2(place + 1) for place, grade in enumerate(grades, 1))
