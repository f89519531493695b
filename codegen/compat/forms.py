"""What a schema of the profile admits, by JSON type: the form in which two schemas can be compared.

Promise: two schemas that admit the same values have equal forms as far as scalars go, however they are written (a
nullable by `anyOf` or by a list of types, a length by bounds or by a pattern of fixed width).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from re import _parser as patterns  # type: ignore[attr-defined]  # the width of a pattern is said nowhere else

from .versions import Node, Version

__all__ = ["Array", "Form", "Numbers", "Objects", "Strings", "form_of", "within_numbers", "within_strings"]

Bound = tuple[float, bool]
"""A bound and whether it is itself left out."""


@dataclass(frozen=True)
class Numbers:
    whole: bool
    lower: Bound
    upper: float


@dataclass(frozen=True)
class Strings:
    values: frozenset[str] | None
    pattern: str | None
    shortest: int
    longest: float

    def admits(self, text: str) -> bool:
        listed = self.values is None or text in self.values
        matched = self.pattern is None or re.search(self.pattern, text) is not None
        return listed and matched and self.shortest <= len(text) <= self.longest


@dataclass(frozen=True)
class Array:
    least: int
    items: Node


@dataclass(frozen=True)
class Objects:
    """One object type or map (`tag` is None), or tagged ones, by the value of their tag."""

    tag: str | None
    variants: dict[str, Node]


@dataclass
class Form:
    """The parts by type; `origin` says which schema, behind the references, each of the larger ones comes from."""

    anything: bool = False
    null: bool = False
    boolean: bool = False
    numbers: Numbers | None = None
    strings: Strings | None = None
    array: Array | None = None
    objects: Objects | None = None
    origin: dict[str, Node] = field(default_factory=dict)

    def types(self) -> list[str]:
        """The JSON types that are admitted, for messages."""
        found = {
            "null": self.null,
            "boolean": self.boolean,
            "number": self.numbers is not None and not self.numbers.whole,
            "integer": self.numbers is not None and self.numbers.whole,
            "string": self.strings is not None,
            "array": self.array is not None,
            "object": self.objects is not None,
        }
        return [name for name, there in found.items() if there]


def form_of(version: Version, node: Node) -> Form:
    """The form of a schema; references are followed, members of objects are not."""
    node = version.target(node)
    schema = node.schema
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            found = Form()
            for index in range(len(schema[keyword])):
                _join(found, form_of(version, node.below(keyword, index)))
            if keyword == "oneOf" and found.objects is not None:
                found.origin["objects"] = node
            return found
    types = schema.get("type")
    if types is None:
        return Form(anything=True)
    found = Form(origin=dict.fromkeys(("numbers", "strings", "array", "objects"), node))
    for name in [types] if isinstance(types, str) else types:
        match name:
            case "null":
                found.null = True
            case "boolean":
                found.boolean = True
            case "integer" | "number":
                found.numbers = _numbers(schema, name == "integer")
            case "string":
                found.strings = _strings(schema)
            case "array":
                found.array = Array(schema.get("minItems", 0), node.below("items"))
            case "object":
                found.objects = _objects(node)
    return found


def _join(into: Form, other: Form) -> None:
    for name, node in other.origin.items():
        if getattr(other, name) is not None:
            into.origin.setdefault(name, node)
    into.anything |= other.anything
    into.null |= other.null
    into.boolean |= other.boolean
    into.numbers = into.numbers or other.numbers
    into.strings = into.strings or other.strings
    into.array = into.array or other.array
    if into.objects is None or other.objects is None:
        into.objects = into.objects or other.objects
    else:
        into.objects = Objects(into.objects.tag, into.objects.variants | other.objects.variants)


def _numbers(schema: dict[str, float], whole: bool) -> Numbers:
    lower: Bound = (schema.get("minimum", -math.inf), False)
    above = schema.get("exclusiveMinimum")
    if above is not None and above >= lower[0]:
        lower = (above, True)
    upper = schema.get("maximum", math.inf)
    if whole:
        least = math.floor(lower[0]) + 1 if lower[1] else lower[0]
        lower = (math.ceil(least) if math.isfinite(least) else least, False)
        upper = math.floor(upper) if math.isfinite(upper) else upper
    return Numbers(whole, lower, upper)


def _strings(schema: dict[str, object]) -> Strings:
    values: object = [schema["const"]] if "const" in schema else schema.get("enum")
    pattern = schema.get("pattern")
    shortest, longest = int(str(schema.get("minLength", 0))), float(str(schema.get("maxLength", math.inf)))
    if isinstance(pattern, str):
        least, most = patterns.parse(pattern).getwidth()
        shortest = max(shortest, least)
        longest = min(longest, math.inf if most >= patterns.MAXREPEAT else most)
    listed = frozenset(str(value) for value in values) if isinstance(values, list) else None
    return Strings(listed, pattern if isinstance(pattern, str) else None, shortest, longest)


def _objects(node: Node) -> Objects:
    for name, member in node.schema.get("properties", {}).items():
        if "const" in member:
            return Objects(name, {member["const"]: node})
    return Objects(None, {"": node})


def within_numbers(one: Numbers, other: Numbers) -> bool:
    """Whether every number of one is one of the other."""
    if other.whole and not one.whole:
        return False
    lower = one.lower[0] > other.lower[0] or (one.lower[0] == other.lower[0] and (one.lower[1] or not other.lower[1]))
    return lower and one.upper <= other.upper


def within_strings(one: Strings, other: Strings) -> bool:
    """Whether every text of one is one of the other, as far as that can be told."""
    if one.values is not None:
        return all(other.admits(text) for text in one.values if one.admits(text))
    if other.values is not None or other.pattern not in (None, one.pattern):
        return False
    return one.shortest >= other.shortest and one.longest <= other.longest
