"""The rule behind V1: a member more in any closed object fails the strict read; the lenient one drops it when it is
retired, and else keeps it, says so, and writes it back. A newer writer's row survives being loaded and saved."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evh
from evh.errors import NotWritable, SchemaError, pointer
from evh.protocol.tables import CLASSES, RETIRED
from evh.testing import documents, json_values
from tests.property.shapes import CLOSED_ROOTS, class_of, closed_places, lost, same, text_of

NAMES = ["never_declared", "*", "additional", "", "a/b~c", "évènement", "value", "retired_run"]
RETIRED_MEMBERS = [(name, member) for name, members in RETIRED.items() for member in members]


def value_at(document: Any, where: str) -> Any:
    for part in where.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


@pytest.mark.parametrize("name", CLOSED_ROOTS)
@given(data=st.data())
def test_a_member_more_fails_strict_and_is_kept_and_said_by_lenient(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(name))
    place = data.draw(st.sampled_from(closed_places(name, document)))
    member, value = data.draw(st.sampled_from(NAMES)), data.draw(json_values())
    assume(member not in CLASSES[place.type].members)
    place.object[member] = value
    where = place.pointer + pointer(member)
    cls = class_of(name)

    with pytest.raises(SchemaError) as refused:
        evh.decode_strict(text_of(document), cls)
    assert [(each.pointer, each.keyword) for each in refused.value.violations] == [(where, "additionalProperties")]

    notices: list[Any] = []
    record = evh.decode(text_of(document), cls, notices=notices)
    assert [(notice.kind, notice.pointer) for notice in notices] == [("unknown", where)]
    assert same(notices[0].value, value)

    written = json.loads(evh.encode(record))
    assert same(value_at(written, where), value)
    assert lost(name, document, written) == []
    assert evh.decode(evh.encode(record), cls) == record
    with pytest.raises(NotWritable) as unwritable:
        evh.encode(record, strict=True)
    assert [each.pointer for each in unwritable.value.violations] == [where]


@pytest.mark.parametrize(("owner", "member"), RETIRED_MEMBERS)
@given(data=st.data())
def test_a_retired_member_fails_strict_and_is_dropped_and_said_by_lenient(
    owner: str, member: str, data: st.DataObject
) -> None:
    name = owner
    document = data.draw(documents(name))
    place = closed_places(name, document)[0]
    clean = copy.deepcopy(document)
    place.object[member] = data.draw(json_values())
    where = place.pointer + pointer(member)
    cls = class_of(name)

    with pytest.raises(SchemaError) as refused:
        evh.decode_strict(text_of(document), cls)
    assert where in [each.pointer for each in refused.value.violations]

    notices: list[Any] = []
    record = evh.decode(text_of(document), cls, notices=notices)
    assert [(notice.kind, notice.pointer) for notice in notices] == [("retired", where)]
    assert RETIRED[owner][member] in notices[0].message
    assert record == evh.decode(text_of(clean), cls)
    assert evh.encode(record, strict=True) == evh.encode(evh.decode(text_of(clean), cls))


@pytest.mark.parametrize("name", ["Episode", "Trace", "RunRecord", "RunManifest", "Derived", "RunInfo"])
@given(data=st.data())
def test_a_newer_writers_row_survives_load_then_save(name: str, data: st.DataObject) -> None:
    """Unknown members at every depth, and one unknown variant wherever a union is."""
    document = data.draw(documents(name))
    places = closed_places(name, document)
    for number, place in enumerate(places):
        place.object[f"of_a_later_release_{number}"] = {"deep": [number, None, "\u2028", {"*": 1.0}]}
    for place in places:
        tag = CLASSES[place.type].tag
        if tag is not None and data.draw(st.booleans()):
            place.object[tag] = f"later-{tag}"
    cls = class_of(name)

    notices: list[Any] = []
    record = evh.decode(text_of(document), cls, notices=notices)
    assert {notice.kind for notice in notices} <= {"unknown", "unknown-tag"}
    assert notices
    written = evh.encode(record)
    assert lost(name, document, json.loads(written)) == []
    assert evh.decode(written, cls) == record
    assert evh.encode(evh.decode(written, cls)) == written
    packed = evh.encode(record, format="msgpack")
    assert lost(name, document, json.loads(evh.encode(evh.decode(packed, cls, format="msgpack")))) == []
    with pytest.raises(NotWritable):
        evh.encode(record, strict=True)


@given(documents("PredictionRow"), st.text(max_size=5), json_values())
def test_a_metric_that_is_no_number_fails_strict(row: dict[str, Any], name: str, value: Any) -> None:
    assume(name not in CLASSES["PredictionRow"].members)
    assume(isinstance(value, bool) or not isinstance(value, int | float))
    row[name] = value
    with pytest.raises(SchemaError) as refused:
        evh.decode_strict(text_of(row), evh.PredictionRow)
    assert pointer(name) in [each.pointer for each in refused.value.violations]
