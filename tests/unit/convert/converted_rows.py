"""Rows to convert: real ones as they are on disk, and ones with every member that a release has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evh.protocol.convert import Counts
from tests.interop.made_shapes import episode

ROWS = Path(__file__).parents[2] / "data" / "verifiers"
COMPUTED = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
Doc = dict[str, Any]


def lines(*folders: str) -> Iterator[bytes]:
    """Whole lines of the real files in these folders, as they are on disk."""
    for folder in folders:
        for path in sorted((ROWS / folder).rglob("*.jsonl")):
            if "to_record" not in path.name:
                yield from (line for line in path.read_bytes().split(b"\n")[:-1] if line)


def counts_of(row: Doc) -> Counts:
    """The counts that a row of 0.4.0 carries."""
    one, two, three = COMPUTED
    return Counts((row[one], row[two], row[three]), [(t[one], t[two], t[three]) for t in row["traces"]])


def without_counts(row: Doc) -> Doc:
    bare = {name: value for name, value in row.items() if name not in COMPUTED}
    return bare | {"traces": [without_counts(trace) for trace in row["traces"]]} if "traces" in bare else bare


def made(*, newer: bool) -> Doc:
    return json.loads(json.dumps(episode(newer, 1, {"runtime": {"type": "subprocess"}})))
