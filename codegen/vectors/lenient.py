"""What a forgiving reader does with a document, by the rules of `schema/v1/vectors/README.md` and the schemas alone.

Promise: nothing of our own readers is asked. The document is set apart by a walk over the schemas, and what is left is
given to the reference validator. Where the rules leave a reader free (inside open objects, token streams, and members
that are recomputed or only for the MessagePack wire), the answer is None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..shapes import HAND_WRITTEN, Kind
from .samples import Samples

Fault = tuple[str, str]
"""A pointer and a keyword."""
Judge = Callable[[str, Any], list[Fault]]
FREE_MARKS = ("x-stream", "x-computed", "x-wire")


def escaped(part: str | int) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


class Lenient:
    """Forgiving readings of the documents of one contract."""

    def __init__(self, samples: Samples, judge: Judge) -> None:
        self.samples = samples
        self.contract = samples.contract
        self.judge = judge
        self.retired = {(each["class"], each["member"]) for each in self.contract.retired}

    def reading(self, name: str, document: Any) -> dict[str, Any] | None:
        """`{"notices": …}`, `{"refused": …}`, or None where nothing is stated."""
        notices: list[list[str]] = []
        free: list[str] = []
        kind = Kind("union" if name in self.contract.unions else "class", name)
        left = self._walk(document, kind, "", notices, free)
        faults = self.judge(name, left)
        if any(_below(pointer, free) for pointer, _ in faults):
            return None
        if any(_below(pointer, free) for _, pointer in notices):
            return None
        if faults:
            return {"refused": {"pointer": faults[0][0], "keyword": faults[0][1]}}
        return {"notices": sorted(notices)}

    def _walk(self, value: Any, kind: Kind, where: str, notices: list[list[str]], free: list[str]) -> Any:
        """The value as far as the schemas know it; what is set apart is noted, what need not be looked at listed."""
        if isinstance(value, dict) and kind.what == "union":
            return self._union(value, kind.name, where, notices, free)
        if isinstance(value, dict) and kind.what in ("class", "open", "tensor"):
            return self._object(value, kind.name, where, notices, free)
        if isinstance(value, dict) and kind.what == "map" and kind.item is not None:
            item = kind.item
            return {
                key: self._walk(each, item, f"{where}/{escaped(key)}", notices, free) for key, each in value.items()
            }
        if isinstance(value, list) and kind.what in ("array", "parts") and kind.item is not None:
            item = kind.item
            return [self._walk(each, item, f"{where}/{index}", notices, free) for index, each in enumerate(value)]
        return value

    def _union(self, value: dict[str, Any], name: str, where: str, notices: list[list[str]], free: list[str]) -> Any:
        union = self.contract.unions[name]
        tag = value.get(union.tag)
        for variant in union.variants:
            shape = self.contract.shapes[variant]
            if shape.tag is not None and shape.tag[1] == tag:
                return self._object(value, variant, where, notices, free)
        if not isinstance(tag, str):
            return value
        notices.append(["unknown-tag", f"{where}/{union.tag}"])
        return self.samples.minimal(name)

    def _object(self, value: dict[str, Any], name: str, where: str, notices: list[list[str]], free: list[str]) -> Any:
        shape = self.samples.shape(name)
        assert shape is not None, name
        if shape.extra == {} or name in HAND_WRITTEN:
            free.append(where)
        members = {member.name: member for member in shape.members}
        kept: dict[str, Any] = {}
        for key, each in value.items():
            at = f"{where}/{escaped(key)}"
            member = members.get(key)
            if member is not None:
                if any(mark in member.schema for mark in FREE_MARKS):
                    free.append(at)
                kept[key] = self._walk(each, member.kind, at, notices, free)
            elif not shape.closed:
                kept[key] = each
            else:
                notices.append(["retired" if (name, key) in self.retired else "unknown", at])
        return kept


def _below(pointer: str, places: list[str]) -> bool:
    return any(pointer == place or pointer.startswith(f"{place}/") for place in places)
