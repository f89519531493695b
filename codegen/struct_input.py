"""The copy of the schemas that is handed to datamodel-code-generator.

It differs from the authority in six ways, each because the tool or msgspec needs it: open objects, streams, computed
and retired members become leaves that carry their annotation; every object gets the `*` slot for unknown members; every
union gets an arm for unknown tags; `number` becomes `integer | number`; named scalars are written out where they are
used; and members carry their order, default and docstring.
"""

from __future__ import annotations

from typing import Any

from .hints import is_special, special_hint
from .shapes import Contract, Member, Schema, Shape, Union, reference_name

LEAF = {"type": "string"}


def struct_input(contract: Contract) -> dict[str, Schema]:
    """File name to schema: only files that define closed objects, holding nothing but `$defs`."""
    files: dict[str, Schema] = {}
    for shape in contract.shapes.values():
        if shape.closed:
            files.setdefault(shape.file, _empty_file(shape.file))["$defs"][shape.name] = _object(contract, shape)
    for union in contract.unions.values():
        definitions = files.setdefault(union.file, _empty_file(union.file))["$defs"]
        definitions[union.name] = {"oneOf": [_local(name) for name in (*union.variants, arm_name(union))]}
        definitions[arm_name(union)] = _arm(union)
    return files


def arm_name(union: Union) -> str:
    return f"Unknown{union.name}"


def _empty_file(file: str) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": file, "$defs": {}}


def _local(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _object(contract: Contract, shape: Shape) -> Schema:
    properties: dict[str, Any] = {}
    for member in shape.members:
        properties[member.name] = {**_property(contract, member), "x-order": len(properties)}
    for entry in contract.retired:
        if entry["class"] == shape.name:
            properties[entry["member"]] = _slot(f"retired_{entry['member']}", "RetiredSlot", len(properties))
    properties["*"] = _slot("additional", "OverflowSlot", len(properties), default="None")
    return {
        "description": shape.description,
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _slot(python: str, hint: str, order: int, default: str = "ABSENT") -> Schema:
    return {**LEAF, "x-python": python, "x-hint": hint, "x-default": default, "x-order": order, "x-doc": ""}


def _property(contract: Contract, member: Member) -> Schema:
    if is_special(member):
        schema: Schema = {**LEAF, "x-hint": special_hint(member)}
    else:
        schema = _plain(contract, {key: value for key, value in member.schema.items() if not key.startswith("x-")})
        schema.pop("description", None)
        schema.pop("default", None)
    python = f"computed_{member.python}" if "x-computed" in member.schema else member.python
    schema |= {"x-python": python, "x-default": default_code(member), "x-doc": member.description}
    return schema


def default_code(member: Member) -> str:
    """The right-hand side of the field, `NODEFAULT` for a required one."""
    schema = member.schema
    if "const" in schema:
        return "TAG"
    if "x-computed" in schema or ("x-stream" in schema):
        return "ABSENT"
    if member.required:
        return "MINTED" if "x-minted" in schema else "NODEFAULT"
    if member.nullable:
        return "None"
    if "x-omit-empty" in schema:
        return "default_factory=list" if member.kind.what == "array" else "default_factory=dict"
    if member.kind.what == "array":
        return "default_factory=new_list"
    if member.kind.what in {"map", "object"}:
        return "default_factory=new_dict"
    if member.kind.what == "class":
        return f"default_factory=lambda: {member.kind.name}()"
    return f"default_factory=always({schema['default']!r})"


def _arm(union: Union) -> Schema:
    return {
        "description": f"A {union.name} whose `{union.tag}` this release does not know, kept whole in `value`.",
        "type": "object",
        "additionalProperties": False,
        "required": [union.tag, "*"],
        "properties": {
            union.tag: {"type": "string", "const": "*", "x-order": 0, "x-default": "ARM"},
            "*": _slot("value", "ArmValue", 1, default="NODEFAULT") | {"x-doc": "The object as it was read."},
        },
    }


def _plain(contract: Contract, schema: Any) -> Any:
    """With named scalars and maps written out, and `number` as `integer | number`, so that 1 stays 1 and 1.0 stays
    1.0."""
    if isinstance(schema, list):
        return [_plain(contract, each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema and not _has_class(contract, reference_name(schema)):
        named = {key: value for key, value in contract.resolve(schema).items() if key != "description"}
        return _plain(contract, named)
    schema = {key: _plain(contract, value) for key, value in schema.items() if key != "format"}
    types = schema.get("type")
    if types == "number" or (isinstance(types, list) and "number" in types):
        schema["type"] = ["integer", *([types] if isinstance(types, str) else types)]
    return schema


def _has_class(contract: Contract, name: str) -> bool:
    return name in contract.shapes or name in contract.unions
