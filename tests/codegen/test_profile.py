"""Every rule of the profile has a schema that breaks it and is reported, with file, pointer and reason."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.profile import KEYWORDS, lint

SCHEMAS = Path(__file__).parents[2] / "schema" / "v1"
PROFILE = SCHEMAS.parent / "PROFILE.md"
Schema = dict[str, Any]
GOOD: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "thing.json",
    "title": "Thing",
    "description": "A thing.",
    "type": "object",
    "additionalProperties": False,
    "required": ["id"],
    "properties": {
        "id": {"description": "Identity.", "type": "string", "minLength": 1},
        "count": {"description": "How many.", "type": "integer", "minimum": 0, "maximum": 9, "default": 0},
        "part": {"description": "A part.", "anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]},
        "shape": {"description": "Its shape.", "anyOf": [{"$ref": "#/$defs/Shape"}, {"type": "null"}]},
        "notes": {"description": "Notes.", "type": "object", "additionalProperties": {"type": "string"}},
        "names": {"description": "Names.", "type": "array", "items": {"type": "string"}},
        "digest": {
            "description": "Digest.",
            "type": ["string", "null"],
            "pattern": "^[0-9a-f]{4}$",
            "minLength": 4,
            "maxLength": 4,
        },
    },
    "$defs": {
        "Part": {
            "description": "A part.",
            "type": "object",
            "additionalProperties": {},
            "properties": {},
            "required": [],
        },
        "Shape": {"description": "A shape.", "oneOf": [{"$ref": "#/$defs/Round"}]},
        "Round": {
            "description": "A round one.",
            "type": "object",
            "additionalProperties": False,
            "required": ["kind"],
            "properties": {"kind": {"description": "Always `round`.", "type": "string", "const": "round"}},
        },
    },
}


def member(**schema: Any) -> Callable[[Schema], None]:
    """Puts a member `bad` into the root."""

    def change(document: Schema) -> None:
        document["properties"]["bad"] = {"description": "Bad.", **schema}

    return change


def at(*path: str, **values: Any) -> Callable[[Schema], None]:
    """Sets keywords of the schema at a path; a value of `...` takes the keyword out."""

    def change(document: Schema) -> None:
        place = document
        for part in path:
            place = place[part]
        for name, value in values.items():
            name = name.replace("dollar_", "$")
            if value is ...:
                del place[name]
            else:
                place[name] = value

    return change


def findings(tmp_path: Path, *documents: Schema) -> list[str]:
    for document in documents:
        (tmp_path / document["$id"] if "/" not in document["$id"] else tmp_path / "thing.json").write_text(
            json.dumps(document), "utf-8"
        )
    return lint(tmp_path)


INTEGER = {"type": "integer", "minimum": 0, "maximum": 9}
BROKEN: list[tuple[str, Callable[[Schema], None], str, str]] = [
    ("another draft", at(dollar_schema="http://json-schema.org/draft-07/schema#"), "", "draft 2020-12"),
    ("no title", at(title=...), "", "title and a description"),
    ("no description of the file", at(description=...), "", "title and a description"),
    (
        "a definition in lower case",
        at("$defs", part={"description": "x", "type": "string"}),
        "/$defs/part",
        "like classes",
    ),
    ("a definition without description", at("$defs", "Part", description=...), "/$defs/Part", "needs a description"),
    ("a member without description", at("properties", "id", description=...), "/properties/id", "needs a description"),
    ("additionalProperties left out", at(additionalProperties=...), "", "written out"),
    ("additionalProperties true", at(additionalProperties=True), "", "written out"),
    ("a map without additionalProperties", member(type="object"), "/properties/bad", "written out"),
    (
        "an inline object",
        member(type="object", additionalProperties=False, properties={}),
        "/properties/bad",
        "named definition",
    ),
    ("no type", member(minLength=1, default=""), "/properties/bad", "needs a type"),
    ("an unknown type", member(type=["text", "null"]), "/properties/bad", "unknown type 'text'"),
    ("an array without items", member(type="array"), "/properties/bad", "what its items are"),
    (
        "a reserved name",
        at("properties", additional={"description": "x", "type": ["string", "null"]}),
        "/properties/additional",
        "reserved",
    ),
    (
        "a star as a name",
        at("properties", **{"*": {"description": "x", "type": ["string", "null"]}}),
        "/properties/*",
        "reserved",
    ),
    ("an undeclared required member", at(required=["id", "gone"]), "", "'gone' is not declared"),
    (
        "an optional scalar without default",
        member(type="string"),
        "/properties/bad",
        "nullable, an array, a map, or has a default",
    ),
    (
        "a default of null",
        member(type="string", default=None),
        "/properties/bad",
        "nullable, an array, a map, or has a default",
    ),
    ("a required member with a default", at("properties", "id", default="x"), "/properties/id", "no default"),
    (
        "a reference with company",
        member(**{"$ref": "#/$defs/Part", "type": "object", "default": {}}),
        "/properties/bad",
        "stands alone",
    ),
    (
        "anyOf of scalars",
        member(anyOf=[{"type": "string"}, {"type": "null"}]),
        "/properties/bad",
        "a reference or null",
    ),
    (
        "anyOf of two references",
        member(anyOf=[{"$ref": "#/$defs/Part"}, {"$ref": "#/$defs/Shape"}], default={}),
        "/properties/bad",
        "a reference or null",
    ),
    (
        "oneOf of scalars",
        at("$defs", "Shape", oneOf=[{"type": "string"}, {"type": "boolean"}]),
        "/$defs/Shape",
        "references to tagged objects",
    ),
    ("a tag that is not required", at("$defs", "Round", required=[]), "/$defs/Round", "one tag at most"),
    (
        "a const that is no tag",
        at("$defs", "Round", "properties", colour={"description": "x", "type": "string", "const": "red"}),
        "/$defs/Round",
        "one tag at most",
    ),
    (
        "a const that is a number",
        member(type="integer", minimum=0, maximum=9, const=1, default=1),
        "/properties/bad",
        "a const is a string",
    ),
    (
        "an enum of numbers",
        member(type=["string", "null"], enum=["a", 1.5]),
        "/properties/bad",
        "an enum holds strings",
    ),
    ("an integer without bounds", member(type="integer", default=0), "/properties/bad", "bounded within"),
    ("an integer with one bound", member(type="integer", minimum=0, default=0), "/properties/bad", "bounded within"),
    (
        "an integer beyond what JavaScript holds",
        member(type="integer", minimum=0, maximum=2**53, default=0),
        "/properties/bad",
        "bounded within",
    ),
    (
        "a pattern that is not anchored",
        member(type=["string", "null"], pattern="[a-z]+", maxLength=9),
        "/properties/bad",
        "anchored at both ends",
    ),
    (
        "a pattern of one length that does not say so by minLength and maxLength",
        member(type=["string", "null"], pattern="^[a-z]{4}$", minLength=4),
        "/properties/bad",
        "final newline",
    ),
    (
        "a pattern that lets a final newline pass",
        member(type=["string", "null"], pattern="^[a-z]+$", maxLength=9),
        "/properties/bad",
        "final newline",
    ),
    (
        "a pattern with a class that engines read differently",
        member(type=["string", "null"], pattern="^\\d{4}$", minLength=4, maxLength=4),
        "/properties/bad",
        "ASCII classes only",
    ),
    (
        "a format without pattern",
        member(type=["string", "null"], format="date-time"),
        "/properties/bad",
        "only format is date-time",
    ),
    (
        "another format",
        member(type=["string", "null"], format="uri", pattern="^[a]{1}$", minLength=1, maxLength=1),
        "/properties/bad",
        "only format is date-time",
    ),
    (
        "a fault in the items of an array",
        member(type="array", items={"type": "integer"}),
        "/properties/bad/items",
        "bounded within",
    ),
    (
        "a fault in the values of a map",
        member(type="object", additionalProperties={"type": "integer"}),
        "/properties/bad/additionalProperties",
        "bounded within",
    ),
    ("a schema that is no object", member(type="array", items=True), "/properties/bad/items", "a schema is an object"),
    *(
        (
            f"the keyword {word}",
            member(**{"type": ["string", "null"], word: value}),
            "/properties/bad",
            f"keyword {word!r}",
        )
        for word, value in {
            "prefixItems": [],
            "not": {},
            "if": {},
            "then": {},
            "contains": {},
            "unevaluatedProperties": False,
            "unevaluatedItems": False,
            "multipleOf": 2,
            "dependentRequired": {},
            "patternProperties": {},
            "propertyNames": {},
            "uniqueItems": True,
            "allOf": [],
            "maxItems": 3,
            "exclusiveMaximum": 3,
            "$dynamicRef": "#x",
            "$comment": "x",
            "examples": [],
            "x-unheard-of": True,
        }.items()
    ),
]


def test_the_schemas_of_the_contract_keep_to_the_profile() -> None:
    assert lint(SCHEMAS) == []


def test_a_schema_within_the_profile_passes(tmp_path: Path) -> None:
    assert findings(tmp_path, GOOD) == []


@pytest.mark.parametrize(("change", "where", "why"), [each[1:] for each in BROKEN], ids=[each[0] for each in BROKEN])
def test_a_broken_rule_is_reported(tmp_path: Path, change: Callable[[Schema], None], where: str, why: str) -> None:
    document = copy.deepcopy(GOOD)
    change(document)
    assert any(line.startswith(f"thing.json#{where}: ") and why in line for line in findings(tmp_path, document)), lint(
        tmp_path
    )


def test_an_id_that_is_not_the_file_name_is_reported(tmp_path: Path) -> None:
    (tmp_path / "thing.json").write_text(json.dumps(GOOD | {"$id": "https://example.org/thing.json"}), "utf-8")
    assert lint(tmp_path) == ["thing.json#: $id must be the file name 'thing.json'"]


def test_a_name_defined_in_two_files_is_reported(tmp_path: Path) -> None:
    other = copy.deepcopy(GOOD) | {"$id": "zoo.json", "title": "Zoo"}
    found = findings(tmp_path, GOOD, other)
    assert "zoo.json#/$defs/Part: the name is taken by thing.json" in found


def test_the_profile_names_every_keyword_it_allows() -> None:
    text = PROFILE.read_text("utf-8")
    assert [word for word in sorted(KEYWORDS) if f"`{word}`" not in text and f'"{word}' not in text] == []


def test_every_pattern_of_the_contract_compiles_and_refuses_a_final_newline() -> None:
    patterns = set(
        re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', "".join(p.read_text("utf-8") for p in SCHEMAS.glob("*.json")))
    )
    for pattern in patterns:
        assert not re.search(json.loads(pattern), "\n")
