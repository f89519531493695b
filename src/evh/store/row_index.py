"""Where each row begins: single rows of a large `predictions.jsonl`, without reading the others.

Promise: `refresh` reads only what was appended since, whole lines alone, so a writer may be at work; a second row of an
item is refused with both lines. A row costs its id and twelve bytes.
"""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec

from evh.errors import DecodeError, EvhError, RecordError, SourceError, cut
from evh.protocol import models
from evh.protocol.codec import decode
from evh.store.atomic import why

__all__ = ["RowIndex"]


class _Id(msgspec.Struct):
    item_id: str


class RowIndex:
    """The rows of one file by item. `line(item_id)` counts from 1."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._row: dict[str, int] = {}
        self._offsets = array("Q")
        self._lines = array("I")
        self._end = 0
        self._line = 0
        self._read_id = msgspec.json.Decoder(_Id).decode
        self.refresh()

    def __len__(self) -> int:
        return len(self._row)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._row

    @property
    def items(self) -> list[str]:
        """The ids, in the order of the rows."""
        return list(self._row)

    def offset(self, item_id: str) -> int:
        """The byte at which an item's row begins. Raises `SourceError` when it has none."""
        return self._offsets[self._at(item_id)]

    def line(self, item_id: str) -> int:
        """The line of an item's row. Raises `SourceError` when it has none."""
        return self._lines[self._at(item_id)]

    def read(self, item_id: str) -> models.PredictionRow:
        """The row of an item. Raises `SourceError` when it has none or the file cannot be read."""
        at = self._at(item_id)
        try:
            with self.path.open("rb") as file:
                file.seek(self._offsets[at])
                row = decode(file.readline(), models.PredictionRow)
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=str(self.path)) from None
        except EvhError as error:
            raise error.at(str(self.path), self._lines[at]) from None
        return row

    def refresh(self) -> int:
        """Take in the rows appended since; returns how many. Raises `DecodeError` for a line that is no row,
        `RecordError` for a second row of an item."""
        before = len(self._row)
        try:
            with self.path.open("rb") as file:
                file.seek(self._end)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # its writer is in the middle of it
                    self._line += 1
                    if not line.isspace():
                        self._add(line)
                    self._end += len(line)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=str(self.path)) from None
        return len(self._row) - before

    def _add(self, line: bytes) -> None:
        try:
            item_id = self._read_id(line.removeprefix(b"\xef\xbb\xbf")).item_id
        except (msgspec.MsgspecError, ValueError, RecursionError):
            try:
                item_id = decode(line, models.PredictionRow).item_id
            except EvhError as error:
                raise error.at(str(self.path), self._line) from None
        if not item_id:
            raise DecodeError("a row without an item_id", source=str(self.path), line=self._line)
        at = self._row.setdefault(item_id, len(self._offsets))
        if at != len(self._offsets):
            raise RecordError(
                f"the item {cut(item_id)} has two rows, on lines {self._lines[at]} and {self._line}",
                source=str(self.path),
                line=self._line,
            )
        self._offsets.append(self._end)
        self._lines.append(self._line)

    def _at(self, item_id: str) -> int:
        at = self._row.get(item_id)
        if at is None:
            raise SourceError(f"holds no row of the item {cut(item_id)}", source=str(self.path))
        return at
