"""The validators: a verdict for any value, self-contained bundles, one list of violations."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from evh.errors import DecodeError, SourceError, UsageError, Violation
from evh.protocol.engine import Schemas, is_date_time
from evh.protocol.jsontext import MAX_DEPTH, NonFinite

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FILES: dict[str, dict[str, Any]] = {
    "common.json": {
        "$schema": DRAFT,
        "$id": "common.json",
        "$defs": {
            "Hash": {"type": "string", "pattern": "^[0-9a-f]{2,8}$", "maxLength": 8},
            "Instant": {"type": "string", "format": "date-time"},
            "Unused": {"type": "null"},
        },
    },
    "box.json": {
        "$schema": DRAFT,
        "$id": "box.json",
        "title": "Box",
        "type": "object",
        "additionalProperties": False,
        "required": ["id"],
        "properties": {
            "id": {"$ref": "common.json#/$defs/Hash"},
            "at": {"anyOf": [{"$ref": "common.json#/$defs/Instant"}, {"type": "null"}]},
            "inside": {"type": "array", "items": {"$ref": "#"}},
            "thing": {"$ref": "things.json"},
            "count": {"type": "integer", "minimum": 0, "maximum": 9007199254740991},
            "ratio": {"type": "number"},
            "data": {"type": "object", "additionalProperties": {}},
            "default": {"$ref": "#/$defs/Note"},
        },
        "$defs": {"Note": {"type": "string", "default": "#/$ref", "maxLength": 20}},
    },
    "things.json": {
        "$schema": DRAFT,
        "$id": "things.json",
        "title": "Thing",
        "$ref": "#/$defs/Thing",
        "$defs": {
            "Thing": {"oneOf": [{"$ref": "#/$defs/Cup"}, {"$ref": "#/$defs/Lid"}]},
            "Cup": {
                "type": "object",
                "additionalProperties": False,
                "required": ["kind"],
                "properties": {"kind": {"type": "string", "const": "cup"}, "lid": {"$ref": "#/$defs/Thing"}},
            },
            "Lid": {
                "type": "object",
                "additionalProperties": {},
                "required": ["kind", "size"],
                "properties": {
                    "kind": {"type": "string", "const": "lid"},
                    "size": {"type": "integer", "minimum": 0, "maximum": 9},
                    "on": {"$ref": "box.json"},
                },
            },
        },
    },
    "retired.json": {"members": []},
}


def write(folder: Path, schemas: dict[str, dict[str, Any]]) -> Path:
    for name, schema in schemas.items():
        (folder / name).write_text(json.dumps(schema))
    return folder


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Schemas:
    return Schemas(write(tmp_path_factory.mktemp("schemas"), FILES))


def found(schemas: Schemas, doc: Any, root: str = "box", wire: bool = False) -> list[tuple[str, str]]:
    """Pointer and keyword of all violations, after every way of asking has given the same answer."""
    violations = schemas.violations(root, doc, wire=wire)
    assert violations == schemas.reference_violations(root, doc, wire=wire)
    assert schemas.is_valid(root, doc, wire=wire) == (violations == [])
    return [(violation.pointer, violation.keyword) for violation in violations]


def test_valid_and_invalid_documents(schemas: Schemas) -> None:
    good = {"id": "ab", "at": None, "inside": [{"id": "cd"}], "thing": {"kind": "cup"}, "count": 3.0, "default": "x"}
    assert found(schemas, good) == []
    assert found(schemas, {"id": "AB", "count": -1, "x": 1, "inside": [{}, 5]}) == [
        ("/count", "minimum"),
        ("/id", "pattern"),
        ("/inside/0", "required"),
        ("/inside/1", "type"),
        ("/x", "additionalProperties"),
    ]


def test_a_definition_can_be_the_root(schemas: Schemas) -> None:
    assert found(schemas, {"kind": "lid", "size": 4, "more": 1}, "things#Lid") == []
    assert found(schemas, "zz", "common#Hash") == [("", "pattern")]


def test_end_of_text_is_not_a_line_end(schemas: Schemas) -> None:
    assert found(schemas, "abc\n", "common#Hash") == [("", "pattern")]


@pytest.mark.parametrize("name", ["box", "things", "things#Cup", "common", "common#Hash"])
def test_a_bundle_needs_no_other_file(schemas: Schemas, name: str) -> None:
    bundle = schemas.json_schema(name, bundle=True)
    jsonschema.Draft202012Validator.check_schema(bundle)
    references = set(str(bundle).split("'$ref': '")[1:])
    names = {reference.split("'")[0].removeprefix("#/$defs/") for reference in references} - {"#"}
    assert names <= set(bundle.get("$defs", {}))
    validator = jsonschema.Draft202012Validator(bundle)
    for doc in ({"id": "ab"}, {"kind": "cup"}, {"kind": "lid", "size": 1, "on": {"id": "q"}}, "ab", {}):
        assert validator.is_valid(doc) == schemas.is_valid(name, doc) or name == "common"


def test_a_bundle_holds_what_is_needed_and_data_stays(schemas: Schemas) -> None:
    assert set(schemas.json_schema("box", bundle=True)["$defs"]) == {"Hash", "Instant", "Thing", "Cup", "Lid", "Note"}
    assert schemas.json_schema("box", bundle=True)["$defs"]["Note"]["default"] == "#/$ref"
    assert set(schemas.json_schema("things", bundle=True)["$defs"]) >= {"Box", "Thing"}
    assert set(schemas.json_schema("common", bundle=True)["$defs"]) == {"Hash", "Instant", "Unused"}


def test_schemas_are_given_out_as_fresh_copies(schemas: Schemas) -> None:
    for bundle in (False, True):
        schemas.json_schema("box", bundle=bundle)["properties"].clear()
        assert "id" in schemas.json_schema("box", bundle=bundle)["properties"]
    schemas.json_schema("things#Lid")["required"].clear()
    assert schemas.json_schema("things#Lid") == FILES["things.json"]["$defs"]["Lid"]
    assert schemas.names() == ["box", "common", "things"]


def test_unknown_roots_are_usage_errors(schemas: Schemas) -> None:
    for root in ("nothing", "box#Nothing", "", "#", "retired"):
        with pytest.raises(UsageError):
            schemas.is_valid(root, {})
        with pytest.raises(UsageError):
            schemas.json_schema(root)


def test_broken_schema_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        Schemas(tmp_path / "absent").names()
    with pytest.raises(SourceError, match="no schema files"):
        Schemas(tmp_path).names()
    twice = {"$schema": DRAFT, "$ref": "b.json#/$defs/X", "$defs": {"Y": {"$ref": "#/$defs/X"}, "X": {"type": "null"}}}
    write(tmp_path, {"a.json": twice | {"allOf": [{"$ref": "#/$defs/X"}]}, "b.json": twice})
    with pytest.raises(SourceError, match="X is defined twice"):
        Schemas(tmp_path).is_valid("a", {})
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(SourceError, match=r"c\.json is not JSON"):
        Schemas(tmp_path).names()


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("2024-02-29T23:59:59Z", True),
        ("2023-02-29T00:00:00Z", False),
        ("1900-02-29T00:00:00Z", False),
        ("2000-02-29T00:00:00.123456789Z", True),
        ("2024-04-31T00:00:00Z", False),
        ("2024-13-01T00:00:00Z", False),
        ("2024-00-01T00:00:00Z", False),
        ("2024-01-00T00:00:00Z", False),
        ("0000-01-01T00:00:00Z", False),
        ("2016-12-31T23:59:60Z", False),
        ("2024-01-01T24:00:00Z", False),
        ("2024-01-01T00:00:00", False),
        ("2024-01-01 00:00:00Z", False),
        ("2024-01-01T00:00:00+05:30", True),
        ("2024-01-01t00:00:00z", True),
        ("2024-01-01T00:00:00Z\n", False),
        ("２０24-01-01T00:00:00Z", False),
        ("nonsense", False),
    ],
)
def test_date_times_are_days_of_the_calendar(schemas: Schemas, text: str, valid: bool) -> None:
    assert is_date_time(text) is valid
    assert found(schemas, text, "common#Instant") == ([] if valid else [("", "format")])


def nested(depth: int) -> Any:
    doc: Any = []
    for _ in range(depth - 1):
        doc = [doc]
    return doc


def ring() -> Any:
    made: list[Any] = []
    made += [made, made]
    return made


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ({"id": "ab", "ratio": math.nan, "count": math.inf}, [("/count", "non-finite"), ("/ratio", "non-finite")]),
        (
            {"id": "ab", "data": {"x": [NonFinite("1e400")]}, "q": 1},
            [("/data/x/0", "non-finite"), ("/q", "additionalProperties")],
        ),
        ({"id": "ab", "data": {"x": "\ud800"}}, [("/data/x", "surrogate")]),
        ({"id": "ab", "data": {"\ud800": 1}}, [("/data/\ud800", "surrogate")]),
        ({"id": "ab", "data": {1: 2}}, [("/data", "not-json")]),
        ({"id": "ab", "data": {"x": [{1: 2}]}}, [("/data/x/0", "not-json")]),
        ({"id": "ab", "data": {"x": [{"\ud800": "é"}]}}, [("/data/x/0/\ud800", "surrogate")]),
        ({"id": b"ab"}, [("/id", "not-json")]),
        ({"id": "ab", "data": {"x": {1, 2}}}, [("/data/x", "not-json")]),
        ({"id": "ab", "data": {"x": object()}}, [("/data/x", "not-json")]),
        ({"id": "ab", "ratio": 10**5000}, [("/ratio", "integer-size")]),
        ({"id": "ab", "ratio": 10**400, "data": {"x": -(10**400)}}, []),
        ({"id": "ab", "count": 10**400}, [("/count", "maximum")]),
        ({"id": "ab", "inside": ({"id": "cd"},)}, []),
        ({"id": "ab", "data": {"x": nested(MAX_DEPTH - 2)}}, []),
        ({"id": "ab", "data": {"x": nested(MAX_DEPTH - 1)}}, [("", "depth")]),
        ({"id": "ab", "data": {"x": nested(100_000)}}, [("", "depth")]),
        ({"id": "ab", "data": {"x": ring()}}, [("", "depth")]),
        (math.nan, [("", "non-finite")]),
        (NonFinite("NaN"), [("", "non-finite")]),
        (None, [("", "type")]),
    ],
)
def test_what_json_cannot_hold_is_a_violation_for_both_engines(
    schemas: Schemas, doc: Any, expected: list[tuple[str, str]]
) -> None:
    assert found(schemas, doc) == expected


def test_deep_recursive_documents_never_crash(schemas: Schemas) -> None:
    doc: dict[str, Any] = {"kind": "cup"}
    for _ in range(MAX_DEPTH - 1):
        doc = {"kind": "cup", "lid": doc}
    assert schemas.is_valid("things", doc)
    assert schemas.violations("things", doc) == []
    with pytest.raises(DecodeError, match="nested too deeply for the reference"):
        schemas.reference_violations("things", doc)
    assert [found.keyword for found in schemas.violations("things", {"kind": "cup", "lid": doc})] == ["depth"]


def test_bytes_count_as_text_on_the_wire_only(schemas: Schemas) -> None:
    doc = {
        "id": "ab",
        "data": {"x": b"\xff", "y": memoryview(b"a")},
        "default": bytearray(b"long enough to be cut short"),
    }
    assert found(schemas, doc, wire=True) == []
    assert [keyword for _, keyword in found(schemas, doc)] == ["not-json"] * 3


def test_validators_are_built_once_by_many_threads(tmp_path: Path) -> None:
    schemas = Schemas(write(tmp_path, FILES))
    verdicts: list[list[Violation]] = []
    threads = [
        threading.Thread(target=lambda: verdicts.append(schemas.violations("things", {"kind": "pot"})))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(verdicts) == 8
    assert all(verdict == verdicts[0] for verdict in verdicts)
