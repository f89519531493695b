"""The timestamps of a run's record and manifest, as older and foreign harnesses wrote them.

Promise: a time with an offset from UTC is the same instant, written with `Z`, and a notice tells both spellings. One
without a zone is left as it is, which no record may have: it would be another instant on another machine. Nothing else
of the document changes; a document that needs no change is not made anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evh.errors import EvhError, Notice, pointer
from evh.protocol.jsontext import dumps, parse
from evh.store.clock import instant

__all__ = ["in_utc"]

TIMES = ("created_at", "source_created_at", "started_at")
INNER = (("imported", "at"), ("resume", "last_at"))
LONGEST_CHAIN = 64


def in_utc(data: bytes, notices: list[Notice]) -> bytes | None:
    """The document with its known timestamps in UTC; None when there is none to convert."""
    document, faults = parse(data)
    if faults or not isinstance(document, dict):
        return None
    changed = False
    for place, holder, name in _places(document):
        said = holder.get(name)
        if not isinstance(said, str) or said.endswith(("Z", "z")):
            continue
        try:
            told = instant(said).isoformat().replace("+00:00", "Z")
        except EvhError:
            continue  # the schema's own words say what is wrong
        holder[name] = told
        changed = True
        notices.append(Notice("time", place, f"{said} has an offset: read as {told}", said))
    return dumps(document) if changed else None


def _places(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Where timestamps are known to stand: the pointer, the object and the name of the member."""
    for name in TIMES:
        yield pointer(name), document, name
    for outer, name in INNER:
        if isinstance(inner := document.get(outer), dict):
            yield pointer(outer, name), inner, name
    derived, path = document.get("derived"), ["derived"]
    while isinstance(derived, dict) and len(path) <= LONGEST_CHAIN:
        yield pointer(*path, "at"), derived, "at"
        derived = derived.get("source")
        path.append("source")
