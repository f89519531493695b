"""The schemas, held against the metaschema, and their examples, held against the schemas by two independent validators.

Every file below `schema/v1/examples/valid/<Type>` must be valid. Every file below `invalid/<Type>` must not be, and its
sibling `<name>.expect.json` says where our report of the first violation is (a JSON Pointer) and which keyword finds
it: an unexpected member is reported at the member, a missing one at its object. A violation inside a union is the one
of the branch that the value's tag selects; a value that selects no branch violates the union itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from evh.protocol import engine
from evh.protocol._explain import root_of

SCHEMAS = Path(__file__).parents[2] / "schema" / "v1"
EXAMPLES = SCHEMAS / "examples"
EXPECT = ".expect.json"
TAGS = {"kind", "type", "role"}
Found = tuple[str, str]
"""A violation: its JSON Pointer and its keyword."""
Location = list[str | int]
Located = tuple[Location, str]
Reader = Callable[[Any], tuple[Location, str, list[Any]]]
"""Of a validator's error: where it is, its keyword, and for a union the errors of each branch."""


def documents(verdict: str) -> list[Path]:
    return sorted(path for path in (EXAMPLES / verdict).rglob("*.json") if not path.name.endswith(EXPECT))


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@cache
def schema_files() -> dict[str, Any]:
    return {path.name: load(path) for path in sorted(SCHEMAS.glob("*.json")) if path.name != "retired.json"}


@cache
def reference_to(class_name: str) -> str:
    """Where a class is defined: the root of a file, or one of its `$defs`."""
    for name, document in schema_files().items():
        if document["title"] == class_name and ("properties" in document or "$ref" in document):
            return name
        if class_name in document["$defs"]:
            return f"{name}#/$defs/{class_name}"
    raise LookupError(f"no schema defines {class_name}")


@cache
def reference_validator(class_name: str) -> jsonschema.Draft202012Validator:
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(document, default_specification=DRAFT202012))
        for name, document in schema_files().items()
    )
    return jsonschema.Draft202012Validator(
        {"$ref": reference_to(class_name)},
        registry=registry,
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )


@cache
def fast_validator(class_name: str) -> jsonschema_rs.Draft202012Validator:
    base = "schema:///"
    registry = jsonschema_rs.Registry([(base + name, document) for name, document in absolute(base).items()])
    return jsonschema_rs.Draft202012Validator(
        {"$ref": base + reference_to(class_name)}, registry=registry, validate_formats=True
    )


def absolute(base: str) -> dict[str, Any]:
    """The schemas with absolute ids, for a validator that gives relative ones a base of its own."""
    return {name: document | {"$id": base + name} for name, document in schema_files().items()}


def pointer(path: Iterable[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def branch_is_meant(branch: list[Located], at: Location) -> bool:
    """Whether a union's branch is the one the value's tag (or its JSON type) selects."""
    return not any(
        (keyword == "type" and path == at) or (keyword == "const" and path[:-1] == at and path[-1] in TAGS)
        for path, keyword in branch
    )


def flatten(error: Any, read: Reader) -> list[Located]:
    """A violation, with the violations of the selected branch in the place of a union's own."""
    path, keyword, branches = read(error)
    if keyword not in {"oneOf", "anyOf"}:
        return [(path, keyword)]
    read_branches = [[found for child in branch for found in flatten(child, read)] for branch in branches]
    meant = [branch for branch in read_branches if branch and branch_is_meant(branch, path)]
    return meant[0] if len(meant) == 1 else [(path, keyword)]


def read_reference(error: Any) -> tuple[Location, str, list[Any]]:
    branches: dict[Any, list[Any]] = {}
    for child in error.context or ():
        branches.setdefault(child.relative_schema_path[0], []).append(child)
    return list(error.absolute_path), error.validator, list(branches.values())


def read_fast(error: Any) -> tuple[Location, str, list[Any]]:
    keyword = next(part for part in reversed(error.schema_path) if isinstance(part, str))
    return list(error.instance_path), keyword, getattr(error.kind, "context", [])


def violations(validator: Any, read: Reader, document: Any) -> list[Found]:
    """All violations, ordered by pointer, then keyword."""
    return sorted(
        (pointer(path), keyword) for error in validator.iter_errors(document) for path, keyword in flatten(error, read)
    )


@pytest.mark.parametrize("name", schema_files())
def test_schema_is_valid_2020_12(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_files()[name])
    assert schema_files()[name]["$id"] == name


@pytest.mark.parametrize("name", schema_files())
def test_every_object_and_member_is_described(name: str) -> None:
    document = schema_files()[name]
    undescribed = []

    def walk(schema: Any, path: str, named: bool) -> None:
        if not isinstance(schema, dict):
            return
        if named and not schema.get("description"):
            undescribed.append(path)
        for member, value in schema.get("properties", {}).items():
            walk(value, f"{path}/properties/{member}", True)
        for title, value in schema.get("$defs", {}).items():
            walk(value, f"{path}/$defs/{title}", True)

    walk(document, "", True)
    assert undescribed == []


def test_class_names_are_unique() -> None:
    names = [title for document in schema_files().values() for title in document["$defs"]]
    names += [document["title"] for document in schema_files().values() if "properties" in document]
    assert len(names) == len(set(names))


def test_every_root_has_examples_of_both_verdicts() -> None:
    roots = {doc["title"] for doc in schema_files().values() if "properties" in doc or "$ref" in doc}
    for verdict in ("valid", "invalid"):
        assert roots <= {path.parent.name for path in documents(verdict)}, verdict


@pytest.mark.parametrize("path", documents("valid") + documents("invalid"), ids=label)
def test_example_is_plain_json(path: Path) -> None:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(pairs) == len(dict(pairs))
        return dict(pairs)

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)


@pytest.mark.parametrize("path", documents("valid"), ids=label)
def test_valid_example_passes_both_validators(path: Path) -> None:
    document = load(path)
    assert violations(reference_validator(path.parent.name), read_reference, document) == []
    assert violations(fast_validator(path.parent.name), read_fast, document) == []


@pytest.mark.parametrize("path", documents("invalid"), ids=label)
def test_invalid_example_fails_both_validators(path: Path) -> None:
    document = load(path)
    assert violations(reference_validator(path.parent.name), read_reference, document), "valid after all"
    assert violations(fast_validator(path.parent.name), read_fast, document), "valid after all"


@pytest.mark.parametrize("path", documents("invalid"), ids=label)
def test_invalid_example_is_reported_where_it_says(path: Path) -> None:
    document, expected = load(path), load(path.with_name(path.stem + EXPECT))
    address = root_of(path.parent.name).address
    for found in (engine.violations(address, document), engine.reference_violations(address, document)):
        assert (found[0].pointer, found[0].keyword) == (expected["pointer"], expected["keyword"]), found


def test_every_expectation_has_its_example() -> None:
    expectations = {path.name.removesuffix(EXPECT) + path.parent.name for path in EXAMPLES.rglob("*" + EXPECT)}
    assert expectations == {path.stem + path.parent.name for path in documents("invalid")}
    assert list((EXAMPLES / "valid").rglob("*" + EXPECT)) == []


@pytest.mark.parametrize(
    ("instant", "valid"),
    [
        ("2024-02-29T00:00:00Z", True),
        ("2000-02-29T23:59:59.123456789Z", True),
        ("0001-01-01T00:00:00Z", True),
        ("9999-12-31T23:59:59Z", True),
        ("1900-02-29T00:00:00Z", False),
        ("0000-01-01T00:00:00Z", False),
        ("2024-06-30T23:59:60Z", False),
        ("2024-01-01T24:00:00Z", False),
        ("2024-01-01T00:00:00Z\n", False),
        ("2024-01-01T00:00:00.Z", False),
        ("2024-01-01T00:00:00.1234567890Z", False),
        ("2024-01-01t00:00:00z", False),
        ("2024-01-01T00:00:00+00:00", False),
        ("\u0662\u0660\u0662\u0664-01-01T00:00:00Z", False),
    ],
)
def test_timestamp_is_a_day_of_the_calendar_in_utc(instant: str, valid: bool) -> None:
    assert reference_validator("Timestamp").is_valid(instant) is valid
    assert fast_validator("Timestamp").is_valid(instant) is valid


@pytest.mark.parametrize(
    "entry", load(SCHEMAS / "retired.json")["retired"], ids=lambda e: f"{e['class']}.{e['member']}"
)
def test_retired_member_is_refused_on_its_class(entry: dict[str, str]) -> None:
    assert set(entry) == {"class", "member", "since", "instead", "retired_by"}
    examples = [path for path in documents("valid") if path.parent.name == entry["class"]]
    assert examples
    for path in examples:
        document = load(path) | {entry["member"]: None}
        assert ("", "additionalProperties") in violations(reference_validator(entry["class"]), read_reference, document)


@pytest.mark.parametrize("path", documents("valid"), ids=label)
def test_one_more_member_makes_a_valid_document_invalid(path: Path) -> None:
    """The rule behind V1. Where any other member is a metric, what makes it invalid is that a text is no metric; bodies
    of the wire take it."""
    class_name = path.parent.name
    found = violations(fast_validator(class_name), read_fast, load(path) | {"never_declared": "text"})
    if additional_properties(class_name) == {}:
        assert found == []
    else:
        assert found == [("/never_declared", "type") if class_name == "PredictionRow" else ("", "additionalProperties")]


def additional_properties(class_name: str) -> Any:
    name, _, definition = reference_to(class_name).partition("#/$defs/")
    schema = schema_files()[name]
    return (schema["$defs"][definition] if definition else schema).get("additionalProperties")


def test_only_bodies_of_the_wire_are_open() -> None:
    open_types = {path.parent.name for path in documents("valid") if additional_properties(path.parent.name) == {}}
    assert open_types and all(reference_to(name).startswith("platform_") for name in open_types)
