"""The explaining path of reading: what the native decode did not take is parsed, set apart, converted, or refused in
words.

Promise: a document that only holds more than this release knows is read; one that breaks its schema is refused with
every violation, except those about what was set apart.
"""

from __future__ import annotations

from types import UnionType
from typing import Any, NamedTuple

import msgspec

from evh.errors import DecodeError, Notice, SchemaError, UsageError, Violation, cut
from evh.protocol import engine, models
from evh.protocol._apart import is_within
from evh.protocol._fit import take_out
from evh.protocol._guided import fill, read_guided
from evh.protocol._native import NATIVE_ERRORS, tagged
from evh.protocol._walk import set_apart
from evh.protocol.jsontext import parse
from evh.protocol.tables import CLASSES, FILES, RETIRED, ROOTS, UNIONS
from evh.protocol.wire import parse_as

__all__ = [
    "Data",
    "Root",
    "explain",
    "noticed",
    "parse_document",
    "retired_notices",
    "root_of",
    "strict_violations",
    "type_name",
]

_ARMS = {table.arm: name for name, table in UNIONS.items()}

FORGIVEN = frozenset({"unknown", "unknown-tag", "retired", "non-finite"})
"""Notices of what a lenient reader set apart: no violation there counts."""

NOT_JSON = frozenset({"non-finite", "surrogate", "bom", "bytes"})
"""Faults of a text that a strict reader refuses before any schema is asked."""

Data = bytes | bytearray | memoryview | str


class Root(NamedTuple):
    """Where the schema of a type is: a file's root, or a definition in it."""

    name: str
    address: str

    def violations(self, document: Any, *, wire: bool = False) -> list[Violation]:
        return engine.violations(self.address, document, wire=wire)


def root_of(name: str) -> Root:
    stem = ROOTS.get(name)
    return Root(name, stem if stem is not None else f"{FILES[name]}#{name}")


def type_name(kind: Any) -> str:
    """The contract's name of a record type; UsageError for anything else."""
    name = getattr(kind, "__name__", None)
    if name in CLASSES and getattr(models, str(name), None) is kind:
        return str(name)
    if name in _ARMS and getattr(models, str(name), None) is kind:
        return _ARMS[name]
    if isinstance(kind, UnionType):
        for name in UNIONS:
            if getattr(models, name) == kind:
                return name
    for base in getattr(kind, "__mro__", ()):
        if base.__name__ in CLASSES and getattr(models, base.__name__) is base:
            return str(base.__name__)
    raise UsageError(f"{cut(kind)} is no record type: use a class of evh, such as evh.Episode")


def parse_document(data: bytes | str) -> Any:
    """The plain value of JSON text that was just written."""
    return parse(data)[0]


def explain(data: Data, kind: Any, format: str, notices: list[Notice] | None, cause: BaseException | None) -> Any:
    """Read a document that the native decode did not take; DecodeError or SchemaError when nothing can."""
    name = type_name(kind)
    if isinstance(cause, msgspec.ValidationError) and format == "json":
        record = read_guided(data, kind, cause, notices)
        if record is not None:
            return record
    found: list[Notice] = []
    document = _parse(data, name, format, found)
    _refuse_other_shape(document, kind, name)
    try:
        document = set_apart(document, name, found)
    except RecursionError as error:
        raise DecodeError("nested too deeply to be a record") from error
    try:
        record = msgspec.convert(document, tagged(kind), dec_hook=fill)
        if isinstance(kind, type) and not isinstance(record, kind):
            raise msgspec.ValidationError("another variant of the union")
    except NATIVE_ERRORS as error:
        raise SchemaError(name, _refusals(data, name, format, found, error)) from (cause or error)
    if notices is not None:
        notices += found
    return record


def _refuse_other_shape(document: Any, kind: Any, name: str) -> None:
    """A bare trace read as an episode would be an episode without traces: refuse it in words."""
    if kind is not models.Episode or not isinstance(document, dict) or "traces" in document:
        return
    if "nodes" in document or "trajectory" in document:
        message = "this is a trace, not an episode: decode it with type=Trace, or upgrade it"
        raise SchemaError(name, [Violation("", "shape", message)])


def noticed(data: Data, kind: Any, format: str) -> list[Notice]:
    """The notices of a document that was read natively."""
    found: list[Notice] = []
    explain(data, kind, format, found, None)
    return found


def retired_notices(record: Any, values: list[Any]) -> list[Notice] | None:
    """The notices of an episode with one trace, where only one place is possible; None when it may be otherwise."""
    if not isinstance(record, models.Episode) or len(record.traces) != 1:
        return None
    ((member, advice),) = RETIRED["Trace"].items()
    said = f"Trace.{member} is retired: {advice}"
    return [Notice("retired", f"/traces/0/{member}", said, value) for value in values]


def _parse(data: Data, name: str, format: str, found: list[Notice]) -> Any:
    document, faults = parse_as(data, format)
    if not faults:
        return document
    found += [Notice(fault.kind, fault.pointer, fault.message, fault.value) for fault in faults]
    pointers = [fault.pointer for fault in faults if fault.kind == "non-finite"]
    if pointers and take_out(document, name, pointers) is None:
        raise SchemaError(
            name, [Violation(each, "non-finite", "a finite number is required here") for each in pointers]
        )
    return document


def _refusals(data: Data, name: str, format: str, found: list[Notice], error: BaseException) -> list[Violation]:
    """The violations of a document, less those that a lenient reader forgives."""
    document = parse_as(data, format)[0]
    forgiven = {notice.pointer for notice in found if notice.kind in FORGIVEN}
    forgiven |= {notice.pointer.rpartition("/")[0] for notice in found if notice.kind == "unknown-tag"}
    violations = [
        each
        for each in root_of(name).violations(document, wire=format != "json")
        if not is_within(each.pointer, forgiven)
    ]
    return violations or [Violation(_pointer_in(str(error)), "type", str(error).split(" - at ")[0])]


def _pointer_in(message: str) -> str:
    """msgspec's `$.traces[0].id` as a JSON Pointer."""
    _, _, path = message.rpartition(" - at `$")
    return path.rstrip("`").replace("[", "/").replace("]", "").replace(".", "/")


def strict_violations(data: Data, kind: Any, format: str) -> list[Violation]:
    """Every violation of the schema; DecodeError for what is not JSON at all."""
    name = type_name(kind)
    document, faults = parse_as(data, format)
    for fault in faults:
        if fault.kind in NOT_JSON:
            raise DecodeError(f"not JSON: {fault.pointer or '(root)'}: {fault.message}", pointer=fault.pointer)
    violations = root_of(name).violations(document, wire=format != "json")
    if violations and _declares_newer(document):
        return [_newer(each) if each.keyword == "additionalProperties" else each for each in violations]
    return violations


def _declares_newer(document: Any) -> bool:
    from evh.protocol._finish import SCHEMA_VERSION

    declared = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(declared, str) or declared.count(":") != 2:
        return False
    major, _, minor = declared.split(":")[1].partition(".")
    ours = SCHEMA_VERSION.split(".")
    return major == ours[0] and minor.isdecimal() and len(minor) < 5 and int(minor) > int(ours[1])


def _newer(violation: Violation) -> Violation:
    message = "the document declares a newer schema, which may know this member: read it leniently"
    return violation._replace(message=message)
