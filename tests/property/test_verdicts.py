"""Who says what is valid: the strict reader agrees with the reference validator, what was upgraded is strictly valid,
`verify` takes whatever was read, and nothing but errors of ours ever comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evh
from evh.errors import DecodeError, EvhError, SchemaError
from evh.protocol import engine
from evh.protocol.tables import ROOTS
from evh.testing import documents, mangle_msgpack, mangled, mutated
from tests.property.shapes import ROOT_TYPES, class_of, text_of
from tests.soak.checks import check_document, check_string, is_json, reference
from tests.soak.uses import use

OTHER_TYPES = ["MessageNode", "Message", "Tool", "AgentConfig", "TaskData", "ContentPart", "WorkInfo", "ModelCall"]


@pytest.mark.parametrize("name", ROOT_TYPES + OTHER_TYPES)
@given(data=st.data())
def test_the_strict_verdict_is_the_reference_validators(name: str, data: st.DataObject) -> None:
    check_document(name, data.draw(documents(name)))
    check_document(name, data.draw(mutated(documents(name))))


@pytest.mark.parametrize("name", ROOT_TYPES)
@given(data=st.data())
def test_a_refusal_names_every_violation_that_the_reference_finds(name: str, data: st.DataObject) -> None:
    document = data.draw(mutated(documents(name)).filter(is_json))
    expected = [(each.pointer, each.keyword) for each in engine.reference_violations(ROOTS[name], document)]
    try:
        evh.decode_strict(json.dumps(document), class_of(name))
    except SchemaError as error:
        assert [(each.pointer, each.keyword) for each in error.violations] == expected
        assert len(str(error)) < 20_000
    else:
        assert expected == []


def integral(document: Any) -> Any:
    """Every integer within a double's reach written with a fraction of zero."""
    if type(document) is int and abs(document) < 2**53:
        return float(document)
    if isinstance(document, dict):
        return {name: integral(value) for name, value in document.items()}
    return [integral(value) for value in document] if isinstance(document, list) else document


@pytest.mark.parametrize("name", ROOT_TYPES)
@given(data=st.data())
def test_an_integer_written_as_3_0_is_an_integer(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(name))
    cls = class_of(name)
    text = text_of(integral(document))
    assert reference(name).is_valid(json.loads(text))
    read = [evh.decode_strict(text, cls), evh.decode(text, cls)]
    # A stream that nobody read is written as it stood, `[0.0]` too: the same values, if not the same bytes.
    assert json.loads(evh.encode(read[0], strict=True)) == json.loads(evh.encode(read[1]))
    assert read[0] == read[1] == evh.decode(text_of(document), cls)


@pytest.mark.parametrize("name", ["Episode", "Trace"])
@given(data=st.data())
def test_what_was_upgraded_is_strictly_valid_and_stays(name: str, data: st.DataObject) -> None:
    document = data.draw(mutated(documents(name)))
    cls = class_of(name)
    try:
        upgraded = evh.upgrade(json.dumps(document), cls)
    except (DecodeError, SchemaError):
        return
    text = evh.encode(upgraded.record, strict=True)
    assert evh.decode_strict(text, cls) == upgraded.record
    again = evh.upgrade(text, cls)
    assert again.steps == ()
    assert evh.encode(again.record) == text


@pytest.mark.parametrize("name", ["Episode", "Trace"])
@given(data=st.data())
def test_a_valid_row_needs_no_step_but_for_what_is_computed(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(name, computed=False))
    upgraded = evh.upgrade(text_of(document), class_of(name))
    assert upgraded.record == evh.decode(text_of(document), class_of(name))
    assert upgraded.steps == ()


@pytest.mark.parametrize("name", ROOT_TYPES)
@given(data=st.data())
def test_verify_takes_every_record(name: str, data: st.DataObject) -> None:
    try:
        record = evh.decode(json.dumps(data.draw(mutated(documents(name)))), class_of(name))
    except EvhError:
        return
    for finding in evh.verify(record):
        assert finding.pointer == "" or finding.pointer.startswith("/")
        assert finding.keyword
    use(record)


@pytest.mark.parametrize("name", [*ROOT_TYPES, "MessageNode"])
@given(data=st.data())
def test_no_text_makes_anything_but_an_error_of_ours(name: str, data: st.DataObject) -> None:
    check_string(name, "json", data.draw(mangled(documents(name))))


@pytest.mark.parametrize("name", ["Episode", "Trace"])
@given(data=st.data())
def test_no_bytes_make_anything_but_an_error_of_ours(name: str, data: st.DataObject) -> None:
    import msgspec

    packed = msgspec.msgpack.encode(data.draw(documents(name, wire=True)))
    check_string(name, "msgpack", mangle_msgpack(packed, data.draw(st.randoms(use_true_random=False))))


@given(st.binary(max_size=40))
def test_any_bytes_at_all_are_read_or_refused(noise: bytes) -> None:
    for format in ("json", "msgpack"):
        check_string("Episode", format, noise)
        check_string("RunRecord", format, noise)
