"""The documents that are worth a vector, from the schemas: every member, bound, variant and closed or open rule.

Promise: for every type, each member present, absent, null and of wrong types; each bound on the limit, inside and
outside; each value of an enum and an unknown one; each variant of a union, an unknown, a wrong and a missing tag;
members that are not named; two faults at once. Nothing here says which are valid: the reference validator does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..shapes import HAND_WRITTEN, Member, Schema, Shape, reference_name
from .samples import Samples, types_of

Value = tuple[str, Any]
"""What is special about a value, and the value."""
WRONG: tuple[tuple[str, Any], ...] = (
    ("number", 1.5), ("integer", 1), ("boolean", True), ("string", "1"), ("object", {}), ("array", []),
)  # fmt: skip
MOST_WRONG = 3
STRANGE = "a/b~c"
"""A member's name that a pointer has to escape."""
UNKNOWN = ("never_declared", "__proto__", "", "*")
FULL_DEPTH = 4
STEP = 0.5
CHOICES = 5
"""How many of the alternatives of a pattern are tried."""


class Case(NamedTuple):
    """A document to be judged: its name, the type that it is read as, and the value."""

    name: str
    type: str
    document: Any


class Cases:
    """All cases of one contract."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self.contract = samples.contract
        self.retired: dict[str, list[str]] = {}
        for entry in self.contract.retired:
            self.retired.setdefault(entry["class"], []).append(entry["member"])

    def of_file(self, file: str) -> Iterator[Case]:
        """The cases of the types that a schema file defines, in the order of their definitions."""
        for name, (where, _) in self.contract.definitions.items():
            if where != file:
                continue
            if name in self.contract.unions:
                yield from self._union(name)
            elif name in self.contract.shapes:
                yield from self._shape(name, self.contract.shapes[name], name, ())
            elif name in HAND_WRITTEN:
                shape = self.samples.shape(name)
                host, path = self._host(name)
                assert shape is not None
                yield from self._shape(name, shape, host, path)

    def _host(self, name: str) -> tuple[str, tuple[str, ...]]:
        """A type that can be read as a document and the member of it where another type stands."""
        for shape in self.contract.shapes.values():
            for member in shape.members:
                if member.kind.name == name and member.kind.what in ("class", "open", "tensor"):
                    return shape.name, (member.name,)
        raise ValueError(f"no type holds {name}")

    def _hosted(self, host: str, path: tuple[str, ...], document: Any) -> Any:
        return document if not path else {**self.samples.minimal(host), path[0]: document}

    def _shape(self, name: str, shape: Shape, host: str, path: tuple[str, ...]) -> Iterator[Case]:
        def case(what: str, document: Any) -> Case:
            return Case(f"{name}/{what}", host, self._hosted(host, path, document))

        least = self.samples.minimal(name)
        is_root = name in self.contract.roots().values()
        yield case("minimal", least)
        yield case("full", self.samples.full(name, FULL_DEPTH if is_root else 1))
        if not path:
            for what, value in (("array", [least]), ("text", "x"), ("null", None)):
                yield case(f"whole-{what}", value)
        for member in shape.members:
            if member.required:
                yield case(f"{member.name}-absent", {key: each for key, each in least.items() if key != member.name})
            for what, value in self.values(member.schema):
                yield case(f"{member.name}-{what}", {**least, member.name: value})
        yield from (case(what, document) for what, document in self._others(name, shape, least))

    def _others(self, name: str, shape: Shape, least: dict[str, Any]) -> Iterator[Value]:
        """Members that are not named, and several faults at once."""
        for unknown in UNKNOWN:
            yield f"unknown-{unknown or 'empty-name'}", {**least, unknown: {"kept": [1, None]}}
        if shape.extra:
            for what, value in self.values(shape.extra):
                yield f"other-{what}", {**least, STRANGE: value}
        first = shape.members[0].name
        yield f"unknown-{first.upper()}", {**least, first.upper(): least.get(first, 1)}
        for member in self.retired.get(name, ()):
            yield f"retired-{member}", {**least, member: {"id": "r"}}
        wrong = [(member.name, value) for member in shape.members[-2:] if (value := self._wrong(member)) is not None]
        yield "faults-in-order", {**least, "zz": 1, "AA": 1, **{key: value[0] for key, value in reversed(wrong)}}
        if shape.closed and shape.members[0].required:
            yield "fault-and-absent", {**{key: each for key, each in least.items() if key != first}, "AA": 1}

    def _wrong(self, member: Member) -> tuple[Any] | None:
        found = self._wrong_types(member.schema)
        return (found[0][1],) if found else None

    def _union(self, name: str) -> Iterator[Case]:
        union = self.contract.unions[name]
        for variant in union.variants:
            least = self.samples.minimal(variant)
            tag = least[union.tag]
            yield Case(f"{name}/{tag}", name, least)
            yield Case(f"{name}/{tag}-unknown-member", name, {**least, "never_declared": 1})
            required = [member.name for member in self.contract.shapes[variant].members if member.required]
            if len(required) > 1:
                kept = {key: each for key, each in least.items() if key != required[-1]}
                yield Case(f"{name}/{tag}-without-{required[-1]}", name, kept)
        least = self.samples.minimal(name)
        tag = least[union.tag]
        kept = {key: each for key, each in least.items() if key != union.tag}
        yield Case(f"{name}/tag-absent", name, kept)
        for what, value in (("unknown", "later"), ("null", None), ("number", 1), ("case", tag.upper()), ("star", "*")):
            yield Case(f"{name}/tag-{what}", name, {union.tag: value, **kept})
        yield Case(f"{name}/tag-unknown-alone", name, {union.tag: "later", "never_declared": {"deep": [1]}})
        for what, value in (("array", [least]), ("text", "x"), ("null", None)):
            yield Case(f"{name}/whole-{what}", name, value)

    def values(self, schema: Schema) -> Iterator[Value]:
        """Values for a place with this schema, right and wrong ones."""
        yield "present", self.samples.value(schema)
        yield "null", None
        for what, value in self._wrong_types(schema)[:MOST_WRONG]:
            yield f"as-{what}", value
        yield from self._special(schema)

    def _special(self, schema: Schema) -> Iterator[Value]:
        if "$ref" in schema:
            name = reference_name(schema)
            if self.samples.is_object(name):
                yield from self._nested(name)
            else:
                yield from self._special(self.contract.resolve(schema))
        elif "anyOf" in schema:
            yield from self._special(schema["anyOf"][0])
        elif "oneOf" in schema:
            parts = schema["oneOf"][1]
            yield "parts", self.samples.value(schema, 1)
            yield from ((f"parts-{what}", value) for what, value in self._array(parts))
        elif "const" in schema:
            yield from (("other", f"{schema['const']}x"), ("case", schema["const"].upper()))
        elif "enum" in schema:
            yield from ((f"is-{value}", value) for value in schema["enum"])
            yield from (("other", "never_declared"), ("case", schema["enum"][0].upper()))
        else:
            several = len(set(types_of(schema)) - {"null"}) > 1
            for name in types_of(schema):
                prefix = f"{name}-" if several else ""
                yield from ((prefix + what, value) for what, value in self._typed(name, schema))

    def _typed(self, name: str, schema: Schema) -> Iterator[Value]:
        match name:
            case "string":
                yield from self._text(schema)
            case "integer":
                yield from self._integer(schema)
            case "number":
                yield from self._number(schema)
            case "boolean":
                yield "false", False
            case "array":
                yield from self._array(schema)
            case "object":
                yield from self._map(schema)

    def _nested(self, name: str) -> Iterator[Value]:
        """A fault within an object, whose own vectors have the rest: it must be found where it is."""
        for variant in self.samples.variants(name):
            least = self.samples.minimal(variant)
            yield f"with-{variant}-unknown", {**least, "never_declared": 1}
        union = self.contract.unions.get(name)
        if union is not None:
            yield "with-unknown-tag", {union.tag: "later", "kept": 1}
            yield "with-no-tag", {"kept": 1}
        else:
            shape = self.samples.shape(name)
            assert shape is not None
            for member in shape.members:
                wrong = self._wrong(member)
                if wrong is not None:
                    yield f"with-wrong-{member.name}", {**self.samples.minimal(name), member.name: wrong[0]}
                    break

    def _text(self, schema: Schema) -> Iterator[Value]:
        good = self.samples.text(schema)
        if "pattern" in schema:
            for choice in range(1, CHOICES):
                yield f"form-{choice}", self.samples.text(schema, choice=choice)
            changed = ("", good + "\n", "\n" + good, " " + good, good + "!", "\u0661" + good[1:], good.swapcase())
            yield from ((f"bad-form-{number}", text) for number, text in enumerate(changed, 1))
        else:
            yield from (("empty", ""), ("unicode", "é\u2028\u0000\U0001f600"))
        for known in schema.get("x-open-vocabulary", ()):
            yield f"known-{known}", known
        for keyword in ("minLength", "maxLength"):
            if keyword in schema:
                limit: int = schema[keyword]
                for what, length in (("at", limit), ("below", limit - 1), ("above", limit + 1)):
                    if length >= 0:
                        yield f"{keyword}-{what}", self._long(schema, length)
                if "pattern" not in schema:
                    yield f"{keyword}-astral", "\U0001f600" * limit

    def _long(self, schema: Schema, length: int) -> str:
        """A text of just this length, of the schema's form where that goes; else with more or less before its end."""
        found = [self.samples.text(schema, length, choice) for choice in range(CHOICES)]
        text = next((each for each in found if len(each) == length), found[0])
        return text[:length] if len(text) > length else text[:-1] + text[-2:-1] * (length - len(text)) + text[-1:]

    def _integer(self, schema: Schema) -> Iterator[Value]:
        least, most = schema["minimum"], schema["maximum"]
        for keyword, limit, out in (("minimum", least, -1), ("maximum", most, 1)):
            yield f"{keyword}-at", limit
            yield f"{keyword}-inside", limit - out
            yield f"{keyword}-outside", limit + out
        yield "integral", float(max(least, min(most, 3)))

    def _number(self, schema: Schema) -> Iterator[Value]:
        least, most, above = schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")
        for keyword, limit, out in (
            ("minimum", least, -STEP),
            ("maximum", most, STEP),
            ("exclusiveMinimum", above, -STEP),
        ):
            if limit is not None:
                yield f"{keyword}-at", limit
                yield f"{keyword}-inside", limit - out
                yield f"{keyword}-outside", limit + out
        usual = 1 if above is not None or (least is not None and least > 0) else 0
        yield from (
            ("whole", usual),
            ("whole-as-float", float(usual)),
            ("large", 1.7976931348623157e308),
            ("small", 5e-324),
        )

    def _array(self, schema: Schema) -> Iterator[Value]:
        item = self.samples.value(schema["items"])
        least = schema.get("minItems", 0)
        yield from (("empty", []), ("two", [item, item]))
        if least > 1:
            for what, count in (("at", least), ("inside", least + 1), ("outside", least - 1)):
                yield f"minItems-{what}", [item] * count
        yield from ((f"item-{what}", [*[item] * (least - 1), value]) for what, value in self.values(schema["items"]))
        wrong = self._wrong_types(schema["items"])
        if wrong:
            yield "last-item-wrong", [*[item] * max(least, 1), wrong[0][1]]

    def _map(self, schema: Schema) -> Iterator[Value]:
        values = schema["additionalProperties"]
        yield "empty", {}
        yield "odd-names", {name: self.samples.value(values) for name in ("", "__proto__", "é", STRANGE)}
        if values != {}:
            yield from ((f"entry-{what}", {STRANGE: value}) for what, value in self.values(values))

    def allowed(self, schema: Schema) -> set[str]:
        """The JSON types that may stand at a place; empty when any may."""
        if "$ref" in schema:
            name = reference_name(schema)
            return {"object"} if self.samples.is_object(name) else self.allowed(self.contract.resolve(schema))
        if "anyOf" in schema or "oneOf" in schema:
            branches: list[Schema] = schema["anyOf"] if "anyOf" in schema else schema["oneOf"]
            return set().union(*(self.allowed(branch) for branch in branches))
        return set(types_of(schema))

    def _wrong_types(self, schema: Schema) -> list[Value]:
        allowed = self.allowed(schema)
        if not allowed:
            return []
        if "number" in allowed:
            allowed = allowed | {"integer"}
        near = ("number", "string", "boolean") if allowed & {"integer", "number"} else ("integer", "array")
        found = [each for each in WRONG if each[0] not in allowed]
        return sorted(found, key=lambda each: each[0] not in near)
