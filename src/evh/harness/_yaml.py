"""YAML as JSON: the values of one safe document, and the line of each.

Promise: nothing in a document runs or makes an object. What JSON has no value for is refused with its JSON Pointer and
line, never turned into something near it; so are repeated keys, and text that would be read as another value than it
seems (`010`, `1:30`, `1e-3`). Aliases stand for what they name, up to a limit of values in all.
Policy: the limits. Merge keys (`<<`) are refused: readers of YAML disagree about them.
When it breaks: `SourceError` with file and line, also when PyYAML is not installed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from evh.errors import SourceError, cut, pointer
from evh.protocol.jsontext import MAX_SAFE_INTEGER

__all__ = ["Yaml", "read_yaml"]

MOST_VALUES = 100_000
MOST_DEPTH = 64
_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_REFUSED = {
    "timestamp": "a date, which JSON does not have: quote it",
    "binary": "binary data, which JSON does not have",
    "set": "a set, which JSON does not have: write a list",
    "merge": "a merge key (<<), which readers of YAML disagree about: write the members out",
    "value": "a default value (=), which JSON does not have: quote it",
}


class Yaml:
    """A document: its `value`, and the line at which each value stands, by JSON Pointer."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.value: Any = None
        self._lines: dict[str, int] = {}

    def line(self, place: str) -> int | None:
        """The line of the value at a pointer, or of the nearest one that it lies in."""
        while place and place not in self._lines:
            place = place.rpartition("/")[0]
        return self._lines.get(place)


def read_yaml(text: str, source: str) -> Yaml:
    """The one document of a text, as JSON values. Raises `SourceError`."""
    try:
        import yaml
    except ImportError:
        raise SourceError("configs are YAML, whose reader is not installed: pip install 'evh[run]'") from None
    made = Yaml(source)
    try:
        nodes = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise SourceError(f"is not YAML: {said}", source=source, line=mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise SourceError("holds a control character, which YAML does not allow", source=source, line=line) from None
    except RecursionError:
        raise SourceError(f"is nested too deeply: at most {MOST_DEPTH} levels", source=source) from None
    except (yaml.YAMLError, ValueError) as error:
        raise SourceError(f"is not YAML: {cut(str(error))}", source=source) from None
    if len(nodes) > 1:
        raise SourceError(
            "holds several documents: write each in a file of its own", source=source, line=nodes[1].start_mark.line + 1
        )
    if not nodes:
        raise SourceError("is empty", source=source)
    made.value = _Walk(made._lines, source).value(nodes[0], ())
    return made


class _Walk:
    """From nodes to values; `parts` are those of the pointer."""

    def __init__(self, lines: dict[str, int], source: str) -> None:
        self._lines = lines
        self._source = source
        self._count = 0
        self._within: list[int] = []

    def value(self, node: Any, parts: tuple[str | int, ...]) -> Any:
        self._count += 1
        if self._count > MOST_VALUES:
            raise self._fault(node, parts, f"holds more than {MOST_VALUES:,} values, aliases counted")
        if id(node) in self._within:
            raise self._fault(node, parts, "holds itself, by an alias")
        if len(self._within) >= MOST_DEPTH:
            raise self._fault(node, parts, f"is nested too deeply: at most {MOST_DEPTH} levels")
        self._lines.setdefault(pointer(*parts), node.start_mark.line + 1)
        tag = node.tag.removeprefix(_TAG)
        if node.id == "scalar":
            return self._scalar(node, tag, parts)
        self._within.append(id(node))
        try:
            if node.id == "sequence" and tag == "seq":
                return [self.value(each, (*parts, at)) for at, each in enumerate(node.value)]
            if node.id == "mapping" and tag == "map":
                return self._members(node, parts)
        finally:
            self._within.pop()
        raise self._no_json(node, tag, parts)

    def _members(self, node: Any, parts: tuple[str | int, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            tag = key.tag.removeprefix(_TAG)
            if tag == "merge":
                raise self._no_json(key, tag, parts)
            if key.id != "scalar" or tag != "str":
                shown = f"{cut(key.value)}, read as {tag}" if key.id == "scalar" else f"a {key.id}"
                raise self._fault(key, parts, f"has a key that is no text ({shown}): quote it")
            if key.value in found:
                raise self._fault(key, (*parts, key.value), "stands twice")
            found[key.value] = self.value(value, (*parts, key.value))
            self._lines[pointer(*parts, key.value)] = key.start_mark.line + 1
        return found

    def _scalar(self, node: Any, tag: str, parts: tuple[str | int, ...]) -> Any:
        read: Callable[[Any, tuple[str | int, ...]], Any] | None = {
            "str": self._text,
            "int": self._integer,
            "float": self._number,
        }.get(tag)
        if read is not None:
            return read(node, parts)
        if tag == "null":
            return None
        if tag == "bool" and node.value.lower() in _TRUTH:
            return _TRUTH[node.value.lower()]
        raise self._no_json(node, tag, parts)

    def _text(self, node: Any, parts: tuple[str | int, ...]) -> str:
        text: str = node.value
        if node.style is None and "e" in text.lower() and _NUMBER.fullmatch(text):
            raise self._fault(node, parts, f"is read as text: write {float(text)!r} or quote it")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self._fault(node, parts, "holds a lone surrogate, which is no text") from None
        return text

    def _integer(self, node: Any, parts: tuple[str | int, ...]) -> int:
        if not _INTEGER.fullmatch(node.value):
            raise self._fault(
                node, parts, f"is a number in a form that is easily misread ({cut(node.value)}): quote it"
            )
        if len(node.value) > 17 or abs(int(node.value)) > MAX_SAFE_INTEGER:
            raise self._fault(node, parts, "is an integer beyond ±(2^53 - 1), which many readers change: quote it")
        return int(node.value)

    def _number(self, node: Any, parts: tuple[str | int, ...]) -> float:
        try:
            value = float(node.value.replace("_", ""))
        except ValueError:
            if node.value.lower().lstrip("+-") in (".inf", ".nan"):
                value = math.nan
            else:
                raise self._fault(node, parts, f"is no number ({cut(node.value)}): quote it") from None
        if not math.isfinite(value):
            raise self._fault(node, parts, "is not a finite number, which is all that JSON has")
        return value

    def _no_json(self, node: Any, tag: str, parts: tuple[str | int, ...]) -> SourceError:
        return self._fault(node, parts, f"is {_REFUSED.get(tag, f'a value of the type {cut(tag)}, which is not read')}")

    def _fault(self, node: Any, parts: tuple[str | int, ...], what: str) -> SourceError:
        return SourceError(
            f"{pointer(*parts) or 'the document'} {what}", source=self._source, line=node.start_mark.line + 1
        )


_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
