"""Derivations within derivations: 64 are read, written and verified; one more is refused in words, however it comes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evh
from evh.errors import DecodeError, EvhError, NotWritable, RecordError, SchemaError
from evh.protocol.codec import MAX_CHAIN
from evh.testing import documents
from tests.property.shapes import lost

SHA = "0123456789abcdef" * 4


def chain(depth: int) -> dict[str, Any]:
    block: dict[str, Any] | None = None
    for number in range(depth):
        kind = ("rescore", "judge", "reparse")[number % 3]
        withs = {
            "rescore": {"adapter": "adapters/a.py", "sha256": SHA},
            "judge": {"scorer": "judge-v1", "sha256": SHA, "model": "judge-model"},
            "reparse": {"parser": "parsers/p.py", "scorer_sha256": SHA},
        }
        at = f"2026-01-01T{number // 60 % 24:02d}:{number % 60:02d}:00Z"
        made: dict[str, Any] = {"kind": kind, "from": f"data/runs/{number}", "at": at, "with": withs[kind]}
        block = made if block is None else {**made, "source": block}
    assert block is not None
    return block


@given(st.integers(1, MAX_CHAIN))
def test_a_chain_of_up_to_64_is_read_written_and_sound(depth: int) -> None:
    block = chain(depth)
    for record in (evh.decode(json.dumps(block), evh.Derived), evh.decode_strict(json.dumps(block), evh.Derived)):
        assert lost("Derived", block, json.loads(evh.encode(record))) == []
        assert evh.verify(record) == []


@given(st.integers(1, MAX_CHAIN), documents("RunRecord", max_depth=2))
def test_a_record_with_a_chain_of_up_to_64_is_read_and_written(depth: int, document: dict[str, Any]) -> None:
    document["derived"] = chain(depth)
    for record in (
        evh.decode(json.dumps(document), evh.RunRecord),
        evh.decode_strict(json.dumps(document), evh.RunRecord),
    ):
        assert lost("RunRecord", document, json.loads(evh.encode(record))) == []


@pytest.mark.parametrize("depth", [MAX_CHAIN + 1, MAX_CHAIN + 2, 90, 120])
def test_a_longer_chain_is_refused_in_words(depth: int) -> None:
    text = json.dumps(chain(depth))
    for read in (evh.decode, evh.decode_strict):
        with pytest.raises(RecordError, match="64") as refused:
            read(text, evh.Derived)
        assert refused.value.pointer == "/source" * MAX_CHAIN


@pytest.mark.parametrize("depth", [130, 300, 500, 2000])
def test_a_chain_beyond_what_json_may_nest_is_refused_too(depth: int) -> None:
    text = '{"kind":"rescore","source":' * depth + "null" + "}" * depth
    for read in (evh.decode, evh.decode_strict):
        with pytest.raises(EvhError):
            read(text, evh.Derived)
    deep = "[" * 100_000
    with pytest.raises(DecodeError):
        evh.decode(deep, evh.Derived)


@pytest.mark.parametrize("depth", [6, 20, MAX_CHAIN])
def test_a_fault_deep_in_a_chain_is_named_alone_and_at_once(depth: int) -> None:
    """Each level has one branch that is meant; trying all of them would take 3 to the power of the depth."""
    block = chain(depth)
    deepest, where = block, ""
    while "source" in deepest:
        deepest, where = deepest["source"], f"{where}/source"
    deepest["at"] = "yesterday"
    started = time.perf_counter()
    for read in (evh.decode, evh.decode_strict):
        with pytest.raises(SchemaError) as refused:
            read(json.dumps(block), evh.Derived)
        assert {each.pointer for each in refused.value.violations} == {f"{where}/at"}
    assert time.perf_counter() - started < 2


def test_a_longer_chain_is_not_written() -> None:
    longest = evh.decode(json.dumps(chain(MAX_CHAIN)), evh.Derived)
    more = evh.decode(json.dumps(chain(1)), evh.Derived)
    more.source = longest
    with pytest.raises(NotWritable, match="64"):
        evh.encode(more)


def test_a_block_within_itself_is_not_written() -> None:
    block = evh.decode(json.dumps(chain(2)), evh.Derived)
    block.source = block
    with pytest.raises(NotWritable):
        evh.encode(block)
    assert evh.verify(block) != []
