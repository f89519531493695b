"""The quick paths of the codec look at every place that the schema has; a new member must be added to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import evh
from evh.errors import NotWritable, SchemaError
from evh.protocol._mirror import FREE_PARTS, is_sound
from evh.protocol.tables import CLASSES, UNIONS


def classes_below(name: str) -> Iterator[str]:
    """The closed classes that an Episode is made of."""
    seen, pending = {name}, [name]
    while pending:
        current = pending.pop()
        if current in UNIONS:
            found = list(UNIONS[current].variants.values())
        else:
            yield current
            found = [inner for member in CLASSES[current].members.values() for inner in types_in(member.kind)]
        for inner in found:
            if inner not in seen and (inner in UNIONS or (inner in CLASSES and CLASSES[inner].closed)):
                seen.add(inner)
                pending.append(inner)


def types_in(kind: tuple[Any, ...]) -> list[str]:
    while kind[0] in ("array", "map", "parts"):
        kind = kind[1]
    return [kind[1]] if kind[0] in ("class", "union", "open") else []


def is_free(kind: tuple[Any, ...]) -> bool:
    while kind[0] in ("array", "map", "parts"):
        kind = kind[1]
    return kind[0] in ("open", "object", "any")


def test_every_free_part_of_an_episode_is_visited() -> None:
    found = {
        f"{name}.{wire}"
        for name in classes_below("Episode")
        for wire, member in CLASSES[name].members.items()
        if is_free(member.kind) and not member.marks & {"wire", "computed", "stream"}
    }
    assert found == FREE_PARTS


ROW: dict[str, Any] = {
    "id": "e",
    "task": {"type": "t", "data": {}},
    "info": {"a": 1},
    "traces": [
        {
            "id": "t",
            "verifiers": {"version": "0.4.0"},
            "task": {"type": "t", "data": {"idx": 1}},
            "agent": {"config": {"model": "m"}, "runtime": {"type": "docker"}},
            "timing": {"start": 1.0},
            "info": {"b": 2},
            "tools": [{"name": "bash"}],
            "calls": [{"sampling": {"temperature": 0.5}}],
            "nodes": [
                {"message": {"role": "assistant", "provider_state": [{"x": 1}]}, "tools": [{"name": "edit"}]},
            ],
        }
    ],
}
PLACES = {
    "Episode.info": ("info",),
    "TraceTask.data": ("traces", 0, "task", "data"),
    "AgentInfo.config": ("traces", 0, "agent", "config"),
    "AgentInfo.runtime": ("traces", 0, "agent", "runtime"),
    "Trace.info": ("traces", 0, "info"),
    "Trace.tools": ("traces", 0, "tools", 0),
    "ModelCall.sampling": ("traces", 0, "calls", 0, "sampling"),
    "MessageNode.tools": ("traces", 0, "nodes", 0, "tools", 0),
    "AssistantMessage.provider_state": ("traces", 0, "nodes", 0, "message", "provider_state", 0),
}
KNOWN = {
    "TraceTask.data": "idx",
    "AgentInfo.config": "model",
    "AgentInfo.runtime": "image",
    "Trace.tools": "description",
    "MessageNode.tools": "description",
    "ModelCall.sampling": "max_tokens",
}


def at(value: Any, place: tuple[Any, ...]) -> Any:
    for part in place:
        value = value[part] if isinstance(part, int) or not hasattr(value, part) else getattr(value, part)
    return value


def test_the_places_below_are_all_of_them() -> None:
    assert PLACES.keys() == FREE_PARTS
    assert is_sound(evh.decode(msgspec.json.encode(ROW)))


@pytest.mark.parametrize("name", sorted(FREE_PARTS))
def test_a_nan_in_any_free_part_is_refused(name: str) -> None:
    episode = evh.decode(msgspec.json.encode(ROW))
    at(episode, PLACES[name])["new"] = math.nan
    with pytest.raises(NotWritable, match="/new"):
        evh.encode(episode)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_known_member_of_the_wrong_type_is_refused_by_strict_and_by_the_writer(name: str) -> None:
    document = msgspec.json.decode(msgspec.json.encode(ROW))
    value: Any = document
    for part in PLACES[name]:
        value = value[part]
    value[KNOWN[name]] = True
    data = msgspec.json.encode(document)
    with pytest.raises(SchemaError, match=f"/{KNOWN[name]}"):
        evh.decode_strict(data)
    with pytest.raises(NotWritable, match=f"/{KNOWN[name]}"):
        evh.encode(evh.decode(data))
