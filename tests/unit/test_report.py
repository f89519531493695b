"""What a person reads about a broken document: the variant that was meant, the exact place, no secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.errors import Violation
from evh.protocol.engine import Schemas
from evh.protocol.report import github_line, ordered

OBJECT = {"type": "object", "additionalProperties": False}


def variant(role: str, **members: Any) -> dict[str, Any]:
    properties = {"role": {"type": "string", "const": role}, **members}
    return OBJECT | {"required": ["role", *(name for name in members if name != "extra")], "properties": properties}


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "talk.json",
    "title": "Talk",
    **OBJECT,
    "required": [],
    "properties": {
        "messages": {"type": "array", "items": {"$ref": "#/$defs/Message"}, "minItems": 1, "maxItems": 3},
        "last": {"anyOf": [{"$ref": "#/$defs/Message"}, {"type": "null"}]},
        "env": {"$ref": "#/$defs/Texts", "x-secret": True},
        "score": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
        "level": {"type": "string", "enum": ["low", "high"]},
        "note": {"type": "string", "minLength": 2, "maxLength": 100},
        "a/b": {"type": "object", "additionalProperties": {"type": "integer"}},
        "odd": {"oneOf": [{"type": "integer"}, {"type": "number"}, {"type": "string", "maxLength": 1}]},
    },
    "$defs": {
        "Texts": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 30}},
        "Message": {"oneOf": [{"$ref": "#/$defs/System"}, {"$ref": "#/$defs/User"}, {"$ref": "#/$defs/Tool"}]},
        "System": variant("system", content={"type": "string"}),
        "User": variant(
            "user",
            content={"oneOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Part"}}]},
        ),
        "Tool": variant("tool", id={"type": "string", "pattern": "^[a-z]+$", "maxLength": 9}),
        "Part": {"oneOf": [{"$ref": "#/$defs/Text"}, {"$ref": "#/$defs/Image"}]},
        "Text": variant("text", text={"type": "string"}),
        "Image": variant("image", width={"type": "integer", "minimum": 1, "maximum": 9}),
    },
}


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Schemas:
    folder = tmp_path_factory.mktemp("schemas")
    (folder / "talk.json").write_text(json.dumps(SCHEMA))
    return Schemas(folder)


CASES: list[tuple[Any, list[tuple[str, str, str]]]] = [
    (
        {"messages": [{"role": "system", "content": 5}]},
        [("/messages/0/content", "type", "expected text, found 5")],
    ),
    (
        {"messages": [{"role": "robot", "content": "x"}]},
        [("/messages/0", "oneOf", "no variant with role='robot' (known: 'system', 'user', 'tool')")],
    ),
    (
        {"messages": [{"content": "x"}]},
        [("/messages/0", "oneOf", "no variant: member 'role' is missing (known: 'system', 'user', 'tool')")],
    ),
    ({"messages": [7]}, [("/messages/0", "oneOf", "expected an object, found 7")]),
    ({"last": []}, [("/last", "oneOf", "expected an object, found an array of 0 items")]),
    (
        {"last": {"role": "tool", "id": "A", "more": [1], "extra": "very secret"}},
        [
            ("/last/extra", "additionalProperties", "unexpected member 'extra'"),
            ("/last/id", "pattern", "expected text of the form '^[a-z]+$', found 'A'"),
            ("/last/more", "additionalProperties", "unexpected member 'more'"),
        ],
    ),
    (
        {"messages": [{"role": "user", "content": [{"role": "text"}, {"role": "image", "width": 0}, "x"]}]},
        [
            ("/messages/0/content/0", "required", "member 'text' is missing"),
            ("/messages/0/content/1/width", "minimum", "expected at least 1, found 0"),
            ("/messages/0/content/2", "oneOf", "expected an object, found 'x'"),
        ],
    ),
    (
        {"messages": [{"role": "user", "content": 5}]},
        [("/messages/0/content", "oneOf", "expected text or an array, found 5")],
    ),
    ({"messages": []}, [("/messages", "minItems", "expected at least 1 items, found 0")]),
    ({"score": 0}, [("/score", "exclusiveMinimum", "expected more than 0, found 0")]),
    ({"score": 10**80}, [("/score", "maximum", "expected at most 1, found a very large integer")]),
    ({"score": True}, [("/score", "type", "expected a number or null, found true")]),
    ({"level": "mid"}, [("/level", "enum", "expected one of 'low', 'high'; found 'mid'")]),
    ({"note": "x" * 5000}, [("/note", "maxLength", "expected at most 100 characters, found 5000")]),
    ({"note": None}, [("/note", "type", "expected text, found null")]),
    (
        {"a/b": {"~": "x", "0": 1.5}},
        [("/a~1b/0", "type", "expected an integer, found 1.5"), ("/a~1b/~0", "type", "expected an integer, found 'x'")],
    ),
    ({"odd": 1}, [("/odd", "oneOf", "fits more than one of 3 variants")]),
    ({"odd": "long"}, [("/odd", "maxLength", "expected at most 1 characters, found 4")]),
    ({"odd": None}, [("/odd", "oneOf", "expected an integer or a number or text, found null")]),
    ([], [("", "type", "expected an object, found an array of 0 items")]),
]


@pytest.mark.parametrize(("doc", "expected"), CASES)
def test_both_engines_are_reported_alike_and_in_words(
    schemas: Schemas, doc: Any, expected: list[tuple[str, str, str]]
) -> None:
    violations = schemas.violations("talk", doc)
    assert [violation[:3] for violation in violations] == expected
    assert schemas.reference_violations("talk", doc) == violations


def test_schema_pointers_lead_to_the_keyword(schemas: Schemas) -> None:
    (violation,) = schemas.violations("talk", {"last": {"role": "user", "content": [{"role": "image", "width": 0}]}})
    assert violation.schema_pointer == "/$defs/Image/properties/width/minimum"
    node = schemas.json_schema("talk", bundle=True)
    for part in violation.schema_pointer.split("/")[1:]:
        node = node[part]
    assert node == 1


def test_secrets_and_whole_values_are_never_shown(schemas: Schemas) -> None:
    secret = "sk-" + "k3y" * 30
    doc = {"env": {"TOKEN": secret, "PIN": 123456}, "messages": [{"role": "system", "content": {"a": secret}}]}
    for find in (schemas.violations, schemas.reference_violations):
        text = "\n".join(str(violation) for violation in find("talk", doc))
        assert "/env/TOKEN: expected at most 30 characters" in text
        assert "/env/PIN: expected text, found a value that is not shown" in text
        assert "k3y" not in text
        assert "123456" not in text
    (violation,) = schemas.violations("talk", {"env": secret})
    assert "k3y" not in violation.message
    (violation,) = schemas.violations("talk", {"level": "x" * 5000})
    assert len(violation.message) < 150


def test_violations_are_ordered_and_said_once() -> None:
    a, b = Violation("/a", "type", "x"), Violation("/a", "enum", "x")
    assert ordered([a, Violation("", "type", "y"), b, a]) == [Violation("", "type", "y"), b, a]


def test_github_lines_are_escaped() -> None:
    violation = Violation("/a,b", "type", "100% wrong\r\nsecond \ud800 line")
    assert github_line(violation, "runs/a:b,c.jsonl", 7) == (
        "::error file=runs/a%3Ab%2Cc.jsonl,line=7,title=evh%3A type::/a,b: 100%25 wrong%0D%0Asecond \\ud800 line [type]"
    )
    assert github_line(Violation("", "type", "x"), "f").startswith("::error file=f,title=")
