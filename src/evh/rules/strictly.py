"""One document or one file of rows, held against its schema: what V1 does to each file.

Promise: the verdict is that of `decode_strict`, and on top of it the layer of the text: a member that stands twice and
nesting over 128 levels are found. Rows are streamed; a bad one never ends the file. A last line without LF that is no
whole row is a finding in a run that is closed and a note in one that may still be written.
Policy: an integer beyond ±(2^53 - 1) is a note: rows may hold one, and readers of ours keep it exact. The advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evh.errors import DecodeError, EvhError, SchemaError, Violation
from evh.protocol._views import iter_views
from evh.protocol.codec import decode_strict
from evh.protocol.jsontext import NOTED_DEPTH, Fault, check_text
from evh.protocol.sources import Line
from evh.protocol.tables import RETIRED
from evh.rules.outcome import Outcome
from evh.store.outputs import read_regular

__all__ = ["FileOfTree", "check_document", "check_lines", "report", "text_faults"]

T = TypeVar("T")
BIG = re.compile(rb"[:,\[ \t]-?[0-9]{16,}(?![0-9.eE])")
EVERY = 1000
TWICE = "remove one of the two: readers disagree on which of them counts"


class FileOfTree:
    """A file as the rule reports it: its path, how it is shown, and what to do when it is wrong."""

    def __init__(self, outcome: Outcome, path: Path, shown: str, advice: str) -> None:
        self.outcome = outcome
        self.path = path
        self.shown = shown
        self.advice = advice
        self.big = 0

    def found(self, message: str, *, line: int | None = None, pointer: str = "", advice: str = "") -> None:
        """Report a finding in this file."""
        self.outcome.found(self.shown, message, advice or self.advice, line=line, pointer=pointer)

    def noted(self, message: str) -> None:
        """Report a note about this file."""
        self.outcome.noted(f"{self.shown}: {message}")


def check_document(file: FileOfTree, kind: type[T]) -> T | None:
    """The one record of a file, or None when it does not match; a file that went away meanwhile is no finding."""
    try:
        data = read_regular(file.path)
    except EvhError as error:
        if file.path.exists() or file.path.is_symlink():
            file.found(error.message)
        return None
    record = _checked(file, data, kind, None)
    if record is not None:
        _text_layer(file, data, None)
    return record


def check_lines(file: FileOfTree, kind: type[T], progress: Any, *, open_end: bool) -> Iterator[tuple[Line, T | None]]:
    """Each row with its record (None when it does not match). `open_end`: a torn last line is only a note."""
    odd: set[str] = set()
    try:
        for line in iter_views(file.path):
            if line.line % EVERY == 0:
                progress(file.shown, line.line)
            data = bytes(line.data)
            for notice in line.notices:
                if notice.kind not in odd:
                    odd.add(notice.kind)
                    file.noted(f"line {line.line}: {notice.message}")
            if line.torn and not is_json(data):
                if open_end:
                    file.noted(f"line {line.line} is torn, as a writer that was stopped leaves it; a resume repairs it")
                    continue
                file.found(f"a torn last line of {len(data):,} bytes", line=line.line)
                continue
            record = _checked(file, data, kind, line.line)
            if record is not None:
                _text_layer(file, data, line.line, record)
            yield line, record
    except EvhError as error:
        file.found(error.message, line=error.line)
    if file.big:
        file.noted(f"integers beyond ±(2^53 - 1), which readers that use doubles change: {file.big:,}")


def is_json(data: bytes) -> bool:
    """Whether bytes are a whole JSON value."""
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True


def report(file: FileOfTree, error: EvhError, line: int | None = None) -> None:
    """Every violation of an error as a finding of its own."""
    if isinstance(error, SchemaError):
        for violation in error.violations:
            message = f"{violation.message} [{violation.keyword}]"
            file.found(message, line=line, pointer=violation.pointer, advice=_advice(error.root, violation))
        return
    pointer = error.pointer if isinstance(error, DecodeError) else None
    file.found(error.message, line=line if line is not None else error.line, pointer=pointer or "")


def text_faults(data: bytes, value: Any) -> list[Fault]:
    """What only the text of a JSON document shows. `value` is what it was decoded to, plain or a record.

    A document that is written again as it stands has no member twice, so the slow look is for others alone.
    """
    try:
        same = msgspec.json.encode(value) == data
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError):
        same = False
    if same and data.count(b"{") + data.count(b"[") <= NOTED_DEPTH and not BIG.search(data):
        return []
    return [each for each in check_text(data) if each.kind in ("duplicate-key", "depth", "big-integer")]


def _checked(file: FileOfTree, data: bytes, kind: type[T], line: int | None) -> T | None:
    try:
        return decode_strict(data, kind)
    except EvhError as error:
        report(file, error, line)
        return None


def _text_layer(file: FileOfTree, data: bytes, line: int | None, record: Any = None) -> None:
    plain = record.plain() if hasattr(record, "plain") else msgspec.json.decode(data)
    for fault in text_faults(data, plain):
        if fault.kind != "big-integer":
            advice = TWICE if fault.kind == "duplicate-key" else ""
            file.found(f"{fault.message} [{fault.kind}]", line=line, pointer=fault.pointer, advice=advice)
        elif line is None:
            file.noted(f"{fault.pointer}: {fault.message}")
        else:
            file.big += 1


def _advice(root: str, violation: Violation) -> str:
    """What to do about a violation, where that is more than the file's own advice."""
    if violation.keyword != "additionalProperties":
        return ""
    member = violation.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    instead = RETIRED.get(root, {}).get(member)
    if instead is not None and violation.pointer.count("/") == 1:
        return f"the member is retired: {instead}"
    return "remove the member or correct its name: the schema declares no such one"
