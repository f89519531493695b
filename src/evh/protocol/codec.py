"""One codec for every record: `decode` forgives, `decode_strict` gives the schema's verdict, `encode` is the one
writer.

Promise: reading has no side effects: no environment, file, network or clock is read. Load then save keeps every member
but retired ones; an int stays an int, a float a float. What is written is valid, on one line, and reads back as it was;
or nothing is written and the error says why, with pointers.
Policy: the common path is one native decode; the explaining path runs only when that does not take the document. Free
JSON nested over 500 levels is taken by the one and refused by the other; `evh check` reports it from 128 levels on.
When it breaks: only classes of `evh.errors` come out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

import msgspec

from evh.errors import EvhError, Notice, NotWritable, RecordError, SchemaError, UsageError, Violation, cut
from evh.protocol import models
from evh.protocol._apart import Apart, is_within, plain_record
from evh.protocol._base import seen_retired
from evh.protocol._explain import (
    Data,
    explain,
    noticed,
    parse_document,
    retired_notices,
    root_of,
    strict_violations,
    type_name,
)
from evh.protocol._mirror import is_sound
from evh.protocol._native import (
    NATIVE_ERRORS,
    check_streams,
    json_encoder,
    json_reader,
    msgpack_encoder,
    msgpack_reader,
    nodes_of,
    parse_streams,
    read_streams,
    strict_read,
)
from evh.protocol.jsontext import dumps, escape_lines
from evh.protocol.wire import looks_odd, parse_wire, refuse_odd, unpackable

__all__ = ["MAX_CHAIN", "Data", "Format", "chain_depth", "decode", "decode_strict", "encode"]

T = TypeVar("T")
Format = Literal["json", "msgpack"]

NEVER_WRITTEN = frozenset({"non-finite", "not-json"})
"""What no writer lets pass, not even in members that it does not know."""

MAX_CHAIN = 64
"""Derivations that one derived block may nest; a longer chain is refused."""


@overload
def decode(data: Data, *, format: Format = "json", notices: list[Notice] | None = None) -> models.Episode: ...
@overload
def decode(data: Data, type: type[T], *, format: Format = "json", notices: list[Notice] | None = None) -> T: ...
def decode(
    data: Data, type: Any = models.Episode, *, format: Format = "json", notices: list[Notice] | None = None
) -> Any:
    """A record from JSON or MessagePack, read leniently.

    Retired members are dropped, unknown ones kept and written back, objects of unknown variants kept whole, NaN
    literals become null; each of these is appended to `notices`, when a list is given. Types, required members and
    bounds hold. Token streams are not looked into until they are read. Raises `DecodeError` for what is no document at
    all and `SchemaError`, with every violation, for one that does not fit.
    """
    try:
        read = _readers.get((type, format)) or _reader(type, format)
    except TypeError as error:
        raise UsageError(f"{cut(type)} is no record type: use a class of evh, such as evh.Episode") from error
    if data.__class__ is not bytes and data.__class__ is not str:
        data = _bytes(data)
    seen = seen_retired
    if seen.retired:
        seen.retired = []
    try:
        if format != "json":
            refuse_odd(data)
        record = read(data)
        if format != "json":
            parse_streams(nodes_of(record))
    except NATIVE_ERRORS as error:
        return _checked_chain(explain(data, type, format, notices, error))
    if notices is not None and seen.retired:
        notices += retired_notices(record, seen.retired) or noticed(data, type, format)
    return _checked_chain(record) if record.__class__ in _CHAINED else record


@overload
def decode_strict(data: Data, *, format: Format = "json") -> models.Episode: ...
@overload
def decode_strict(data: Data, type: type[T], *, format: Format = "json") -> T: ...
def decode_strict(data: Data, type: Any = models.Episode, *, format: Format = "json") -> Any:
    """A record from JSON or MessagePack, with exactly the verdict of the schema, streams included.

    Raises `SchemaError` with every violation, `DecodeError` for what is not JSON (NaN, lone surrogates, a BOM, torn
    text).
    """
    try:
        read = _strict_readers.get((type, format)) or _strict_reader(type, format)
    except TypeError as error:
        raise UsageError(f"{cut(type)} is no record type: use a class of evh, such as evh.Episode") from error
    if data.__class__ is not bytes and data.__class__ is not str:
        data = _bytes(data)
    try:
        if format != "json" and parse_wire(data)[1]:
            raise ValueError("what JSON has no form for")
        record = read(data)
    except NATIVE_ERRORS as error:
        violations = strict_violations(data, type, format)
        if violations:
            raise SchemaError(type_name(type), violations) from error
        record = explain(data, type, format, None, error)
    return _checked_chain(record) if record.__class__ in _CHAINED else record


def encode(record: Any, *, format: Format = "json", strict: bool = False, notices: list[Notice] | None = None) -> bytes:
    """A record as one line of JSON (without its newline) or as MessagePack: valid, or `NotWritable` says why not.

    What a lenient read set apart (unknown members and variants, streams that nobody read) is written back as it was
    read; with `strict=True` it is refused. JSON leaves out the tensors of the MessagePack wire and says so in
    `notices`. U+0085, U+2028 and U+2029 and lone surrogates are written as escapes, so that no reader splits or refuses
    the line.
    """
    kind = record.__class__
    if format == "json" and kind in _MIRRORED and not strict:
        # The common path, and the only one that is worth its own lines.
        try:
            data = _encode_json(record)
        except NATIVE_ERRORS:
            data = b""
        if data and is_sound(record):
            return data if data.isascii() else escape_lines(data)
    name = type_name(kind)
    _check_format(format)
    if format == "msgpack":
        _read_streams(record, name)
    _refuse_long_chain(record, name)
    try:
        data = (json_encoder() if format == "json" else msgpack_encoder()).encode(record)
        sound = _says_the_same(record, name, data, format)
        if sound and strict:
            check_streams(nodes_of(record))
    except (*NATIVE_ERRORS, EvhError):
        sound, data = False, b""
    if not sound:
        data = _encode_apart(record, name, format, strict, notices)
    return data if data.isascii() or format != "json" else escape_lines(data)


def _says_the_same(record: Any, name: str, data: bytes, format: Format) -> bool:
    """Whether `data` is certainly valid and says what the record says; False, or a `NATIVE_ERRORS`, for: look
    closer."""
    if format == "json" and record.__class__ in _MIRRORED:
        return is_sound(record)
    if format != "json" and looks_odd(data):
        return False
    copy = strict_read(record.__class__, name, format != "json")(data)
    return bool(copy == record) and not (record.__class__ is models.MessageNode and b"null" in data)


def _encode_apart(record: Any, name: str, format: Format, strict: bool, notices: list[Notice] | None) -> bytes:
    """The slow path: every value looked at, what was set apart told from what is wrong."""
    apart = Apart()
    wire = format == "msgpack"
    try:
        plain = plain_record(record, apart, wire=wire)
        if wire and (fault := unpackable(plain)) is not None:
            raise NotWritable(name, [Violation(fault[0], "not-msgpack", fault[1])])
        data = msgspec.msgpack.encode(plain) if wire else dumps(plain)
        document = msgspec.msgpack.decode(data) if wire else parse_document(data)
    except RecordError as error:
        raise NotWritable(name, [Violation(error.pointer, "not-json", _bare(error))]) from error
    except RecursionError as error:
        raise NotWritable(name, [Violation("", "depth", "nested too deeply, or within itself")]) from error
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError) as error:
        raise NotWritable(name, [Violation("", "not-json", f"expected JSON values: {error}")]) from error
    violations = root_of(name).violations(document, wire=wire)
    if not strict:
        covered = apart.pointers()
        violations = [
            each
            for each in violations
            if each.keyword in NEVER_WRITTEN or (each.keyword != "surrogate" and not is_within(each.pointer, covered))
        ]
    if violations:
        raise NotWritable(name, violations)
    if notices is not None:
        notices += apart.wire_only
    return data


def _bare(error: RecordError) -> str:
    return error.message.removeprefix(f"{error.pointer}: ") if error.pointer else error.message


def _read_streams(record: Any, name: str) -> None:
    try:
        read_streams(nodes_of(record))
    except RecordError as error:
        raise NotWritable(name, [Violation(error.pointer, "type", _bare(error))]) from error


_encode_json = json_encoder().encode
_MIRRORED = frozenset({models.Episode, models.Trace})
_CHAINED = frozenset({models.RunRecord, models.RescoreDerived, models.JudgeDerived, models.ReparseDerived})


def _checked_chain(record: Any) -> Any:
    """The record, unless its derived block nests deeper than `MAX_CHAIN`."""
    depth = chain_depth(record)
    if depth > MAX_CHAIN:
        raise RecordError(
            f"the derived chain is {depth} deep, at most {MAX_CHAIN} are allowed: is it repeated?",
            pointer=("/derived" if isinstance(record, models.RunRecord) else "") + "/source" * MAX_CHAIN,
        )
    return record


def chain_depth(record: Any) -> int:
    """How many derivations a run record or derived block holds; 0 for a measured run and for any other record."""
    block = record.derived if isinstance(record, models.RunRecord) else record if type(record) in _CHAINED else None
    depth = 0
    while type(block) in _CHAINED:
        depth += 1
        block = getattr(block, "source", None)
        if depth > 100 * MAX_CHAIN:
            break
    return depth


def _refuse_long_chain(record: Any, name: str) -> None:
    if record.__class__ in _CHAINED:
        try:
            _checked_chain(record)
        except RecordError as error:
            raise NotWritable(name, [Violation(error.pointer, "chain", _bare(error))]) from error


_readers: dict[tuple[Any, str], Callable[[Any], Any]] = {}
_strict_readers: dict[tuple[Any, str], Callable[[Any], Any]] = {}


def _reader(kind: Any, format: str) -> Callable[[Any], Any]:
    """The native lenient read of a type, made on first use."""
    _check_format(format)
    type_name(kind)
    read: Callable[[Any], Any] = (json_reader if format == "json" else msgpack_reader)(kind).decode
    return _readers.setdefault((kind, format), read)


def _strict_reader(kind: Any, format: str) -> Callable[[Any], Any]:
    _check_format(format)
    return _strict_readers.setdefault((kind, format), strict_read(kind, type_name(kind), format == "msgpack"))


def _check_format(format: str) -> None:
    if format not in ("json", "msgpack"):
        raise UsageError(f"format must be 'json' or 'msgpack', not {cut(format)}")


def _bytes(data: Any) -> bytes:
    if not isinstance(data, bytes | bytearray | memoryview | str):
        raise UsageError(f"a document is bytes or text, not {type(data).__name__}; for files there is read_episodes")
    try:
        return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    except ValueError as error:
        raise UsageError(f"the buffer cannot be read: {error}") from error
