"""Documents and texts gone wrong: the changes that writers, disks and other tools make, one at a time.

Promise: the same `random.Random` state gives the same result; the argument is never changed; what comes out of
`mutate` is a tree of JSON values (NaN, infinities and lone surrogates included), what comes out of the others is
bytes of any kind.
Policy: which changes there are and how likely each is. Needs nothing but the standard library.
"""

from __future__ import annotations

import copy
import math
import re
from random import Random
from typing import Any

from evh.protocol.tables import CLASSES, RETIRED, UNIONS

__all__ = ["mangle", "mangle_msgpack", "mutate"]

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.0, -0.0, 0.5, 1e300, 5e-324, 2**53 - 1, 2**53, -(2**53), 2**63, 2**64,
    10**30, 1e16,
    math.nan, math.inf, -math.inf, "", "x", "x\n", "1", "null", "é", "\u2028", "\x00", "\ud800", "a\udc00b", "a" * 64,
    "0" * 64 + "\n", "2024-02-30T00:00:00Z", "2024-02-29T00:00:00Z", "2016-12-31T23:59:60Z", "2024-01-01T00:00:00Z\n",
    "2024-01-01T00:00:00+00:00", "evh:1.0:episode", "evh:1.7:episode", "evh:2.0:episode", "evh:1.0:episode\n", "A",
    "-",
    [], [[]], [None], [0], [True], ["x"], [1.0, 2], {}, {"": 0}, {"*": {}}, {"x": None}, {"type": "x"}, {"kind": "x"},
    {"role": "user", "content": ""}, {"type": "eval", "id": "r"}, {"type": "text", "text": "t"},
)  # fmt: skip
MEMBERS = sorted(
    {member for table in CLASSES.values() for member in table.members}
    | {member for members in RETIRED.values() for member in members}
    | {"*", "additional", "x", "", "~/", "é", "value", "never_declared", "\ud800"}
)
TAGS = sorted({tag for union in UNIONS.values() for tag in union.variants} | {"*", "developer", "audio", ""})
TAG_MEMBERS = ("type", "role", "kind")
SWELLING = (2, 40, 3000)

TOKENS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"1e-400", b"-0", b"-0.0", b"0.1e1", b"3.0", b"1E2",
    b"01", b"+1",
    b"9007199254740992", b"-9007199254740993", b"18446744073709551616", b"1" * 400, b"1" * 5000, b"1." + b"3" * 4000,
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"', b'"\\u0000"', b'"\xff"', b'"\xed\xa0\x80"',
    b'"\xe2\x80\xa8"',
    b'"\x01"', b'"\\x"', b"'x'", b"nul", b"True", b"None", b"undefined", b"", b"null", b"true", b"[]", b"{}",
    b"[null]", b'""',
    b'{"*":1}', b'{"*":{"*":1}}', b'{"a":1,"a":2}', b'{"type":"x","type":"eval"}', b"/* c */ 1", b"1 // c",
)  # fmt: skip
PIECES = (
    b"\xef\xbb\xbf",
    b"\x00",
    b"\n",
    b"\r\n",
    b"\xff\xfe",
    b",",
    b":",
    b'"',
    b"}",
    b"]",
    b"{",
    b"[",
    b"\\",
    b"\xe2\x80\xa8",
)
NESTS = (
    (b"[", b"]"),
    (b'{"a":', b"}"),
    (b'[{"x":', b"}]"),
    (b'{"source":', b"}"),
    (b'{"kind":"rescore","source":', b"}"),
    (b'{"type":"text","text":', b"}"),
)
DEPTHS = (2, 60, 64, 65, 127, 128, 129, 400, 900, 1100, 3000, 60_000)
VALUE = re.compile(rb'(?<=[:\[,])\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|\[\]|\{\})(?=\s*[,\]}])')
MEMBER = re.compile(rb'"(?:[^"\\]|\\.){0,40}"\s*:')
INDEX = re.compile(rb'("(?:parent|node|source)"\s*:\s*)(null|-?[0-9]+)')
WIRE_PIECES = (
    b"\xc0", b"\xc1", b"\xc2", b"\xc3", b"\xc4\x03abc", b"\xc6\xff\xff\xff\xff", b"\xc7\x01\x05x",
    b"\xc9\xff\xff\xff\xff\x01",
    b"\xca\x7f\xc0\x00\x00", b"\xcb\x7f\xf8" + bytes(6), b"\xcb\xff\xf0" + bytes(6), b"\xcf" + b"\xff" * 8,
    b"\xd3\x80" + bytes(7), b"\xd6\xff" + bytes(4), b"\xd9\x02\xff\xfe", b"\xdb\xff\xff\xff\xff",
    b"\xdd\xff\xff\xff\xff",
    b"\xdd\x00\x0f\xff\xff", b"\xdf\xff\xff\xff\xff", b"\x81\x01\x02", b"\x81\xc0\xc0", b"\x82\xa1a\x01\xa1a\x02",
    b"\x81\xa1*\x01", b"\xa3\xed\xa0\x80", b"\x90", b"\x80", b"\xa0",
)  # fmt: skip


def mutate(document: Any, random: Random, changes: int = 4, *, swell: bool = True) -> Any:
    """A copy of a JSON value with 1 to `changes` changes, each at any place of it.

    With `swell` a change may also be thousands of items or members more.
    """
    kinds = _CHANGES if swell else _CHANGES[:-1]
    holder = [copy.deepcopy(document)]
    for _ in range(random.randint(1, changes)):
        places = _places(holder)
        container, key = random.choice(places)
        change = random.choice(kinds)
        change(container, key, random, places)
    return holder[0]


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every place that can change: a container and a key. The first one is always there."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        keys: Any = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                waiting.append(node[key])
    return found


Places = list[tuple[Any, Any]]


def _replace(node: Any, key: Any, random: Random, places: Places) -> None:
    node[key] = copy.deepcopy(random.choice(ODD_VALUES))


def _bound(node: Any, key: Any, random: Random, places: Places) -> None:
    """The neighbours of a value: a number off by little, a text longer by a character."""
    value = node[key]
    if isinstance(value, bool) or value is None:
        node[key] = not value
    elif isinstance(value, int):
        node[key] = random.choice(
            [value + 1, value - 1, -value, float(value) if abs(value) < 2**53 else 0, value * 2**53]
        )
    elif isinstance(value, float):
        node[key] = random.choice([-value, value * 2, int(value) if math.isfinite(value) else 0, str(value)])
    elif isinstance(value, str):
        node[key] = random.choice(
            [value + "\n", value + "x", value[:-1], value.upper(), " " + value, value * 3, [value]]
        )
    elif isinstance(value, list):
        node[key] = value[:-1] if random.random() < 0.5 else value * 2
    else:
        node[key] = list(value.values())


def _drop(node: Any, key: Any, random: Random, places: Places) -> None:
    if isinstance(node, dict):
        del node[key]
    elif len(node) > 1 or node is not places[0][0]:
        node.pop(key)


def _add(node: Any, key: Any, random: Random, places: Places) -> None:
    value = copy.deepcopy(random.choice(ODD_VALUES))
    if isinstance(node, dict):
        node[random.choice(MEMBERS)] = value
    elif node is not places[0][0]:
        node.insert(key, value)


def _rename(node: Any, key: Any, random: Random, places: Places) -> None:
    if isinstance(node, dict):
        node[random.choice(MEMBERS)] = node.pop(key)


def _move(node: Any, key: Any, random: Random, places: Places) -> None:
    other, other_key = random.choice(places)
    node[key] = copy.deepcopy(other[other_key])


def _tag(node: Any, key: Any, random: Random, places: Places) -> None:
    tagged = [(each, name) for each, name in places if isinstance(each, dict) and name in TAG_MEMBERS]
    if tagged:
        node, key = random.choice(tagged)
    node[key] = random.choice(TAGS)


def _nest(node: Any, key: Any, random: Random, places: Places) -> None:
    value = node[key]
    node[key] = [value] if random.random() < 0.5 else {random.choice(MEMBERS): value}


def _null(node: Any, key: Any, random: Random, places: Places) -> None:
    node[key] = None


def _swell(node: Any, key: Any, random: Random, places: Places) -> None:
    """Many of one thing: items of a list, members of an object."""
    count = SWELLING[0] if random.random() < 0.8 else random.choice(SWELLING)
    if isinstance(node, list) and node is not places[0][0]:
        node.extend([copy.deepcopy(node[key]) if count < SWELLING[2] else None for _ in range(count)])
    elif isinstance(node, dict):
        node.update({f"{key}{number}": number for number in range(count)})


_CHANGES = (_replace, _replace, _bound, _bound, _drop, _drop, _add, _add, _rename, _move, _tag, _nest, _null, _swell)


def mangle(data: bytes, random: Random) -> bytes:
    """JSON text with one change of its bytes; most results are no JSON any more, or no record."""
    return random.choice(_MANGLES)(data, random)


def _flip(data: bytes, random: Random) -> bytes:
    made = bytearray(data)
    for _ in range(random.randint(1, 4)):
        if made:
            made[random.randrange(len(made))] ^= 1 << random.randrange(8)
    return bytes(made)


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _splice(data: bytes, random: Random) -> bytes:
    """A stretch left out, or there twice."""
    start = random.randint(0, len(data))
    end = min(len(data), start + random.randint(1, 40))
    return data[:start] + data[end:] if random.random() < 0.5 else data[:end] + data[start:]


def _put(data: bytes, random: Random) -> bytes:
    at = random.choice((0, len(data), random.randint(0, len(data))))
    return data[:at] + random.choice(PIECES) + data[at:]


def _at_value(data: bytes, random: Random, token: bytes) -> bytes:
    """The text with one value replaced; a text without values gets the token as its end."""
    found = [match.span(1) for match in VALUE.finditer(data)]
    if not found:
        return data + token
    start, end = random.choice(found)
    return data[:start] + token + data[end:]


def _token(data: bytes, random: Random) -> bytes:
    return _at_value(data, random, random.choice(TOKENS))


def _deepen(data: bytes, random: Random) -> bytes:
    opening, closing = random.choice(NESTS)
    depth = random.choice(DEPTHS)
    return _at_value(data, random, opening * depth + random.choice((b"0", b"", b"{}")) + closing * depth)


def _duplicate(data: bytes, random: Random) -> bytes:
    """A member that stands there twice: before, with another value."""
    found = list(MEMBER.finditer(data))
    if not found:
        return data * 2
    match = random.choice(found)
    return data[: match.start()] + match[0] + random.choice(TOKENS) + b"," + data[match.start() :]


def _knot(data: bytes, random: Random) -> bytes:
    """Indices of the message graph changed: to itself, to later nodes, to none that is there."""
    odd = (b"0", b"1", b"2", b"3", b"7", b"-1", b"1.0", b"9007199254740991", b"null", b"true")
    return INDEX.sub(lambda match: match[1] + (random.choice(odd) if random.random() < 0.6 else match[2]), data)


_MANGLES = (_flip, _cut, _splice, _put, _token, _token, _token, _deepen, _duplicate, _duplicate, _knot, _knot)


def mangle_msgpack(data: bytes, random: Random) -> bytes:
    """A MessagePack document with one change of its bytes: flipped, cut, spliced, lengths that lie, deep nesting."""
    roll = random.random()
    if roll < 0.5:
        return random.choice((_flip, _cut, _splice))(data, random)
    at = random.randint(0, len(data))
    if roll < 0.6:
        depth = random.choice(DEPTHS)
        return data[:at] + random.choice((b"\x91", b"\x81\xa1a")) * depth + b"\xc0" + data[at:]
    piece = random.choice(WIRE_PIECES)
    return data[:at] + piece + data[at + (len(piece) if random.random() < 0.5 else 1) :]
