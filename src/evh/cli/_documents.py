"""The documents of a source, as they stand there: rows, one document in a file, MessagePack.

Promise: a `.json` file is one document; standard input is rows, or documents spread over lines, told apart by its first
row. Each comes with its line and file. Memory is bounded by one document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from evh.cli._types import PACKED, bare_name
from evh.errors import DecodeError, Notice, SourceError
from evh.protocol._folders import MSGPACK
from evh.protocol.jsontext import parse
from evh.protocol.sources import Line, iter_lines, packed_lines
from evh.store.atomic import why

__all__ = ["Flat", "documents", "holds_rows", "is_msgpack", "is_single", "whole_file"]

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


def is_msgpack(source: str) -> bool:
    """Whether a file's name says MessagePack."""
    return bare_name(source).endswith(MSGPACK)


def is_single(source: str) -> bool:
    """Whether a file is one document rather than rows: a `.json` file."""
    return bare_name(source).endswith(".json")


def holds_rows(source: str) -> bool:
    """Whether the first line of a file is a whole record, so that it can be read line by line whatever its name."""
    first = next(iter_lines(source), None)
    return first is not None and _is_row(first.data)


def documents(source: str, on_rest: Callable[[Line], None] | None = None) -> Iterator[Line]:
    """The documents of a file, folder or `-`, as they stand there; a `SourceError` comes after those before it."""
    if not is_msgpack(source):
        if is_single(source):
            if (whole := whole_file(source)) is not None:
                yield whole
            return
        lines = iter_lines(source, on_rest=on_rest)
        yield from joined(lines) if source == "-" else lines
        return
    if source.endswith(PACKED):
        raise SourceError("packed MessagePack is not read: unpack it first", source=source)
    try:
        data = Path(source).read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=source) from None
    yield from packed_lines(data, source)


def whole_file(source: str) -> Line | None:
    """The one document of a file, unpacked, its lines where they were; None when the file is empty."""
    pieces: list[bytes] = []
    notices: dict[str, Any] = {}
    for line in iter_lines(source):
        pieces += [b""] * (line.line - 1 - len(pieces))
        pieces.append(line.data)
        notices |= {notice.kind: notice for notice in line.notices if notice.kind != "blank"}
    return Line(b"\n".join(pieces), 1, 0, source, tuple(notices.values())) if pieces else None


# --- documents of several lines --------------------------------------------------------------------------------------


def joined(lines: Iterator[Line]) -> Iterator[Line]:
    """Rows as they are; or, when the first of them only begins one, documents of several lines as one each."""
    first = next(lines, None)
    if first is None:
        return
    lines = chain([first], lines)
    if not _depth(first.data):
        yield from lines
        return
    for line in lines:
        yield from _whole(line, lines)


def _whole(first: Line, lines: Iterator[Line]) -> Iterator[Line]:
    """The document that a line begins; when it is never finished, its lines as rows of their own."""
    taken = [first]
    depth = _depth(first.data)
    while depth:
        line = next(lines, None)
        more = None if line is None else _depth(line.data, depth)
        if line is not None:
            taken.append(line)
        if line is None or more is None or _is_row(line.data):
            yield from taken
            return
        depth = more
    if len(taken) == 1:
        yield first
        return
    pieces: list[bytes] = []
    notices: dict[str, Notice] = {}
    for line in taken:
        pieces += [b""] * (line.line - first.line - len(pieces))
        pieces.append(line.data)
        notices |= {notice.kind: notice for notice in line.notices if notice.kind != "blank" or line is first}
    yield first._replace(data=b"\n".join(pieces), notices=tuple(notices.values()), torn=taken[-1].torn)


def _depth(data: bytes, before: int = 0) -> int | None:
    """How many objects and arrays are open after a line, given those `before` it; None when it cannot be a part of a
    document: more are closed than were open, or a text is not ended. 0 too for a first line that begins none."""
    if not before and not data.lstrip().startswith((b"{", b"[")):
        return 0
    bare = _TEXT.sub(b"", data)
    if b'"' in bare:
        return None
    depth = before + sum(map(bare.count, (b"{", b"["))) - sum(map(bare.count, (b"}", b"]")))
    return None if depth < 0 else depth


def _is_row(data: bytes) -> bool:
    """Whether a line is a whole record, so that the one before it was torn."""
    if not data.startswith(b"{") or data == b"{}":
        return False
    try:
        parse(data)
    except DecodeError:
        return False
    return True


class Flat:
    """A source as a file object with a document a line, for readers that take rows.

    Line ends inside a document can only stand between its values: they become blanks, and as many blank lines follow,
    so that byte and line numbers stay.
    """

    def __init__(self, source: str) -> None:
        self.name = "<stdin>" if source == "-" else source
        self.failure: SourceError | None = None
        """Why reading ended before the source did."""
        self._lines = documents(source)
        self._next = 1

    def read(self, size: int = -1) -> bytes:
        """The next document, of whatever size; nothing at the end."""
        try:
            line = next(self._lines, None)
        except SourceError as error:
            self.failure, line = error, None
        if line is None:
            return b""
        before, inside = line.line - self._next, line.data.count(b"\n")
        self._next = line.line + inside + 1
        return b"\n" * before + line.data.replace(b"\n", b" ") + (b"" if line.torn else b"\n" * (inside + 1))
