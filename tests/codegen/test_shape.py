"""The classes that datamodel-code-generator made, held against our own reading of the schemas, member by member.

Neither reading can drop a constraint alone: closedness, names, order, tags, what is required, nullable and defaulted,
types, bounds and patterns must be the same in both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect as inspected

from codegen.shapes import Contract, Member, Schema, Shape, Union, reference_name
from evh.protocol import models
from evh.protocol._base import ArmValue, ComputedMember, Overflow, RetiredMember
from evh.protocol._open import OpenObject
from evh.protocol._tensor import Tensor, WireObject
from evh.protocol.models import _known
from evh.protocol.tables import CLASSES, FILES, RETIRED, ROOTS, UNIONS

CONTRACT = Contract(Path(__file__).parents[2] / "schema" / "v1")
CLOSED = [shape for shape in CONTRACT.shapes.values() if shape.closed]
OPEN = [shape for shape in CONTRACT.shapes.values() if not shape.closed]
Form = frozenset[tuple[Any, ...]]
"""What a value may be, as a set of alternatives."""
ANY: Form = frozenset({("any",)})
ANY_OBJECT = ("map", ANY)


def wanted(schema: Schema, *, known: bool = False) -> Form:
    """What the schema says. `known`: as the checkers of open objects see it, where an open object has a checker."""
    if "$ref" in schema:
        return _wanted_name(reference_name(schema), known=known)
    if "anyOf" in schema or "oneOf" in schema:
        branches = schema.get("anyOf", schema.get("oneOf"))
        assert isinstance(branches, list)
        return frozenset().union(*(wanted(branch, known=known) for branch in branches))
    types = schema.get("type", [])
    found = [_wanted_type(name, schema, known=known) for name in ([types] if isinstance(types, str) else types)]
    return frozenset().union(*found) if found else ANY


def _wanted_name(name: str, *, known: bool) -> Form:
    if name == "Tensor":
        return frozenset({("custom", Tensor)})
    if name in CONTRACT.unions:
        return frozenset(("class", each) for each in (*CONTRACT.unions[name].variants, f"Unknown{name}"))
    shape = CONTRACT.shapes.get(name)
    if shape is None:
        return wanted(CONTRACT.definitions[name][1], known=known)
    if shape.closed:
        return frozenset({("class", name)})
    return frozenset({("class", f"Known{name}") if known else ANY_OBJECT})


def _wanted_type(name: str, schema: Schema, *, known: bool) -> Form:
    bounds = (schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum"))
    match name:
        case "null":
            return frozenset({("null",)})
        case "boolean":
            return frozenset({("boolean",)})
        case "integer":
            return frozenset({("integer", *bounds)})
        case "number":
            return frozenset({("integer", *bounds), ("float", *bounds)})
        case "string" if "enum" in schema:
            return frozenset({("one of", frozenset(schema["enum"]))})
        case "string":
            return frozenset({("string", schema.get("minLength"), schema.get("maxLength"), schema.get("pattern"))})
        case "array":
            items = _wanted_items(schema["items"], known=known)
            return frozenset({("array", items, schema.get("minItems"))})
        case "object":
            return frozenset({("map", wanted(schema["additionalProperties"], known=known))})
        case _:
            raise AssertionError(name)


def _wanted_items(schema: Schema, *, known: bool) -> Form:
    """Items of an array: a struct's slot holds an open object as a plain dict, a list holds the wrappers."""
    shape = CONTRACT.shapes.get(reference_name(schema)) if "$ref" in schema else None
    if shape is not None and not shape.closed and not known:
        return frozenset({("custom", getattr(models, shape.name))})
    return wanted(schema, known=known)


def made(kind: inspected.Type) -> Form:
    """What the generated annotation says."""
    match kind:
        case inspected.Metadata():
            return made(kind.type)
        case inspected.UnionType():
            return frozenset().union(*(made(each) for each in kind.types))
        case inspected.NoneType():
            return frozenset({("null",)})
        case inspected.BoolType():
            return frozenset({("boolean",)})
        case inspected.IntType():
            assert kind.lt is None and kind.multiple_of is None
            return frozenset({("integer", kind.ge, kind.le, kind.gt)})
        case inspected.FloatType():
            assert kind.lt is None and kind.multiple_of is None
            return frozenset({("float", kind.ge, kind.le, kind.gt)})
        case inspected.StrType():
            return frozenset({("string", kind.min_length, kind.max_length, kind.pattern)})
        case inspected.LiteralType():
            return frozenset({("one of", frozenset(kind.values))})
        case inspected.ListType():
            assert kind.max_length is None
            return frozenset({("array", made(kind.item_type), kind.min_length)})
        case inspected.DictType():
            assert made(kind.key_type) == frozenset({("string", None, None, None)})
            return frozenset({("map", made(kind.value_type))})
        case inspected.StructType():
            return frozenset({("class", kind.cls.__name__)})
        case inspected.CustomType():
            return frozenset({("custom", kind.cls)})
        case inspected.RawType():
            return frozenset({("raw",)})
        case inspected.AnyType():
            return ANY
        case _:
            raise AssertionError(kind)


def fields_of(cls: Any) -> dict[str, tuple[msgspec.structs.FieldInfo, inspected.Field]]:
    kind = inspected.type_info(cls)
    assert isinstance(kind, inspected.StructType)
    plain = {field.encode_name: field for field in msgspec.structs.fields(cls)}
    return {field.encode_name: (plain[field.encode_name], field) for field in kind.fields}


def members_of(shape: Shape) -> list[Member]:
    """The members that are fields: all but the tag, which is in the struct's configuration."""
    return [member for member in shape.members if "const" not in member.schema]


def default_of(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default


names = pytest.mark.parametrize("shape", CLOSED, ids=lambda shape: shape.name)
open_names = pytest.mark.parametrize("shape", OPEN, ids=lambda shape: shape.name)
union_names = pytest.mark.parametrize("union", CONTRACT.unions.values(), ids=lambda union: union.name)


def test_every_type_of_the_schemas_has_a_class_and_every_class_a_type() -> None:
    arms = {f"Unknown{name}" for name in CONTRACT.unions}
    expected = {*CONTRACT.shapes, *CONTRACT.unions, *arms, "Tensor"}
    assert set(models.__all__) == expected
    assert CLASSES.keys() == CONTRACT.shapes.keys()
    assert UNIONS.keys() == CONTRACT.unions.keys()
    assert FILES.keys() == CONTRACT.shapes.keys() | CONTRACT.unions.keys()
    assert {title: stem for stem, title in CONTRACT.roots().items()} == ROOTS
    assert {(name, member) for name, members in RETIRED.items() for member in members} == {
        (entry["class"], entry["member"]) for entry in CONTRACT.retired
    }


@names
def test_a_closed_object_is_a_struct_that_forbids_unknown_members(shape: Shape) -> None:
    cls = getattr(models, shape.name)
    assert issubclass(cls, msgspec.Struct)
    assert cls.__struct_config__.forbid_unknown_fields
    assert " ".join((cls.__doc__ or "").split()) == " ".join(shape.description.split())
    assert CLASSES[shape.name].closed


@open_names
def test_an_open_object_is_a_wrapper_that_keeps_every_member(shape: Shape) -> None:
    cls = getattr(models, shape.name)
    assert issubclass(cls, OpenObject) and not issubclass(cls, msgspec.Struct)
    assert dict(cls.known) == {member.python: member.name for member in shape.members}
    assert all(isinstance(getattr(cls, member.python), property) for member in shape.members)
    assert not CLASSES[shape.name].closed


@names
def test_names_order_and_tag_are_those_of_the_schema(shape: Shape) -> None:
    cls = getattr(models, shape.name)
    retired = [entry["member"] for entry in CONTRACT.retired if entry["class"] == shape.name]
    assert list(cls.__struct_encode_fields__) == [*(m.name for m in members_of(shape)), *retired, "*"]
    computed = {member.name for member in shape.members if "x-computed" in member.schema}
    python = [f"computed_{m.python}" if m.name in computed else m.python for m in members_of(shape)]
    assert list(cls.__struct_fields__) == [*python, *(f"retired_{name}" for name in retired), "additional"]
    config = cls.__struct_config__
    assert (config.tag_field, config.tag) == (shape.tag or (None, None))
    assert list(CLASSES[shape.name].members) == [member.name for member in shape.members]


@names
def test_unknown_and_retired_members_have_their_slots(shape: Shape) -> None:
    fields = fields_of(getattr(models, shape.name))
    plain, overflow = fields["*"]
    assert made(overflow.type) == frozenset({("custom", Overflow)}) and plain.default is None
    for entry in CONTRACT.retired:
        if entry["class"] == shape.name:
            plain, slot = fields[entry["member"]]
            assert made(slot.type) == frozenset({("custom", RetiredMember)}) and plain.default is msgspec.UNSET


@names
def test_types_bounds_and_patterns_are_those_of_the_schema(shape: Shape) -> None:
    fields = fields_of(getattr(models, shape.name))
    for member in members_of(shape):
        form = made(fields[member.name][1].type) - {("unset",)}
        assert form == expected_form(member), f"{shape.name}.{member.name}"


def expected_form(member: Member) -> Form:
    if "x-computed" in member.schema:
        return frozenset({("custom", ComputedMember)})
    if "x-stream" in member.schema:
        return frozenset({("raw",)})
    form = wanted(member.schema)
    if "x-wire" in member.schema and ANY_OBJECT in form:
        return form - {ANY_OBJECT} | {("custom", WireObject)}
    return form


@names
def test_presence_and_defaults_are_those_of_the_schema(shape: Shape) -> None:
    fields = fields_of(getattr(models, shape.name))
    for member in members_of(shape):
        field = fields[member.name][0]
        place = f"{shape.name}.{member.name}"
        if "x-computed" in member.schema or "x-stream" in member.schema:
            assert field.default is msgspec.UNSET, place
        elif member.required:
            assert field.required, place
        elif member.nullable:
            assert not field.required and default_of(field) is None, place
        elif member.kind.what == "array":
            assert default_of(field) == [], place
        elif member.kind.what in {"map", "object"}:
            assert default_of(field) == {}, place
        elif member.kind.what == "class":
            assert default_of(field) == getattr(models, member.kind.name)(), place
        else:
            assert default_of(field) == member.schema["default"], place
            assert type(default_of(field)) is type(member.schema["default"]), place


@names
def test_streams_are_read_as_what_the_schema_says(shape: Shape) -> None:
    cls = getattr(models, shape.name)
    items = {"integer": "int", "boolean": "bool", "number": "float"}
    for member in shape.members:
        if "x-stream" in member.schema:
            stream = getattr(cls, member.python)
            if member.kind.what == "map":
                assert stream.items == "map" and member.nullable
            else:
                kind = items[member.schema["items"]["type"]]
                assert stream.items == ("optional" if member.nullable else kind), f"{shape.name}.{member.name}"


@open_names
def test_the_known_members_of_an_open_object_are_checked_as_the_schema_says(shape: Shape) -> None:
    fields = fields_of(getattr(_known, f"Known{shape.name}"))
    assert list(fields) == [member.name for member in shape.members]
    for member in shape.members:
        plain, field = fields[member.name]
        assert plain.required is member.required, f"{shape.name}.{member.name}"
        assert made(field.type) - {("unset",)} == wanted(member.schema, known=True), f"{shape.name}.{member.name}"


@union_names
def test_a_union_has_its_variants_and_an_arm_for_unknown_tags(union: Union) -> None:
    arm = getattr(models, f"Unknown{union.name}")
    assert made(inspected.type_info(getattr(models, union.name))) == _wanted_name(union.name, known=False)
    assert (arm.__struct_config__.tag_field, arm.__struct_config__.tag) == (union.tag, "*")
    assert made(fields_of(arm)["*"][1].type) == frozenset({("custom", ArmValue)})
    for name in union.variants:
        assert getattr(models, name).__struct_config__.tag_field == union.tag
    assert UNIONS[union.name].variants == {getattr(models, name).__struct_config__.tag: name for name in union.variants}
