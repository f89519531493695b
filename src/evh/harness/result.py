"""What an adapter returned for one item, and the names its numbers may have.

Promise: what `checked_result` returns can be written into a row as it stands: finite plain numbers, text, JSON. What
can't is a `RecordError` with the item and the member, before anything of the item is written. `row_metrics` gives the
numbers of a row under names that neither hide one another nor a member of the row.
Policy: which names are reserved.
When it breaks: an adapter's mistake ends a run at its first item, where nothing is lost yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from evh.errors import RecordError, cut, pointer
from evh.protocol.jsontext import dumps
from evh.protocol.models import Episode
from evh.store.metric_names import COUNTED, check_names
from evh.store.numbers import finite

__all__ = ["Result", "check_names", "checked_result", "row_metrics"]


class Result(msgspec.Struct):
    """What calling the system for one item gave."""

    output: str
    """What the system wrote; kept as the item's file in `outputs/`."""
    tokens_in: float | int | None = None
    """Tokens of the prompt, as the provider counted them."""
    tokens_out: float | int | None = None
    """Tokens of the reply."""
    cost_usd: float | int | None = None
    """The provider's bill in US dollars. Left out, the config's prices count, if it has any."""
    latency_ms: float | int | None = None
    """Milliseconds, where the system knows better than the clock around the call."""
    extra: dict[str, float] = {}
    """Name to number: what only this call could tell. Metrics of the row, which a rescore carries over."""
    meta: dict[str, Any] = {}
    """What the provider said, as JSON and as it came."""


MEMBERS = Result.__struct_fields__


def checked_result(value: Any, item_id: str | None = None) -> Result | Episode:
    """What an adapter returned, as a `Result` whose numbers are plain and finite, or the `Episode` it is.

    Taken: a `Result`; a text, which is the output alone; a mapping with the members of a `Result`; an `Episode`.
    Raises RecordError, naming the item and the member, for anything else.
    """
    if isinstance(value, Episode):
        return value
    item = _item(item_id)
    if isinstance(value, str):
        return Result(value)
    if isinstance(value, Result):
        members = {name: getattr(value, name) for name in MEMBERS}
    elif isinstance(value, Mapping):
        members = _members(value, item)
    else:
        raise RecordError(
            f"{item}: the adapter returned {_kind(value)}; expected a Result, a text, a mapping with the members "
            f"{', '.join(MEMBERS)}, or an Episode"
        )
    output = members.get("output")
    if not isinstance(output, str):
        raise RecordError(f"{item}: expected the output as text, found {cut(output)}", pointer="/output")
    return Result(
        output,
        **{name: _count(members.get(name), name, item) for name in COUNTED},
        extra=_extra(members.get("extra"), item_id),
        meta=_meta(members.get("meta"), item),
    )


def row_metrics(
    scores: Mapping[str, Any] | None, extra: Mapping[str, Any], item_id: str | None = None
) -> dict[str, int | float]:
    """The metrics of a row: what the scorer returned, then the extras, all plain finite numbers.

    Raises RecordError naming the item and the metric when a name is reserved or stands on both sides, or a value is no
    finite number.
    """
    found: dict[str, int | float] = {}
    for origin, numbers in (("metric", scores or {}), ("extra", extra)):
        check_names(numbers, item_id)
        for name, value in numbers.items():
            if name in found:
                raise RecordError(
                    f"{_item(item_id)}: the scorer's metric {cut(name)} and the adapter's extra {cut(name)} have the "
                    "same name: rename one of them",
                    pointer=pointer(name),
                )
            found[name] = finite(value, f"{_item(item_id)}, {origin} {cut(name)}", pointer=pointer(name))
    return found


def _item(item_id: str | None) -> str:
    return "the item" if item_id is None else f"item {cut(item_id)}"


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def _members(value: Mapping[Any, Any], item: str) -> dict[str, Any]:
    """The members of a mapping that stands for a Result; unknown ones are refused, for they would be lost."""
    for name in value:
        if name not in MEMBERS:
            close = get_close_matches(str(name), MEMBERS, 1)
            hint = f"did you mean {close[0]}?" if close else f"expected {', '.join(MEMBERS)}; numbers go into extra"
            raise RecordError(f"{item}: a result has no member {cut(name)}: {hint}", pointer=pointer(str(name)))
    return dict(value)


def _count(value: Any, name: str, item: str) -> int | float | None:
    if value is None:
        return None
    number = finite(value, f"{item}, {name}", pointer=pointer(name))
    if number < 0:
        raise RecordError(f"{item}: expected {name} to be 0 or more, found {cut(value)}", pointer=pointer(name))
    return number


def _extra(value: Any, item_id: str | None) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RecordError(
            f"{_item(item_id)}: expected a mapping of names to numbers, found {cut(value)}", pointer="/extra"
        )
    check_names(value, item_id)
    return {
        name: finite(number, f"{_item(item_id)}, extra {cut(name)}", pointer=pointer("extra", name))
        for name, number in value.items()
    }


def _meta(value: Any, item: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RecordError(f"{item}: expected an object of JSON, found {cut(value)}", pointer="/meta")
    meta = dict(value)
    try:
        dumps(meta)
    except RecordError as error:
        place = error.pointer
        said = error.message.removeprefix(f"{place or '(root)'}: ")
        raise RecordError(f"{item}: meta is not JSON: {said}", pointer=f"/meta{place}") from None
    return meta
