"""The adapter of the retrieval arms: a query in, the ids of documents out, one a line, best first.

The corpus is `prepared/corpus.jsonl` beside this file (`prepare.py` makes it); what a score says of it, the ids that it
does not have, must not depend on an arm. Params: `ranker` (bm25, overlap or rerank), `k1` and `b` for bm25 and rerank,
`depth`, and `head` for rerank: how many documents the model is shown.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import beir
import ranking
import reading
import reranking
from rankers import Ranker, bm25, overlap

from evh import Result

CORPUS = Path(__file__).resolve().parent / "prepared" / "corpus.jsonl"
SCORERS = [Path(module.__file__ or "") for module in (ranking, reading, beir)]
NEEDED = {"bm25": {"ranker", "k1", "b", "depth"}, "overlap": {"ranker", "depth"}}
NEEDED["rerank"] = NEEDED["bm25"] | {"head"}
EXTRAS = {
    "llm_parsed": ("descriptive", "higher", "1 when the model's reply stated an order"),
    "llm_named_unknown": ("descriptive", "lower", "ids in the model's reply that it was not shown"),
}
NAMED = ranking.METRICS | EXTRAS

PRIMARY_METRIC = ranking.PRIMARY_METRIC
METRIC_KINDS = {name: kind for name, (kind, _, _) in NAMED.items()}
METRIC_DIRECTIONS = {name: direction for name, (_, direction, _) in NAMED.items()}
METRIC_DESCRIPTIONS = {name: text for name, (_, _, text) in NAMED.items()}


def call_system(text: str, params: dict[str, Any]) -> Result:
    found = ranker(params)(text)[: params["depth"]]
    if params["ranker"] != "rerank":
        return Result(_lines(found))
    head = found[: params["head"]]
    reply = reranking.ask(text)
    made = reranking.reordered(reply, found, head, reranking.read_lines)
    return Result(
        _lines(made.ranking),
        extra={"llm_parsed": float(made.parsed), "llm_named_unknown": made.unknown},
        meta={"llm_raw": reply[: reranking.LONGEST_REPLY], "first_stage": head, "ranking": made.ranking},
    )


def _lines(ids: list[str]) -> str:
    return "".join(f"{each}\n" for each in ids)


def score(output: str, reference: str | None) -> dict[str, float]:
    return ranking.score_ranking(output, None if reference is None else ranking.read_grades(reference), corpus())


def warmup(params: dict[str, Any]) -> None:
    """Build the index, so that no query pays for it."""
    ranker(params)


def fingerprint(params: dict[str, Any]) -> dict[str, Any]:
    return {
        "ranker": params.get("ranker"),
        "library": f"bm25s {version('bm25s')}" if params.get("ranker") in ("bm25", "rerank") else None,
        "documents": len(corpus()),
        "revision": hashlib.sha256(CORPUS.read_bytes()).hexdigest(),
    }


def scorer_id() -> dict[str, str]:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in SCORERS}
    return found | {"corpus ids": hashlib.sha256("\n".join(sorted(corpus())).encode()).hexdigest()}


@functools.cache
def corpus() -> Mapping[str, str]:
    if not CORPUS.exists():
        raise FileNotFoundError(f"{CORPUS.parent.name}/{CORPUS.name} is missing: run `python3 prepare.py` first")
    return beir.read_corpus(CORPUS)


def ranker(params: Mapping[str, Any]) -> Ranker:
    """The ranker that the params name; built once for each set of them."""
    kind = params.get("ranker")
    needed = NEEDED.get(kind) if isinstance(kind, str) else None
    if needed is None:
        raise ValueError(f"the param ranker is {' or '.join(NEEDED)}, not {kind!r}")
    given = params.keys() - {"seed"}  # every run has a seed; nothing here is drawn by lot
    if given != needed:
        raise ValueError(f"{kind} takes the params {', '.join(sorted(needed))}, not {', '.join(sorted(given))}")
    return _overlap() if kind == "overlap" else _bm25(params["k1"], params["b"])


@functools.cache
def _bm25(k1: float, b: float) -> Ranker:
    return bm25(corpus(), k1=k1, b=b)


@functools.cache
def _overlap() -> Ranker:
    return overlap(corpus())
