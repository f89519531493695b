"""The BEIR file layout, as SciFact and its kin are handed out: a corpus, queries, and judgements in `qrels/`.

    corpus.jsonl    {"_id", "title", "text"} a line
    queries.jsonl   {"_id", "text"} a line
    qrels/test.tsv  query-id, corpus-id, score, after a header

Promise: what is read is whole, or a `ValueError` names the file and the line. Ids become names of files and lines of
text, so one that could not be either is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ID = re.compile(r"(?=.*\w)[\w.-]{1,64}", re.ASCII)
HEADER = ["query-id", "corpus-id", "score"]


def read_corpus(path: Path) -> dict[str, str]:
    """The title and text of each document, by id, in the order of the file."""
    return {key: f"{row.get('title') or ''} {row['text']}".strip() for key, row in _rows(path)}


def read_queries(path: Path) -> dict[str, str]:
    """The text of each query, by id, in the order of the file."""
    return {key: row["text"] for key, row in _rows(path)}


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The grades of the judged documents, by query."""
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        cells = line.split("\t")
        if number == 1:
            if cells != HEADER:
                raise ValueError(f"{path}:1: expected the header {' '.join(HEADER)}, set apart by tabs")
            continue
        if len(cells) != 3 or not re.fullmatch(r"-?\d+", cells[2]):
            raise ValueError(f"{path}:{number}: expected a query, a document and a whole number, set apart by tabs")
        query, document, grade = cells
        if document in found.setdefault(query, {}):
            raise ValueError(f"{path}:{number}: {document} is judged twice for {query}")
        found[query][document] = int(grade)
    return found


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    seen = set()
    # Split at line feeds alone: texts may hold other characters that Python takes for the end of a line.
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: is not JSON: {error}") from None
        if not isinstance(row, dict) or not isinstance(row.get("_id"), str) or not isinstance(row.get("text"), str):
            raise ValueError(f"{path}:{number}: expected an object with the texts _id and text")
        key = row["_id"]
        if not ID.fullmatch(key):
            raise ValueError(f"{path}:{number}: the id {key!r} is not 1 to 64 letters, digits, dots, - and _")
        if key in seen:
            raise ValueError(f"{path}:{number}: the id {key} is there twice")
        seen.add(key)
        yield key, row
