"""Edits of the schemas, as people make them: one kind of change at a place that a seed picks.

Each takes a copy of the files and changes it; `None` says that the kind has no place here. What is returned names the
definition that was edited.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

Schema = dict[str, Any]
Files = dict[str, Any]
SCHEMAS = Path(__file__).parents[2] / "schema" / "v1"
SAFE = 2**53 - 1


class Edit(NamedTuple):
    kind: str
    place: str
    files: Files


class Place(NamedTuple):
    """A schema somewhere below a definition."""

    definition: str
    schema: Schema


def schemas() -> Files:
    return {path.name: json.loads(path.read_text("utf-8")) for path in sorted(SCHEMAS.glob("*.json"))}


def definitions(files: Files) -> Iterator[tuple[str, str, Schema]]:
    for file, document in files.items():
        if "properties" in document:
            yield file, document["title"], document
        for name, schema in document.get("$defs", {}).items():
            yield file, name, schema


def objects(files: Files, *, closed: bool | None = None) -> list[tuple[str, Schema]]:
    return [
        (name, schema)
        for _, name, schema in definitions(files)
        if "properties" in schema and closed in (None, schema["additionalProperties"] is False)
    ]


def members(files: Files, *, needed: bool | None = None, closed: bool | None = None) -> list[tuple[str, Schema, str]]:
    return [
        (name, schema, member)
        for name, schema in objects(files, closed=closed)
        for member, value in schema["properties"].items()
        if "const" not in value and needed in (None, member in schema.get("required", ()))
    ]


def nodes(files: Files) -> list[Place]:
    """Every schema below every definition, where it stands."""
    found = []
    for _, name, schema in definitions(files):
        waiting = [schema] if "properties" not in schema else list(schema["properties"].values())
        while waiting:
            node = waiting.pop()
            found.append(Place(name, node))
            waiting += [
                node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict) and node[key]
            ]
    return found


def typed(files: Files, kind: str) -> list[Place]:
    return [each for each in nodes(files) if kind in types(each.schema) and not {"const", "enum"} & each.schema.keys()]


def types(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


Make = Callable[[Files, Random], str | None]


def remove_optional(files: Files, random: Random) -> str:
    name, schema, member = random.choice(members(files, needed=False))
    del schema["properties"][member]
    return name


def remove_required(files: Files, random: Random) -> str:
    name, schema, member = random.choice(members(files, needed=True))
    del schema["properties"][member]
    schema["required"].remove(member)
    return name


def rename(files: Files, random: Random) -> str:
    name, schema, member = random.choice(members(files))
    schema["properties"] = {each if each != member else f"{member}_2": v for each, v in schema["properties"].items()}
    schema["required"] = [each if each != member else f"{member}_2" for each in schema.get("required", ())]
    return name


NEW = (
    {"type": ["string", "null"]},
    {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 5}},
    {"type": "boolean", "default": False},
    {"type": "number", "minimum": 0, "default": 0},
    {"anyOf": [{"$ref": "common.json#/$defs/Sha256"}, {"type": "null"}]},
    {},
)


def add_optional(files: Files, random: Random) -> str:
    name, schema = random.choice(objects(files, closed=True))
    schema["properties"]["brand_new"] = {"description": "New.", **random.choice(NEW)}
    return name


def add_to_an_open_one(files: Files, random: Random) -> str:
    name, schema = random.choice(objects(files, closed=False))
    schema["properties"]["brand_new"] = {"description": "New.", **random.choice(NEW)}
    return name


def add_required(files: Files, random: Random) -> str:
    name, schema = random.choice(objects(files))
    schema["properties"]["brand_new"] = {"description": "New.", "type": "string"}
    schema["required"] = [*schema.get("required", ()), "brand_new"]
    return name


def require(files: Files, random: Random) -> str:
    name, schema, member = random.choice(members(files, needed=False))
    schema["required"] = [*schema.get("required", ()), member]
    schema["properties"][member].pop("default", None)
    return name


def release(files: Files, random: Random) -> str:
    name, schema, member = random.choice(members(files, needed=True))
    schema["required"].remove(member)
    return name


def narrow_bounds(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "integer") + typed(files, "number"))
    if random.random() < 0.5:
        schema["maximum"] = 100
    else:
        schema["minimum"] = schema.get("minimum", 0) + 1
    return name


def widen_bounds(files: Files, random: Random) -> str | None:
    places = [each for each in typed(files, "number") + typed(files, "integer") if "minimum" in each.schema]
    name, schema = random.choice(places)
    if schema["minimum"] > -SAFE:
        schema["minimum"] -= 3
    elif "maximum" in schema:
        schema["maximum"] += 2
    return name


def exclusive(files: Files, random: Random) -> str:
    places = [each for each in typed(files, "number") if {"minimum", "exclusiveMinimum"} & each.schema.keys()]
    name, schema = random.choice(places)
    old, new = ("minimum", "exclusiveMinimum") if "minimum" in schema else ("exclusiveMinimum", "minimum")
    schema[new] = schema.pop(old)
    return name


def longer(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "string"))
    schema["minLength"] = schema.get("minLength", 0) + 1
    return name


def shorter(files: Files, random: Random) -> str:
    name, schema = random.choice([each for each in typed(files, "string") if each.schema.get("minLength")])
    schema["minLength"] -= 1
    return name


def limit_length(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "string"))
    schema["maxLength"] = schema["maxLength"] - 1 if "maxLength" in schema else 20
    return name


def unlimit_length(files: Files, random: Random) -> str:
    name, schema = random.choice([each for each in typed(files, "string") if "maxLength" in each.schema])
    del schema["maxLength"]
    return name


def add_pattern(files: Files, random: Random) -> str:
    name, schema = random.choice([each for each in typed(files, "string") if "pattern" not in each.schema])
    schema["pattern"] = r"^[a-z]{1,8}(?!\n)$"
    return name


def remove_pattern(files: Files, random: Random) -> str:
    name, schema = random.choice([each for each in typed(files, "string") if "pattern" in each.schema])
    del schema["pattern"]
    return name


def enums(files: Files) -> list[Place]:
    return [each for each in nodes(files) if "enum" in each.schema]


def remove_value(files: Files, random: Random) -> str:
    name, schema = random.choice(enums(files))
    schema["enum"].remove(random.choice(schema["enum"]))
    return name


def add_value(files: Files, random: Random) -> str:
    name, schema = random.choice(enums(files))
    schema["enum"].append("brand-new")
    return name


def open_enum(files: Files, random: Random) -> str:
    name, schema = random.choice(enums(files))
    schema["x-open-vocabulary"] = schema.pop("enum")
    return name


def close_vocabulary(files: Files, random: Random) -> str:
    name, schema = random.choice([each for each in nodes(files) if "x-open-vocabulary" in each.schema])
    schema["enum"] = schema.pop("x-open-vocabulary")
    return name


def forbid_null(files: Files, random: Random) -> str:
    places = [each for each in nodes(files) if "null" in types(each.schema) or "anyOf" in each.schema]
    name, schema = random.choice(places)
    if "anyOf" in schema:
        schema.update(schema.pop("anyOf")[0])
    else:
        schema["type"] = next(each for each in schema["type"] if each != "null")
    return name


def allow_null(files: Files, random: Random) -> str:
    places = [each for each in nodes(files) if isinstance(each.schema.get("type"), str) and "enum" not in each.schema]
    name, schema = random.choice([each for each in places if "const" not in each.schema])
    schema["type"] = [schema["type"], "null"]
    return name


def whole_to_number(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "integer"))
    schema["type"] = swapped(schema["type"], "integer", "number")
    return name


def number_to_whole(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "number"))
    schema["type"] = swapped(schema["type"], "number", "integer")
    return name


def another_type(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "boolean"))
    schema["type"] = swapped(schema["type"], "boolean", "string")
    schema.pop("default", None)
    return name


def swapped(kinds: Any, old: str, new: str) -> Any:
    return new if isinstance(kinds, str) else [new if each == old else each for each in kinds]


def close(files: Files, random: Random) -> str:
    name, schema = random.choice(objects(files, closed=False))
    schema["additionalProperties"] = False
    return name


def open_up(files: Files, random: Random) -> str:
    name, schema = random.choice(objects(files, closed=True))
    schema["additionalProperties"] = random.choice(({}, {"description": "Other.", "type": "number"}))
    return name


def narrow_others(files: Files, random: Random) -> str:
    places = [(name, schema) for name, schema in objects(files, closed=False) if schema["additionalProperties"] == {}]
    name, schema = random.choice(places)
    schema["additionalProperties"] = {"description": "Other.", "type": ["string", "null"]}
    return name


def narrow_map(files: Files, random: Random) -> str:
    places = [each for each in nodes(files) if each.schema.get("additionalProperties") == {}]
    name, schema = random.choice(places)
    schema["additionalProperties"] = {"description": "Value.", "type": "string"}
    return name


def narrow_any(files: Files, random: Random) -> str | None:
    places = [each for each in nodes(files) if each.schema.keys() == {"description"}]
    if not places:
        return None
    name, schema = random.choice(places)
    schema["type"] = "string"
    return name


def unions(files: Files) -> list[tuple[str, str, Schema]]:
    return [each for each in definitions(files) if all("$ref" in branch for branch in each[2].get("oneOf", [{}]))]


def variants(files: Files) -> list[tuple[str, Schema, str]]:
    return [
        (name, schema, tag)
        for name, schema in objects(files)
        for tag, value in schema["properties"].items()
        if "const" in value
    ]


def retag(files: Files, random: Random) -> str:
    name, schema, tag = random.choice(variants(files))
    schema["properties"][tag]["const"] += "-2"
    return name


def remove_tag(files: Files, random: Random) -> str:
    _, name, schema = random.choice(unions(files))
    schema["oneOf"].remove(random.choice(schema["oneOf"]))
    return name


def add_tag(files: Files, random: Random) -> str:
    file, name, schema = random.choice(unions(files))
    by_name = {each: value for _, each, value in definitions(files)}
    variant = copy.deepcopy(by_name[schema["oneOf"][0]["$ref"].rsplit("/", 1)[-1]])
    next(value for value in variant["properties"].values() if "const" in value)["const"] = "brand-new"
    files[file]["$defs"]["BrandNew"] = variant
    schema["oneOf"].append({"$ref": f"{file}#/$defs/BrandNew"})
    return name


def more_items(files: Files, random: Random) -> str:
    name, schema = random.choice(typed(files, "array"))
    schema["minItems"] = schema.get("minItems", 0) + 1
    return name


def fewer_items(files: Files, random: Random) -> str | None:
    places = [each for each in typed(files, "array") if each.schema.get("minItems")]
    if not places:
        return None
    name, schema = random.choice(places)
    del schema["minItems"]
    return name


def another_default(files: Files, random: Random) -> str:
    places = [
        (name, schema["properties"][member])
        for name, schema, member in members(files, needed=False)
        if isinstance(schema["properties"][member].get("default"), bool | int | str)
    ]
    name, schema = random.choice(places)
    default = schema["default"]
    schema["default"] = not default if isinstance(default, bool) else default + ("x" if isinstance(default, str) else 1)
    return name


def point_elsewhere(files: Files, random: Random) -> str:
    places = [each for each in nodes(files) if str(each.schema.get("$ref", "")).endswith(("/Sha256", "/Timestamp"))]
    name, schema = random.choice(places)
    schema["$ref"] = "common.json#/$defs/Identifier"
    return name


def move(files: Files, random: Random) -> str:
    """A definition into another file, with every reference to it."""
    file, name = random.choice(
        [(file, name) for file, name, schema in definitions(files) if name in files[file].get("$defs", {})]
    )
    files["elsewhere.json"] = {
        "$schema": files[file]["$schema"], "$id": "elsewhere.json", "title": "Elsewhere", "description": "Moved.",
        "$defs": {name: absolute(files[file]["$defs"].pop(name), file)},
    }  # fmt: skip
    for each, document in files.items():
        redirect(document, each, f"{file}#/$defs/{name}", f"elsewhere.json#/$defs/{name}")
    return name


def absolute(schema: Any, file: str) -> Any:
    if isinstance(schema, dict):
        return {
            key: f"{file}{value}" if key == "$ref" and str(value).startswith("#") else absolute(value, file)
            for key, value in schema.items()
        }
    return [absolute(each, file) for each in schema] if isinstance(schema, list) else schema


def redirect(schema: Any, file: str, old: str, new: str) -> None:
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        redirect(value, file, old, new)
    if isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        full = file + schema["$ref"] if schema["$ref"].startswith("#") else schema["$ref"]
        schema["$ref"] = new if full == old else schema["$ref"]


def write_inline(files: Files, random: Random) -> str:
    """A scalar's definition at the place that referred to it."""
    places = [
        each for each in nodes(files) if str(each.schema.get("$ref", "")).endswith(("/Sha256", "/Timestamp", "/Count"))
    ]
    name, schema = random.choice(places)
    schema.update(copy.deepcopy(files["common.json"]["$defs"][schema.pop("$ref").rsplit("/", 1)[-1]]))
    return name


def reword(files: Files, random: Random) -> str:
    name, schema, member = random.choice(members(files))
    schema["properties"][member]["description"] += " In other words."
    return name


def reorder(files: Files, random: Random) -> str:
    name, schema = random.choice([each for each in objects(files) if len(each[1]["properties"]) > 1])
    schema["properties"] = dict(reversed(schema["properties"].items()))
    return name


KINDS: tuple[Make, ...] = (
    remove_optional, remove_required, rename, add_optional, add_to_an_open_one, add_required, require, release,
    narrow_bounds, widen_bounds, exclusive, longer, shorter, limit_length, unlimit_length, add_pattern, remove_pattern,
    remove_value, add_value, open_enum, close_vocabulary, forbid_null, allow_null, whole_to_number, number_to_whole,
    another_type, close, open_up, narrow_others, narrow_map, narrow_any, retag, remove_tag, add_tag, more_items,
    fewer_items, another_default, point_elsewhere, move, write_inline, reword, reorder,
)  # fmt: skip


def planted(number: int) -> Edit:
    """The edit of a number: every kind in turn, each time at another place."""
    random = Random(f"edit {number}")
    for step in range(len(KINDS)):
        make = KINDS[(number + step) % len(KINDS)]
        files = schemas()
        place = make(files, random)
        if place is not None:
            return Edit(make.__name__, place, files)
    raise AssertionError("no kind of edit has a place")
