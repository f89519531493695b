"""The quick way to read a row that holds a member or two which only a newer writer knows.

The native decode names the first unknown member and where it stands; that one is set apart and the rest converted
again. Anything else that is odd is for the walk of `_explain`.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from evh.errors import Notice, cut
from evh.protocol import models
from evh.protocol._base import ArmValue, Overflow, seen_retired
from evh.protocol._native import NATIVE_ERRORS, stream_names, tagged
from evh.protocol._walk import read_stream

__all__ = ["fill", "read_guided"]

MAX_MEMBERS = 4
TAGS = ("type", "role", "kind")
TRACE_MEMBERS = frozenset({"nodes", "trajectory"})
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`(?: - at `\$(.*?)`)?", re.DOTALL)
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]+)\]")


class _Aside(dict[str, Any]):
    """Members taken out of an object, told from a member named `*` that the object has itself."""


_EMPTY = _Aside()


def fill(kind: Any, value: Any) -> Any:
    """The hook that converts documents prepared by hand: slots take what was set apart."""
    return kind(value) if kind is Overflow or kind is ArmValue else kind.read(value)


def read_guided(data: Any, kind: Any, error: BaseException, notices: list[Notice] | None) -> Any:
    """The record of JSON that only holds a few unknown members, else None; notices are appended."""
    found: list[Notice] = []
    document: Any = None
    while len(found) < MAX_MEMBERS:
        match = _UNKNOWN.fullmatch(str(error))
        if match is None:
            return None
        if document is None:
            try:
                document = msgspec.json.decode(data)
            except NATIVE_ERRORS:
                return None
            _keep_streams_raw(document, kind)
        if not _set_apart(document, match[1], match[2] or "", found):
            return None
        seen_retired.retired = []
        try:
            record = msgspec.convert(document, tagged(kind), dec_hook=fill)
        except NATIVE_ERRORS as next_error:
            error = next_error
            continue
        if seen_retired.retired:
            return None
        if notices is not None:
            notices += found
        return record
    return None


def _set_apart(document: Any, name: str, path: str, found: list[Notice]) -> bool:
    """Move one member into the overflow slot of its object; False when the path cannot be followed for certain."""
    steps = list(_STEP.finditer(path))
    if "".join(step[0] for step in steps) != path or name == "*":
        return False
    value, where = document, ""
    for step in steps:
        key: Any = step[1] if step[2] is None else int(step[2])
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return False
        where += f"/{key}"
    if type(value) is not dict or name not in value or any(value.get(tag) == "*" for tag in TAGS):
        return False
    if not where and name in TRACE_MEMBERS:
        return False
    if type(value.get("*", _EMPTY)) is not _Aside:
        return False  # the document has a member of that name itself
    item = value.pop(name)
    value.setdefault("*", _Aside())[name] = item
    pointer = f"{where}/{name.replace('~', '~0').replace('/', '~1')}"
    found.append(Notice("unknown", pointer, f"no member {cut(name)} is known here; kept as it is", item))
    return True


def _keep_streams_raw(document: Any, kind: Any) -> None:
    """Streams as raw JSON, as the structs hold them; what is not where it should be is left to the conversion."""
    traces = [document] if kind is models.Trace else document.get("traces") if type(document) is dict else None
    for trace in traces if type(traces) is list else ():
        nodes = trace.get("nodes") if type(trace) is dict else None
        for node in nodes if type(nodes) is list else ():
            if type(node) is dict:
                for name in stream_names() & node.keys():
                    if node[name] is not None:
                        node[name] = read_stream(node[name])
