"""Two ways to order documents for a query: BM25, and the share of words in common.

Promise: deterministic; equal scores stand in the order of the ids; a document that shares no word with the query is not
returned.
Policy: words are runs of letters and digits, in lower case; a short list of English words is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import bm25s

WORD = re.compile(r"\w+")
STOP_WORDS = frozenset(
    WORD.findall(
        "a an and are as at be but by can did do does for from has have how i if in into is it its me my no not of on "
        "or should so such t than that the their them then there these they this to was what when which why will with "
        "won you"
    )
)

Ranker = Callable[[str], list[str]]


def words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]


def bm25(corpus: Mapping[str, str], *, k1: float, b: float) -> Ranker:
    """BM25 in Lucene's variant, by bm25s."""
    ids = list(corpus)
    index = bm25s.BM25(k1=k1, b=b)
    index.index([words(text) for text in corpus.values()], show_progress=False)
    vocabulary = index.vocab_dict

    def rank(query: str) -> list[str]:
        known = [word for word in words(query) if word in vocabulary]
        if not known:
            return []
        return _ordered(zip(ids, map(float, index.get_scores(known)), strict=True))

    return rank


def overlap(corpus: Mapping[str, str]) -> Ranker:
    """Jaccard: words in common by words in all, each counted once. Rare words count no more than usual ones."""
    sets = {key: frozenset(words(text)) for key, text in corpus.items()}

    def rank(query: str) -> list[str]:
        asked = frozenset(words(query))
        return _ordered((key, len(asked & each) / (len(asked | each) or 1)) for key, each in sets.items())

    return rank


def _ordered(scores: Iterable[tuple[str, float]]) -> list[str]:
    found = [(-score, key) for key, score in scores if score > 0]
    return [key for _, key in sorted(found)]
