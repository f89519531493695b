"""Assertions about records: valid by schema and rule, and unchanged by being written and read.

Promise: a failure is an `AssertionError` that lists every violation with its pointer, never another library's
exception. A record is judged as it would be written: tensors (`x-wire`), which JSON leaves out, are not compared.
"""

from __future__ import annotations

import json
from typing import Any

from evh.errors import EvhError, SchemaError

__all__ = ["assert_roundtrip", "assert_valid"]


def assert_valid(value: Any, kind: Any = None) -> None:
    """Assert that a record, a document or JSON text is strictly valid, and that `verify` finds nothing against it.

    `kind` is a class of `evh` or a type's name; a record says itself what it is. Documents are plain JSON values.
    """
    from evh.protocol.codec import decode_strict, encode
    from evh.protocol.verify import verify

    cls = _class_of(value, kind)
    try:
        if _is_record(value):
            data: Any = encode(value, strict=True)
        else:
            data = value if isinstance(value, str | bytes) else json.dumps(value)
        record = decode_strict(data, cls)
    except SchemaError as error:
        raise AssertionError(_told(f"not a valid {error.root}", error.violations)) from error
    except (EvhError, TypeError, ValueError) as error:
        raise AssertionError(f"not valid: {error}") from error
    found = verify(record)
    if found:
        raise AssertionError(_told("valid by its schema, and breaks rules between members", found))


def assert_roundtrip(record: Any) -> bytes:
    """Assert that a record is the same after it was written and read, as JSON and as MessagePack; returns the JSON."""
    from evh.protocol.codec import decode, encode

    try:
        written = encode(record)
        again = encode(decode(written, type(record)))
        if again != written:
            raise AssertionError(f"{type(record).__name__} changes in JSON:\n{_difference(written, again)}")
        packed = encode(decode(encode(record, format="msgpack"), type(record), format="msgpack"))
    except EvhError as error:
        raise AssertionError(f"{type(record).__name__} cannot be written and read: {error}") from error
    if _plain(packed) != _plain(written):
        raise AssertionError(f"{type(record).__name__} changes in MessagePack:\n{_difference(written, packed)}")
    return written


def _plain(text: bytes) -> str:
    """JSON without its spelling: what is left are the members in their order, with 1 told from 1.0."""
    return json.dumps(json.loads(text))


def _class_of(value: Any, kind: Any) -> Any:
    from evh.protocol import models

    if isinstance(kind, str):
        if not hasattr(models, kind):
            raise AssertionError(f"there is no type {kind!r}")
        return getattr(models, kind)
    if kind is not None:
        return kind
    if not _is_record(value):
        raise AssertionError("say which type it should be: assert_valid(document, 'Episode')")
    return type(value)


def _is_record(value: Any) -> bool:
    from evh.protocol._base import Model
    from evh.protocol._open import OpenObject

    return isinstance(value, Model | OpenObject)


def _told(head: str, violations: Any) -> str:
    return "\n".join([f"{head}:", *(f"  {each}" for each in violations)])


def _difference(before: bytes, after: bytes) -> str:
    """The first place where two texts part, with what stands around it."""
    at = next((i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(before))
    around = slice(max(0, at - 40), at + 40)
    shown = [text[around].decode("utf-8", "replace") for text in (before, after)]
    return f"  before …{shown[0]}\n  after  …{shown[1]}"
