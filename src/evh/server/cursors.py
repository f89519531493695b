"""Where a listing goes on: the key of the last item, bound to what was listed.

Promise: a cursor works only with the listing that made it (its kind, project, order and filter): anything else, and
any text that is no cursor, is `invalid_cursor`. A forged one can only name another place in the same listing.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from evh.errors import cut
from evh.server.faults import refused

__all__ = ["after", "cursor"]

LONGEST = 4096


def cursor(listing: str, key: list[Any]) -> str:
    """The cursor after an item with this key; `listing` is the listing's fingerprint."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode([listing, key])).rstrip(b"=").decode("ascii")


def after(text: str | None, listing: str, kinds: tuple[type, ...]) -> list[Any] | None:
    """The key in a cursor, its parts of these types; None without one."""
    if text is None:
        return None
    if len(text) <= LONGEST:
        try:
            data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
            held = msgspec.msgpack.decode(data, type=tuple[str, list[Any]])
        except (binascii.Error, msgspec.MsgspecError, ValueError):
            held = ("", [])
        key = held[1]
        if held[0] == listing and len(key) == len(kinds) and all(map(_is_a, key, kinds)):
            return key
    raise refused("invalid_cursor", f"{cut(text)} is no cursor of this listing: begin again without one")


def _is_a(value: Any, kind: type) -> bool:
    return type(value) is kind and (not isinstance(value, int) or -(2**63) <= value < 2**63)
