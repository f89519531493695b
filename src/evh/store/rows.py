"""The rows of `predictions.jsonl`: read in full, or only as far as a resume and a count need them.

Promise: rows are split at LF bytes only and streamed; memory is bounded by one row. Readers see whole rows: a last line
without its LF that is no whole row is left out and told as torn, since its writer may be in the middle of it. A bad row
in front of others is an error with file and line, never passed over. A second row of one item is refused, with both
lines, even when the two are identical.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError, Notice, RecordError, SourceError, cut
from evh.protocol import models
from evh.protocol._views import iter_views
from evh.protocol.codec import decode
from evh.protocol.sources import Line
from evh.store.atomic import why
from evh.store.layout import PREDICTIONS

__all__ = [
    "MetricRow",
    "RowHead",
    "StoredRow",
    "count_rows",
    "count_soon",
    "head_of_line",
    "read_metric_rows",
    "read_predictions",
    "scan_heads",
]

NUMBERS = frozenset({float, int})
COUNT_LIMIT = 1 << 26
COUNT_PIECE = 1 << 20


class StoredRow(NamedTuple):
    """A row and where it stands: its line (from 1), its byte offset, and what was odd about it."""

    value: models.PredictionRow
    line: int
    offset: int
    notices: tuple[Notice, ...] = ()

    @property
    def row(self) -> models.PredictionRow:
        """The same as `value`."""
        return self.value

    @property
    def item_id(self) -> str:
        return self.value.item_id


class MetricRow(NamedTuple):
    """What aggregation needs of a row: the metrics (those of `_extra` included), whether it is an accepted failure, and
    the provider that answered."""

    item_id: str
    metrics: dict[str, int | float]
    failed: bool
    provider: str | None
    line: int


class RowHead(msgspec.Struct, rename={"extra": "_extra", "error": "_error", "output_sha256": "_output_sha256"}):
    """What a resume needs of a row. `extra` is None in rows written before 0.4.0."""

    item_id: str
    extra: dict[str, Any] | None = None
    error: str | None = None
    output_sha256: str | None = None


_decode_head = msgspec.json.Decoder(RowHead).decode
_decode_any = msgspec.json.Decoder(dict[str, Any]).decode


def read_predictions(path: Path, notices: list[Notice] | None = None) -> Iterator[StoredRow]:
    """The rows of a file, decoded leniently. Oddities of the file that belong to no row (a torn end) go to `notices`.

    Raises `DecodeError` or `SchemaError` with file and line, `SourceError` when the file cannot be read.
    """
    for line in iter_views(path):
        own = list(line.notices)
        try:
            row = decode(bytes(line.data), models.PredictionRow, notices=own)
        except EvhError as error:
            if line.torn:
                _tell_torn(line, notices)
                return
            raise error.at(line.source, line.line) from None
        yield StoredRow(row, line.line, line.offset, tuple(own))


def scan_heads(path: Path, notices: list[Notice] | None = None) -> Iterator[tuple[RowHead, Line]]:
    """The rows of a file as far as a resume needs them; raises and tells like `read_predictions`."""
    for line in iter_views(path):
        try:
            head = _decode_head(line.data)
            if not head.item_id:
                raise ValueError("an empty id")
        except (msgspec.MsgspecError, ValueError, RecursionError):
            found = head_of_line(line, notices)
            if found is None:
                return
            head = found
        yield head, line


def head_of_line(line: Line, notices: list[Notice] | None) -> RowHead | None:
    """The head of a row by the forgiving way; None for a torn last line."""
    try:
        row = decode(bytes(line.data), models.PredictionRow)
    except EvhError as error:
        if line.torn:
            _tell_torn(line, notices)
            return None
        raise error.at(line.source, line.line) from None
    return RowHead(row.item_id, row.plain().get("_extra"), row.error, row.output_sha256)


def read_metric_rows(path: Path, notices: list[Notice] | None = None) -> Iterator[MetricRow]:
    """The rows of a file as far as an average needs them. A NaN literal of an old row is no metric of it and is told,
    with file and line, in `notices`. Raises like `read_predictions`, and `RecordError` for a second row of an item."""
    lines: dict[str, int] = {}
    for line in iter_views(path):
        try:
            row = _decode_any(line.data)
            metrics = _metrics_of(row)
            item_id = row["item_id"]
            if type(item_id) is not str or not item_id or metrics is None:
                raise ValueError("not a plain row")
        except (msgspec.MsgspecError, ValueError, LookupError, RecursionError):
            own: list[Notice] = []
            try:
                row = decode(bytes(line.data), models.PredictionRow, notices=own).plain()
            except EvhError as error:
                if line.torn:
                    _tell_torn(line, notices)
                    return
                raise error.at(line.source, line.line) from None
            _tell(own, line, notices)
            metrics, item_id = _metrics_of(row), row["item_id"]
            if metrics is None:
                metrics = {}
        first = lines.setdefault(item_id, line.line)
        if first != line.line:
            raise repeated(item_id, first, line)
        meta = row.get("_meta")
        provider = meta.get("provider") if type(meta) is dict else None
        yield MetricRow(
            item_id, metrics, row.get("_error") is not None, provider if type(provider) is str else None, line.line
        )


def repeated(item_id: str, first: int, line: Line) -> RecordError:
    """The error for a second row of one item."""
    return RecordError(
        f"the item {cut(item_id)} has two rows, on lines {first} and {line.line}: one item has one row in a run, "
        "repeats are runs of their own; keep the one that was measured",
        source=line.source,
        line=line.line,
    )


def _metrics_of(row: dict[str, Any]) -> dict[str, int | float] | None:
    """The metrics of a plain row; None when a value is no number."""
    metrics = {key: value for key, value in row.items() if key != "item_id" and key[:1] != "_" and value is not None}
    extra = row.get("_extra")
    if extra:
        if type(extra) is not dict:
            return None
        metrics = {**extra, **metrics}
    return metrics if NUMBERS.issuperset(map(type, metrics.values())) else None


def _tell_torn(line: Line, notices: list[Notice] | None) -> None:
    if notices is not None:
        notices.append(Notice("torn", "", f"{line.source}:{line.line}: a torn last line of {len(line.data)} bytes"))


def _tell(own: list[Notice], line: Line, notices: list[Notice] | None) -> None:
    if notices is not None:
        notices += [each._replace(message=f"{line.source}:{line.line}: {each.message}") for each in own]


def count_rows(directory: Path) -> tuple[int, bool]:
    """How many whole lines a run's `predictions.jsonl` has, by its line ends alone, and whether that is exact: of a
    file beyond 64 MiB only the beginning is read, and the number is an estimate from the mean length of its lines.

    (0, True) when there is none. Raises `SourceError` when it cannot be read.
    """
    return count_soon(directory / PREDICTIONS)


def count_soon(path: Path) -> tuple[int, bool]:
    """The same of any file of rows."""
    count = read = 0
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            while piece := file.read(COUNT_PIECE):
                count += piece.count(b"\n")
                read += len(piece)
                if count and size > COUNT_LIMIT:
                    return round(count * size / (read - len(piece) + piece.rfind(b"\n") + 1)), False
    except FileNotFoundError:
        return 0, True
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
    return count, True
