"""The line of a stored row, read in full and written again with other numbers.

Promise: `read_row` refuses what `decode` refuses and gives what it gives; `row_line` writes what `encode` writes.
Policy: a row of plain members takes two native reads, one for its types and one for its values, and one native write
without a second look, for the numbers that were put into it are checked already. Any other goes through the codec.
When it breaks: `DecodeError` or `SchemaError` for what is no row, `NotWritable` for what would be none; without a file
or line, which the caller knows.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.protocol.jsontext import escape_lines

__all__ = ["read_row", "row_line"]

Count = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
NATIVE_ERRORS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
KNOWN = frozenset({"item_id", "_extra", "_meta", "_error", "_output_sha256"})
NUMBERS = frozenset({int, float})


class _Plain(msgspec.Struct):
    """The members that a row may have, in the types that rows of today have."""

    item_id: Annotated[str, Meta(min_length=1)]
    latency_ms: Count = 0
    cost_usd: Count = 0
    tokens_in: Count = 0
    tokens_out: Count = 0
    output_words: Count = 0
    extra: dict[str, int | float] = field(name="_extra", default_factory=dict)
    meta: dict[str, Any] = field(name="_meta", default_factory=dict)
    error: str = field(name="_error", default="")
    output_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)] = field(
        name="_output_sha256", default="0" * 64
    )


_check = msgspec.json.Decoder(_Plain).decode
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def read_row(line: bytes) -> dict[str, Any]:
    """The members of a row. Raises like `evh.decode`."""
    try:
        _check(line)
        row = _decode(line)
        if all(type(value) in NUMBERS for name, value in row.items() if name not in KNOWN):
            return row
    except NATIVE_ERRORS:
        pass
    return decode(line, models.PredictionRow).plain()


def row_line(row: dict[str, Any]) -> bytes:
    """A row as a line with its end: of members that were read here, and of plain finite numbers put in their place.
    Raises `NotWritable` for what no JSON carries."""
    try:
        data = _encode(row)
    except NATIVE_ERRORS:  # a text or an int that no native writer takes
        return encode(models.PredictionRow.over(row)) + b"\n"
    return (data if data.isascii() else escape_lines(data)) + b"\n"
