"""Taking values out of a document where a schema does not allow them, with as little around them as possible.

A value that may not stand where it stands makes its nearest nullable ancestor null or its nearest optional one absent;
in free objects it becomes null itself. The rule is the same for NaN literals and, in an upgrade, for values that do not
fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from evh.protocol.tables import CLASSES, UNIONS

__all__ = ["Taken", "split_pointer", "take_out"]

FREE = ("any",)
WHOLES = frozenset({"/traces"})
"""What never goes because of a part of it: an episode without its traces would say something else."""


class Taken(NamedTuple):
    """What was taken out: where it stood, the whole value there, and whether null stands there now."""

    pointer: str
    value: Any
    null: bool


class _Step(NamedTuple):
    container: Any
    key: Any
    pointer: str
    nullable: bool
    optional: bool


def split_pointer(text: str) -> list[str]:
    """The unescaped parts of a JSON Pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def take_out(document: Any, root: str, pointers: Iterable[str]) -> list[Taken] | None:
    """Take out the values at the pointers, in place. None when one of them cannot go without the whole document.

    A pointer that no longer leads anywhere, because an ancestor is gone already, is passed over.
    """
    taken: list[Taken] = []
    for where in pointers:
        steps = _resolve(document, root, split_pointer(where))
        if steps is None:
            continue
        step = next((each for each in reversed(steps) if each.nullable or each.optional), None)
        if step is None or (step.pointer in WHOLES and where != step.pointer):
            return None
        taken.append(Taken(step.pointer, step.container[step.key], step.nullable))
        if step.nullable:
            step.container[step.key] = None
        else:
            del step.container[step.key]
    return taken


def _resolve(document: Any, root: str, parts: list[str]) -> list[_Step] | None:
    """The steps from the root to a place, with what the schema says of each; None when the place is gone."""
    kind: tuple[Any, ...] = ("union", root) if root in UNIONS else ("class" if CLASSES[root].closed else "open", root)
    steps: list[_Step] = []
    value, where = document, ""
    for part in parts:
        where += "/" + part.replace("~", "~0").replace("/", "~1")
        key: Any = part
        if type(value) is list:
            key = int(part) if part.isdecimal() else len(value)
            if key >= len(value):
                return None
        elif type(value) is not dict or part not in value:
            return None
        kind, nullable, optional = _below(kind, value, part)
        steps.append(_Step(value, key, where, nullable, optional))
        value = value[key]
    return steps


def _below(kind: tuple[Any, ...], value: Any, part: str) -> tuple[tuple[Any, ...], bool, bool]:
    """The kind of a member or item, whether it may be null, whether it may be absent."""
    what = kind[0]
    if what == "union":
        table = UNIONS[kind[1]]
        tag = value.get(table.tag) if type(value) is dict else None
        variant = table.variants.get(tag) if type(tag) is str else None
        if variant is None:
            return FREE, True, part != table.tag
        kind = ("class", variant)
        what = "class"
    if what in ("class", "open") and type(value) is dict:
        shape = CLASSES[kind[1]]
        if part not in shape.members:
            return (shape.rest, False, True) if shape.rest else (FREE, not shape.closed, True)
        member = shape.members[part]
        return member.kind, member.nullable, not member.required
    if what == "map":
        return kind[1], len(kind) > 2, True
    if what in ("array", "parts"):
        return kind[1], False, False
    return FREE, True, type(value) is dict
