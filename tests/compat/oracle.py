"""What an edit of a schema does to documents, found without `codegen.compat`: boundary documents of each version, put
to
the reference validator of the other.

A document is read as readers do: members that a closed object does not know are set apart, the rest must be valid;
and a member that is left out counts as what the schema says of its absence.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from codegen.vectors.patterns import matching

Schema = dict[str, Any]
Files = dict[str, Any]
SAFE = 2**53 - 1
ANY: tuple[Any, ...] = (None, True, 0, -3, 1, 2.5, "", "text", [], [None], {}, {"x": 1})
LONG, LONGEST = 300, 300_000
"""More than patterns ask for, and more than any length that the schemas set."""


class Reader:
    """One version of the schemas as programs in the field have it."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.places: dict[str, tuple[str, Schema]] = {}
        for file, document in files.items():
            if "properties" in document:
                self.places[document["title"]] = (file, document)
            for name, schema in document.get("$defs", {}).items():
                self.places[name] = (f"{file}#/$defs/{name}", schema)
        resources = [(file, Resource.from_contents(document)) for file, document in files.items()]
        self.registry: Any = Registry().with_resources(resources)
        self.validators: dict[str, Any] = {}

    def is_valid(self, name: str, document: Any) -> bool:
        if name not in self.validators:
            schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": self.places[name][0]}
            self.validators[name] = Draft202012Validator(schema, registry=self.registry)
        return bool(self.validators[name].is_valid(document))

    def resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.places[schema["$ref"].rsplit("/", 1)[-1]][1]
        return schema

    def forgiven(self, schema: Schema, document: Any) -> Any:
        """The document without what a closed object does not know."""
        schema = self.resolved(schema)
        for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            if self.selects(branch, document):
                return self.forgiven(branch, document)
        if isinstance(document, list) and "items" in schema:
            return [self.forgiven(schema["items"], each) for each in document]
        if isinstance(document, dict) and "additionalProperties" in schema:
            known, others = schema.get("properties", {}), schema["additionalProperties"]
            return {
                name: self.forgiven(known.get(name, others or {}), value)
                for name, value in document.items()
                if name in known or others is not False
            }
        return document

    def selects(self, branch: Schema, document: Any) -> bool:
        branch = self.resolved(branch)
        if "oneOf" in branch or "anyOf" in branch:
            return any(self.selects(each, document) for each in (*branch.get("oneOf", ()), *branch.get("anyOf", ())))
        if isinstance(document, dict):
            tags = {key: value["const"] for key, value in branch.get("properties", {}).items() if "const" in value}
            return branch.get("type") == "object" and all(document.get(key) == value for key, value in tags.items())
        return isinstance(document, list) and branch.get("type") == "array"

    def absent(self, member: Schema) -> Any:
        """What a member counts as when it is left out."""
        if "default" in member:
            return member["default"]
        schema = self.resolved(member)
        types = schema.get("type", [])
        types = types if isinstance(types, list) else [types]
        empty = [] if "array" in types else {} if "object" in types else None
        return None if "null" in types or "anyOf" in schema else empty

    # Documents at the edges of what is valid.

    def documents(self, name: str, other: Reader) -> list[Any]:
        """Valid documents of a type that lie at its bounds; members that only the other version names are tried too."""
        found = [each for each in self.values({"$ref": self.places[name][0]}, 2, other) if self.is_valid(name, each)]
        assert found, name
        return found

    def values(self, schema: Schema, depth: int, other: Reader) -> Iterator[Any]:
        named = schema.get("$ref", "").rsplit("/", 1)[-1]
        if "$ref" in schema and "/" not in schema["$ref"]:
            named = self.files[named]["title"]
        schema = self.places[named][1] if named else schema
        twin = other.places.get(named, ("", {}))[1] if named else {}
        for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            yield from self.values(branch, depth, other)
        if "oneOf" in schema or "anyOf" in schema:
            return
        if "const" in schema or "enum" in schema:
            yield from [schema["const"]] if "const" in schema else schema["enum"]
        elif "type" not in schema:
            yield from ANY
        kinds = schema.get("type", [])
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            yield from self.typed(kind, schema, depth, other, twin)

    def typed(self, kind: str, schema: Schema, depth: int, other: Reader, twin: Schema) -> Iterator[Any]:
        match kind:
            case "null":
                yield None
            case "boolean":
                yield from (True, False)
            case "integer" | "number":
                yield from numbers(schema, kind)
            case "string" if "const" not in schema and "enum" not in schema:
                yield from texts(schema)
            case "array":
                least = schema.get("minItems", 0)
                items = list(self.values(schema["items"], depth, other))
                first = self.smallest(schema["items"])
                yield [first] * least
                yield [first] * (least + 1)
                yield from ([each] * max(1, least) for each in items)
            case "object":
                yield from self.objects(schema, depth, other, twin)

    def objects(self, schema: Schema, depth: int, other: Reader, twin: Schema) -> Iterator[dict[str, Any]]:
        members, needed = schema.get("properties", {}), set(schema.get("required", ()))
        least = {name: self.smallest(members[name]) for name in members if name in needed}
        yield least
        if depth == 0:
            return
        for name, member in members.items():
            for value in self.values(member, depth - 1, other):
                yield least | {name: value}
        others = schema["additionalProperties"]
        if others is not False:
            for name in ("zz_other", *(set(twin.get("properties", {})) - set(members))):
                for value in self.values(others, depth - 1, other):
                    yield least | {name: value}

    def smallest(self, schema: Schema) -> Any:
        schema = self.resolved(schema)
        branches = schema.get("oneOf") or schema.get("anyOf")
        if branches:
            return self.smallest(branches[0])
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kinds = schema.get("type")
        match kinds if isinstance(kinds, str) or kinds is None else kinds[0]:
            case "array":
                return [self.smallest(schema["items"])] * schema.get("minItems", 0)
            case "object":
                return {name: self.smallest(schema["properties"][name]) for name in schema.get("required", ())}
            case "string":
                return next(texts(schema))
            case "integer" | "number" as kind:
                return next(numbers(schema, kind))
            case "boolean":
                return True
            case _:
                return None


def numbers(schema: Schema, kind: str) -> Iterator[Any]:
    least, most = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    near = [
        least,
        most,
        *((each + step) for each in (least, most) if each is not None for step in (1, -1, 0.5, -0.5, 1e-9)),
    ]
    for value in (*near, 0, 1, -1, 2.5, -2.5, 1e300, -1e300, SAFE, -SAFE):
        whole = value is not None and float(value).is_integer()
        above = value is not None and (schema.get("exclusiveMinimum") is None or value > schema["exclusiveMinimum"])
        inside = above and (least is None or value >= least) and (most is None or value <= most)
        if inside and (kind == "number" or whole):
            yield int(value) if kind == "integer" else value


def texts(schema: Schema) -> Iterator[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if "pattern" in schema:
        yield from matched(schema["pattern"], least, LONG if most is None else most)
    else:
        yield from free(least, LONGEST if most is None else most)


@cache
def matched(pattern: str, least: int, most: int) -> tuple[str, ...]:
    lengths = sorted({least, least + 1, most, most - 1, most // 2, *range(0, 40, 3), 30})
    made = {matching(pattern, length, choice) for length in lengths for choice in range(4)}
    return tuple(sorted(each for each in made if least <= len(each) <= most))


@cache
def free(least: int, most: int) -> tuple[str, ...]:
    lengths = {least, least + 1, most, most - 1, 5, 40} if most < LONGEST else {least, least + 1, 5, 40, LONGEST}
    made = ["x" * length for length in sorted(lengths)] + ["Ä b\n", "UPPER", "no such value"]
    return tuple(each for each in made if least <= len(each) <= most) or ("x" * least,)


def breaks(old: Files, new: Files) -> frozenset[str]:
    """Whom an edit breaks, by trying it out on every type whose text it changed."""
    before, after = Reader(copy.deepcopy(old)), Reader(copy.deepcopy(new))
    found: set[str] = set()
    for name in before.places.keys() & after.places.keys():
        one, two = before.places[name][1], after.places[name][1]
        if without_definitions(one) == without_definitions(two):
            continue
        for document in before.documents(name, after):
            if not after.is_valid(name, document):
                found.add("writers")
        for document in after.documents(name, before):
            if not before.is_valid(name, before.forgiven(one, document)):
                found.add("readers")
        if means_something_else(before, after, one, two):
            found |= {"readers", "writers"}
    return frozenset(found)


def without_definitions(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "$defs"}


def means_something_else(before: Reader, after: Reader, one: Schema, two: Schema) -> bool:
    """Whether a member that may be left out in both versions then counts as another value."""
    names = one.get("properties", {}).keys() & two.get("properties", {}).keys()
    optional = names - set(one.get("required", ())) - set(two.get("required", ()))
    return any(before.absent(one["properties"][each]) != after.absent(two["properties"][each]) for each in optional)
