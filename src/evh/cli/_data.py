"""What `--json` prints: one JSON document, whatever odd values a report holds."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["as_data", "as_plain", "json_text", "plain"]


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """A value as JSON text that any stream can take; characters stay as they are unless they are lone surrogates."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain(value), ensure_ascii=True, indent=indent, allow_nan=False)
    return text


def plain(value: Any) -> Any:
    """A value of a step, finding or record as JSON has it: non-finite numbers as their text, bytes as Base64."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    return str(getattr(value, "token", value))


def as_data(value: Any) -> Any:
    """A result as `--json` prints it: its members by name."""
    if names := getattr(value, "__struct_fields__", None):
        return {name: as_data(getattr(value, name)) for name in names}
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_data(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and (names := getattr(value, "_fields", None)):
        return {name: as_data(each) for name, each in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {str(name): as_data(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_data(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return value


def as_plain(record: Any) -> Any:
    """A record, or a part of one, as JSON has it."""
    import msgspec

    from evh.protocol.codec import encode

    return msgspec.json.decode(encode(record))
