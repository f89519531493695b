"""What must hold for one document and for one string of bytes, whatever they are.

`check_document`: `decode_strict` gives the verdict of the reference validator, which here is built from the schema
files by this module alone. `check_string`: nothing but `evh.errors` comes out of anything; what was read can be
written and read again; what was upgraded is strictly valid and stays as it is.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from evh.errors import DecodeError, EvhError, NotWritable, SchemaError
from evh.protocol import models
from evh.protocol.codec import decode, decode_strict, encode
from evh.protocol.tables import FILES, ROOTS
from evh.protocol.upgraded import upgrade
from evh.protocol.verify import verify
from tests.soak.uses import use

SCHEMAS = Path(__file__).parents[2] / "schema" / "v1"
LONGEST_MESSAGE = 20_000
STEPLESS = ("Episode", "Trace")


class Broken(AssertionError):
    """A promise that an input broke."""


def class_of(name: str) -> Any:
    return getattr(models, name)


@cache
def reference(name: str) -> jsonschema.Draft202012Validator:
    """The reference validator of a type, made from the schema files without any code of ours."""
    documents = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json") if path.name != "retired.json"]
    resources = [(each["$id"], Resource.from_contents(each, default_specification=DRAFT202012)) for each in documents]
    registry: Registry[Any] = Registry().with_resources(resources)
    target = f"{ROOTS[name]}.json" if name in ROOTS else f"{FILES[name]}.json#/$defs/{name}"
    return jsonschema.Draft202012Validator({"$ref": target}, registry=registry)


def is_json(document: Any) -> bool:
    """Whether a value of Python's has a JSON form: no NaN, no infinity, no lone surrogate."""
    try:
        json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


def check_document(name: str, document: Any) -> None:
    """Raise Broken when the strict reader and the reference validator disagree about a document."""
    text = json.dumps(document).encode()
    expected = "valid" if reference(name).is_valid(document) else "invalid"
    if not is_json(document):
        expected = "not JSON"
    found = verdict(name, text)
    if found != expected:
        raise Broken(f"decode_strict says {found}, the reference validator {expected}")


def verdict(name: str, text: bytes) -> str:
    try:
        decode_strict(text, class_of(name))
    except DecodeError:
        return "not JSON"
    except SchemaError as error:
        return "invalid" if error.violations else "invalid without a violation"
    return "valid"


def check_string(name: str, format: Any, data: bytes) -> None:
    """Send bytes through everything; raise Broken, or whatever leaked, when a promise does not hold."""
    cls = class_of(name)
    record = attempt(decode, data, cls, format=format, notices=[])
    if record is not None:
        verify(record)
        use(record)
        check_round_trip(record, cls)
    strict = attempt(decode_strict, data, cls, format=format)
    if strict is not None:
        if record is None:
            raise Broken("decode_strict takes what decode refuses")
        verify(strict)
        attempt_strict(strict)
    upgraded = attempt(upgrade, data, cls, format=format)
    if upgraded is not None:
        verify(upgraded.record)
        use(upgraded.record)
        if name in STEPLESS:
            check_upgraded(upgraded.record, cls)


def attempt(function: Any, *arguments: Any, **named: Any) -> Any:
    """The result, or None for an error of ours whose text is of a bearable length."""
    try:
        return function(*arguments, **named)
    except EvhError as error:
        if len(str(error)) > LONGEST_MESSAGE:
            raise Broken(f"a message of {len(str(error))} characters") from error
        if isinstance(error, SchemaError) and not error.violations:
            raise Broken("a SchemaError without violations") from error
        return None


def check_round_trip(record: Any, cls: Any) -> None:
    """What was read can be written, unless a promise of the writer forbids it, and reads back equal."""
    for format in ("json", "msgpack"):
        notices: list[Any] = []
        written = attempt(encode, record, format=format, notices=notices)
        if written is None:
            continue
        again = decode(written, cls, format=format)  # type: ignore[call-overload]
        if not any(notice.kind == "wire-only" for notice in notices) and not _equal(again, record):
            raise Broken(f"{format}: what was written reads back as something else")


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except EvhError:  # a stream that cannot be read: it was written back as it is
        return True


def attempt_strict(record: Any) -> None:
    try:
        encode(record, strict=True)
    except NotWritable as error:
        raise Broken(f"what a strict reader took is not writable: {error}") from error


def check_upgraded(record: Any, cls: Any) -> None:
    try:
        text = encode(record, strict=True)
        decode_strict(text, cls)
        steps = upgrade(text, cls).steps
    except EvhError as error:
        raise Broken(f"what was upgraded is not strictly valid: {error}") from error
    if steps:
        raise Broken(f"upgrading what was upgraded takes {len(steps)} steps, first {steps[0]}")
