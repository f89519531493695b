"""Records as plain Python values: `model_dump` of every record, `to_record` of Episode and Trace.

Promise: known members stand in their declared order under their wire names, absent ones with what they read as (null,
or an empty list or map); unknown members follow. In JSON mode the result is JSON: tensors and other members of the
MessagePack wire are left out, and a NaN or an infinity is a `RecordError` with its pointer.
`exclude_none` leaves out null members of records. Nulls in maps (an unscored reward) and inside open objects (task
data, agent config, `info`) are data and stay, except at the top of an open object that is dumped by itself.
Of an open object the dump shows what it holds: members it lacks are not made up.
Policy: numbers are what they are (0.4.0 rounds per-token floats to 4 decimals unless told otherwise; here rounding is
asked for), and computed token counts are not part of a record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from evh.errors import RecordError, UsageError, cut, pointer
from evh.protocol.behaviour.node import SAMPLED_STREAMS, STREAMS, NodeBehaviour, read_stream

__all__ = ["DumpBehaviour", "dump"]

MAX_DEPTH = 2_000
MOST_DECIMALS = 300
_Trail = tuple[Any, ...] | None
_NONE: frozenset[str] = frozenset()
_INERT = {str, int, bool, type(None)}
_SCALARS = _INERT | {float}


class DumpBehaviour:
    """`model_dump`, for every record and every open object."""

    __slots__ = ()

    def model_dump(self, *, mode: str = "python", exclude_none: bool = False) -> dict[str, Any]:
        """This record as a new dict of plain values.

        `mode="python"` keeps tensors (as `__nd__` maps with raw bytes), `mode="json"` gives JSON and leaves them out.
        `exclude_none` leaves out null members of records. Raises `UsageError` for another mode, `RecordError` for
        values that JSON can't hold.
        """
        return dump(self, mode=mode, exclude_none=exclude_none)


def dump(
    record: Any,
    *,
    mode: str,
    exclude_none: bool,
    float_decimals: int | None = None,
    max_depth: int = MAX_DEPTH,
) -> dict[str, Any]:
    """A record or mapping as a new dict; the work of `model_dump` and `to_record`.

    `float_decimals` rounds the floats of per-token streams (log-probabilities, advantages, entropies). Values nested
    deeper than `max_depth`, such as a list within itself, are a `RecordError`.
    """
    if mode not in ("python", "json"):
        raise UsageError(f"mode must be 'python' or 'json', not {cut(mode)}")
    if float_decimals is not None and (type(float_decimals) is not int or not 0 <= float_decimals <= MOST_DECIMALS):
        raise UsageError(f"float_decimals must be None or a number of decimals, not {cut(float_decimals)}")
    json_mode = mode == "json"
    root: list[Any] = [None]
    work: list[tuple[Any, Any, Any, _Trail, int, int | None]] = [(record, root, 0, None, 0, None)]
    while work:
        value, box, key, trail, depth, decimals = work.pop()
        if type(value) in _SCALARS:
            box[key] = _scalar(value, trail) if json_mode else value
            continue
        if depth > max_depth:
            raise RecordError(f"nested more than {max_depth} levels deep, or within itself", pointer=_place(trail))
        if isinstance(value, list | tuple):
            values = _row(value, trail, json_mode, decimals)
            if values is None:
                values = [None] * len(value)
                work += ((item, values, at, (trail, at), depth + 1, None) for at, item in enumerate(value))
            box[key] = values
            continue
        members = _members(value, json_mode, trail)
        if members is None:
            if json_mode:
                raise RecordError(f"JSON has no form for {cut(type(value).__name__)}", pointer=_place(trail))
            box[key] = value
            continue
        drop = exclude_none and (isinstance(value, msgspec.Struct) or depth == 0)
        rounded = SAMPLED_STREAMS if float_decimals is not None and isinstance(value, NodeBehaviour) else ()
        plain: dict[str, Any] = {}
        box[key] = plain
        for name, item in members:
            if item is None and drop:
                continue
            if json_mode and not isinstance(name, str):
                raise RecordError(f"expected text as the name of a member, not {cut(name)}", pointer=_place(trail))
            plain[name] = item
            if type(item) not in _INERT:
                work.append((item, plain, name, (trail, name), depth + 1, float_decimals if name in rounded else None))
    made = root[0]
    if not isinstance(made, dict):
        raise UsageError(f"expected a record or a mapping, not {cut(record)}")
    return made


def _members(value: Any, json_mode: bool, trail: _Trail) -> Iterator[tuple[Any, Any]] | None:
    """The members of a record, an open object or a tensor, in order; None for any other value."""
    if isinstance(value, Mapping):
        return iter(value.items())
    if isinstance(value, msgspec.Struct):
        return _struct_members(value, json_mode, trail)
    if not json_mode and hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "data"):
        return iter([("__nd__", True), ("dtype", value.dtype), ("shape", list(value.shape)), ("data", value.data)])
    return None


def _struct_members(record: msgspec.Struct, json_mode: bool, trail: _Trail) -> Iterator[tuple[str, Any]]:
    cls = type(record)
    names, wires = cls.__struct_fields__, cls.__struct_encode_fields__
    config = cls.__struct_config__
    if config.tag_field is not None and config.tag != "*" and config.tag_field not in wires:
        yield config.tag_field, config.tag
    omitted = getattr(cls, "omitted_when_empty", _NONE)
    left_out = getattr(cls, "left_out_of_json", _NONE) if json_mode else _NONE
    unknown: Any = msgspec.UNSET
    for name, wire in zip(names, wires, strict=True):
        if name in left_out:
            continue
        value = read_stream(record, name, _place(trail)) if name in STREAMS else getattr(record, name)
        if wire == "*":
            # The overflow of members we don't know, or, in a generic arm, the whole object.
            unknown = value
        elif value is msgspec.UNSET or (name in omitted and not value):
            continue
        else:
            yield wire, value
    if isinstance(unknown, Mapping):
        yield from unknown.items()


def _row(values: Any, trail: _Trail, json_mode: bool, decimals: int | None) -> list[Any] | None:
    """A copy of a list of scalars, None when there is more in it."""
    kinds = set(map(type, values))
    if not kinds <= _SCALARS:
        return None
    copy = list(values)
    if float in kinds:
        if json_mode:
            _check_finite(copy, trail)
        if decimals is not None:
            copy = [round(value, decimals) if type(value) is float else value for value in copy]
    return copy


def _check_finite(values: list[Any], trail: _Trail) -> None:
    try:
        if math.isfinite(sum(values)):
            return
    except (OverflowError, TypeError):
        pass  # long integers or other scalars among the floats: look at each
    for at, value in enumerate(values):
        _scalar(value, (trail, at))


def _scalar(value: Any, trail: _Trail) -> Any:
    if type(value) is float and not math.isfinite(value):
        raise RecordError(f"JSON has no form for {value}", pointer=_place(trail))
    return value


def _place(trail: _Trail) -> str:
    parts: list[str | int] = []
    while trail is not None:
        trail, part = trail
        parts.append(part)
    return pointer(*reversed(parts))
