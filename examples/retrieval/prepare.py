#!/usr/bin/env python3
"""Turn a folder in the BEIR layout into what `evh dataset` takes. Needs nothing but Python.

    python3 prepare.py                           # the small corpus in beir/
    python3 prepare.py --beir ~/scifact          # the real SciFact, where you have it

Promise: the same folder gives the same bytes. Written are the judged queries (`queries/<id>.txt`), the relevant
documents of each (`references/<id>.txt`, a JSON list of doc_id and score), and a copy of the corpus, which
`retrieval.py` looks for in `prepared/` beside itself. A folder that is there already is replaced only with --force.
When it breaks: nothing is left under the name that was asked for.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from beir import read_corpus, read_qrels, read_queries

HERE = Path(__file__).resolve().parent


def prepare(source: Path, out: Path, *, split: str = "test", force: bool = False) -> int:
    """Write `out` from the BEIR folder `source`; returns the number of queries."""
    if out.exists() and not force:
        raise ValueError(f"{out} exists: --force replaces it")
    corpus = read_corpus(source / "corpus.jsonl")
    queries = read_queries(source / "queries.jsonl")
    qrels = read_qrels(source / "qrels" / f"{split}.tsv")
    relevant = {query: {key: grade for key, grade in of.items() if grade > 0} for query, of in qrels.items()}
    judged = sorted(query for query, of in relevant.items() if of)
    for query in judged:
        if query not in queries:
            raise ValueError(f"{source}: the judged query {query} is not in queries.jsonl")
        if missing := sorted(relevant[query].keys() - corpus.keys()):
            raise ValueError(f"{source}: {missing[0]}, judged for {query}, is not in corpus.jsonl")
    if not judged:
        raise ValueError(f"{source}: no query of the split {split} has a relevant document")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".prepare-", dir=out.parent) as workplace:
        made = Path(workplace, "made")
        for folder in ("queries", "references"):
            (made / folder).mkdir(parents=True)
        shutil.copyfile(source / "corpus.jsonl", made / "corpus.jsonl")
        for query in judged:
            ranked = sorted(relevant[query].items(), key=lambda each: (-each[1], each[0]))
            documents = [{"doc_id": key, "score": grade} for key, grade in ranked]
            (made / "queries" / f"{query}.txt").write_bytes(f"{queries[query]}\n".encode())
            (made / "references" / f"{query}.txt").write_bytes(f"{json.dumps(documents)}\n".encode())
        if out.exists():
            out.rename(Path(workplace, "old"))
        made.rename(out)
    return len(judged)


def main() -> int:
    parser = argparse.ArgumentParser(description="Turn a folder in the BEIR layout into what `evh dataset` takes.")
    parser.add_argument("--beir", type=Path, default=HERE / "beir", help="the folder with corpus.jsonl (beir/)")
    parser.add_argument("--out", type=Path, default=HERE / "prepared", help="the folder to write (prepared/)")
    parser.add_argument("--split", default="test", help="which judgements: qrels/SPLIT.tsv (test)")
    parser.add_argument("--force", action="store_true", help="replace the folder when it is there")
    options = parser.parse_args()
    try:
        count = prepare(options.beir, options.out, split=options.split, force=options.force)
    except (OSError, ValueError) as error:
        print(f"prepare.py: {error}", file=sys.stderr)
        return 1
    print(f"{options.out.name}: {count} queries with references, and the corpus")
    return 0


if __name__ == "__main__":
    sys.exit(main())
