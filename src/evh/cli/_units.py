"""The rows of a source, upgraded one unit at a time: a row, or neighbouring traces of one episode.

Promise: a row that cannot be upgraded is a unit of its own with the error and its bytes; nothing is skipped. Memory is
bounded by one unit. Rows are grouped as `evh.read_episodes` groups them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evh.cli._documents import documents, is_msgpack
from evh.cli._layers import read_text, torn_row
from evh.cli._terminal import grouped
from evh.cli._types import class_of
from evh.errors import DecodeError, EvhError, SourceError
from evh.protocol._repeats import hidden_members
from evh.protocol._upgrading import metadata_beside
from evh.protocol.codec import Format
from evh.protocol.sources import Line
from evh.protocol.upgrade.regroup import episode_of
from evh.protocol.upgrade.step import Step
from evh.protocol.upgraded import Upgraded, upgrade, upgrade_parsed_rows

__all__ = ["Unit", "read_rows", "read_units"]


class Unit(NamedTuple):
    """Rows as they stood, and what became of them: the record with its steps, or the error."""

    lines: tuple[Line, ...]
    made: Upgraded[Any] | None = None
    error: EvhError | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        return () if self.made is None else self.made.steps


def read_rows(source: str, kind: str = "Episode") -> Iterator[Unit]:
    """The rows of a source as they stand, one a unit; what is no document at all has its error. Any `kind` will do.

    Raises `SourceError` when the source cannot be read (on), after the rows before that.
    """
    wire = is_msgpack(source)
    for line in documents(source):
        text = read_text(line.data, wire=wire)
        yield Unit((line,), error=None if text.error is None else _torn(line, text.error))


def read_units(source: str, kind: str = "Episode") -> Iterator[Unit]:
    """The units of a file, folder or `-` that holds records of the type `kind`.

    Raises `SourceError` when the source cannot be read (on), after the units before that.
    """
    wire = is_msgpack(source)
    group: list[tuple[Line, dict[str, Any]]] = []
    metadata: dict[str, Any] | None = None
    asked = False
    failure: SourceError | None = None
    lines = documents(source)
    while True:
        try:
            line = next(lines, None)
        except SourceError as error:
            failure, line = error, None
        if line is None:
            break
        text = read_text(line.data, wire=wire)
        key = episode_of(text.value) if kind == "Episode" and isinstance(text.value, dict) else None
        if group and (key is None or key != episode_of(group[0][1])):
            yield _grouped(group, wire)
            group = []
        if text.error is not None:
            yield Unit((line,), error=_torn(line, text.error))
        elif key is not None:
            group.append((line, text.value))
        else:
            if not asked:
                metadata, asked = metadata_beside(source), True
            yield _one(line, kind, wire, metadata)
    if group:
        yield _grouped(group, wire)
    if failure is not None:
        raise failure


def _one(line: Line, kind: str, wire: bool, metadata: dict[str, Any] | None) -> Unit:
    format: Format = "msgpack" if wire else "json"
    try:
        return Unit((line,), upgrade(line.data, class_of(kind), format=format, metadata=metadata, position=line.line))
    except EvhError as error:
        return Unit((line,), error=error)


def _grouped(group: list[tuple[Line, dict[str, Any]]], wire: bool) -> Unit:
    lines = tuple(line for line, _ in group)
    if len(group) == 1:
        return _one(lines[0], "Episode", wire, None)
    hidden = [] if wire else [step for line in lines for step in hidden_members(line.data)]
    try:
        made = upgrade_parsed_rows([document for _, document in group])
    except EvhError as error:
        return Unit(lines, error=error)
    return Unit(lines, made._replace(steps=(*hidden, *made.steps)))


def _torn(line: Line, error: DecodeError) -> DecodeError:
    words = torn_row(line, error) or grouped(error.message)
    return DecodeError(words, offset=error.offset)
