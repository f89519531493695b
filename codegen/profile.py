"""The profile: what a schema file may say (`schema/PROFILE.md`), checked before anything is generated.

Promise: a schema that passes generates structs whose native decode accepts exactly what the schema accepts, streams and
integral floats apart. Every finding names the file, the JSON Pointer and the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KEYWORDS = frozenset(
    {
        "$defs",
        "$id",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
        "x-computed",
        "x-minted",
        "x-omit-empty",
        "x-open-vocabulary",
        "x-secret",
        "x-since",
        "x-stream",
        "x-wire",
    }
)
TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
SAFE = 2**53 - 1
WHO = {"x-written-by", "x-read-by"}
RESERVED = frozenset({"additional", "*"})
CALLED = frozenset({"always", "field", "new_dict", "new_list"})
"""What the bodies of closed classes call."""
FORBIDDEN_CLASSES = re.compile(r"\\[dDwWsSbBpPkuZA]|\(\?(?!:|!\\n\))")

Finding = str


def lint(folder: Path) -> list[Finding]:
    """All findings over the schema files of a folder."""
    findings: list[Finding] = []
    names: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "retired.json":
            continue
        document = json.loads(path.read_text("utf-8"))
        findings += [f"{path.name}#{where}: {why}" for where, why in _file(document, path.name)]
        for name in document.get("$defs", {}):
            if name in names:
                findings.append(f"{path.name}#/$defs/{name}: the name is taken by {names[name]}")
            names[name] = path.name
    return findings


def _file(document: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    if document.get("$schema") != "https://json-schema.org/draft/2020-12/schema":
        yield "", "$schema must name draft 2020-12"
    if document.get("$id") != name:
        yield "", f"$id must be the file name {name!r}"
    if not document.get("title") or not document.get("description"):
        yield "", "a file needs a title and a description"
    if any(not isinstance(document[key], str) or not document[key] for key in WHO & document.keys()):
        yield "", "x-written-by and x-read-by are texts"
    if "properties" in document:
        yield from _object(document, "")
    for title, schema in document.get("$defs", {}).items():
        where = f"/$defs/{title}"
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", title):
            yield where, "definitions are named like classes"
        if not schema.get("description"):
            yield where, "a definition needs a description"
        yield from _node(schema, where, root=True)


def _node(schema: Any, where: str, *, root: bool = False) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, dict):
        yield where, "a schema is an object"
        return
    for keyword in schema.keys() - KEYWORDS:
        yield where, f"the keyword {keyword!r} is not in the profile"
    if schema == {} or schema.keys() == {"description"}:
        return
    if "$ref" in schema:
        if schema.keys() & {"type", "properties", "oneOf", "anyOf", "enum", "pattern"}:
            yield where, "$ref stands alone, beside annotations"
        return
    if "oneOf" in schema or "anyOf" in schema:
        yield from _choice(schema, where)
        return
    if "type" not in schema:
        yield where, "a schema needs a type"
        return
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    for name in set(types) - TYPES:
        yield where, f"unknown type {name!r}"
    yield from _scalars(schema, where, types)
    if "object" in types:
        if "properties" in schema:
            if not root:
                yield where, "an object with members is a named definition"
            yield from _object(schema, where)
        else:
            yield from _extra(schema, where)
    if "array" in types:
        if "items" not in schema:
            yield where, "an array says what its items are"
        else:
            yield from _node(schema["items"], f"{where}/items")


def _choice(schema: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    branches = schema.get("oneOf", schema.get("anyOf"))
    keyword = "oneOf" if "oneOf" in schema else "anyOf"
    if keyword == "anyOf":
        if len(branches) != 2 or "$ref" not in branches[0] or branches[1] != {"type": "null"}:
            yield where, "anyOf is a reference or null"
        return
    text_or_parts = len(branches) == 2 and branches[0] == {"type": "string"} and branches[1].get("type") == "array"
    if not text_or_parts and not all(branch.keys() == {"$ref"} for branch in branches):
        yield where, "oneOf is a choice of references to tagged objects, or text or an array of parts"


def _scalars(schema: dict[str, Any], where: str, types: list[str]) -> Iterator[tuple[str, str]]:
    if "integer" in types:
        bounds = (schema.get("minimum"), schema.get("maximum"))
        if any(type(bound) is not int or abs(bound) > SAFE for bound in bounds):
            yield where, "an integer is bounded within ±(2^53−1), both ends written"
    if "const" in schema and (not isinstance(schema["const"], str) or types != ["string"]):
        yield where, "a const is a string: the tag of a union's variant"
    if "enum" in schema and not all(isinstance(value, str) for value in schema["enum"]):
        yield where, "an enum holds strings"
    if "pattern" in schema:
        pattern = schema["pattern"]
        if not (pattern.startswith("^") and pattern.endswith("$")):
            yield where, "a pattern is anchored at both ends"
        fixed = "maxLength" in schema and schema.get("minLength") == schema["maxLength"]
        if not pattern.endswith("(?!\\n)$") and not fixed:
            yield where, "a pattern ends with (?!\\n)$, or fixes the length: some engines let $ pass a final newline"
        if FORBIDDEN_CLASSES.search(pattern):
            yield where, "a pattern uses explicit ASCII classes only"
    if "format" in schema and (schema["format"] != "date-time" or "pattern" not in schema):
        yield where, "the only format is date-time, beside a pattern that says it all"


def _extra(schema: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    extra = schema.get("additionalProperties")
    if extra is None or extra is True:
        yield where, "additionalProperties is written out: false, {} or a schema"
    elif extra is not False and extra != {}:
        yield from _node(extra, f"{where}/additionalProperties")


def _object(schema: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    yield from _extra(schema, where)
    required = schema.get("required", [])
    for name in set(required) - schema["properties"].keys():
        yield where, f"required member {name!r} is not declared"
    tags = [name for name, member in schema["properties"].items() if "const" in member]
    if len(tags) > 1 or any(name not in {"kind", "type", "role"} or name not in required for name in tags):
        yield where, "one tag at most, named kind, type or role, and required"
    for name, member in schema["properties"].items():
        place = f"{where}/properties/{name}"
        if name in RESERVED or (name in CALLED and schema["additionalProperties"] is False):
            yield place, "the name is reserved"
        if not member.get("description"):
            yield place, "a member needs a description: meaning, unit, shape"
        yield from _node(member, place)
        if name not in required and not _may_be_missing(member):
            yield place, "an optional member is nullable, an array, a map, or has a default"
        if name in required and "default" in member:
            yield place, "a required member has no default"


def _may_be_missing(member: dict[str, Any]) -> bool:
    types = member.get("type", [])
    types = types if isinstance(types, list) else [types]
    if "default" in member:
        return member["default"] is not None
    nullable = "null" in types or any(branch.get("type") == "null" for branch in member.get("anyOf", ()))
    return nullable or "array" in types or "object" in types or str(member.get("$ref", "")).endswith("Map")
