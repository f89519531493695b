"""What the vectors reach of the points that there are, counted.

Promise: a point is found reached by a walk over the vector files; the code that makes the vectors is not asked. It
counts only with the verdict that makes it one: a limit is reached by a document that is valid with it, and passed by
one whose first fault is there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .points import TAGS, Place, Point, Points

TYPE_FAULTS = frozenset({"type", "oneOf", "anyOf"})
KIND_FAULTS = TYPE_FAULTS | {"const", "enum"}
"""What is found first at a value of another type."""
OUTWARD = {"maximum": 1, "maxLength": 1}


class Coverage(Points):
    """The points of the schemas in a folder, and those that vectors reach."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.reached: set[Point] = set()
        self.vectors = 0

    def read(self, vector: dict[str, Any]) -> None:
        """Count what one vector reaches."""
        self.vectors += 1
        verdict = vector.get("schema")
        if verdict is None or "base64" in vector:
            return
        document = json.loads(vector["text"]) if "text" in vector else vector["document"]
        if "fill" in vector:
            fill = vector["fill"]
            document = {**document, fill["pointer"][1:]: fill["text"] * fill["times"]}
        fault = None if verdict == "ok" else (verdict["pointer"], verdict["keyword"])
        self.reached |= set(_Walk(self, fault).of(self.types[vector["type"]], document, ""))

    def missing(self) -> list[Point]:
        return sorted(self.points - self.reached)

    def counts(self) -> dict[str, tuple[int, int]]:
        """By kind of point: how many are reached, and how many there are."""
        there, reached = (Counter(point.kind for point in each) for each in (self.points, self.points & self.reached))
        return {kind: (reached[kind], there[kind]) for kind in sorted(there)}


class _Walk:
    """One document along its schema, with the first fault that it has."""

    def __init__(self, coverage: Coverage, fault: tuple[str, str] | None) -> None:
        self.coverage = coverage
        self.fault = fault

    def of(self, place: Place, value: Any, pointer: str) -> Iterator[Point]:
        place = self.coverage.resolved(place)
        schema = place.schema
        if "anyOf" in schema:
            if value is not None:
                yield from self.of(place.at("anyOf", 0), value, pointer)
        elif tags := self.coverage.tags(place):
            yield from self._union(place, tags, value, pointer)
        elif "oneOf" in schema:
            yield from self.of(place.at("oneOf", 1 if isinstance(value, list) else 0), value, pointer)
        elif isinstance(value, dict):
            yield from self._object(place, value, pointer)
        elif isinstance(value, list):
            yield from self._array(place, value, pointer)
        elif isinstance(value, str):
            yield from self._limits(place, len(value), ("minLength", "maxLength"), pointer)
            yield from self._text(place, value, pointer)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from self._limits(place, value, ("minimum", "maximum", "exclusiveMinimum"), pointer)

    def _union(self, place: Place, tags: dict[str, Place], value: Any, pointer: str) -> Iterator[Point]:
        if not isinstance(value, dict):
            return
        name = next(tag for tag in TAGS if "const" in next(iter(tags.values())).schema["properties"].get(tag, {}))
        tag = value.get(name)
        if isinstance(tag, str) and tag in tags:
            if self.fault is None:
                yield Point("variant", place.address, f"oneOf {tag}")
            yield from self.of(tags[tag], value, pointer)
        elif self._at(pointer, TYPE_FAULTS):
            yield Point("variant", place.address, "unknown tag" if name in value else "no tag")

    def _object(self, place: Place, value: dict[str, Any], pointer: str) -> Iterator[Point]:
        schema, address = place
        members = schema.get("properties", {})
        for name in members:
            at = place.at("properties", name)
            if name not in value:
                required = name in schema.get("required", ())
                if self._at(pointer, {"required"}) if required else self.fault is None:
                    yield Point("member", at.address, "absent")
            else:
                yield from self._placed("member", at, value[name], f"{pointer}/{_escaped(name)}")
        rest = schema.get("additionalProperties")
        if rest and not members and not value and self.fault is None:
            yield Point("item", address, "empty")
        for name in value.keys() - members.keys():
            at_name = f"{pointer}/{_escaped(name)}"
            if rest is False and self._at(at_name, {"additionalProperties"}):
                yield Point("closed or open", address, "unknown member refused")
                class_name = self.coverage.name(place) if members else ""
                yield Point("retired", class_name, f"{name} retired")
            elif isinstance(rest, dict):
                if self.fault is None and members:
                    yield Point("closed or open", address, "unknown member taken")
                    yield Point("item", address, "entry")
                if rest:
                    yield from self._placed("item", place.at("additionalProperties"), value[name], at_name)

    def _array(self, place: Place, value: list[Any], pointer: str) -> Iterator[Point]:
        if "items" not in place.schema:
            return
        yield from self._limits(place, len(value), ("minItems",), pointer)
        if self.fault is None or (not value and self._at(pointer, {"minItems"})):
            yield Point("item", place.address, "empty" if not value else "one" if len(value) == 1 else "several")
        for index, item in enumerate(value):
            yield from self._placed("item", place.at("items"), item, f"{pointer}/{index}")

    def _placed(self, kind: str, place: Place, value: Any, pointer: str) -> Iterator[Point]:
        """A value where a member, an item or an entry stands."""
        types = self.coverage.types_at(place)
        if value is None and (not types or "null" in types):
            if self.fault is None:
                yield Point(kind, place.address, "null")
        elif value is None:
            if self._at(pointer, KIND_FAULTS):
                yield Point(kind, place.address, "null")
        elif self._at(pointer, KIND_FAULTS) and types and not _is_of(value, types):
            yield Point(kind, place.address, "wrong type")
        elif self.fault is None:
            yield Point(kind, place.address, "present")
        yield from self.of(place, value, pointer)

    def _limits(self, place: Place, size: float, names: tuple[str, ...], pointer: str) -> Iterator[Point]:
        for name in names:
            if name not in place.schema:
                continue
            beyond = (size - place.schema[name]) * OUTWARD.get(name, -1)
            exclusive = name == "exclusiveMinimum"
            passed = beyond > 0 or (exclusive and beyond == 0)
            # A broken pattern is reported behind a broken limit: where it is the first fault, the limit was kept.
            if self._at(pointer, {name}) if passed else self.fault is None or self._at(pointer, {"pattern"}):
                yield Point(
                    "bound", place.address, f"{name} {'outside' if beyond > 0 else 'at' if beyond == 0 else 'inside'}"
                )

    def _text(self, place: Place, value: str, pointer: str) -> Iterator[Point]:
        schema, address = place
        if "pattern" in schema and (self.fault is None or self._at(pointer, {"pattern"})):
            yield Point("pattern", address, "pattern kept" if self.fault is None else "pattern broken")
        if "enum" in schema and (self.fault is None or self._at(pointer, {"enum"})):
            yield Point("value", address, f"is {value}" if self.fault is None else "is none of them")
        if "const" in schema and (self.fault is None or self._at(pointer, {"const"})):
            yield Point("value", address, "is the tag" if self.fault is None else "is another tag")

    def _at(self, pointer: str, keywords: set[str] | frozenset[str]) -> bool:
        return self.fault is not None and self.fault[0] == pointer and self.fault[1] in keywords


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _is_of(value: Any, types: set[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int | float):
        whole = float(value).is_integer()
        return "number" in types or ("integer" in types and whole)
    return ("string" if isinstance(value, str) else "array" if isinstance(value, list) else "object") in types
