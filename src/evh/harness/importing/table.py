"""A CSV file of outputs: a header, then an item a row.

Promise: a column is of one sort: numbers when every cell that is not empty is one by JSON's grammar, else text. Text
is never read as a number; a column that is mixed is told. Line ends and separators inside quotes belong to the cell.
Policy: UTF-8, commas, a byte order mark is fine. An empty cell is an absent member.
When it breaks: `SourceError` or `RecordError` with file and line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from evh.errors import EvhError, RecordError, SourceError, cut
from evh.harness.importing.found import Found, Reading
from evh.harness.importing.rows import COUNTS, row_of
from evh.harness.importing.source import IDS, OUTPUTS, Source

__all__ = ["CsvRows"]

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TEXTS = frozenset({*IDS, *OUTPUTS, "error", "_error"})
"""Columns that are text whatever they look like."""
LARGEST = 1 << 28
DIGITS = 400
"""Characters of a number: more are no double."""


class CsvRows(Reading):
    """The rows of a CSV file."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._numbers: frozenset[str] | None = None

    def items(self, *, first: bool = False) -> Iterator[Found]:
        if self._numbers is None:
            self._numbers = self._columns()
        for line, cells in self._rows():
            try:
                row = row_of({name: self._value(name, cell) for name, cell in cells.items() if cell}, self.lossy)
            except EvhError as error:
                raise error.at(self._source.label, line) from None
            yield Found(row, self._source.label, line)

    def _value(self, name: str, cell: str) -> Any:
        if name in COUNTS and not _is_number(cell):
            raise RecordError(f"expected a number in the column {cut(name)}, found {cut(cell)}")
        if name in COUNTS or name in (self._numbers or ()):
            return float(cell) if set(cell) & set(".eE") else int(cell)
        return cell

    def _columns(self) -> frozenset[str]:
        """The columns of numbers; those that are mixed are told."""
        plain: dict[str, str] = {}
        odd: dict[str, tuple[int, str]] = {}
        for line, cells in self._rows():
            for name, cell in cells.items():
                if cell and name not in TEXTS:
                    if _is_number(cell):
                        plain.setdefault(name, cell)
                    else:
                        odd.setdefault(name, (line, cell))
        for name in sorted(plain.keys() & odd.keys() - set(COUNTS)):
            line, cell = odd[name]
            self.notices.add(
                f"{self._source.label}:{line}: the column {cut(name)} holds {cut(cell)} among numbers: it is kept as "
                "text in _meta, and is no metric"
            )
        return frozenset(plain.keys() - odd.keys())

    def _rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        label = self._source.label
        before = csv.field_size_limit(LARGEST)  # of the whole process; put back at the end
        line = 1
        try:
            with io.TextIOWrapper(self._source.binary(), "utf-8-sig", newline="") as text:
                reader = csv.reader(text, strict=True)
                header = next(reader, [])
                _check_header(header, label)
                line = reader.line_num + 1
                for cells in reader:
                    if cells:
                        if len(cells) != len(header):
                            raise SourceError(
                                f"has {len(cells)} cells, but the header names {len(header)}", source=label, line=line
                            )
                        yield line, dict(zip(header, cells, strict=True))
                    line = reader.line_num + 1
        except csv.Error as error:
            raise SourceError(f"is no CSV: {error}", source=label, line=line) from None
        except UnicodeDecodeError:
            raise SourceError("is not UTF-8: save it as UTF-8 first", source=label, line=line) from None
        finally:
            csv.field_size_limit(before)


def _check_header(header: list[str], label: str) -> None:
    if not any(name in header for name in IDS) or not any(name in header for name in OUTPUTS):
        raise SourceError(
            f"the header names {cut(', '.join(header))}: expected a column {' or '.join(IDS)} and one of "
            f"{', '.join(OUTPUTS)}",
            source=label,
            line=1,
        )
    for name in header:
        if not name or header.count(name) > 1:
            said = "a column has no name" if not name else f"two columns are called {cut(name)}"
            raise SourceError(f"the header is unclear: {said}", source=label, line=1)


def _is_number(cell: str) -> bool:
    return len(cell) <= DIGITS and NUMBER.fullmatch(cell) is not None
