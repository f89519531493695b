"""The metrics of a run as columns: what `Arm` reads of `predictions.jsonl`, for ordinary files at once.

Promise: `read_columns` gives what `read_metric_rows` gives row by row, or None for whatever is out of the ordinary (a
large file, a torn end, a repeated item, a value that is no number, anything that has to be told or refused): the caller
then reads row by row, which tells or refuses it. Nothing is refused here. Policy: up to 16 MiB are held in memory.
"""

from __future__ import annotations

import math
import os
from array import array
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError
from evh.store.outputs import read_regular
from evh.store.rows import NUMBERS

__all__ = ["Columns", "read_columns"]

LARGEST = 1 << 24
VALUES = NUMBERS | {type(None)}
_decode_lines = msgspec.json.Decoder(dict[str, Any]).decode_lines


class Columns(NamedTuple):
    """The items in the order of their rows, a value of each metric for each (NaN where a row has none), and how many
    rows are accepted failures."""

    items: list[str]
    values: dict[str, array[float]]
    failed: int


def read_columns(path: Path) -> Columns | None:
    """The columns of an ordinary file; None for any other."""
    try:
        file = os.fspath(path)
        if os.stat(file).st_size > LARGEST:  # noqa: PTH116
            return None
        data = read_regular(file)
        rows = _decode_lines(data)
        if data and not _a_line_each(data, len(rows)):
            return None
        return _columns(rows)
    except (EvhError, OSError, msgspec.MsgspecError, ValueError, LookupError, OverflowError, RecursionError):
        return None


def _a_line_each(data: bytes, rows: int) -> bool:
    """Whether each row is a line with its end. An object can end and another begin around a line's end only between
    rows, so that as many lines as rows, all parted there, have a row each."""
    return data[:1] == b"{" and data[-2:] == b"}\n" and data.count(b"\n") == rows and data.count(b"}\n{") == rows - 1


def _columns(rows: list[dict[str, Any]]) -> Columns | None:
    items: list[Any] = [row["item_id"] for row in rows]
    if not {str}.issuperset(map(type, items)) or not all(items) or len(set(items)) != len(items):
        return None
    names = set().union(*rows)
    columns: dict[str, list[Any]] = {
        name: [row.get(name) for row in rows] for name in names if name != "item_id" and name[:1] != "_"
    }
    if "_extra" in names and not _add_extra(rows, columns):
        return None
    values: dict[str, array[float]] = {}
    for name, column in columns.items():
        kinds = set(map(type, column))
        if not kinds <= VALUES:
            return None  # as of true, which is no number here
        if type(None) in kinds:
            if len(kinds) == 1:
                continue
            column = [math.nan if value is None else value for value in column]
        values[name] = array("d", column)
    failed = sum(row.get("_error") is not None for row in rows) if "_error" in names else 0
    return Columns(items, values, failed)


def _add_extra(rows: list[dict[str, Any]], columns: dict[str, list[Any]]) -> bool:
    """Add the metrics of `_extra`, where the row itself has none of that name; whether they were ordinary."""
    extras = [row.get("_extra") or {} for row in rows]
    if not any(extras):
        return True
    if not {dict}.issuperset(map(type, extras)):
        return False
    names = set().union(*extras)
    if "item_id" in names or any(None in extra.values() for extra in extras):
        return False
    for name in names:
        extra = [each.get(name) for each in extras]
        own = columns.get(name)
        columns[name] = extra if own is None else [b if a is None else a for a, b in zip(own, extra, strict=True)]
    return True
