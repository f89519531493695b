"""The parser for `evh reparse`: the raw replies of the reranking arm, read as `reading.py` reads them.

The output of that arm is a whole pipeline's, so scoring it again repairs no parser; the reply that the row keeps does.
"""

from __future__ import annotations

from typing import Any

from reading import read_ranking
from reranking import reordered

RAW = "llm_raw"


def reparse(row: dict[str, Any], output: str, params: dict[str, Any]) -> tuple[str, dict[str, float]]:
    meta = row["_meta"]
    head = meta["first_stage"]
    first = [*head, *(each for each in meta["ranking"] if each not in head)]
    found = reordered(meta[RAW], first, head, read_ranking)
    text = "".join(f"{each}\n" for each in found.ranking)
    return text, {"llm_parsed": float(found.parsed), "llm_named_unknown": found.unknown}
