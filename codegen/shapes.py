"""Our own reading of the schemas: every object type as a `Shape`, every member as a `Member`.

The structs come out of datamodel-code-generator; the tables, the open objects and the checks come out of this reading.
A test compares the two, so neither can misread a schema alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

HAND_WRITTEN = frozenset({"Tensor"})
"""Types whose Python class is written by hand, because their form depends on the codec."""

KEYWORD_NAMES = {"from": "from_", "with": "with_", "class": "class_", "import": "import_"}


@dataclass(frozen=True)
class Kind:
    """What a value is: `what` is one of class, open, object, union, array, map, parts, integer, number, scalar, any.

    `name` is the type's for class, open and union; `item` the kind of the elements of arrays, maps and parts (text or
    an array of them), and `null_items` says that elements may be null.
    """

    what: str
    name: str = ""
    item: Kind | None = None
    null_items: bool = False


@dataclass(frozen=True)
class Member:
    name: str
    schema: Schema
    required: bool
    nullable: bool
    kind: Kind

    @property
    def python(self) -> str:
        """The attribute's name: the wire name, without leading underscores, with one behind a keyword."""
        return KEYWORD_NAMES.get(self.name, self.name.lstrip("_").rstrip("_"))

    @property
    def description(self) -> str:
        return str(self.schema["description"])


@dataclass(frozen=True)
class Shape:
    """An object type. `extra` is None for a closed one, else the schema of the members it does not name."""

    name: str
    file: str
    description: str
    members: tuple[Member, ...]
    extra: Schema | None
    tag: tuple[str, str] | None

    @property
    def closed(self) -> bool:
        return self.extra is None


@dataclass(frozen=True)
class Union:
    name: str
    file: str
    description: str
    tag: str
    variants: tuple[str, ...]


class Contract:
    """All schema files of a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self.files = {
            path.name: json.loads(path.read_text("utf-8"))
            for path in sorted(folder.glob("*.json"))
            if path.name != "retired.json"
        }
        self.retired: list[dict[str, str]] = json.loads((folder / "retired.json").read_text("utf-8"))["retired"]
        self.definitions: dict[str, tuple[str, Schema]] = {}
        for name, document in self.files.items():
            if "properties" in document:
                self.definitions[document["title"]] = (name, document)
            for title, schema in document.get("$defs", {}).items():
                self.definitions[title] = (name, schema)
        self.shapes = {
            name: self._shape(name)
            for name, (_, schema) in self.definitions.items()
            if "properties" in schema and name not in HAND_WRITTEN
        }
        self.unions = {name: self._union(name) for name, (_, s) in self.definitions.items() if is_union(s)}

    def roots(self) -> dict[str, str]:
        """Class name of each root, by file stem."""
        return {Path(name).stem: doc["title"] for name, doc in self.files.items() if doc["title"] in self.definitions}

    def _shape(self, name: str) -> Shape:
        file, schema = self.definitions[name]
        required = set(schema.get("required", ()))
        members = tuple(self._member(key, value, key in required) for key, value in schema["properties"].items())
        tags = [(m.name, m.schema["const"]) for m in members if "const" in m.schema]
        extra = None if schema["additionalProperties"] is False else schema["additionalProperties"]
        return Shape(name, file, schema["description"], members, extra, tags[0] if tags else None)

    def _union(self, name: str) -> Union:
        file, schema = self.definitions[name]
        variants = tuple(reference_name(branch) for branch in schema["oneOf"])
        tag = next(key for key, value in self.definitions[variants[0]][1]["properties"].items() if "const" in value)
        return Union(name, file, schema["description"], tag, variants)

    def _member(self, name: str, schema: Schema, required: bool) -> Member:
        return Member(name, schema, required, self._nullable(schema), self.kind(schema))

    def _nullable(self, schema: Schema) -> bool:
        if "anyOf" in schema:
            return any(branch.get("type") == "null" for branch in schema["anyOf"])
        return isinstance(schema.get("type"), list) and "null" in schema["type"]

    def kind(self, schema: Schema) -> Kind:
        """What the values of a schema are; nullability is left to the member."""
        if "$ref" in schema:
            return self._referenced(reference_name(schema))
        if "anyOf" in schema:
            return self.kind(next(branch for branch in schema["anyOf"] if branch.get("type") != "null"))
        if "oneOf" in schema:
            return Kind("parts", item=self.kind(schema["oneOf"][1]["items"]))
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else [each for each in types if each != "null"]
        match types:
            case ["array"]:
                return Kind("array", item=self.kind(schema["items"]))
            case ["object"]:
                values = schema["additionalProperties"]
                return Kind("map", item=self.kind(values), null_items=self._nullable(values))
            case ["integer"]:
                return Kind("integer")
            case ["number"]:
                return Kind("number")
            case []:
                return Kind("any")
            case _:
                return Kind("scalar")

    def _referenced(self, name: str) -> Kind:
        _, schema = self.definitions[name]
        if name in HAND_WRITTEN:
            return Kind("tensor", name)
        if is_union(schema):
            return Kind("union", name)
        if "properties" in schema:
            return Kind("class" if schema["additionalProperties"] is False else "open", name)
        if schema.get("type") == "object" and schema["additionalProperties"] == {}:
            return Kind("object", name)
        return self.kind(schema)

    def resolve(self, schema: Schema) -> Schema:
        """The schema behind a `$ref`, or the schema itself."""
        return self.definitions[reference_name(schema)][1] if "$ref" in schema else schema


def is_union(schema: Schema) -> bool:
    return "oneOf" in schema and all("$ref" in branch for branch in schema["oneOf"])


def reference_name(schema: Schema) -> str:
    """`TraceTask` for `{"$ref": "trace.json#/$defs/TraceTask"}`; a bare file name is its root."""
    return str(schema["$ref"]).rsplit("/", 1)[-1]
