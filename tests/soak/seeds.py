"""What the soak bends: examples, generated documents and real rows, as JSON text and as MessagePack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import msgspec

from evh.protocol.tables import ROOTS
from evh.testing import documents, sample

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "schema" / "v1" / "examples"
DATA = ROOT / "tests" / "data"
LARGEST_ROW = 12_000
"""Rows beyond this many bytes are left out: the soak is about variety."""
OTHER_TYPES = ("MessageNode", "Message", "AgentConfig", "TaskData", "Tool", "ModelCall", "SamplingMask", "RunInfo")


class Seed(NamedTuple):
    """A document to bend: its type, its text, and its MessagePack form (empty where the type has none)."""

    type: str
    text: bytes
    wire: bytes = b""


def seeds(number: int, count: int) -> list[Seed]:
    """Up to `count` generated documents of each root type, some of other types, every example, every short real row."""
    found: list[Seed] = []
    for name in sorted(ROOTS):
        share = count if name in ("Episode", "Trace") else count // 3 + 1
        found += [_seed(name, each) for each in sample(documents(name), share, seed=number)]
    for name in ("Episode", "Trace"):
        found += [_seed(name, each) for each in sample(documents(name, coherent=True), count, seed=number)]
        for each in sample(documents(name, coherent=True, wire=True), count // 3 + 1, seed=number):
            found.append(Seed(name, b"", msgspec.msgpack.encode(each)))
    for name in OTHER_TYPES:
        found += [_seed(name, each) for each in sample(documents(name), count // 10 + 1, seed=number)]
    for path in sorted(EXAMPLES.glob("*/*/*.json")):
        if path.parent.name in ROOTS and not path.name.endswith(".expect.json"):
            found.append(Seed(path.parent.name, path.read_bytes()))
    for path in sorted(DATA.rglob("*.jsonl")):
        rows = (row for row in path.read_bytes().split(b"\n") if 2 < len(row) < LARGEST_ROW)
        found += [Seed("Episode", row) for row in rows if _is_whole(row)]
    return found


def _is_whole(row: bytes) -> bool:
    try:
        return isinstance(json.loads(row), dict)
    except ValueError:
        return False


def _seed(name: str, document: object) -> Seed:
    wire = msgspec.msgpack.encode(document) if name in ("Episode", "Trace") else b""
    return Seed(name, json.dumps(document, ensure_ascii=False).encode(), wire)
