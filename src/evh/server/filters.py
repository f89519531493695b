"""What a listing is narrowed by: a small typed tree, checked against the fields of what is listed.

Promise: one meaning, in two hands: `catalog.conditions` compiles a tree to SQL, `matches` evaluates it over heads in
Python; tests hold the one against the other. A comparison with a member that is absent (None) is false, and `Not` of
it is true: there is no third truth value.
Policy: fields and operators are those that an index can answer, or that narrow what an index found.
When it breaks: an unknown field, an operator that the field lacks or a value of another type is `invalid_filter`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from evh.errors import cut
from evh.server.faults import refused
from evh.server.text import head_text

__all__ = [
    "CONTEXT", "EPISODES", "MAX_NODES", "TRACES", "And", "Compare", "Filter", "Kind", "Not", "Op", "Or", "check",
    "everything", "fingerprint", "head_value", "matches",
]  # fmt: skip

Kind = Literal["text", "integer", "number", "flag"]
Op = Literal["eq", "ne", "lt", "le", "gt", "ge", "in"]

CONTEXT = "context."
"""Before the name of an entry of the map that came with an upload: text, `eq` only."""
MAX_NODES = 200
MAX_DEPTH = 20
MAX_VALUES = 200
INTEGER_LIMIT = 2**63
EXACT_LIMIT = 2**53

TRACES: Mapping[str, Kind] = {
    "trace_id": "text", "episode_id": "text", "upload_id": "text", "run_id": "text", "environment_id": "text",
    "model_provider": "text", "model_id": "text", "task_id": "text", "agent_name": "text", "outcome": "text",
    "reward": "number", "has_error": "flag", "is_truncated": "flag", "step": "integer", "created_us": "integer",
    "ingested_us": "integer", "episode_seq": "integer",
}  # fmt: skip
EPISODES: Mapping[str, Kind] = {
    "episode_id": "text", "upload_id": "text", "run_id": "text", "environment_id": "text", "task_id": "text",
    "group_id": "text", "work": "text", "outcome": "text", "ok": "flag", "has_error": "flag", "is_timeout": "flag",
    "reward": "number", "step": "integer", "n_traces": "integer", "created_us": "integer", "ingested_us": "integer",
}  # fmt: skip


class Compare(Struct, frozen=True, tag="compare"):
    """A member against a value; `in` takes a tuple of values."""

    field: str
    op: Op
    value: Any


class And(Struct, frozen=True, tag="and"):
    """All of them; none at all is true."""

    items: tuple[Filter, ...] = ()


class Or(Struct, frozen=True, tag="or"):
    """One of them; none at all is false."""

    items: tuple[Filter, ...] = ()


class Not(Struct, frozen=True, tag="not"):
    """The opposite."""

    item: Filter


Filter: TypeAlias = Compare | And | Or | Not

everything = And()
"""The filter that lets all pass."""

_TYPES: dict[Kind, tuple[type, ...]] = {"text": (str,), "integer": (int,), "number": (int, float), "flag": (bool,)}
_OPS: dict[Kind, frozenset[str]] = {
    "text": frozenset({"eq", "ne", "in"}),
    "flag": frozenset({"eq", "ne"}),
    "integer": frozenset({"eq", "ne", "lt", "le", "gt", "ge", "in"}),
    "number": frozenset({"eq", "ne", "lt", "le", "gt", "ge"}),
}
_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": eq,
    "ne": ne,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
    "in": lambda held, values: held in values,
}


def check(tree: Filter, fields: Mapping[str, Kind]) -> None:
    """Refuse a tree that does not fit the fields (`invalid_filter`). Everything below may trust it then."""
    pending: list[tuple[Filter, int]] = [(tree, 1)]
    count = 0
    while pending:
        node, depth = pending.pop()
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise refused("invalid_filter", f"a filter has at most {MAX_NODES} parts, {MAX_DEPTH} levels deep")
        match node:
            case Compare():
                _check_compare(node, fields)
            case And(items) | Or(items):
                pending += [(item, depth + 1) for item in items]
            case Not(item):
                pending.append((item, depth + 1))
            case _:
                raise refused("invalid_filter", f"{cut(node)} is no filter")


def _check_compare(node: Compare, fields: Mapping[str, Kind]) -> None:
    if node.field.startswith(CONTEXT):
        if node.op != "eq" or type(node.value) is not str:
            raise refused("invalid_filter", f"{cut(node.field)} is compared with text, for equality only")
        return
    kind = fields.get(node.field)
    if kind is None:
        raise refused("invalid_filter", f"there is no field {cut(node.field)}; there are {', '.join(fields)}")
    if node.op not in _OPS[kind]:
        raise refused("invalid_filter", f"{node.field} is compared by {', '.join(sorted(_OPS[kind]))}, not {node.op}")
    if node.op == "in" and (type(node.value) is not tuple or len(node.value) > MAX_VALUES):
        raise refused("invalid_filter", f"{node.field}: `in` takes at most {MAX_VALUES} values")
    for value in node.value if node.op == "in" else (node.value,):
        if not _fits(value, kind):
            raise refused("invalid_filter", f"{node.field} is compared with a {kind}, not with {cut(value)}")


def _fits(value: Any, kind: Kind) -> bool:
    if type(value) not in _TYPES[kind]:
        return False
    if type(value) is float:
        return math.isfinite(value)
    limit = EXACT_LIMIT if kind == "number" else INTEGER_LIMIT
    return type(value) is not int or -limit <= value < limit


def matches(tree: Filter, head: Any) -> bool:
    """Whether a head passes: the meaning of a filter, in plain Python. Long texts are compared as heads hold them."""
    match tree:
        case Compare(field, op, value):
            if field.startswith(CONTEXT):
                context: Mapping[str, str] = head.context
                return bool(context.get(field.removeprefix(CONTEXT)) == value)
            held = getattr(head, field)
            return held is not None and bool(_TESTS[op](held, head_value(value)))
        case And(items):
            return all(matches(item, head) for item in items)
        case Or(items):
            return any(matches(item, head) for item in items)
        case Not(item):
            return not matches(item, head)


def head_value(value: Any) -> Any:
    """A value to compare with, as a head would hold it."""
    if isinstance(value, tuple):
        return tuple(head_value(item) for item in value)
    return head_text(value) if isinstance(value, str) else value


def fingerprint(tree: Filter, *more: str) -> str:
    """What tells this filter (and whatever else shapes a listing) from others: for cursors."""
    text = repr((tree, more)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:24]
