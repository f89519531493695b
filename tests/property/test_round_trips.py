"""Nothing is lost: what was read and written again holds every member, number for number, in either format."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evh
from evh.testing import documents, json_values, records
from tests.property.shapes import CLOSED_ROOTS, ROOT_TYPES, class_of, lost, same, text_of

ROWS = ["Episode", "Trace"]
STREAMS = (
    "token_ids", "mask", "is_content", "logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies",
    "loss_weights",
)  # fmt: skip
LISTS = STREAMS[:4]


def nodes_in(document: dict[str, Any]) -> list[dict[str, Any]]:
    traces = document.get("traces", [document])
    return [node for trace in traces for node in trace.get("nodes", [])]


def touch(record: Any) -> Any:
    """Read every stream of every node."""
    for trace in [record] if isinstance(record, evh.Trace) else record.traces:
        for node in trace.nodes:
            for name in STREAMS:
                getattr(node, name)
    return record


@pytest.mark.parametrize("name", ROOT_TYPES)
@given(data=st.data())
def test_a_valid_document_comes_back_whole_from_lenient_and_strict_reads(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(name))
    cls = class_of(name)
    notices: list[Any] = []
    lenient = evh.decode(text_of(document), cls, notices=notices)
    strict = evh.decode_strict(text_of(document), cls)
    assert notices == []
    assert lenient == strict
    written = evh.encode(lenient)
    assert evh.encode(strict, strict=True) == written
    assert lost(name, document, json.loads(written)) == []


@pytest.mark.parametrize("name", ROOT_TYPES)
@given(data=st.data())
def test_what_was_written_once_is_written_the_same_for_ever(name: str, data: st.DataObject) -> None:
    cls = class_of(name)
    record = evh.decode(text_of(data.draw(documents(name))), cls)
    written = evh.encode(record)
    again = evh.decode_strict(written, cls)
    assert evh.encode(again) == written
    assert again == record
    assert b"\n" not in written
    assert b"\r" not in written


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_streams_that_were_read_are_written_like_those_that_were_not(name: str, data: st.DataObject) -> None:
    text = text_of(data.draw(documents(name)))
    cls = class_of(name)
    untouched, touched = evh.decode(text, cls), touch(evh.decode(text, cls))
    before, after = json.loads(evh.encode(untouched)), json.loads(evh.encode(touched))
    assert lost(name, json.loads(text), after) == []
    # A list that was read is a list that can be appended to, and so it is there from then on.
    for one, other in zip(nodes_in(before), nodes_in(after), strict=True):
        assert other == {**{member: [] for member in LISTS}, **one}
    assert untouched == touched


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_json_and_messagepack_hold_the_same(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(name))
    cls = class_of(name)
    record = evh.decode(text_of(document), cls)
    packed = evh.encode(record, format="msgpack")
    back = evh.decode(packed, cls, format="msgpack")
    assert back == record
    assert evh.decode_strict(packed, cls, format="msgpack") == record
    assert same(json.loads(evh.encode(back)), json.loads(evh.encode(evh.decode(text_of(document), cls))))
    assert lost(name, document, msgspec.msgpack.decode(packed)) == []


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_tensors_pass_through_messagepack_and_are_left_out_of_json_with_a_notice(
    name: str, data: st.DataObject
) -> None:
    document = data.draw(documents(name, wire=True))
    cls = class_of(name)
    packed = msgspec.msgpack.encode(document)
    record = evh.decode(packed, cls, format="msgpack")
    assert lost(name, document, msgspec.msgpack.decode(evh.encode(record, format="msgpack")), wire=True) == []
    assert evh.decode_strict(packed, cls, format="msgpack") == record
    notices: list[Any] = []
    written = json.loads(evh.encode(record, notices=notices))
    nodes = [
        node
        for trace in ([document] if name == "Trace" else document.get("traces", []))
        for node in trace.get("nodes", [])
    ]
    wired = [
        m for node in nodes for m in ("multi_modal_data", "routed_experts", "sampling_mask") if node.get(m) is not None
    ]
    assert sorted(notice.pointer.rpartition("/")[2] for notice in notices) == sorted(wired)
    assert {notice.kind for notice in notices} <= {"wire-only"}
    assert lost(name, json.loads(json.dumps(document, default=str)), written) == []


@given(records(evh.Trace), st.sampled_from(["copy", "deepcopy", "pickle", "replace"]))
def test_copies_of_records_with_raw_streams_are_equal_and_their_own(trace: Any, how: str) -> None:
    copies = {
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
        "pickle": lambda record: pickle.loads(pickle.dumps(record)),
        "replace": msgspec.structs.replace,
    }
    made = copies[how](trace)
    assert made == trace
    assert evh.encode(made) == evh.encode(trace)
    before = evh.encode(trace)
    made.id = "another"
    made.ok = not made.ok
    assert evh.encode(trace) == before
    if how in ("deepcopy", "pickle") and made.nodes:
        made.nodes[0].token_ids.append(7)
        assert evh.encode(trace) == before


@given(st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False))
def test_an_int_stays_an_int_and_a_float_a_float(number: float) -> None:
    row = {
        "id": "e",
        "task": {"type": "t", "data": {"column": number}},
        "info": {"note": [number]},
        "traces": [
            {
                "id": "t",
                "task": {"type": "t", "data": {}},
                "agent": {"config": {}},
                "timing": {"start": number},
                "metrics": {"m": number},
                "rewards": {"r": {"score": number, "weight": number}},
                "nodes": [{"message": {"role": "user", "content": ""}, "logprobs": [number], "timestamp": number}],
            }
        ],
    }
    for record in (evh.decode(text_of(row)), touch(evh.decode(text_of(row)))):
        written = json.loads(evh.encode(record))
        assert lost("Episode", row, written) == []
        packed = evh.decode(evh.encode(record, format="msgpack"), format="msgpack")
        assert lost("Episode", row, json.loads(evh.encode(packed))) == []


@given(json_values(max_leaves=10))
def test_open_objects_keep_any_json_as_it_came(value: Any) -> None:
    row = {
        "id": "e",
        "task": {"type": "t", "data": {"*": value, "additional": value, "x": {"*": value}}},
        "info": {"*": value},
    }
    written = json.loads(evh.encode(evh.decode_strict(text_of(row))))
    assert same(written["task"]["data"], row["task"]["data"])
    assert same(written["info"], row["info"])


@pytest.mark.parametrize("name", CLOSED_ROOTS)
@given(data=st.data())
def test_bytes_text_and_views_of_them_read_alike_and_are_not_held(name: str, data: st.DataObject) -> None:
    text = text_of(data.draw(documents(name)))
    cls = class_of(name)
    expected = evh.encode(evh.decode(text, cls))
    buffer = bytearray(text)
    read = [
        evh.decode(text.decode(), cls),
        evh.decode(memoryview(text), cls),
        evh.decode(buffer, cls),
        evh.decode(memoryview(buffer), cls),
        evh.decode_strict(buffer, cls),
    ]
    buffer[:] = b"#" * len(buffer)
    assert [evh.encode(record) for record in read] == [expected] * len(read)
