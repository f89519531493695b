"""Any Python value as the plain JSON value that a validator can be given, and what of it JSON cannot hold.

Promise: what comes out has exact builtin types, finite floats, whole text, bounded depth; it is a tree, and no engine
can crash on it. If this module breaks, odd documents (NaN, cycles, lone surrogates) can crash a validator.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from evh.errors import Violation, cut
from evh.protocol._jsonwrite import MAX_DEPTH, MAX_DIGITS, SURROGATE, NonFinite, Place, spell

__all__ = ["is_plain", "make_plain"]

_TOO_BIG = 10**MAX_DIGITS


def is_plain(document: Any) -> bool:
    """Whether `make_plain` would give an equal value and no violation: the quick answer for clean documents."""
    stack: list[tuple[Any, int]] = [([document], 0)]
    while stack:
        node, depth = stack.pop()
        if type(node) is dict:
            for key in node:
                if type(key) is not str or not (key.isascii() or SURROGATE.search(key) is None):
                    return False
            node = node.values()
        for item in node:
            kind = type(item)
            if kind is str:
                if not (item.isascii() or SURROGATE.search(item) is None):
                    return False
            elif kind is dict or kind is list:
                if depth >= MAX_DEPTH:
                    return False
                stack.append((item, depth + 1))
            elif not (item is None or kind is bool or _is_plain_number(item, kind)):
                return False
    return True


def _is_plain_number(item: Any, kind: type) -> bool:
    if kind is float:
        return isfinite(item)
    return kind is int and -_TOO_BIG < item < _TOO_BIG


def make_plain(document: Any, *, wire: bool) -> tuple[Any, list[Violation]]:
    """A plain copy and the violations that are no schema's business.

    What JSON cannot hold is a violation and gets a stand-in of its own JSON type, so that the rest can be judged.
    Tuples become lists, subclasses of builtin types those types. With `wire`, bytes become empty text.
    """
    oddities: list[Violation] = []
    holder: list[Any] = [None]
    stack: list[tuple[Any, Place, int, Any, Any]] = [(document, None, 1, holder, 0)]
    while stack:
        item, place, depth, owner, slot = stack.pop()
        if not isinstance(item, dict | list | tuple):
            owner[slot] = _leaf(item, place, oddities, wire)
        elif depth > MAX_DEPTH:
            return None, [Violation("", "depth", f"nested more than {MAX_DEPTH} levels deep")]
        elif isinstance(item, dict):
            made: dict[str, Any] = {}
            owner[slot] = made
            for key in item:
                if not isinstance(key, str):
                    message = f"a member's name must be text, not {type(key).__name__}"
                    oddities.append(Violation(spell(place), "not-json", message))
                    continue
                name = _leaf(key, (place, key), oddities, wire)
                made[name] = None
                stack.append((item[key], (place, key), depth + 1, made, name))
        else:
            owner[slot] = [None] * len(item)
            stack.extend((value, (place, index), depth + 1, owner[slot], index) for index, value in enumerate(item))
    return holder[0], oddities


def _leaf(item: Any, place: Place, oddities: list[Violation], wire: bool) -> Any:
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, str) and (item.isascii() or not SURROGATE.search(item)):
        return str.__str__(item)
    if isinstance(item, int) and -_TOO_BIG < item < _TOO_BIG:
        return int(item)
    if isinstance(item, float) and isfinite(item):
        return float(item)
    if wire and isinstance(item, bytes | bytearray | memoryview):
        return ""
    keyword, message, stand_in = _oddity(item)
    oddities.append(Violation(spell(place), keyword, message))
    return stand_in


def _oddity(item: Any) -> tuple[str, str, Any]:
    """Keyword, message and stand-in of a value that JSON cannot hold."""
    if isinstance(item, str):
        whole = SURROGATE.sub("\N{REPLACEMENT CHARACTER}", item)
        return "surrogate", f"text with a lone surrogate: {cut(item)}", whole
    if isinstance(item, int):
        return "integer-size", f"an integer of more than {MAX_DIGITS} digits", 0
    if isinstance(item, float | NonFinite):
        token = item.token if isinstance(item, NonFinite) else repr(item)
        return "non-finite", f"{cut(token)} is not a number that JSON has", 0
    return "not-json", f"JSON has no form for a value of type {type(item).__name__}", None
