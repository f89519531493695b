"""The TypeScript types: `clients/typescript/src/types/*.ts`, one module per schema file and one that shows them all.

Promise: every definition of the schemas is an exported type with its description, and a constant of the same name that
says to a validator what the schema says. Wire names are verbatim. The modules have no side effects and load nothing
but each other, so that a bundler keeps only the types that are used.
Policy: the layout of the text. Members that we compute (`x-computed`) are in the constant, which accepts them, and not
in the type, because a reader drops them.
When it breaks: a keyword of the schemas that no reader in TypeScript follows is a `ValueError`, never left out.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from .shapes import HAND_WRITTEN, Contract, Schema, reference_name

TYPESCRIPT = Path("clients/typescript/src/types")
HEADER = (
    "// Generated from schema/v1/{file} by `make generate`, sha256 {digest}.\n// Edit the schema, not this file.\n\n"
)
INDEX_HEADER = "// Generated from schema/v1 by `make generate`. Edit the schemas, not this file.\n\n"
WIDTH = 120
CHECKED = {
    "type", "properties", "additionalProperties", "items", "oneOf", "anyOf", "const", "enum", "format", "pattern",
    "minLength", "maxLength", "minItems", "minimum", "maximum", "exclusiveMinimum",
}  # fmt: skip
"""Keywords that the constants repeat."""
SAID = {"x-stream": "stream", "x-computed": "computed", "x-wire": "wire", "x-omit-empty": "omitEmpty"}
"""Annotations that the constants repeat, by the name they have there."""
TOLD = {"$schema", "$id", "$defs", "$ref", "title", "description", "default", "required"}
TOLD |= {"x-since", "x-minted", "x-secret", "x-open-vocabulary", "x-written-by", "x-read-by"}
"""What the text or another place says: nothing for a validator."""
SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def typescript_modules(contract: Contract, digests: dict[str, str]) -> dict[Path, str]:
    """Every module below the repository, with its text; `digests` has the SHA-256 of each schema file."""
    outputs: dict[Path, str] = {}
    for file in contract.files:
        names = [name for name, (home, _) in contract.definitions.items() if home == file]
        outputs[TYPESCRIPT / f"{Path(file).stem}.ts"] = HEADER.format(file=file, digest=digests[file]) + _module(
            contract, file, names
        )
    stems = [Path(file).stem for file in contract.files]
    lines = [f'export * from "./{stem}.ts";' for stem in stems]
    outputs[TYPESCRIPT / "index.ts"] = INDEX_HEADER + "\n".join(lines) + "\n"
    return outputs


def _module(contract: Contract, file: str, names: list[str]) -> str:
    parts = [_definition(contract, name) for name in names]
    text = "\n".join(parts)
    imports = ['import type { JsonValue, Type } from "../schema.ts";' if "JsonValue" in text else _TYPE_ONLY]
    wanted: dict[str, set[str]] = {}
    for name in names:
        for other in _mentioned(contract.definitions[name][1]):
            home = contract.definitions[other][0]
            if home != file:
                wanted.setdefault(Path(home).stem, set()).add(other)
    for stem, others in sorted(wanted.items()):
        imports.append(f'import {{ {", ".join(sorted(others))} }} from "./{stem}.ts";')
    return "\n".join([*imports, "", text])


_TYPE_ONLY = 'import type { Type } from "../schema.ts";'


def _mentioned(schema: Any) -> set[str]:
    """The definitions that a schema refers to directly."""
    if isinstance(schema, list):
        return {name for each in schema for name in _mentioned(each)}
    if not isinstance(schema, dict):
        return set()
    found = {reference_name(schema)} if isinstance(schema.get("$ref"), str) else set()
    return found | {name for key, each in schema.items() if key != "$defs" for name in _mentioned(each)}


def _definition(contract: Contract, name: str) -> str:
    schema = contract.definitions[name][1]
    lines = _comment(schema, "")
    if "properties" in schema:
        lines += _interface(contract, name, schema)
    else:
        lines += _wrapped(f"export type {name} = ", _type(schema) + ";")
    retired = {entry["member"]: entry["instead"] for entry in contract.retired if entry["class"] == name}
    value: dict[str, Any] = {"name": name, "schema": _checked(schema, name)}
    if name in contract.unions:
        value["schema"]["tag"] = contract.unions[name].tag
    if name in HAND_WRITTEN:
        value["schema"]["exact"] = True
    if retired:
        value["retired"] = retired
    lines += ["", f"export const {name}: Type<{name}> = {_literal(value, 0)};", ""]
    return "\n".join(lines)


def _interface(contract: Contract, name: str, schema: Schema) -> list[str]:
    lines = [f"export interface {name} {{"]
    required = set(schema.get("required", ()))
    kinds = []
    for member, inner in schema["properties"].items():
        if "x-computed" in inner:
            continue
        kinds.append(_type(inner))
        lines += _comment(inner, "  ")
        mark = "" if member in required else "?"
        lines += _wrapped(f"  {_key(member)}{mark}: ", kinds[-1] + ";")
    extra = schema["additionalProperties"]
    if extra is not False:
        said = "Any other member, kept as it is." if extra == {} else str(extra.get("description", ""))
        lines += _comment({"description": said}, "  ")
        lines += _wrapped("  [name: string]: ", f"{_rest(extra, kinds)};")
    return [*lines, "}"]


def _rest(extra: Schema, kinds: list[str]) -> str:
    """What an index signature must admit: the other members, and the named ones too."""
    if extra == {}:
        return "unknown"
    return " | ".join(dict.fromkeys(part for kind in (_type(extra), *kinds, "undefined") for part in kind.split(" | ")))


# --- types -----------------------------------------------------------------------------------------------------------


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return reference_name(schema)
    for union in ("oneOf", "anyOf"):
        if union in schema:
            return " | ".join(_type(branch) for branch in schema[union])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    kinds = schema.get("type")
    if kinds is None:
        return "JsonValue"
    return " | ".join(_typed(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _typed(kind: str, schema: Schema) -> str:
    if kind == "string" and "x-open-vocabulary" in schema:
        known = " | ".join(json.dumps(value) for value in schema["x-open-vocabulary"])
        return f"{known} | (string & {{}})"
    if kind == "array":
        inner = _type(schema["items"])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        return f"{{ [name: string]: {_type(schema['additionalProperties'])} }}"
    return SCALARS[kind]


def _comment(schema: Schema, indent: str) -> list[str]:
    """A description as TSDoc, with what the schema says of the value beside its type."""
    parts = [str(schema.get("description", "")).replace("*/", "*\\/").replace("@", "\\@")]
    if (bounds := _bounds(schema)) is not None:
        parts.append(bounds)
    if "x-wire" in schema:
        parts.append("On the MessagePack wire only: `encode` leaves it out.")
    if "default" in schema:
        parts.append(f"@defaultValue `{json.dumps(schema['default'])}`")
    if "x-since" in schema:
        parts.append(f"@since {schema['x-since']}")
    lines = [line for part in parts if part for line in textwrap.wrap(part, WIDTH - len(indent) - 3)]
    if not lines:
        return []
    if len(lines) == 1 and len(indent) + len(lines[0]) + 7 <= WIDTH:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def _bounds(schema: Schema) -> str | None:
    least, most, above = schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")
    if above is not None:
        return f"More than {above}."
    if least is not None and abs(least) < 2**53 - 1:
        return f"At least {least}." if most is None or abs(most) >= 2**53 - 1 else f"From {least} to {most}."
    return f"At most {most}." if most is not None and abs(most) < 2**53 - 1 else None


def _wrapped(start: str, rest: str) -> list[str]:
    """A declaration, one alternative a line when it is too long for one line."""
    if len(start) + len(rest) <= WIDTH or " | " not in rest or "[]" in rest:
        return [start + rest]
    indent = " " * (len(start) - len(start.lstrip())) + "  "
    return [start.rstrip(), *(f"{indent}| {part}" for part in rest.split(" | "))]


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


# --- constants -------------------------------------------------------------------------------------------------------


class _Source(str):
    """Source text in a literal: not to be quoted."""

    __slots__ = ()


def _checked(schema: Schema, where: str) -> dict[str, Any]:
    """What a validator must know of a schema, in the form of `Schema` of `schema.ts`."""
    strange = {key for key in schema.keys() - CHECKED - TOLD if not key.startswith("x-")}
    if strange:
        raise ValueError(f"{where}: no TypeScript reader follows {min(strange)!r}")
    if "$ref" in schema:
        made: dict[str, Any] = {"ref": _Source(f"() => {reference_name(schema)}")}
        return made | {SAID[key]: value for key, value in schema.items() if key in SAID}
    made = {key: value for key, value in schema.items() if key in CHECKED}
    if "properties" in made:
        made["required"] = schema.get("required", [])
        made["properties"] = {name: _checked(inner, f"{where}.{name}") for name, inner in schema["properties"].items()}
    if isinstance(made.get("additionalProperties"), dict):
        made["additionalProperties"] = _checked(made["additionalProperties"], f"{where}.*")
    if "items" in made:
        made["items"] = _checked(made["items"], f"{where}[]")
    for union in ("oneOf", "anyOf"):
        if union in made:
            made[union] = [_checked(branch, where) for branch in made[union]]
    return made | {SAID[key]: value for key, value in schema.items() if key in SAID}


def _literal(value: Any, depth: int) -> str:
    """A value as source text, on one line when it fits."""
    if isinstance(value, _Source):
        return str(value)
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items, opening, closing = [(f"{_key(key)}: ", each) for key, each in value.items()], "{ ", " }"
    else:
        items, opening, closing = [("", each) for each in value], "[", "]"
    line = opening + ", ".join(start + _literal(each, 0) for start, each in items) + closing
    if "\n" not in line and depth * 2 + len(line) < WIDTH - 30:
        return line
    inner = "  " * (depth + 1)
    lines = [f"{inner}{start}{_literal(each, depth + 1)}," for start, each in items]
    return "\n".join([opening.strip(), *lines, "  " * depth + closing.strip()])
