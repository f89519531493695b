"""Rows of outputs: JSON Lines in which every object is an item, and the rule for what its members become.

Promise: a member ends in one place or is refused with file and line; none is dropped but nulls and what is computed
anew. Numbers under free names are metrics; those below `extra` are extras; everything else goes to `_meta`.
Policy: the names that are known (see `docs/import.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evh.errors import EvhError, RecordError, cut, pointer
from evh.harness.importing.found import Found, Reading
from evh.harness.importing.source import IDS, OUTPUTS, Source
from evh.harness.result import check_names, row_metrics
from evh.protocol.jsontext import check_text, parse
from evh.protocol.sources import Line
from evh.store.numbers import finite
from evh.store.projection import Projected, words_of

__all__ = ["JsonRows", "row_of"]

COUNTS = ("latency_ms", "cost_usd", "tokens_in", "tokens_out")
ANEW = ("output_words", "_output_sha256")
"""Members that are computed from the output, whatever the source says."""
REFUSED = frozenset({"duplicate-key", "non-finite"})


class JsonRows(Reading):
    """The objects of a JSON Lines file."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def items(self, *, first: bool = False) -> Iterator[Found]:
        for line in self._source.lines():
            try:
                members = _object(line, first=first)
                row = row_of(members, self.lossy)
            except EvhError as error:
                raise error.at(line.source, line.line) from None
            if first:
                self.notices.tell(line.notices, line.source)
            yield Found(row, line.source, line.line, document=members)


def _object(line: Line, *, first: bool) -> dict[str, Any]:
    if first:
        for fault in check_text(line.data):
            if fault.kind in REFUSED:
                raise RecordError(fault.message, pointer=fault.pointer)
    value = parse(line.data)[0]
    if not isinstance(value, dict):
        raise RecordError(f"expected an object, one item a line, found {cut(value)}")
    return value


def row_of(members: Mapping[str, Any], lossy: set[str]) -> Projected:
    """The row that the members of one object make; what has no place is named in `lossy`. Raises `RecordError`."""
    left = {name: value for name, value in members.items() if value is not None and name not in ANEW}
    item_id = _item_id(left)
    error = _error(left)
    output = _output(left, item_id, error)
    counts = {name: _count(left.pop(name), name) for name in COUNTS if name in left}
    extra: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    for name, into in (("_extra", extra), ("extra", extra), ("_meta", meta), ("meta", meta)):
        if isinstance(left.get(name), Mapping):
            for key, value in left.pop(name).items():
                if into.setdefault(key, value) is not value:
                    lossy.add(pointer(name, key))
        elif name == "_extra" and name in left:
            raise RecordError(f"expected an object of numbers, found {cut(left[name])}", pointer="/_extra")
    extra = {name: value for name, value in extra.items() if value is not None}
    metrics: dict[str, int | float] = {}
    for name, value in left.items():
        if isinstance(value, int | float) and _may_be_metric(name):
            metrics[name] = finite(value, f"item {cut(item_id)}, {cut(name)}", pointer=pointer(name))
        elif meta.setdefault(name, value) is not value:
            lossy.add(pointer(name))
    numbers = row_metrics(metrics, extra, item_id)
    return Projected(
        item_id=item_id,
        output=output,
        metrics=metrics,
        extra={name: numbers[name] for name in extra},
        meta=meta,
        error=error,
        output_words=words_of(output, error),
        **counts,
    )


def _item_id(left: dict[str, Any]) -> str:
    for name in IDS:
        if name in left:
            value = left.pop(name)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if not isinstance(value, str) or not value:
                raise RecordError(f"expected the item's id as text, found {cut(value)}", pointer=pointer(name))
            return value
    raise RecordError(f"names no item: expected a member {' or '.join(IDS)}")


def _output(left: dict[str, Any], item_id: str, error: str | None) -> str:
    for name in OUTPUTS:
        if name in left:
            value = left.pop(name)
            if not isinstance(value, str):
                raise RecordError(f"expected the output as text, found {cut(value)}", pointer=pointer(name))
            return value
    if error is None:
        raise RecordError(f"item {cut(item_id)} has no output: expected a member {', '.join(OUTPUTS)}")
    return ""


def _error(left: dict[str, Any]) -> str | None:
    """The failure that a row tells: a text, or an object with type and message."""
    for name in ("_error", "error"):
        value = left.get(name)
        if value is None or value is False or value == "":
            left.pop(name, None)
        elif isinstance(value, str):
            del left[name]
            return value
        elif isinstance(value, Mapping) and isinstance(value.get("message"), str):
            del left[name]
            kind = value.get("type")
            return f"{kind}: {value['message']}" if isinstance(kind, str) else str(value["message"])
    return None


def _count(value: Any, name: str) -> int | float:
    number = finite(value, name, pointer=pointer(name))
    if isinstance(value, bool) or number < 0:
        raise RecordError(f"expected a number from 0 on, found {cut(value)}", pointer=pointer(name))
    return number


def _may_be_metric(name: str) -> bool:
    if name in IDS or name in OUTPUTS:
        return False  # a second name or a second output
    try:
        check_names([name])
    except RecordError:
        return False
    return True
