"""Examples for the reference pages: for each object type an instance out of the valid examples of `schema/v1/examples`.

Promise: what is shown is part of a document that the tests hold valid, never made up for the page. Policy: which one of
many is shown: the fullest that is still short.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .shapes import Contract, Schema, reference_name

LONG, LONGEST = 700, 2500
"""An example is shown up to the first length, unless all are longer; none is shown beyond the second."""


def page_examples(contract: Contract, folder: Path) -> dict[str, str]:
    """The example of each type that has one, as JSON text."""
    texts: dict[str, set[str]] = {}
    for path in sorted((folder / "examples" / "valid").glob("*/*.json")):
        if path.parent.name in contract.definitions:
            document = json.loads(path.read_text("utf-8"))
            for name, value in _instances(contract, path.parent.name, document):
                texts.setdefault(name, set()).add(json.dumps(value, indent=1, ensure_ascii=False))
    return {name: text for name, each in texts.items() if (text := _chosen(each))}


def _chosen(texts: set[str]) -> str:
    shown = sorted((text for text in texts if _is_printable(text)), key=lambda text: (len(text), text))
    short = [text for text in shown if len(text) <= LONG]
    return short[-1] if short else shown[0] if shown and len(shown[0]) <= LONGEST else ""


def _is_printable(text: str) -> bool:
    return "```" not in text and all(each.isprintable() or each == "\n" for each in text)


def _instances(contract: Contract, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The value as an instance of its type, and everything in it that has a type."""
    _, schema = contract.definitions[name]
    union = contract.unions.get(name)
    if union is not None and isinstance(value, dict):
        for variant in union.variants:
            if contract.shapes[variant].tag == (union.tag, value.get(union.tag)):
                yield from _instances(contract, variant, value)
    elif "properties" in schema and isinstance(value, dict):
        yield name, value
        for member, each in schema["properties"].items():
            if member in value:
                yield from _below(contract, each, value[member])
    elif union is None:
        yield from _below(contract, schema, value)


def _below(contract: Contract, schema: Schema, value: Any) -> Iterator[tuple[str, Any]]:
    if "$ref" in schema:
        yield from _instances(contract, reference_name(schema), value)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if value is not None and ("$ref" in branch or isinstance(value, list)):
            yield from _below(contract, branch, value)
    if isinstance(value, list) and "items" in schema:
        for each in value:
            yield from _below(contract, schema["items"], each)
    elif (
        isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict) and "properties" not in schema
    ):
        for each in value.values():
            yield from _below(contract, schema["additionalProperties"], each)


def users(contract: Contract) -> dict[str, list[tuple[str, str]]]:
    """For each definition the types and members that refer to it, in the order of the schemas."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, (_, schema) in contract.definitions.items():
        members = schema.get("properties", {"": {key: each for key, each in schema.items() if key != "$defs"}})
        for member, each in members.items():
            for target in _references(each):
                entry = (name, member)
                if entry not in found.setdefault(target, []):
                    found[target].append(entry)
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield reference_name(schema)
        for key, each in schema.items():
            if key not in ("default", "const", "enum"):
                yield from _references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)
