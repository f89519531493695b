"""`upgrade`: a row of any age as today's record, strictly valid, with nothing gone and every step said.

Promise: the result passes a strict read. Every leaf of the source is in the result or covered by a step; what today's
schema has no place for stands under the reserved key `evh` of `info`, of the trace it came from or of the episode.
Upgrading what was upgraded does nothing.
When it breaks: a row that is no document is a `DecodeError`; one that is no episode or trace at all, or that lacks what
cannot be made, is a `SchemaError`. The source bytes are never changed.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar, overload

import msgspec

from evh.errors import EvhError, SchemaError, UsageError, Violation, cut
from evh.protocol import models
from evh.protocol._base import seen_retired
from evh.protocol._explain import root_of, type_name
from evh.protocol._finish import SCHEMA_VERSION
from evh.protocol._native import NATIVE_ERRORS, strict_read
from evh.protocol._repair import repair
from evh.protocol._repeats import hidden_members
from evh.protocol.codec import Data, Format, decode, decode_strict
from evh.protocol.jsontext import Fault, dumps
from evh.protocol.upgrade import upgrade_document, upgrade_rows, upgrade_trace_document, upgrade_v0
from evh.protocol.upgrade.detect import detect
from evh.protocol.upgrade.step import Step
from evh.protocol.wire import parse_as

__all__ = ["Upgraded", "upgrade", "upgrade_parsed", "upgrade_parsed_rows", "upgrade_plain"]

T = TypeVar("T")


class Upgraded(NamedTuple, Generic[T]):
    """What `upgrade` gives: the record, and what was done to the row to get it; no steps for a row of today."""

    record: T
    steps: tuple[Step, ...]


@overload
def upgrade(
    data: Data, *, format: Format = "json", metadata: dict[str, Any] | None = None, position: int | None = None
) -> Upgraded[models.Episode]: ...
@overload
def upgrade(
    data: Data,
    type: type[T],
    *,
    format: Format = "json",
    metadata: dict[str, Any] | None = None,
    position: int | None = None,
) -> Upgraded[T]: ...
def upgrade(
    data: Data,
    type: Any = models.Episode,
    *,
    format: Format = "json",
    metadata: dict[str, Any] | None = None,
    position: int | None = None,
) -> Upgraded[Any]:
    """A row of any historical shape as a record of today, and the steps that made it one.

    `type` is Episode (a bare trace is wrapped) or Trace; any other record has one shape so far, and is read leniently
    with its retired members reported as steps. Members that stand twice in one object are steps too; `read_episodes`,
    which reads for speed, does not look for them. For first-generation rows, `metadata` is the parsed `metadata.json`
    beside them and `position` tells equal rows apart.
    Raises `DecodeError` for what is no document and `SchemaError` for what cannot be made a record.
    """
    if not isinstance(data, bytes | bytearray | memoryview | str):
        raise UsageError(f"a document is bytes or text, not {cut(data)}; a record needs no upgrade")
    if type not in (models.Episode, models.Trace):
        return _read_with_steps(data, type, format)
    hidden = hidden_members(data) if format == "json" else ()
    if format == "json" and not isinstance(data, memoryview | bytearray):
        record = _today(data, type)
        if record is not None:
            return Upgraded(record, hidden)
    document, faults = parse_as(data, format)  # NaN literals are found again in the document, at their new places
    hidden += tuple(_as_text(fault) for fault in faults if fault.kind == "bytes")
    if not isinstance(document, dict):
        raise SchemaError(type_name(type), [Violation("", "type", "expected an object")])
    made = upgrade_parsed(document, type, metadata=metadata, position=position)
    return made._replace(steps=(*hidden, *made.steps)) if hidden else made


def _as_text(fault: Fault) -> Step:
    return Step(
        "bytes", "repaired", fault.pointer, fault.pointer, "bytes, which JSON has no form for: base64 text", None
    )


def _today(data: bytes | str, kind: Any) -> Any:
    """The record of a row that needs no step at all, else None."""
    seen_retired.computed = False
    try:
        record = strict_read(kind, type_name(kind), False)(data)
        if seen_retired.computed:
            return None
    except NATIVE_ERRORS:
        return None
    return record


def _read_with_steps(data: Data, kind: Any, format: Format) -> Upgraded[Any]:
    notices: list[Any] = []
    record = decode(data, kind, format=format, notices=notices)
    steps = [
        Step("retired", "dropped", notice.pointer, None, notice.message, notice.value)
        for notice in notices
        if notice.kind == "retired"
    ]
    return Upgraded(record, tuple(steps))


def upgrade_parsed(
    document: dict[str, Any],
    kind: Any = models.Episode,
    *,
    metadata: dict[str, Any] | None = None,
    position: int | None = None,
) -> Upgraded[Any]:
    """`upgrade` of a row that was parsed already by `evh.protocol.jsontext.parse`; uses the document up.

    `position` tells equal first-generation rows of one file apart, which have no ids of their own.
    """
    return upgrade_plain(document, kind, metadata=metadata, position=position)[0]


def upgrade_plain(
    document: dict[str, Any],
    kind: Any = models.Episode,
    *,
    metadata: dict[str, Any] | None = None,
    position: int | None = None,
) -> tuple[Upgraded[Any], dict[str, Any]]:
    """The same with the document that the record was made of, which holds only what the row said."""
    if kind is models.Trace:
        document, steps = upgrade_trace_document(document)
    elif kind is not models.Episode:
        raise UsageError(f"{type_name(kind)} has no historical shapes: decode it")
    elif detect(document) == "v0":
        document, steps = upgrade_v0(document, metadata, position=position)
    else:
        document, steps = upgrade_document(document)
    return _completed(document, steps, kind)


def upgrade_parsed_rows(rows: list[dict[str, Any]]) -> Upgraded[models.Episode]:
    """One episode from neighbouring rows of one episode (a trainer's traces, one a line), parsed already."""
    made = upgrade_rows(rows)
    return _completed(made.episode, made.steps, models.Episode)[0]


def _native(document: dict[str, Any], kind: Any) -> Any:
    """The record of a document that fits as it is, else None."""
    try:
        return strict_read(kind, type_name(kind), False)(msgspec.json.encode(document))
    except NATIVE_ERRORS:
        return None


def _completed(document: dict[str, Any], steps: list[Step], kind: Any) -> tuple[Upgraded[Any], dict[str, Any]]:
    """The record of an upgraded document, once what nobody can explain is set aside, and the document."""
    name = type_name(kind)
    record = _native(document, kind)
    if record is None:
        steps += repair(document, name)
    if kind is models.Episode and any(step.action != "dropped" for step in steps) and document.get("schema") is None:
        document.pop("schema", None)
        document = {"schema": f"evh:{SCHEMA_VERSION}:episode", **document}
        steps.append(Step("schema", "added", "/schema", "/schema", "what the upgraded row follows"))
        if record is not None:
            record.schema = document["schema"]
    if record is not None:
        return Upgraded(record, tuple(steps)), document
    try:
        return Upgraded(decode_strict(dumps(document), kind), tuple(steps)), document
    except EvhError as error:
        violations = root_of(name).violations(document)
        raise SchemaError(name, violations or [Violation("", "upgrade", str(error))]) from error
