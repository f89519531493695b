"""Column types for what comes from outside.

Promise: text and JSON of producers are stored as bytes: a NUL character, a lone surrogate or a text of another
normal form reads back as it was written, and compares and sorts by its bytes, on every database alike.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import BigInteger, Integer, LargeBinary
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from evh.protocol.jsontext import dumps, parse
from evh.server.text import to_bytes, to_text

__all__ = ["BigInt", "Digest", "ForeignText", "Json"]

BigInt = BigInteger().with_variant(Integer, "sqlite")
"""64 bits everywhere; on SQLite the kind that a key of its own counts in."""


class ForeignText(TypeDecorator[str]):
    """Text of a producer, as bytes."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else to_bytes(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        return None if value is None else to_text(value)


class Digest(TypeDecorator[str]):
    """A SHA-256 in lower-case hexadecimal, as its 32 bytes."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        return None if value is None else bytes(value).hex()


class Json(TypeDecorator[Any]):
    """Plain JSON values of a producer, as the bytes of their text. Null and nothing are one."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        return None if value is None else dumps(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        try:
            return msgspec.json.decode(bytes(value))
        except (msgspec.MsgspecError, ValueError):  # a lone surrogate, say
            return parse(bytes(value))[0]
