"""Valid values of any schema of the contract, always the same ones: the smallest, and one with every member.

Promise: `minimal` and `full` are valid by their schema and make no use of chance. When it breaks: the vectors named
`minimal` and `full` come out as invalid, which the coverage count refuses.
"""

from __future__ import annotations

from typing import Any

from ..shapes import HAND_WRITTEN, Contract, Member, Schema, Shape, is_union, reference_name
from .patterns import matching

FREE: dict[str, Any] = {"any": [1, "x", None, 2.5, {"": True}]}
"""A value where a schema allows any."""


class Samples:
    """Values of the types of one contract."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self._minimal: dict[str, dict[str, Any]] = {}

    def shape(self, name: str) -> Shape | None:
        """The object type of a name, also one whose class is written by hand; None for a union or a scalar."""
        if name in HAND_WRITTEN:
            return self.contract._shape(name)
        return self.contract.shapes.get(name)

    def minimal(self, name: str) -> dict[str, Any]:
        """An object type's document with its required members alone; of a union its first variant."""
        if name not in self._minimal:
            shape = self.shape(self.variants(name)[0])
            assert shape is not None, name
            self._minimal[name] = {member.name: self._least(member) for member in shape.members if member.required}
        return dict(self._minimal[name])

    def _least(self, member: Member) -> Any:
        """The smallest value of a member: null where an object may be null, since it may hold its own type."""
        is_object = member.kind.what in ("class", "open", "union", "tensor")
        return None if member.nullable and is_object else self.value(member.schema)

    def full(self, name: str, depth: int) -> dict[str, Any]:
        """A document with every member, `depth` objects deep."""
        shape = self.shape(self.variants(name)[0])
        assert shape is not None, name
        return {member.name: self.value(member.schema, depth) for member in shape.members}

    def variants(self, name: str) -> tuple[str, ...]:
        """The object types that a name may stand for: itself, or those of a union."""
        union = self.contract.unions.get(name)
        return union.variants if union is not None else (name,)

    def is_object(self, name: str) -> bool:
        """Whether a definition is an object type with members, or a union of such."""
        _, schema = self.contract.definitions[name]
        return is_union(schema) or "properties" in schema

    def value(self, schema: Schema, depth: int = 0) -> Any:
        """A valid value; with a depth, objects in it have every member."""
        if "$ref" in schema:
            name = reference_name(schema)
            if self.is_object(name):
                return self.full(name, depth - 1) if depth > 0 else self.minimal(name)
            return self.value(self.contract.resolve(schema), depth)
        if "anyOf" in schema:
            return self.value(schema["anyOf"][0], depth)
        if "oneOf" in schema:
            return [self.value(schema["oneOf"][1]["items"], depth)] if depth > 0 else "x"
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if "type" not in schema:
            return FREE
        return self._typed(schema, depth)

    def _typed(self, schema: Schema, depth: int) -> Any:
        match types_of(schema)[0]:
            case "string":
                return self.text(schema)
            case "integer":
                return max(schema["minimum"], min(schema["maximum"], 1))
            case "number":
                return self.number(schema)
            case "boolean":
                return True
            case "array":
                count = max(schema.get("minItems", 0), 1)
                return [self.value(schema["items"], depth) for _ in range(count)]
            case "object":
                return {"a": self.value(schema["additionalProperties"], depth)}
            case _:
                return None

    def number(self, schema: Schema) -> float:
        least = schema.get("minimum", schema.get("exclusiveMinimum"))
        most = schema.get("maximum")
        if least is not None and most is not None:
            return float(least + (most - least) / 2)
        return float(least) + 0.5 if least is not None else float(most) - 0.5 if most is not None else 0.5

    def text(self, schema: Schema, length: int | None = None, choice: int = 0) -> str:
        """A text of the schema's form; of a length where one is asked for and can be had."""
        wanted = length if length is not None else schema.get("minLength", 1)
        if "pattern" in schema:
            return matching(schema["pattern"], wanted, choice)
        known: list[str] = schema.get("x-open-vocabulary", [])
        return known[0] if known and length is None else "x" * wanted


def types_of(schema: Schema) -> list[str]:
    """The JSON types that a schema without references names, null last."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else list(types)
    return sorted(types, key=lambda name: name == "null")
