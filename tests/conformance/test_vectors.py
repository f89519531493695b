"""The committed vectors: what they reach, what their manifest says, and that the generator follows any schema."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from codegen.shapes import Contract
from codegen.vectors import VECTORS
from codegen.vectors.cases import Cases
from codegen.vectors.coverage import Coverage
from codegen.vectors.judging import Judging
from codegen.vectors.patterns import matching
from codegen.vectors.samples import Samples
from evh.protocol import verify
from evh.testing.vectors import load_vectors, vector_bytes

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / VECTORS
LARGEST = 3_000_000
NOT_IN_JSON = {"stream", "finite"}
"""Rules of `verify` that no document breaks which the schema takes."""


@pytest.fixture(scope="module")
def vectors() -> list[dict[str, Any]]:
    return list(load_vectors(FOLDER))


def test_every_member_bound_tag_and_rule_is_reached(vectors: list[dict[str, Any]]) -> None:
    coverage = Coverage(FOLDER.parent)
    for vector in vectors:
        coverage.read(vector)
    for kind, (reached, there) in coverage.counts().items():
        print(f"{kind:<15} {reached:>5} of {there:>5}")
    assert [str(point) for point in coverage.missing()] == []
    assert len(coverage.points) > 2000
    assert {"bound", "closed or open", "item", "member", "pattern", "retired", "value", "variant"} == set(
        coverage.counts()
    )


def test_the_count_sees_a_vector_that_is_not_there(vectors: list[dict[str, Any]]) -> None:
    coverage = Coverage(FOLDER.parent)
    for vector in vectors:
        if "minItems" not in str(vector.get("schema")):
            coverage.read(vector)
    assert {point.what for point in coverage.missing()} == {"minItems outside", "empty"}


def test_the_manifest_lists_every_file_as_it_is(vectors: list[dict[str, Any]]) -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
    assert sorted(manifest["files"]) == sorted(path.name for path in FOLDER.glob("*.jsonl"))
    for name, told in manifest["files"].items():
        data = (FOLDER / name).read_bytes()
        assert told == {"vectors": data.count(b"\n"), "sha256": hashlib.sha256(data).hexdigest()}
        assert data.isascii() and b"\r" not in data
    assert manifest["vectors"] == len(vectors)
    assert manifest["types"] == dict(Counter(each["type"] for each in vectors))
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < LARGEST


def test_every_vector_is_of_the_form_that_the_readme_tells(vectors: list[dict[str, Any]]) -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    told = set(re.findall(r"`(\w+)`", text.partition("| member | meaning |")[2].partition("\n\n")[0]))
    kinds = set(re.findall(r"^\| `([a-z-]+)` \|", text.partition("| kind | what happens |")[2], re.MULTILINE))
    assert len({each["name"] for each in vectors}) == len(vectors)
    for each in vectors:
        assert each.keys() <= told, each["name"]
        assert len({"document", "text", "base64"} & each.keys()) == 1
        for layer in ("json", "schema", "semantic"):
            said = each.get(layer, "ok")
            assert said == "ok" or said.keys() == {"pointer", "keyword"}
        assert {kind for kind, _ in each.get("lenient", {}).get("notices", ())} <= kinds
    example = json.loads(text.partition("```json\n")[2].partition("```")[0])
    [real] = [each for each in vectors if each["name"] == example["name"]]
    assert real == example


def test_digests_are_those_of_the_canonical_bytes(vectors: list[dict[str, Any]]) -> None:
    digests = [each for each in vectors if "sha256" in each]
    assert len(digests) > 1500
    for each in digests:
        data = rfc8785.dumps(json.loads(vector_bytes(each)))
        assert hashlib.sha256(data).hexdigest() == each["sha256"]
        assert each.get("canonical", data.decode()) == data.decode()


def test_every_rule_between_members_has_a_vector(vectors: list[dict[str, Any]]) -> None:
    words = re.findall(r"(?:^    |   )([a-z]+(?:-[a-z]+)*) ", str(verify.__doc__), re.MULTILINE)
    rules = {word for word in words if "-" in word or word in ("tensor", "stream", "finite")}
    assert len(rules) > 12
    broken = {each["semantic"]["keyword"] for each in vectors if isinstance(each.get("semantic"), dict)}
    assert broken <= rules
    assert rules - broken - NOT_IN_JSON == set()


SYNTHETIC = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "thing.json",
    "title": "Thing",
    "description": "A thing.",
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "pairs", "share"],
    "properties": {
        "name": {"description": "A name.", "type": "string", "minLength": 2, "maxLength": 5},
        "code": {
            "description": "A code.",
            "type": ["string", "null"],
            "pattern": "^(a|bc)[0-9]{2,4}x?(?!\\n)$",
            "maxLength": 7,
        },
        "pairs": {"description": "Pairs.", "type": "array", "items": {"$ref": "#/$defs/Pair"}, "minItems": 3},
        "share": {"description": "A share.", "type": "number", "exclusiveMinimum": 0, "maximum": 4},
        "level": {"description": "A level.", "anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]},
        "deep": {
            "description": "A map of maps.",
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Levels"},
        },
        "part": {"description": "A part.", "anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]},
    },
    "$defs": {
        "Levels": {
            "description": "Numbers by name.",
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 3},
        },
        "Level": {"description": "A level.", "type": "string", "enum": ["low", "high"]},
        "Pair": {
            "description": "A pair, open.",
            "type": "object",
            "additionalProperties": {},
            "required": ["left"],
            "properties": {
                "left": {"description": "Left.", "type": ["boolean", "integer"], "minimum": -1, "maximum": 1},
                "right": {"description": "R.", "type": "array", "items": {"type": ["number", "null"], "minimum": 0.5}},
            },
        },
        "Part": {"description": "A part.", "oneOf": [{"$ref": "#/$defs/Wheel"}, {"$ref": "#/$defs/Bell"}]},
        "Wheel": {
            "description": "A wheel.",
            "type": "object",
            "additionalProperties": False,
            "required": ["kind", "part"],
            "properties": {
                "kind": {"description": "Always `wheel`.", "type": "string", "const": "wheel"},
                "part": {"description": "A part of it.", "anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]},
            },
        },
        "Bell": {
            "description": "A bell.",
            "type": "object",
            "additionalProperties": False,
            "required": ["kind"],
            "properties": {"kind": {"description": "Always `bell`.", "type": "string", "const": "bell"}},
        },
    },
}  # fmt: skip


def test_the_generator_follows_any_schema_of_the_profile(tmp_path: Path) -> None:
    (tmp_path / "thing.json").write_text(json.dumps(SYNTHETIC), "utf-8")
    retired = {
        "retired": [{"class": "Thing", "member": "old", "since": "1.0", "instead": "read name", "retired_by": "us"}]
    }
    (tmp_path / "retired.json").write_text(json.dumps(retired), "utf-8")
    contract = Contract(tmp_path)
    samples = Samples(contract)
    judging = Judging(contract, tmp_path, samples)
    coverage = Coverage(tmp_path)
    for case in Cases(samples).of_file("thing.json"):
        coverage.read(judging.vector(case.name, case.type, case.document))
    assert [str(point) for point in coverage.missing()] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z0-9_]+(?!\\n)$",
        "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?!\\n)$",
        "^(0|[1-9][0-9]{0,3})(\\.[0-9]{1,9})?Z(?!\\n)$",
        "^x{2,5}$",
    ],
)
def test_texts_made_for_a_pattern_match_it(pattern: str) -> None:
    for choice in range(6):
        for length in (0, 1, 3, 5, 8, 12):
            assert re.search(pattern, matching(pattern, length, choice)), (length, choice)


def test_a_pattern_outside_the_profile_is_refused() -> None:
    with pytest.raises(ValueError, match="no text is made"):
        matching("^(?=a)b$")
