"""Whatever a row holds, an upgrade ends in an episode or in an error of ours, and loses nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.errors import EvhError, RecordError
from evh.protocol.upgrade import detect, shapes, upgrade_document, upgrade_trace_document, upgrade_v0
from tests.support.leaves import leaves_accounted
from tests.unit.upgrade.conftest import DATA, rows

SEEDS: list[dict[str, Any]] = [
    *(json.loads(path.read_text("utf-8"))["source"] for path in sorted((DATA / "upgrade").glob("S*.json"))),
    *rows(DATA / "upgrade" / "v0" / "results.jsonl"),
    *rows(DATA / "verifiers" / "v0.4.0-built" / "built.jsonl"),
]
METADATA = json.loads((DATA / "upgrade" / "v0" / "metadata.json").read_text("utf-8"))
NAMES = sorted(
    {
        *("run", "error", "runtime", "trajectory", "nodes", "calls", "traces", "task", "agent", "timing", "rewards"),
        *("info", "evh", "kept", "id", "type", "step", "work", "data", "env", "usage", "finish_reason", "branches"),
        *("kept_tokens", "generation", "duration", "reward", "metrics", "prompt", "completion", "tokens", "response"),
        *("message", "role", "content", "tool_calls", "function", "arguments", "verifiers", "tools", "example_id"),
        *("policy_version", "episode_id", "group_id", "env_name", "a/b", "~", ""),
    }
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**63, 10**400, 0.0, -0.0, 1.5, 1e308, float("inf"), float("nan"), 1795962885.25]),
    st.sampled_from(["", "eval", "train", "assistant", "text", "function", "length", "{", "\ud800", "x"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every container below a document with each of its keys."""
    if isinstance(document, dict | list):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from places(document[key])


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    row: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        found = list(places(row))
        if not found:
            break
        container, key = found[draw(st.integers(0, len(found) - 1))]
        what = draw(st.sampled_from(["replace", "remove", "add", "rename"]))
        if what == "replace":
            container[key] = draw(values)
        elif what == "remove":
            del container[key]
        elif isinstance(container, dict):
            value = container.pop(key) if what == "rename" else draw(values)
            container[draw(st.sampled_from(NAMES))] = value
    return row


@settings(max_examples=300, deadline=None)
@given(row=mutated())
def test_any_object_upgrades_without_loss_or_fails_as_ours(row: dict[str, Any]) -> None:
    shown = copy.deepcopy(row)
    assert set(map(type, shapes(row))) <= {str}
    try:
        result, steps = upgrade_document(row)
    except EvhError:
        assert detect(shown) == "unknown"
        return
    leaves_accounted(shown, result, steps)
    before = copy.deepcopy(result)
    again, more = upgrade_document(result)
    assert more == []
    assert repr(again) == repr(before)


@settings(max_examples=100, deadline=None)
@given(row=mutated())
def test_any_object_as_a_trace(row: dict[str, Any]) -> None:
    shown = copy.deepcopy(row)
    try:
        result, steps = upgrade_trace_document(row)
    except EvhError:
        return
    leaves_accounted(shown, result, steps)
    assert upgrade_trace_document(copy.deepcopy(result))[1] == []


@settings(max_examples=100, deadline=None)
@given(row=mutated(), metadata=st.none() | values.filter(lambda value: isinstance(value, dict)))
def test_any_object_as_a_first_generation_row(row: dict[str, Any], metadata: dict[str, Any] | None) -> None:
    for told in (metadata, copy.deepcopy(METADATA)):
        shown = copy.deepcopy(row)
        result, steps = upgrade_v0(copy.deepcopy(row), told)
        leaves_accounted(shown, result, steps)


@pytest.mark.parametrize("name", ["branches", "run", "trajectory", "runtime", "error"])
def test_nesting_without_end_is_an_error_of_ours(name: str) -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = [deep]
    row: dict[str, Any] = {"nodes": [], "id": "x", name: {"a": deep} if name in ("run", "error") else deep}
    if name in ("branches", "runtime", "trajectory"):
        result, _ = upgrade_document(row)
        assert result["traces"][0]["nodes"] == []
    else:
        with pytest.raises(RecordError, match="nested too deeply"):
            upgrade_document(row)


def test_nesting_without_end_in_a_first_generation_row() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecordError, match="nested too deeply"):
        upgrade_v0({"example_id": 1, "prompt": [], "completion": deep})
