"""The JSON layer: text to plain values and back, with every oddity of the text named.

Promise: for any bytes at all, reading gives a value or a `DecodeError`, nothing else; writing gives strict JSON or a
`RecordError`, nothing else. Plain values are dicts with text keys, lists, text, ints, floats, bools and None.
Policy: the wording of faults, `NOTED_DEPTH`, `MAX_DEPTH`, `MAX_DIGITS`.

The common path is one native decode. Text that the native decoder refuses, or that is nested suspiciously deep, is
read again by the slower pass below, which explains. `parse` therefore looks for duplicate keys and big integers only
once something else is odd; `check_text` always looks for everything.

If this module breaks, rows of other tools (NaN, lone surrogates, a BOM) stop being readable and torn rows lose their
explanation; clean rows of ours still decode natively elsewhere.
"""

from __future__ import annotations

from math import isinf
from typing import Any, NamedTuple

import msgspec

from evh.errors import DecodeError, UsageError, cut
from evh.protocol._jsonwrite import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_SAFE_INTEGER,
    SURROGATE,
    NonFinite,
    Place,
    canonical,
    dumps,
    escape_lines,
    find_nonfinite,
    spell,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_SAFE_INTEGER",
    "NOTED_DEPTH",
    "Fault",
    "NonFinite",
    "canonical",
    "check_text",
    "dumps",
    "escape_lines",
    "find_nonfinite",
    "parse",
]

NOTED_DEPTH = 128
"""Nesting beyond this is a fault: other readers may refuse it."""


class Fault(NamedTuple):
    """Something in a JSON text that strict readers refuse or may misread.

    `kind` is `duplicate-key` (value: the key), `non-finite` (the token), `surrogate` (the text with the lone
    surrogate), `big-integer` (the int, beyond ±(2^53 - 1)), `depth` (how deep the text goes) or `bom` (None).
    `pointer` is the JSON Pointer of the value concerned.
    """

    kind: str
    pointer: str
    message: str
    value: Any = None


def parse(data: bytes | str | bytearray | memoryview) -> tuple[Any, list[Fault]]:
    """The value of a JSON text and the faults met on the way.

    Taken with a fault: NaN and infinities and numbers beyond a double (as `NonFinite`), lone surrogates (kept in the
    text), duplicate keys (the last counts), integers beyond ±(2^53 - 1) (kept exact), nesting over `NOTED_DEPTH`, one
    BOM. A text with no fault but duplicate keys or big integers counts as clean here: `check_text` finds those.

    Raises DecodeError, with the byte offset, for what is not JSON, not UTF-8, nested over `MAX_DEPTH`, or holds an
    integer of more than `MAX_DIGITS` digits. Raises UsageError when `data` is no text.
    """
    if isinstance(data, memoryview):
        data = bytes(data)
    elif not isinstance(data, bytes | str | bytearray):
        raise UsageError(f"JSON text must be bytes or str, not {type(data).__name__}")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _parse_explaining(data)
    opened = data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")
    if opened > NOTED_DEPTH and _deeper_than(value, NOTED_DEPTH):
        return _parse_explaining(data)
    return value, []


def check_text(data: bytes | str | bytearray | memoryview) -> list[Fault]:
    """Every fault of a JSON text, in document order, duplicate keys and big integers included.

    Raises like `parse`. Members that a later duplicate hides are looked at too.
    """
    if isinstance(data, memoryview):
        data = bytes(data)
    elif not isinstance(data, bytes | str | bytearray):
        raise UsageError(f"JSON text must be bytes or str, not {type(data).__name__}")
    return _parse_explaining(data)[1]


def _deeper_than(value: Any, limit: int) -> bool:
    """Whether a parsed tree has more levels of containers than `limit`: one level at a time, as few steps as can be."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            item
            for node in level
            for item in (node.values() if type(node) is dict else node)
            if type(item) is dict or type(item) is list
        ]
    return bool(level)


# --- reading, the explaining way -------------------------------------------------------------------------------------


def _parse_explaining(data: bytes | str | bytearray) -> tuple[Any, list[Fault]]:
    import json

    from evh.protocol import _jsonerror

    faults: list[Fault] = []
    text = _text(data)
    shift = 0
    if text.startswith("\ufeff"):
        faults.append(Fault("bom", "", "the text begins with a byte order mark, which JSON does not have"))
        text, shift = text[1:], 3
    repeated: dict[int, tuple[dict[str, Any], list[tuple[str, Any]]]] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            # Holding the dict keeps its id from being used again.
            repeated[id(made)] = (made, pairs)
        return made

    decoder = json.JSONDecoder(
        object_pairs_hook=members, parse_constant=NonFinite, parse_float=_float, parse_int=_integer
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _jsonerror.explained(text, error, shift) from error
    except RecursionError as error:
        raise _jsonerror.too_deep(text, shift) from error
    except ValueError as error:
        raise _jsonerror.too_many_digits(text, shift) from error
    if not _collect(value, repeated, faults):
        raise _jsonerror.too_deep(text, shift)
    return value, faults


def _text(data: bytes | str | bytearray) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = " (this looks like UTF-16: write rows as UTF-8)" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        if error.end == len(data) and error.reason == "unexpected end of data":
            hint = ": the text ends inside a character (torn row)"
        raise DecodeError(f"invalid UTF-8 at byte {error.start}{hint}", offset=error.start) from error


def _float(token: str) -> float | NonFinite:
    value = float(token)
    return NonFinite(token) if isinf(value) else value


def _integer(token: str) -> int:
    if len(token) > MAX_DIGITS + token.startswith("-"):
        raise ValueError
    return int(token)


def _collect(
    value: Any,
    repeated: dict[int, tuple[dict[str, Any], list[tuple[str, Any]]]],
    faults: list[Fault],
) -> bool:
    """Append the faults of a tree in document order; False when it is nested too deeply to be taken."""
    deepest = 0
    deep_place: Place = None
    stack: list[tuple[Any, Place, int]] = [(value, None, 0)]
    while stack:
        item, place, depth = stack.pop()
        if not isinstance(item, dict | list):
            if (fault := _leaf_fault(item, place)) is not None:
                faults.append(fault)
            continue
        depth += 1
        if depth > MAX_DEPTH:
            return False
        if depth > deepest:
            deepest = depth
            deep_place = place if depth == NOTED_DEPTH + 1 else deep_place
        if isinstance(item, list):
            stack.extend((item[index], (place, index), depth) for index in range(len(item) - 1, -1, -1))
            continue
        pairs = list(item.items())
        if id(item) in repeated:
            pairs = repeated[id(item)][1]
            faults.extend(_repeated_faults(pairs, place))
        for key in item:
            if not key.isascii() and SURROGATE.search(key):
                faults.append(Fault("surrogate", spell((place, key)), "lone surrogate in a member's name", key))
        stack.extend((member, (place, key), depth) for key, member in reversed(pairs))
    if deepest > NOTED_DEPTH:
        message = f"nested {deepest} levels deep: readers may refuse more than {NOTED_DEPTH}"
        faults.append(Fault("depth", spell(deep_place), message, deepest))
    return True


def _leaf_fault(item: Any, place: Place) -> Fault | None:
    if isinstance(item, str):
        if not item.isascii() and (found := SURROGATE.search(item)):
            return Fault("surrogate", spell(place), f"lone surrogate U+{ord(found[0]):04X} in a text", item)
    elif isinstance(item, NonFinite):
        message = f"{cut(item.token)} is not a JSON number that a double can hold"
        return Fault("non-finite", spell(place), message, item.token)
    elif isinstance(item, int) and abs(item) > MAX_SAFE_INTEGER:
        message = f"the integer {cut(item)} is beyond ±(2^53 - 1): readers that use doubles change it"
        return Fault("big-integer", spell(place), message, item)
    return None


def _repeated_faults(pairs: list[tuple[str, Any]], place: Place) -> list[Fault]:
    counts: dict[str, int] = {}
    for key, _ in pairs:
        counts[key] = counts.get(key, 0) + 1
    return [
        Fault(
            "duplicate-key",
            spell((place, key)),
            f"member {cut(key)} stands {count} times in one object; the last one counts",
            key,
        )
        for key, count in counts.items()
        if count > 1
    ]
