"""Members that stand twice in one object: the last one counts, as for every reader, and the others are reported.

Promise: no value that a row held is lost without a word in an upgrade. A row that is spelled as we
would spell it is known at once to have no such member; any other is parsed once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from evh.errors import cut
from evh.protocol.upgrade.step import Step, token

__all__ = ["hidden_members"]


def hidden_members(data: bytes | bytearray | memoryview | str) -> tuple[Step, ...]:
    """A step for every member name that stands more than once in an object, with the values that went.

    None for what is no JSON: the reader of the row says so.
    """
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    try:
        if msgspec.json.encode(msgspec.json.decode(text)) == text:
            return ()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass  # odd in another way: look at it closely
    try:
        value = json.loads(text.decode("utf-8-sig", "surrogatepass"), object_pairs_hook=_members, parse_constant=str)
    except (ValueError, RecursionError):
        return ()  # no JSON, or nested too deeply: the reader of the row says so
    return tuple(_steps(value))


class _Repeating(dict[str, Any]):
    """An object some of whose members stood more than once, with the earlier values of these."""

    hidden: dict[str, list[Any]]


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    repeating = _Repeating(made)
    repeating.hidden = {}
    last = {name: index for index, (name, _) in enumerate(pairs)}
    for index, (name, value) in enumerate(pairs):
        if index != last[name]:
            repeating.hidden.setdefault(name, []).append(value)
    return repeating


def _steps(value: Any) -> Iterator[Step]:
    stack: list[tuple[Any, str]] = [(value, "")]
    while stack:
        item, place = stack.pop()
        if isinstance(item, _Repeating):
            for name, values in item.hidden.items():
                note = f"member {cut(name)} stands {len(values) + 1} times in one object: the last one counts"
                yield Step("duplicate-key", "dropped", place + token(name), None, note, values)
        if isinstance(item, dict):
            stack += ((each, place + token(name)) for name, each in reversed(item.items()))
        elif isinstance(item, list):
            stack += ((each, place + token(index)) for index, each in reversed(list(enumerate(item))))
