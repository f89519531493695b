"""The parameters of an address: declared once, read strictly.

Promise: a parameter that nobody declared, one that is given twice and may not be, and a value that is none of its kind
are `invalid_filter`: a misspelled filter never passes for no filter. Instants are RFC 3339; without an offset, UTC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct

from evh.errors import cut
from evh.server.faults import ServerFault, refused
from evh.server.filters import CONTEXT, And, Compare, Filter, Op
from evh.server.text import instant

__all__ = ["Param", "Query", "parse", "where"]

Kind = Literal["text", "integer", "number", "flag", "instant"]
INTEGER = re.compile(r"-?[0-9]{1,18}")
NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")
FLAGS = {"true": True, "false": False, "1": True, "0": False}
MOST_VALUES = 100
LONGEST = 8192

Query = dict[str, Any]
"""By name: a value, a list of values where several may be given, absent when it was not given."""


class Param(Struct, frozen=True):
    """One parameter. `field` is the head's field that it narrows, with `op`; empty when the handler reads it."""

    name: str
    kind: Kind = "text"
    field: str = ""
    op: Op = "eq"
    many: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    required: bool = False
    about: str = ""


def parse(given: Iterable[tuple[str, str]], params: Sequence[Param], *, contexts: bool = False) -> Query:
    """The values of what was given. `contexts`: `context.<key>` may be given too. Raises `invalid_filter`."""
    known = {each.name: each for each in params}
    found: Query = {}
    for name, text in given:
        if len(text) > LONGEST or len(name) > LONGEST:
            raise refused("invalid_filter", f"{cut(name)}: at most {LONGEST} characters")
        param = known.get(name)
        if param is None and contexts and name.startswith(CONTEXT) and name != CONTEXT:
            param = Param(name)
        if param is None:
            some = ", ".join(known) + (", context.<key>" if contexts else "")
            raise refused("invalid_filter", f"there is no parameter {cut(name)} here; there are: {some or 'none'}")
        value = _value(text, param)
        if param.many:
            values = found.setdefault(name, [])
            values.append(value)
            if len(values) > MOST_VALUES:
                raise refused("invalid_filter", f"{name} may be given {MOST_VALUES} times at most")
        elif name in found:
            raise refused("invalid_filter", f"{cut(name)} is given twice")
        else:
            found[name] = value
    for each in params:
        if each.required and each.name not in found:
            raise refused("invalid_filter", f"{each.name} is missing")
    return found


def where(query: Query, params: Sequence[Param]) -> And:
    """The filter that the parameters with a field make."""
    items: list[Filter] = []
    for param in params:
        if param.field and param.name in query:
            value = query[param.name]
            items.append(Compare(param.field, "in" if param.many else param.op, tuple(value) if param.many else value))
    items += [Compare(name, "eq", value) for name, value in query.items() if name.startswith(CONTEXT)]
    return And(tuple(items))


def _value(text: str, param: Param) -> Any:
    value: Any = text
    match param.kind:
        case "integer":
            value = int(text) if INTEGER.fullmatch(text) else None
        case "number":
            value = float(text) if NUMBER.fullmatch(text) else None
            value = value if value is None or math.isfinite(value) else None
        case "flag":
            value = FLAGS.get(text.lower())
        case "instant":
            try:
                value = instant(text)
            except (ValueError, OverflowError):
                value = None
        case "text" if param.choices and text not in param.choices:
            raise refused("invalid_filter", f"{param.name} is one of {', '.join(param.choices)}, not {cut(text)}")
    if value is None:
        raise _no_value(param, text)
    if param.kind == "integer":
        low, high = param.least, param.most
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"from {low} to {high}" if high is not None else f"{low} or more"
            raise refused("invalid_filter", f"{param.name} is a whole number {bounds}, not {cut(text)}")
    return value


def _no_value(param: Param, text: str) -> ServerFault:
    kinds = {"integer": "a whole number", "number": "a number", "flag": "true or false", "instant": "an RFC 3339 time"}
    return refused("invalid_filter", f"{param.name} is {kinds.get(param.kind, 'text')}, not {cut(text)}")
