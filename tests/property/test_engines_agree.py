"""Engine = engine: on documents of every root, bent in every way, both validators give the same violations."""

from __future__ import annotations

import copy
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.protocol.engine import Schemas

SCHEMA = Path(__file__).parents[2] / "schema" / "v1"

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 3.0, 0.5, -0.0, 1e300, 2**53, -(2**53), 2**64, 10**40, math.nan, -math.inf,
    "", "x", "x\n", "é", "\ud800", "a" * 64, "2024-02-30T00:00:00Z", "2016-12-31T23:59:60Z", "2024-01-01T00:00:00Z\n",
    [], [[]], {}, {"type": "x"}, {"kind": "x"}, {"role": "user"}, [None], ("x",), b"bytes",
]  # fmt: skip


@cache
def schemas() -> Schemas:
    return Schemas(SCHEMA)


@cache
def seeds() -> list[tuple[str, Any]]:
    """The example documents with the root that judges them."""
    roots: dict[str, str] = {}
    for stem in schemas().names():
        schema = schemas().json_schema(stem)
        roots.setdefault(schema.get("title", stem), stem)
        for name in schema.get("$defs", {}):
            roots.setdefault(name, f"{stem}#{name}")
    return [
        (roots[path.parent.name], json.loads(path.read_text()))
        for kind in ("valid", "invalid")
        for path in sorted((SCHEMA / "examples" / kind).glob("*/*.json"))
        if not path.name.endswith(".expect.json") and path.parent.name in roots
    ]


def slots(tree: Any) -> list[tuple[Any, Any]]:
    """Every place of a document that can be changed: a container and a key."""
    found = []
    stack = [tree]
    while stack:
        node = stack.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            found.append((node, key))
            stack.append(node[key])
    return found


@st.composite
def bent(draw: st.DrawFn) -> tuple[str, Any]:
    root, seed = draw(st.sampled_from(seeds()))
    holder = [copy.deepcopy(seed)]
    for _ in range(draw(st.integers(0, 4))):
        node, key = draw(st.sampled_from(slots(holder)))
        change = draw(st.sampled_from(["replace", "drop", "add", "swap", "nest", "rename"]))
        other_node, other_key = draw(st.sampled_from(slots(holder)))
        if change == "replace":
            node[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
        elif change == "swap":
            node[key] = copy.deepcopy(other_node[other_key])
        elif change == "nest":
            node[key] = [node[key]] if draw(st.booleans()) else {"x": node[key]}
        elif isinstance(node, dict) and change == "drop":
            del node[key]
        elif isinstance(node, dict):
            name = draw(st.sampled_from(["x", "role", "type", "kind", "run", "*", "0", "~/", "é"]))
            node[name] = node.pop(key) if change == "rename" else copy.deepcopy(draw(st.sampled_from(ODD)))
    return root, holder[0] if holder else None


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(bent())
def test_engines_agree(case: tuple[str, Any]) -> None:
    root, doc = case
    violations = schemas().violations(root, doc)
    assert violations == schemas().reference_violations(root, doc)
    assert schemas().is_valid(root, doc) == (not violations)
    wired = schemas().violations(root, doc, wire=True)
    assert wired == schemas().reference_violations(root, doc, wire=True)
    assert schemas().is_valid(root, doc, wire=True) == (not wired)


def test_every_example_is_judged_alike() -> None:
    assert seeds()
    for root, doc in seeds():
        assert schemas().violations(root, doc) == schemas().reference_violations(root, doc)


def test_bundles_of_all_roots_judge_like_the_roots() -> None:
    for stem in schemas().names():
        bundle = schemas().json_schema(stem, bundle=True)
        text = json.dumps(bundle)
        assert ".json#" not in text
        for name in bundle.get("$defs", {}):
            assert f'"#/$defs/{name}"' in text or ("type" not in bundle and "$ref" not in bundle), stem
