"""Members that stand twice in one object: the last one counts, as for every reader, and the others are reported.

Promise: no value that a row held is lost without a word in an upgrade. When a row has no such member, finding that out
is a native decode and encode.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from evh.protocol.jsontext import check_text
from evh.protocol.upgrade.step import Step

__all__ = ["hidden_members"]


def hidden_members(data: bytes | bytearray | memoryview | str) -> tuple[Step, ...]:
    """A step for every member name that stands more than once in an object, with the values that went.

    Raises `DecodeError` for what is no JSON.
    """
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    try:
        if msgspec.json.encode(msgspec.json.decode(text)) == text:
            return ()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass  # odd in another way: look at it closely
    repeated = [fault for fault in check_text(text) if fault.kind == "duplicate-key"]
    if not repeated:
        return ()
    earlier: dict[str, list[Any]] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in pairs:
            if name in made:
                earlier.setdefault(name, []).append(made[name])
            made[name] = value
        return made

    json.loads(text.decode("utf-8-sig", "surrogatepass"), object_pairs_hook=members, parse_constant=str)
    return tuple(
        Step("duplicate-key", "dropped", fault.pointer, None, fault.message, earlier.get(fault.value))
        for fault in repeated
    )
