"""The metrics of a run as columns: what `Arm` reads of `predictions.jsonl`, for ordinary files at once.

Promise: `read_columns` gives what `read_metric_rows` gives row by row, or None for whatever is out of the ordinary (a
large file, a torn end, a repeated item, a value that is no number, anything that has to be told or refused): the caller
then reads row by row, which tells or refuses it. Nothing is refused here. Policy: up to 16 MiB are held in memory.
"""

from __future__ import annotations

import math
import os
import stat
from array import array
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from evh.store.outputs import READ_FLAGS
from evh.store.rows import NUMBERS

__all__ = ["Columns", "read_columns"]

LARGEST = 1 << 24
VALUES = NUMBERS | {type(None)}
TEXT = {str}
_decode_lines = msgspec.json.Decoder(dict[str, Any]).decode_lines


class Columns(NamedTuple):
    """The items in the order of their rows, a value of each metric for each (NaN where a row has none), and how many
    rows are accepted failures."""

    items: list[str]
    values: dict[str, array[float]]
    failed: int


def read_columns(file: str | os.PathLike[str]) -> Columns | None:
    """The columns of an ordinary file; None for any other."""
    try:
        data = _read(file)
        if data is None:
            return None
        rows = _decode_lines(data)
        if not rows:
            return None if data else Columns([], {}, 0)
        return _columns(rows) if _a_line_each(data, len(rows)) else None
    except (OSError, msgspec.MsgspecError, ValueError, LookupError, OverflowError, RecursionError):
        return None


def _read(file: str | os.PathLike[str]) -> bytes | None:
    """The bytes of a plain file that is not large; None for any other."""
    descriptor = os.open(file, READ_FLAGS)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            return None
        data = os.read(descriptor, about.st_size + 1)
        return data if len(data) == about.st_size else None
    finally:
        os.close(descriptor)


def _a_line_each(data: bytes, rows: int) -> bool:
    """Whether each row is a line with its end. An object can end and another begin around a line's end only between
    rows, so that as many lines as rows, all parted there, have a row each."""
    return data[:1] == b"{" and data[-2:] == b"}\n" and data.count(b"\n") == rows and data.count(b"}\n{") == rows - 1


def _columns(rows: list[dict[str, Any]]) -> Columns | None:
    columns = _turned(rows)
    items = columns.pop("item_id")
    distinct = set(items)
    if not TEXT.issuperset(map(type, items)) or len(distinct) != len(items) or "" in distinct:
        return None
    failed = len(rows) - columns["_error"].count(None) if "_error" in columns else 0
    extras = columns.get("_extra")
    metrics = {name: column for name, column in columns.items() if name[:1] != "_"}
    if extras is not None and any(extras) and not _add_extra(extras, metrics):
        return None
    kinds = set(map(type, chain.from_iterable(metrics.values())))
    if not kinds <= VALUES:
        return None  # as of true, which is no number here
    if type(None) in kinds:
        metrics = {name: _without_none(column) for name, column in metrics.items() if column.count(None) < len(rows)}
    return Columns(list(items), {name: array("d", column) for name, column in metrics.items()}, failed)


def _without_none(column: Sequence[Any]) -> Sequence[float]:
    return [math.nan if value is None else value for value in column]


def _turned(rows: Sequence[dict[str, Any]]) -> dict[str, Sequence[Any]]:
    """Rows as columns, by the names of their members; None where a row has none."""
    names = list(rows[0])
    if len(names) > 1 and {len(names)}.issuperset(map(len, rows)):
        try:  # as many members each: when all have those of the first, they have no other
            return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
        except KeyError:
            pass
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}


def _add_extra(extras: Sequence[Any], metrics: dict[str, Sequence[Any]]) -> bool:
    """Add the metrics of `_extra`, where the row itself has none of that name; whether they were ordinary."""
    extras = [extra or {} for extra in extras]
    if not {dict}.issuperset(map(type, extras)) or None in chain.from_iterable(map(dict.values, extras)):
        return False
    columns = _turned(extras)
    for name, extra in columns.items():
        own = metrics.get(name)
        metrics[name] = extra if own is None else [b if a is None else a for a, b in zip(own, extra, strict=True)]
    return "item_id" not in columns
