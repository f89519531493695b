"""The strategies keep their word: valid by construction, coherent when asked, and nothing of a schema left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evh
from evh.errors import UsageError
from evh.protocol import engine, models
from evh.protocol.tables import CLASSES, FILES, ROOTS, UNIONS
from evh.testing import document_types, documents, json_values, mangled, mutate, mutated, records, sample
from tests.property.shapes import closed_places, text_of

SEED = 20_260
COHERENT = ["Episode", "Trace", "RunRecord", "Derived", "MessageNode"]


def address(name: str) -> str:
    return ROOTS.get(name) or f"{FILES[name]}#{name}"


@pytest.mark.parametrize("name", document_types())
def test_documents_of_every_type_are_valid_by_the_reference_validator(name: str) -> None:
    made = sample(documents(name), 5, seed=SEED)
    assert made
    for document in made:
        assert engine.reference_violations(address(name), document) == []


@pytest.mark.parametrize("name", COHERENT)
@given(data=st.data())
def test_coherent_documents_are_valid_and_verify_finds_nothing(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(name, coherent=True))
    assert engine.violations(address(name), document) == []
    if name != "Derived":
        assert evh.verify(evh.decode(text_of(document), getattr(models, name))) == []


@given(documents("Trace", coherent=True, wire=True))
def test_coherent_documents_of_the_wire_are_valid_and_verify_finds_nothing(document: dict[str, Any]) -> None:
    import msgspec

    assert engine.violations("trace", document, wire=True) == []
    record = evh.decode(msgspec.msgpack.encode(document), evh.Trace, format="msgpack")
    assert evh.verify(record) == []


def test_every_member_and_every_variant_turns_up() -> None:
    seen: set[tuple[str, str]] = set()
    for name, table in CLASSES.items():
        for document in sample(documents(name, max_depth=1, wire=True), 20, seed=SEED):
            seen |= {(name, member) for member in document if table.closed or member in table.members}
    expected = {(name, member) for name, table in CLASSES.items() for member in table.members}
    assert expected - seen == set()
    for name, union in UNIONS.items():
        tags = {document[union.tag] for document in sample(documents(name, max_depth=1), 40, seed=SEED)}
        assert tags == set(union.variants)


def test_deep_parts_of_a_trace_turn_up() -> None:
    found = {
        place.type
        for name, count in (("Trace", 60), ("AssistantMessage", 40), ("UserMessage", 40), ("ModelCall", 40))
        for each in sample(documents(name), count, seed=SEED)
        for place in closed_places(name, each)
    }
    assert {"MessageNode", "ToolCall", "TextPart", "ImageSource", "ACPInfo", "PolicyEvent", "ParentLink"} <= found


def test_depth_bounds_a_recursive_type() -> None:
    def chain(block: dict[str, Any] | None) -> int:
        return 0 if block is None else 1 + chain(block.get("source"))

    deepest = {depth: max(map(chain, sample(documents("Derived", max_depth=depth), 40, seed=SEED))) for depth in (1, 5)}
    assert deepest[1] == 1
    assert 2 <= deepest[5] <= 5


def test_without_computed_members_there_are_none() -> None:
    for document in sample(documents("Episode", computed=False), 25, seed=SEED):
        assert "num_total_tokens" not in json.dumps(document)


@given(records(evh.Trace))
def test_records_are_records(record: Any) -> None:
    assert isinstance(record, evh.Trace)


@given(documents("Message"), documents(evh.Episode), documents(evh.RunInfo))
def test_types_are_named_by_name_class_or_union(message: Any, episode: Any, run: Any) -> None:
    assert message["role"] in UNIONS["Message"].variants
    assert {"id", "task"} <= episode.keys()
    assert run["type"] in ("eval", "train")


def test_a_type_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no type is named 'Episodes'"):
        documents("Episodes")
    with pytest.raises(UsageError):
        documents(int)
    with pytest.raises(UsageError):
        records("Episodes")


@given(json_values())
def test_json_values_have_a_json_form(value: Any) -> None:
    json.dumps(value, allow_nan=False).encode()


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_a_change_leaves_the_document_it_was_made_of_alone(random: Any) -> None:
    document = {"id": "e", "task": {"type": "t", "data": {"prompt": [1, 2]}}, "run": {"type": "eval", "id": "r"}}
    before = json.dumps(document)
    mutate(document, random)
    assert json.dumps(document) == before


def test_changed_documents_are_mostly_but_not_always_invalid() -> None:
    verdicts = [
        engine.is_valid("episode", each) for each in sample(mutated(documents("Episode", max_depth=3)), 100, seed=SEED)
    ]
    assert 0.02 < sum(verdicts) / len(verdicts) < 0.7


def test_mangled_text_is_bytes_and_differs() -> None:
    texts = sample(mangled(documents("RunInfo")), 100, seed=SEED)
    assert all(type(text) is bytes for text in texts)
    assert len(set(texts)) > 50


def test_the_same_seed_gives_the_same_sample() -> None:
    assert sample(documents("Trace"), 6, seed=7) == sample(documents("Trace"), 6, seed=7)
