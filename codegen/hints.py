"""Python annotations for what a schema says, as source text."""

from __future__ import annotations

from typing import Any

from .shapes import Contract, Kind, Member

STREAM_NAMES = {"integer": "IntStream", "boolean": "BoolStream", "number": "FloatStream"}


def is_special(member: Member) -> bool:
    """True when the struct generator must not choose the annotation itself."""
    flags = member.schema.keys() & {"x-stream", "x-computed", "x-wire"}
    return bool(flags) or reaches(member.kind, {"open", "object", "any", "tensor"})


def reaches(kind: Kind, whats: set[str]) -> bool:
    return kind.what in whats or (kind.item is not None and reaches(kind.item, whats))


def special_hint(member: Member) -> str:
    """The annotation of a member that `is_special`."""
    schema = member.schema
    if "x-computed" in schema:
        return "ComputedSlot"
    if "x-stream" in schema:
        if member.kind.what == "map":
            return "OptionalFloatStreams"
        name = STREAM_NAMES[schema["items"]["type"]]
        return f"Optional{name}" if member.nullable else name
    if "x-wire" in schema and member.kind.what == "object":
        return "WireObjectSlot"
    hint = f"{member.kind.name}Slot" if member.kind.what == "open" else plain_hint(member.kind)
    return f"{hint} | None" if member.nullable and hint != "Any" else hint


def plain_hint(kind: Kind) -> str:
    match kind.what:
        case "class" | "open" | "tensor":
            return kind.name
        case "object":
            return "dict[str, Any]"
        case "array":
            return f"list[{plain_hint(item(kind))}]"
        case "map":
            return f"dict[str, {plain_hint(item(kind))}]"
        case "parts":
            return f"str | list[{plain_hint(item(kind))}]"
        case "integer":
            return "int"
        case "number":
            return "int | float"
        case _:
            return "Any"


def item(kind: Kind) -> Kind:
    assert kind.item is not None, kind
    return kind.item


def known_hint(contract: Contract, schema: dict[str, Any]) -> str:
    """The annotation of a known member of an open object, bounds included, as the strict reader checks it."""
    if "$ref" in schema:
        name = contract.kind(schema)
        if name.what == "open":
            return f"Known{name.name}"
        if name.what in {"class", "union"}:
            return name.name
        if name.what == "object":
            return "dict[str, Any]"
        return known_hint(contract, contract.resolve(schema))
    if "anyOf" in schema:
        return known_hint(contract, next(b for b in schema["anyOf"] if b.get("type") != "null")) + " | None"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    parts = [part for name in types if (part := _known_part(contract, name, schema)) is not None]
    return " | ".join(parts) if parts else "Any"


def _known_part(contract: Contract, name: str, schema: dict[str, Any]) -> str | None:
    match name:
        case "null":
            return "None"
        case "string":
            if "enum" in schema:
                return "Literal[" + ", ".join(repr(value) for value in schema["enum"]) + "]"
            return _bounded("str", schema, {"pattern": "pattern", "minLength": "min_length", "maxLength": "max_length"})
        case "integer":
            return _bounded("int", schema, {"minimum": "ge", "maximum": "le"})
        case "number":
            bounds = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt"}
            return f"{_bounded('int', schema, bounds)} | {_bounded('float', schema, bounds)}"
        case "boolean":
            return "bool"
        case "array":
            return f"list[{known_hint(contract, schema['items'])}]"
        case "object":
            return f"dict[str, {known_hint(contract, schema['additionalProperties'])}]"
        case _:
            return None


def _bounded(base: str, schema: dict[str, Any], names: dict[str, str]) -> str:
    bounds = [f"{ours}={schema[theirs]!r}" for theirs, ours in names.items() if theirs in schema]
    return f"Annotated[{base}, Meta({', '.join(bounds)})]" if bounds else base


def read_hint(member: Member) -> str:
    """What reading a known member of an open object gives: wrappers for open objects, plain values else."""
    schema = member.schema
    kind = member.kind
    if kind.what == "scalar":
        names = {"string": "str", "boolean": "bool", "array": "list[Any]"}
        types = schema.get("type", "string")
        types = [types] if isinstance(types, str) else types
        hint = " | ".join(names[name] for name in types if name != "null")
    else:
        hint = plain_hint(kind)
    return hint if member.required or hint == "Any" else f"{hint} | None"
