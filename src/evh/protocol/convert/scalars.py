"""Which plain values fit a member of a released library, so that it reads them and writes the same value again.

Promised: each predicate is total (any JSON value or bytes in, a bool out) and has no side effects.
Policy: JSON's own types decide. A bool is no number and text is no number, although the releases would take them and
write something else; a whole float is an integer and an integer that a double holds exactly is a float, because those
come back equal.
When a predicate is too generous the release refuses the row; when it is too strict a value rests in the stash.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

__all__ = ["SCALARS", "is_tensor", "normal_path"]

EXACT = 2**53
LINK_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9._:-]{0,127}")
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
DTYPE = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)")
INTEGER_KEY = re.compile(r"-?(0|[1-9][0-9]{0,17})")
EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "max"})
INKLING_TOP = 0.99


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_integer(value: Any) -> bool:
    """An integer, or a float that is one and is small enough to name it exactly."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= EXACT
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """A finite float, or an integer that a double holds exactly."""
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def is_link_index(value: Any) -> bool:
    """The node of a link: the release reads it without any leniency."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_status(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("1xx", "2xx", "3xx", "4xx", "5xx")
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599


def is_pattern(value: Any) -> bool:
    """A regular expression that Python compiles; a too deep one is none."""
    if not isinstance(value, str):
        return False
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def is_runtime_skill(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"runtime"} and isinstance(value["runtime"], str)


def is_effort(value: Any) -> bool:
    """A reasoning effort by name, or as a number from 0 to 0.99."""
    if isinstance(value, str):
        return value.strip() in EFFORTS
    return is_number(value) and 0 <= value <= INKLING_TOP


def is_token_type_map(value: Any) -> bool:
    """Integer keys, written as text in JSON, in the one spelling that comes back equal."""
    return isinstance(value, dict) and all(
        INTEGER_KEY.fullmatch(str(key)) is not None and str(key) != "-0" and is_integer(item)
        for key, item in value.items()
    )


def is_tensor(value: Any) -> bool:
    """An array of the MessagePack wire: marked, of a known element type, with as many bytes as its shape says."""
    if not isinstance(value, dict) or value.get("__nd__") is not True:
        return False
    dtype, shape, data = value.get("dtype"), value.get("shape"), value.get("data")
    if not isinstance(dtype, str) or not isinstance(shape, list) or not isinstance(data, bytes):
        return False
    match = DTYPE.fullmatch(dtype)
    if match is None or not all(is_link_index(side) for side in shape):
        return False
    width = int(match[1] or match[2] or 8) // 8
    return len(data) == width * math.prod(shape)


def is_mask_rows(value: Any) -> bool:
    return isinstance(value, dict) and is_tensor(value.get("ids")) and is_tensor(value.get("counts"))


def is_media(value: Any) -> bool:
    """Images and their places as 0.3.1 has them: three maps by modality, each of which may be missing."""
    if not isinstance(value, dict) or not value.keys() <= {"mm_hashes", "mm_placeholders", "mm_items"}:
        return False
    maps = [value.get(name) or {} for name in ("mm_hashes", "mm_placeholders", "mm_items")]
    if not all(isinstance(by, dict) and all(isinstance(rows, list) for rows in by.values()) for by in maps):
        return False
    hashes, places, items = ([row for rows in by.values() for row in rows] for by in maps)
    return (
        all(isinstance(row, str) for row in hashes)
        and all(isinstance(row, dict) and row.keys() == {"offset", "length"} for row in places)
        and all(isinstance(row, dict) and all(is_tensor(array) for array in row.values()) for row in items)
    )


def normal_path(value: str) -> str:
    """A path as both releases write it again: without doubled slashes and without `.` steps."""
    return str(PurePosixPath(value))


def _bounded(fits: Callable[[Any], bool], above: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: fits(value) and above(value)


SCALARS: Mapping[str, Callable[[Any], bool]] = {
    "text": is_text,
    "path": is_text,
    "bool": is_bool,
    "int": is_integer,
    "num": is_number,
    "object": is_object,
    "int>0": _bounded(is_integer, lambda value: value > 0),
    "int>=0": _bounded(is_integer, lambda value: value >= 0),
    "int>=1": _bounded(is_integer, lambda value: value >= 1),
    "num>0": _bounded(is_number, lambda value: value > 0),
    "num>=1": _bounded(is_number, lambda value: value >= 1),
    "num>=0.125": _bounded(is_number, lambda value: value >= 0.125),
    "index": is_link_index,
    "edge": lambda value: isinstance(value, str) and LINK_TYPE.fullmatch(value) is not None,
    "acp": lambda value: isinstance(value, str) and REQUEST_ID.fullmatch(value) is not None,
    "status": is_status,
    "regex": is_pattern,
    "skill": lambda value: isinstance(value, str) or is_runtime_skill(value),
    "effort": is_effort,
    "idmap": is_token_type_map,
    "array": is_tensor,
    "masks": is_mask_rows,
    "media": is_media,
    # Read by the release and never written again: better never handed over.
    "hidden": lambda _value: False,
}
