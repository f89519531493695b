"""`tables.py`: what the explaining reader needs to know of every type, as plain data."""

from __future__ import annotations

from pprint import pformat
from typing import Any

from .shapes import Contract, Kind, Shape
from .struct_input import arm_name

HEAD = '''"""What the schemas say, as data for the explaining reader, the upgrade and the checks."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["CLASSES", "FILES", "RETIRED", "ROOTS", "SECRETS", "UNIONS", "ClassTable", "MemberTable", "UnionTable"]


class MemberTable(NamedTuple):
    """A member: its kind, how it may be missing, and our annotations on it.

    A kind is `(what, type name)`, `(what, kind of the items)` or `(what,)`; a third entry says that items may be null.
    """

    kind: tuple[Any, ...]
    required: bool = False
    nullable: bool = False
    marks: frozenset[str] = frozenset()


class ClassTable(NamedTuple):
    """An object type: closed or open, its members by wire name, its tag member when it is a variant of a union, and the
    kind of the members it does not name where an open type has one (metrics are numbers)."""

    closed: bool
    members: dict[str, MemberTable]
    tag: str | None = None
    rest: tuple[Any, ...] | None = None


class UnionTable(NamedTuple):
    """A union: the tag member, the class of each tag, the arm for unknown tags."""

    tag: str
    variants: dict[str, str]
    arm: str


'''


def tables_module(contract: Contract) -> str:
    roots = {title: stem for stem, title in contract.roots().items()}
    retired: dict[str, dict[str, str]] = {}
    for entry in contract.retired:
        retired.setdefault(entry["class"], {})[entry["member"]] = entry["instead"]
    secrets = sorted(
        f"{shape.name}.{member.name}"
        for shape in contract.shapes.values()
        for member in shape.members
        if "x-secret" in member.schema
    )
    parts = [HEAD, "CLASSES: dict[str, ClassTable] = {\n"]
    parts += [_class(shape, contract) for shape in contract.shapes.values()]
    parts += ["}\n\nUNIONS: dict[str, UnionTable] = {\n"]
    for union in contract.unions.values():
        variants = {_tag(contract, name): name for name in union.variants}
        parts.append(f"    {union.name!r}: UnionTable({union.tag!r}, {variants!r}, {arm_name(union)!r}),\n")
    parts += ["}\n\n", "ROOTS: dict[str, str] = ", pformat(roots), "\n"]
    parts += ['"""Schema file stem of each type that can be a document."""\n\n']
    files = {
        name: each.file.removesuffix(".json") for name, each in (*contract.shapes.items(), *contract.unions.items())
    }
    parts += ["FILES: dict[str, str] = ", pformat(files), "\n"]
    parts += ['"""Schema file stem of every type."""\n\n']
    parts += ["RETIRED: dict[str, dict[str, str]] = ", pformat(retired), "\n"]
    parts += ['"""Retired members by class, with the advice for each."""\n\n']
    parts += ["SECRETS: frozenset[str] = frozenset(", repr(secrets), ")\n"]
    parts += ['"""Maps whose values are masked in run directories and uploads."""\n']
    return "".join(parts)


def _tag(contract: Contract, name: str) -> str:
    tag = contract.shapes[name].tag
    assert tag is not None, name
    return tag[1]


def _class(shape: Shape, contract: Contract) -> str:
    lines = [f"    {shape.name!r}: ClassTable(\n        {shape.closed!r},\n        {{\n"]
    for member in shape.members:
        marks = sorted(key.removeprefix("x-") for key in member.schema if key in MARKS)
        arguments = [repr(_kind(member.kind))]
        if member.required:
            arguments.append("required=True")
        if member.nullable:
            arguments.append("nullable=True")
        if marks:
            arguments.append(f"marks=frozenset({marks!r})")
        lines.append(f"            {member.name!r}: MemberTable({', '.join(arguments)}),\n")
    lines.append("        },\n")
    if shape.tag:
        lines.append(f"        {shape.tag[0]!r},\n")
    if shape.extra:
        lines.append(f"        rest={_kind(contract.kind(shape.extra))!r},\n")
    return "".join([*lines, "    ),\n"])


MARKS = {"x-stream", "x-computed", "x-wire", "x-secret", "x-omit-empty"}


def _kind(kind: Kind) -> tuple[Any, ...]:
    if kind.item is not None:
        return (kind.what, _kind(kind.item), *((True,) if kind.null_items else ()))
    return (kind.what, kind.name) if kind.name else (kind.what,)
