"""Filters as SQL: the other hand of `evh.server.filters.matches`.

Promise: for every tree that `filters.check` lets pass, the condition holds for exactly the rows whose heads match.
SQL's third truth value never shows: negations are pushed down to the comparisons, where an absent member is told apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, false, or_, select, true

from evh.server.catalog.tables import batches, contexts
from evh.server.filters import CONTEXT, And, Compare, Filter, Not, Or, head_value
from evh.server.text import head_text

__all__ = ["condition", "is_pinned"]

_HEX = re.compile(r"[0-9a-f]{64}")
_OPS: dict[str, Callable[[Any, Any], Any]] = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
_OPPOSITE: dict[str, Callable[[Any, Any], Any]] = {"eq": ne, "ne": eq, "lt": ge, "le": gt, "gt": le, "ge": lt}


def condition(tree: Filter, table: Table, project: int, *, negated: bool = False) -> ColumnElement[bool]:
    """What the filter, or its opposite, means for the rows of a table of heads."""
    match tree:
        case Compare():
            return _compare(tree, table, project, negated)
        case Not(item):
            return condition(item, table, project, negated=not negated)
        case And(items) | Or(items):
            parts = [condition(item, table, project, negated=negated) for item in items]
            is_and = isinstance(tree, And) != negated
            return and_(true(), *parts) if is_and else or_(false(), *parts)


def is_pinned(tree: Filter) -> bool:
    """Whether a filter lets pass only what came with certain uploads."""
    match tree:
        case Compare(field, op):
            return field == "upload_id" and op in ("eq", "in")
        case And(items):
            return any(is_pinned(item) for item in items)
        case _:
            return False


def _compare(node: Compare, table: Table, project: int, negated: bool) -> ColumnElement[bool]:
    if node.field.startswith(CONTEXT):
        rows = select(contexts.c.batch).where(
            contexts.c.project == project,
            contexts.c.key == head_text(node.field.removeprefix(CONTEXT)),
            contexts.c.value == head_text(node.value),
        )
        return table.c.batch.not_in(rows) if negated else table.c.batch.in_(rows)
    if node.field == "upload_id":
        values = node.value if node.op == "in" else (node.value,)
        known = [value for value in values if _HEX.fullmatch(value)]
        rows = select(batches.c.seq).where(batches.c.project == project, batches.c.digest.in_(known))
        return table.c.batch.not_in(rows) if negated != (node.op == "ne") else table.c.batch.in_(rows)
    column = table.c[node.field]
    value = head_value(node.value)
    if node.op == "in":
        held: ColumnElement[bool] = column.not_in(value) if negated else column.in_(value)
    else:
        held = (_OPPOSITE if negated else _OPS)[node.op](column, value)
    return or_(column.is_(None), held) if negated and column.nullable else held
