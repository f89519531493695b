"""The points of the schemas that the vectors should reach: members, bounds, values, variants, closed and open rules.

Promise: they come from a walk over the schema files alone, with no other code of the generator's; a keyword that limits
a value and is in the profile has its points.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Schema = dict[str, Any]
LIMITS = ("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems")
TAGS = ("kind", "type", "role")


class Point(NamedTuple):
    """Something that a vector should reach: where in which schema file, and what of it."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class Place(NamedTuple):
    """A schema and its address, `trace.json#/$defs/Timing`."""

    schema: Schema
    address: str

    def at(self, *parts: str | int) -> Place:
        node: Any = self.schema
        for part in parts:
            node = node[part]
        return Place(node, self.address + "".join(f"/{part}" for part in parts))


class Points:
    """The points of the schemas in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {
            path.name: json.loads(path.read_text("utf-8"))
            for path in sorted(folder.glob("*.json"))
            if path.name != "retired.json"
        }
        self.retired = json.loads((folder / "retired.json").read_text("utf-8"))["retired"]
        self.types = {name: place for place in self._definitions() for name in (self.name(place),)}
        self.points = set(self._points())

    def _definitions(self) -> Iterator[Place]:
        for file, document in self.files.items():
            if "properties" in document:
                yield Place(document, f"{file}#")
            for name in document.get("$defs", {}):
                yield Place(document, f"{file}#").at("$defs", name)

    def name(self, place: Place) -> str:
        return str(place.schema["title"]) if place.address.endswith("#") else place.address.rpartition("/")[2]

    def resolved(self, place: Place) -> Place:
        while "$ref" in place.schema:
            file, _, fragment = place.schema["$ref"].partition("#")
            file = file or place.address.partition("#")[0]
            found = Place(self.files[file], f"{file}#")
            place = found.at(*fragment.split("/")[1:]) if fragment else found
        return place

    def _points(self) -> Iterator[Point]:
        for place in self._definitions():
            yield from self._of(place)
        for entry in self.retired:
            yield Point("retired", entry["class"], f"{entry['member']} retired")

    def _of(self, place: Place) -> Iterator[Point]:
        schema, address = place
        if "$ref" in schema:
            return
        for branch in ("anyOf", "oneOf"):
            tags = self.tags(place) if branch == "oneOf" else {}
            yield from (Point("variant", address, f"{branch} {tag}") for tag in tags)
            if tags:
                yield from (Point("variant", address, what) for what in ("unknown tag", "no tag"))
            for index in range(len(schema.get(branch, ()))):
                yield from self._of(place.at(branch, index))
        for limit in LIMITS:
            if limit in schema:
                yield from (Point("bound", address, f"{limit} {side}") for side in self._sides(schema, limit))
        if "pattern" in schema:
            yield from (Point("pattern", address, what) for what in ("pattern kept", "pattern broken"))
        for value in schema.get("enum", ()):
            yield Point("value", address, f"is {value}")
        if "enum" in schema:
            yield Point("value", address, "is none of them")
        if "const" in schema:
            yield from (Point("value", address, what) for what in ("is the tag", "is another tag"))
        if "properties" in schema:
            yield from self._of_object(place)
        if "items" in schema:
            yield from (Point("item", address, what) for what in self._sizes(schema))
            yield from self._of_inner(place.at("items"), "item")
        if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
            yield Point("item", address, "empty") if "properties" not in schema else Point("item", address, "entry")
            yield from self._of_inner(place.at("additionalProperties"), "item")

    def _of_inner(self, place: Place, kind: str) -> Iterator[Point]:
        if self.types_at(place):
            yield from (Point(kind, place.address, what) for what in ("present", "null", "wrong type"))
        yield from self._of(place)

    def _of_object(self, place: Place) -> Iterator[Point]:
        open_or_closed = "refused" if place.schema["additionalProperties"] is False else "taken"
        yield Point("closed or open", place.address, f"unknown member {open_or_closed}")
        for name in place.schema["properties"]:
            member = place.at("properties", name)
            whats = ["present", "absent", "null", *(["wrong type"] if self.types_at(member) else [])]
            yield from (Point("member", member.address, what) for what in whats)
            yield from self._of(member)

    def _sizes(self, schema: Schema) -> tuple[str, ...]:
        return ("empty", "several") if schema.get("minItems", 0) > 1 else ("empty", "one", "several")

    def _sides(self, schema: Schema, limit: str) -> Iterator[str]:
        yield "at"
        if limit in ("minLength", "minItems") and schema[limit] == 0:
            return
        yield "outside"
        other = {"minLength": "maxLength", "maxLength": "minLength", "minimum": "maximum", "maximum": "minimum"}.get(
            limit
        )
        if other is None or schema.get(other) != schema[limit]:
            yield "inside"

    def types_at(self, place: Place) -> set[str]:
        """The JSON types that a place takes; empty when it takes any."""
        place = self.resolved(place)
        for branch in ("anyOf", "oneOf"):
            if branch in place.schema:
                return set().union(*(self.types_at(place.at(branch, i)) for i in range(len(place.schema[branch]))))
        types = place.schema.get("type", [])
        return {types} if isinstance(types, str) else set(types)

    def tags(self, place: Place) -> dict[str, Place]:
        """The variants of a tagged union."""
        found: dict[str, Place] = {}
        for index in range(len(place.schema.get("oneOf", ()))):
            variant = self.resolved(place.at("oneOf", index))
            for tag in TAGS:
                if "const" in variant.schema.get("properties", {}).get(tag, {}):
                    found[variant.schema["properties"][tag]["const"]] = variant
        return found
