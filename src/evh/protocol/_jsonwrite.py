"""Plain values to JSON text: the slow, exact writer, canonical bytes, and the places of what cannot be written.

Promise: what comes out is strict JSON that our own reader takes; anything else is a `RecordError` that names the place.
Policy: lone surrogates are escaped, never replaced. Reached through `evh.protocol.jsontext`, which re-exports it.
If this module breaks, records with lone surrogates cannot be saved and canonical bytes (hashes) cannot be made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

import msgspec

from evh.errors import RecordError, cut, pointer

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_SAFE_INTEGER",
    "SURROGATE",
    "NonFinite",
    "Place",
    "canonical",
    "dumps",
    "escape_lines",
    "find_nonfinite",
    "spell",
]

MAX_DEPTH = 500
"""Nesting beyond this is refused, so that nothing downstream can run out of stack."""
MAX_DIGITS = 4300
"""Integers with more digits are refused: reading them takes quadratic time."""
MAX_SAFE_INTEGER = 2**53 - 1
"""Integers beyond this, either side of zero, are not exact in readers that use doubles."""
_TOO_BIG = 10**MAX_DIGITS
SURROGATE = re.compile("[\ud800-\udfff]")
"""Finds a lone surrogate in a text (in a Python text every surrogate is a lone one)."""

Place = tuple[Any, str | int] | None
"""A value's place: None for the root, else (place of the parent, key). `spell` makes the pointer, for findings only."""


class NonFinite:
    """Stands in a parsed tree for a number that JSON does not have: NaN, an infinity, or a literal like `1e400`.

    `token` is the text as it was written. Two are equal when their tokens are. It is no number and no text, so no
    writer takes it for one.
    """

    __slots__ = ("token",)
    token: Final[str]

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return f"NonFinite({cut(self.token)})"

    def __eq__(self, other: object) -> bool:
        return self.token == other.token if isinstance(other, NonFinite) else NotImplemented

    def __hash__(self) -> int:
        return hash((NonFinite, self.token))


def escape_lines(data: bytes) -> bytes:
    """JSON text with U+0085, U+2028 and U+2029 escaped, which some readers take for line ends.

    In JSON they stand inside strings only, so the value stays the same. Costs next to nothing when there is none.
    """
    if data.isascii():
        return data
    # A single byte is looked for first: that search is many times faster than one for a sequence.
    if b"\x85" in data and b"\xc2\x85" in data:
        data = data.replace(b"\xc2\x85", b"\\u0085")
    if b"\xa8" in data and b"\xe2\x80\xa8" in data:
        data = data.replace(b"\xe2\x80\xa8", b"\\u2028")
    if b"\xa9" in data and b"\xe2\x80\xa9" in data:
        data = data.replace(b"\xe2\x80\xa9", b"\\u2029")
    return data


def dumps(value: Any) -> bytes:
    r"""Compact UTF-8 JSON of a plain value, members in their order, numbers spelled as msgspec spells them.

    Lone surrogates are written as `\udXXX` (a high one right before a low one reads back as the character the two
    stand for). `msgspec.Raw` is copied as it is. Tuples are arrays; subclasses of the plain types count as those.

    Raises RecordError naming the place of a number that is not finite, a key that is no text, a value that JSON has
    no form for, or nesting over `MAX_DEPTH`.
    """
    for item, place, depth in _scalars(value):
        _refuse_unwritable(item, place, depth)
    try:
        return msgspec.json.encode(value)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return _dumps_piecewise(value)


def canonical(value: Any) -> bytes:
    """The canonical bytes of a plain value by RFC 8785, for hashing and comparing.

    Raises RecordError naming the place of what has no canonical form: what `dumps` refuses, and lone surrogates,
    `msgspec.Raw`, and integers beyond ±(2^53 - 1) (as doubles two different ones would get the same bytes).
    """
    import rfc8785

    for item, place, depth in _scalars(value):
        _refuse_unwritable(item, place, depth)
        if isinstance(item, str) and not item.isascii() and SURROGATE.search(item):
            raise RecordError("text with a lone surrogate has no canonical form", pointer=spell(place))
        if isinstance(item, int) and abs(item) > MAX_SAFE_INTEGER:
            raise RecordError(f"the integer {cut(item)} is not exact as a double", pointer=spell(place))
        if isinstance(item, msgspec.Raw):
            raise RecordError("raw JSON has no canonical form: decode it first", pointer=spell(place))
    try:
        return rfc8785.dumps(value)
    except RecursionError as error:
        raise RecordError("nested too deeply for canonical bytes") from error


def find_nonfinite(value: Any) -> str | None:
    """The JSON Pointer of the first float (or `NonFinite`) of a plain value that is not finite, or None.

    Raises RecordError for nesting over `MAX_DEPTH`.
    """
    if not isinstance(value, dict | list | tuple):
        return "" if _is_nonfinite(value) else None
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        node, depth = stack.pop()
        for item in node.values() if isinstance(node, dict) else node:
            kind = type(item)
            if kind is str or kind is int or item is None or kind is bool:
                continue
            if kind is float:
                if item - item != 0.0:  # true of NaN and infinities only
                    return _place_of_nonfinite(value)
            elif isinstance(item, dict | list | tuple):
                if depth >= MAX_DEPTH:
                    raise RecordError(f"nested more than {MAX_DEPTH} levels deep")
                stack.append((item, depth + 1))
            elif _is_nonfinite(item):
                return _place_of_nonfinite(value)
    return None


def _is_nonfinite(item: object) -> bool:
    return isinstance(item, NonFinite) or (isinstance(item, float) and not isfinite(item))


def _place_of_nonfinite(value: Any) -> str | None:
    return next((spell(place) for item, place, _ in _scalars(value) if _is_nonfinite(item)), None)


# --- places ----------------------------------------------------------------------------------------------------------


def spell(place: Place) -> str:
    parts: list[str | int] = []
    while place is not None:
        place, part = place
        parts.append(part)
    return pointer(*reversed(parts))


def _scalars(value: Any) -> Iterator[tuple[Any, Place, int]]:
    """Everything but plain dicts and lists, in document order, with place and depth; keys that are no text as well.

    A container nested deeper than `MAX_DEPTH` is given instead of being entered, so that cycles end.
    """
    stack: list[tuple[Any, Place, int]] = [(value, None, 0)]
    while stack:
        item, place, depth = stack.pop()
        if depth >= MAX_DEPTH or not isinstance(item, dict | list | tuple):
            yield item, place, depth
        elif isinstance(item, dict):
            for key in item:
                # Keys are text like any other; one that is no text can't be part of a pointer.
                yield key if isinstance(key, str) else _BadKey(key), (place, str(key)), depth
            stack.extend((item[key], (place, key), depth + 1) for key in reversed(item))
        else:
            stack.extend((item[index], (place, index), depth + 1) for index in range(len(item) - 1, -1, -1))


class _BadKey:
    """A dict's key that is not text."""

    __slots__ = ("key",)

    def __init__(self, key: object) -> None:
        self.key = key


# --- writing, piece by piece -----------------------------------------------------------------------------------------


def _refuse_unwritable(item: Any, place: Place, depth: int) -> None:
    if isinstance(item, int):
        if not -_TOO_BIG < item < _TOO_BIG:
            raise RecordError(f"an integer of more than {MAX_DIGITS} digits", pointer=spell(place))
        return
    if isinstance(item, str | msgspec.Raw) or item is None:
        return
    if isinstance(item, float):
        if isfinite(item):
            return
        raise RecordError(f"{item!r} is not a number that JSON has", pointer=spell(place))
    if isinstance(item, NonFinite):
        raise RecordError(f"{cut(item.token)} is not a number that JSON has", pointer=spell(place))
    if isinstance(item, _BadKey):
        raise RecordError(f"a member's name must be text, not {type(item.key).__name__}", pointer=spell(place))
    if isinstance(item, dict | list | tuple):
        if item and depth >= MAX_DEPTH:
            raise RecordError(f"nested more than {MAX_DEPTH} levels deep")
        return
    raise RecordError(f"JSON has no form for a value of type {type(item).__name__}", pointer=spell(place))


def _dumps_piecewise(value: Any) -> bytes:
    """JSON of a value that has been checked, with texts that no UTF-8 encoder takes, and subclasses of plain types."""
    pieces: list[bytes] = []
    # Bytes on the stack are finished text: a checked value holds none.
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, bytes):
            pieces.append(item)
        elif isinstance(item, dict):
            stack.append(b"}")
            first = len(item) - 1
            for index, key in enumerate(reversed(item)):
                stack += (item[key], b":", _encode_text(key), b"{" if index == first else b",")
            if not item:
                stack.append(b"{")
        elif isinstance(item, list | tuple):
            stack.append(b"]")
            for index in range(len(item) - 1, -1, -1):
                stack += (item[index], b"," if index else b"[")
            if not item:
                stack.append(b"[")
        elif isinstance(item, str):
            pieces.append(_encode_text(item))
        elif isinstance(item, float):
            pieces.append(msgspec.json.encode(float(item)))
        elif isinstance(item, int) and not isinstance(item, bool):
            pieces.append(_encode_integer(int(item)))
        else:
            pieces.append(msgspec.json.encode(item))
    return b"".join(pieces)


def _encode_integer(item: int) -> bytes:
    try:
        return b"%d" % item
    except ValueError as error:  # the interpreter may be set to allow fewer digits than MAX_DIGITS
        raise RecordError("an integer of more digits than this interpreter writes") from error


def _encode_text(item: str) -> bytes:
    plain = str.__str__(item)  # an enum's own str() may be its name
    if not SURROGATE.search(plain):
        return msgspec.json.encode(plain)
    pieces = []
    end = 0
    for found in SURROGATE.finditer(plain):
        pieces.append(msgspec.json.encode(plain[end : found.start()])[1:-1])
        pieces.append(b"\\u%04x" % ord(found[0]))
        end = found.end()
    pieces.append(msgspec.json.encode(plain[end:])[1:-1])
    return b'"' + b"".join(pieces) + b'"'
