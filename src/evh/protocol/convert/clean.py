"""A copy of a row with nothing in it that a release cannot read as text: the first step of every conversion.

Promised: the argument is not changed. A NaN or an infinity becomes null and is reported: every release writes null in
its place. A lone surrogate becomes U+FFFD and a value nested deeper than `DEEPEST` becomes null; the original of
these two goes to the stash as text, because no release can read or write it.
A name that is no text (MessagePack has such) is a `RecordError`.
Policy: `DEEPEST` stays well below the 200 levels that the releases' fast JSON path reads.
"""

from __future__ import annotations

import math
import re
from typing import Any

from evh.errors import RecordError
from evh.protocol.convert.stash import Owner
from evh.protocol.upgrade.step import Step, token

__all__ = ["cleaned"]

DEEPEST = 120
NUMBERS = frozenset({int, bool, float})
SURROGATE = re.compile("[\ud800-\udfff]")
NO_TEXT = "a lone surrogate: no release writes it"
NO_DEPTH = f"nested deeper than {DEEPEST} levels: no release reads it"
NO_NUMBER = "not a finite number: every release writes null"


def cleaned(value: Any, owner: Owner, path: str, steps: list[Step]) -> Any:
    """A clean copy of `value`, which stands at `path` below `owner`."""
    return _Cleaner(owner, steps).value(value, path, 0)


class _Cleaner:
    def __init__(self, owner: Owner, steps: list[Step]) -> None:
        self.owner = owner
        self.steps = steps

    def value(self, value: Any, path: str, depth: int) -> Any:
        if isinstance(value, dict | list | tuple):
            if depth >= DEEPEST:
                return self.aside(value, path, None, NO_DEPTH)
            if isinstance(value, dict):
                return self.object(value, path, depth)
            if all(type(item) in NUMBERS and item - item == 0 for item in value):
                return list(value)  # a token stream: no pointer is built for its items
            return [self.value(item, f"{path}/{index}", depth + 1) for index, item in enumerate(value)]
        if isinstance(value, str):
            if value.isascii() or SURROGATE.search(value) is None:
                return value
            return self.aside(value, path, SURROGATE.sub("\ufffd", value), NO_TEXT)
        if value is None or isinstance(value, int | bytes) or (isinstance(value, float) and math.isfinite(value)):
            return value
        at = self.owner.pointer + path
        self.steps.append(Step("non-finite", "repaired", at, at, NO_NUMBER, value))
        return None

    def object(self, value: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        if not all(isinstance(key, str) for key in value):
            raise RecordError("the name of a member is text", pointer=self.owner.pointer + path)
        if all(key.isascii() or SURROGATE.search(key) is None for key in value):
            return {key: self.value(item, path + token(key), depth + 1) for key, item in value.items()}
        renamed: dict[str, Any] = {}
        for key, item in value.items():
            name = SURROGATE.sub("\ufffd", key)
            while name in renamed or (name != key and name in value):
                name += "\ufffd"
            renamed[name] = item
        self.aside(value, path, None, NO_TEXT)
        return {key: self.value(item, path + token(key), depth + 1) for key, item in renamed.items()}

    def aside(self, value: Any, path: str, instead: Any, note: str) -> Any:
        """Keep the original as text; what stands in its place."""
        self.owner.keep_text(self.steps, Step("text", "moved", path, None, note, value))
        return instead
