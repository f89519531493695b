"""What people see: lines, tables and one progress line, in colour on a terminal, plain everywhere else.

Promise: without a terminal there are no colours, no table is cut and no line is redrawn. `NO_COLOR` and `FORCE_COLOR`
are honoured. Text that comes out of files never reaches a terminal with control characters in it. Policy: the look.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TextIO, TypeAlias

__all__ = [
    "Column", "Part", "Progress", "Screen", "Table", "cells", "clip", "grouped", "number", "plural", "printable",
    "short_pointer", "shows_colour", "table", "text_of", "wrapped",
]  # fmt: skip

Part: TypeAlias = str | tuple[str, str]
"""A piece of a line: text, or text with a style (`red`, `dim`, `bold`)."""

PIPE_WIDTH = 100
POINTER = 120
_BYTE = re.compile(r"\bbyte ([0-9]{4,18})\b")
_FOUND = re.compile(r"\bfound (None|True|False)\b")
_JSON = {"None": "null", "True": "true", "False": "false"}
PROGRESS_AFTER, PROGRESS_EVERY = 1.0, 0.2


def shows_colour(stream: Any) -> bool:
    """Whether a stream gets colours: a terminal, or anything with FORCE_COLOR; never with NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal(stream) and os.environ.get("TERM") != "dumb")


def is_terminal(stream: Any) -> bool:
    """Whether somebody looks at a stream."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


class Screen:
    """A stream for people: knows whether it is a terminal, how wide it is and which signs it can show."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream: TextIO = sys.stdout if stream is None else stream
        self.terminal = is_terminal(self.stream)
        self.width = shutil.get_terminal_size((80, 24)).columns if self.terminal else PIPE_WIDTH
        self._console = _console(self.stream, self.width) if shows_colour(self.stream) else None
        self.unicode = "utf" in (getattr(self.stream, "encoding", None) or "utf-8").lower()

    def sign(self, good: bool) -> Part:
        """A tick or a cross."""
        if good:
            return ("✓" if self.unicode else "ok", "green")
        return ("✗" if self.unicode else "x", "red")

    def line(self, *parts: Part) -> None:
        """Print one line made of parts."""
        if self._console is None:
            self.stream.write("".join(part if isinstance(part, str) else part[0] for part in parts) + "\n")
            return
        from rich.text import Text

        text = Text()
        for part in parts:
            text.append(part) if isinstance(part, str) else text.append(*part)
        self._console.print(text, soft_wrap=True)

    def flush(self) -> None:
        self.stream.flush()


def _console(stream: TextIO, width: int) -> Any:
    from rich.console import Console

    return Console(
        file=stream, width=width, force_terminal=True, highlight=False, markup=False, emoji=False, legacy_windows=False
    )


# --- text ------------------------------------------------------------------------------------------------------------

_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def printable(text: str, *, lines: bool = False) -> str:
    """Text from a file as it may be shown: control characters as escapes; on one line, unless `lines` are kept."""
    text = text.replace("\r\n", "\n")
    if not lines:
        text = " ".join(text.split())
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character == "\n":
        return character
    if character == "\t":
        return "    "
    if character.isprintable() or (unicodedata.category(character) in ("Zs", "Cf") and character not in _BIDI):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: str, width: int) -> str:
    """A text that takes at most `width` cells, ending in `…` when something was cut off."""
    if cells(text) <= width:
        return text
    kept, taken = [], 0
    for character in text:
        taken += _cell(character)
        if taken > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…" if width > 0 else ""


def short_pointer(pointer: str) -> str:
    """A JSON Pointer as people read it: on one line, cut when it is very long."""
    return clip(printable(pointer), POINTER)


def grouped(message: str) -> str:
    """A message of the library as the commands speak: byte numbers with thousands apart, null and truth as in JSON."""
    message = _BYTE.sub(lambda found: f"byte {int(found[1]):,}", message)
    return _FOUND.sub(lambda found: f"found {_JSON[found[1]]}", message)


def number(value: int | float | None, *, digits: int = 3) -> str:
    """A number as people read it: thousands apart, at most `digits` decimals, `–` for none."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0 and (abs(value) < 10**-digits or abs(value) >= 1e9):
        return f"{value:.{digits}g}"
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


def plural(value: int, word: str, more: str | None = None) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{value:,} {word if value == 1 else more or word + 's'}"


# --- tables ----------------------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column: its heading, whether numbers stand in it, how narrow it may get on a terminal (0: as wide as its text),
    and whether its text is then wrapped rather than cut (a last column's may be)."""

    title: str
    right: bool = False
    least: int = 0
    wraps: bool = False


def table(screen: Screen, columns: Sequence[Column], rows: Iterable[Sequence[Part]], *, indent: int = 0) -> None:
    """Print aligned columns at once."""
    Table(screen, columns, indent=indent).add(rows)


class Table:
    """Aligned columns, printed in blocks of rows as they come.

    Widths follow the first block. On a terminal, columns that may be cut share what width there is; elsewhere none is
    cut. A heading is printed first when any column has one.
    """

    def __init__(self, screen: Screen, columns: Sequence[Column], *, indent: int = 0) -> None:
        self._screen = screen
        self._columns = columns
        self._indent = indent
        self._widths: list[int] | None = None

    def add(self, rows: Iterable[Sequence[Part]]) -> None:
        """Print rows, each with a part for each column."""
        listed = list(rows)
        columns = self._columns
        if self._widths is None:
            self._widths = [
                max([cells(column.title), *(cells(text_of(row[at])) for row in listed)])
                for at, column in enumerate(columns)
            ]
            if self._screen.terminal:
                _narrow(columns, self._widths, self._screen.width - self._indent - 2 * (len(columns) - 1))
            if any(column.title for column in columns):
                _row(self._screen, columns, self._widths, [(column.title, "dim") for column in columns], self._indent)
        for row in listed:
            _row(self._screen, columns, self._widths, row, self._indent)


def _narrow(columns: Sequence[Column], widths: list[int], room: int) -> None:
    """Take the excess from the widest columns that may be cut."""
    while sum(widths) > room:
        able = [at for at, column in enumerate(columns) if column.least and widths[at] > column.least]
        if not able:
            return
        widths[max(able, key=lambda at: widths[at] - columns[at].least)] -= 1


def wrapped(text: str, width: int) -> list[str]:
    """A text on lines of at most `width` characters, at least one."""
    return textwrap.wrap(text, max(20, width), break_on_hyphens=False) or [""]


def _row(screen: Screen, columns: Sequence[Column], widths: Sequence[int], row: Sequence[Part], indent: int) -> None:
    rest: list[str] = []
    parts: list[Part] = [" " * indent]
    for at, (column, width, cell) in enumerate(zip(columns, widths, row, strict=True)):
        text = text_of(cell)
        if column.least and screen.terminal and cells(text) > width:
            text, *rest = wrapped(text, width) if column.wraps else [clip(text, width)]
        style = cell[1] if isinstance(cell, tuple) else ""
        gap = " " * max(0, width - cells(text))
        last = at == len(columns) - 1
        parts.append(gap if column.right else "")
        parts.append((text, style) if style else text)
        parts.append("" if last else ("" if column.right else gap) + "  ")
    screen.line(*_trimmed(parts))
    for text in rest:
        screen.line(" " * (indent + sum(widths[:-1]) + 2 * (len(widths) - 1)), text)


def _trimmed(parts: list[Part]) -> list[Part]:
    while parts and not text_of(parts[-1]).strip():
        parts.pop()
    if parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip()
    return parts


def text_of(part: Part) -> str:
    """A part without its style."""
    return part if isinstance(part, str) else part[0]


# --- progress --------------------------------------------------------------------------------------------------------


class Progress:
    """One line on a terminal's standard error while something takes long; nothing anywhere else."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._on = is_terminal(sys.stderr) and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        self._next = time.monotonic() + PROGRESS_AFTER
        self._shown = False

    def at(self, source: str, rows: int, offset: int = 0, size: int = 0) -> None:
        """Say how far it got, if that is due."""
        if not self._on or (now := time.monotonic()) < self._next:
            return
        self._next = now + PROGRESS_EVERY
        share = f", {min(99, 100 * offset // size)} %" if size else ""
        width = shutil.get_terminal_size().columns - 1
        text = clip(f"{self._verb} {printable(source)}: {plural(rows, 'row')}{share}", width)
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
        self._shown = True

    def done(self) -> None:
        """Wipe the line away, so that what is printed next begins where it stood."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
