"""The three layers of checking, on one document: json (the text), schema (the shape), semantic (how members agree).

Promise: what a layer finds is a finding or a notice with a JSON Pointer, never an exception; a document that is no JSON
has that one finding. Pointers go into the row as it stands, except for what only exists once an old row is upgraded.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from evh.cli._terminal import grouped, plural
from evh.cli._types import EPISODES, class_of, missing_members
from evh.errors import DecodeError, EvhError, Notice, RecordError, SchemaError, Violation, cut
from evh.protocol import models
from evh.protocol.codec import decode, decode_strict
from evh.protocol.jsontext import Fault, check_text, escape_lines, parse
from evh.protocol.sources import Line
from evh.protocol.upgrade.detect import detect
from evh.protocol.upgrade.step import Step
from evh.protocol.upgrade.table import RULES
from evh.protocol.upgraded import upgrade
from evh.protocol.verify import verify
from evh.protocol.wire import parse_wire

__all__ = ["Looked", "Text", "history", "look", "read_text", "torn_row"]

FORGIVEN = frozenset({"surrogate", "bom"})
"""Faults of the text that only a strict reader refuses."""
SET_APART = {
    "additionalProperties": "unknown",
    "unknown-tag": "unknown-tag",
    "required": "filled-in",
    "info": "filled-in",
}
"""What an upgrade set apart without its being wrong, and the kind of notice it is."""
_DIGITS = re.compile(rb"(?<![0-9.])[0-9]{16}")
"""What may be an integer beyond 2^53; the digits of a fraction are none."""


class Text(NamedTuple):
    """A document parsed, with the faults of its text; `error` says why when it is none."""

    value: Any = None
    faults: tuple[Fault, ...] = ()
    error: DecodeError | None = None


class Looked(NamedTuple):
    """What the layers said about one document; `history` are the rules of the old shapes that it shows."""

    findings: list[Violation]
    notices: list[Notice]
    history: tuple[str, ...] = ()


def read_text(data: bytes, *, wire: bool) -> Text:
    """The json layer. Text that reads and writes back the same natively has no fault that hides in a parse."""
    try:
        if wire:
            value, faults = parse_wire(data)
            return Text(value, tuple(faults))
        value, faults = parse(data)
        if not faults and (_DIGITS.search(data) or not _same(value, data)):
            faults = check_text(data)
        return Text(value, tuple(faults))
    except DecodeError as error:
        return Text(error=error)


def _same(value: Any, data: bytes) -> bool:
    try:
        written = msgspec.json.encode(value)
        return written == data or escape_lines(written) == data
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return False


def look(line: Line, text: Text, name: str, mode: str, *, wire: bool, metadata: dict[str, Any] | None) -> Looked:
    """All three layers over one document of the type `name`."""
    if text.error is not None:
        return Looked([_unreadable(line, text.error)], [])
    looked = Looked([], [])
    for fault in text.faults:
        if fault.kind in FORGIVEN and mode != "strict":
            looked.notices.append(Notice(fault.kind, fault.pointer, fault.message))
        else:
            looked.findings.append(Violation(fault.pointer, fault.kind, fault.message))
    if not isinstance(text.value, dict):
        looked.findings.append(Violation("", "type", grouped(f"expected an object, found {cut(text.value)}")))
        return looked
    missing = missing_members(text.value, name)
    if missing and name not in EPISODES:
        looked.findings.append(Violation("", "required", f"not a {_words(name)}: missing {_some(missing)}"))
        return looked
    format: Any = "msgpack" if wire else "json"
    try:
        if mode == "upgrade" and name == "Episode":
            return _upgraded(looked, line, text, format, metadata)
        found: list[Notice] = []
        if mode == "strict":
            record = decode_strict(line.data, class_of(name), format=format)
        elif mode == "upgrade" and name == "Trace":
            up = upgrade(line.data, models.Trace, format=format)
            record = up.record
            _explain(looked, up.steps, text)
            looked = looked._replace(history=history(up.steps))
        else:
            record = decode(line.data, class_of(name), format=format, notices=found)
        looked.notices.extend(each for each in found if each.kind not in ("non-finite", "surrogate", "bom"))
    except EvhError as error:
        _refused(looked, error, text)
        return looked
    looked.findings.extend(each for each in verify(record) if not _said(looked, each))
    return looked


def _upgraded(looked: Looked, line: Line, text: Text, format: Any, metadata: dict[str, Any] | None) -> Looked:
    try:
        up = upgrade(line.data, format=format, metadata=metadata)
    except EvhError as error:
        _refused(looked, error, text)
        return looked
    _explain(looked, up.steps, text)
    prefix = "/traces/0" if detect(text.value) == "trace" else ""
    for each in verify(up.record):
        bare = each._replace(pointer=each.pointer.removeprefix(prefix))
        if not _said(looked, bare):
            looked.findings.append(bare)
    return looked._replace(history=history(up.steps))


def _explain(looked: Looked, steps: tuple[Step, ...], text: Text) -> None:
    """What an upgrade had to set aside although no historical shape explains it."""
    told = {fault.pointer for fault in text.faults}
    for step in steps:
        if step.rule in RULES and step.rule not in SET_APART:
            continue
        if step.action == "added" or step.rule == "schema" or step.pointer in told:
            continue
        kind = SET_APART.get(step.rule)
        if kind is not None:
            looked.notices.append(Notice(kind, step.pointer, step.note))
        elif step.rule == "retired":
            looked.notices.append(Notice("retired", step.pointer, step.note))
        elif step.rule not in ("non-finite", "surrogate"):
            looked.findings.append(Violation(step.pointer, step.rule, step.note))


def history(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """The rules of old shapes that steps name. Members that are only computed anew are no old shape."""
    found = {
        step.rule
        for step in steps
        if step.rule in RULES and step.rule not in SET_APART and not (step.rule == "S21" and step.action == "dropped")
    }
    return tuple(sorted(found, key=lambda rule: (not rule.startswith("S"), int(rule[1:]))))


def _refused(looked: Looked, error: EvhError, text: Text) -> None:
    if isinstance(error, SchemaError):
        looked.findings.extend(_advised(each) for each in error.violations if not _said(looked, each))
    elif isinstance(error, RecordError):
        message = error.message.removeprefix(f"{error.pointer or '(root)'}: ")
        looked.findings.append(Violation(error.pointer, "record", message))
    elif not looked.findings:
        pointer = getattr(error, "pointer", None) or ""
        looked.findings.append(Violation(pointer, "not-json", error.message))


def _advised(found: Violation) -> Violation:
    """A violation with the advice of the command line, where that of the library is a call."""
    if found.keyword == "shape" and found.message.startswith("this is a trace"):
        return found._replace(message="this is a trace, not an episode: give --type Trace, or `evh upgrade` it")
    return found


def _said(looked: Looked, found: Violation) -> bool:
    """Whether an earlier layer said the same of the same place."""
    return any(each.pointer == found.pointer and _alike(each.keyword, found.keyword) for each in looked.findings)


def _alike(first: str, second: str) -> bool:
    names = {"non-finite": "finite", "big-integer": "integer-size"}
    return names.get(first, first) == names.get(second, second)


def _unreadable(line: Line, error: DecodeError) -> Violation:
    torn = torn_row(line, error)
    if torn is not None:
        return Violation("", "torn", torn)
    return Violation("", "not-json", f"{grouped(error.message)}; its {_bytes(line)} no record")


def torn_row(line: Line, error: DecodeError) -> str | None:
    """What every command says of a row that its writer did not finish; None for one that is wrong in another way."""
    if not line.torn and "torn" not in error.message:
        return None
    why = error.message.removeprefix("torn row: ").replace(" (torn row)", "")
    return f"torn row: {grouped(why)}; its {_bytes(line)} no whole record"


def _bytes(line: Line) -> str:
    size = len(line.data)
    return f"{plural(size, 'byte')} {'holds' if size == 1 else 'hold'}"


def _some(names: list[str], shown: int = 6) -> str:
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def _words(name: str) -> str:
    """`RunRecord` as `run record`."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()
