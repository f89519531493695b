"""From a validator's raw errors to the list of violations that a person reads.

Promise: the same document gives the same violations whichever engine found the errors; every fault of the document is
in the list; a failed union is reported as the one variant that was meant, not as all that were not; a value is cut
short, an object or array is never shown, and neither is a value below a member that the schema marks `x-secret`.
Policy: the wording of messages.
If this module breaks, documents are still judged correctly but the reasons become unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from evh.errors import Violation, cut, pointer

__all__ = ["Break", "Parts", "flatten", "follow", "github_line", "locate", "ordered"]

Parts = tuple[str | int, ...]
"""Unescaped parts of a JSON Pointer."""

_SHOWN_DIGITS_BITS = 200
_SHOWN_CHOICES = 12


class Break(NamedTuple):
    """One raw error of an engine, in the engines' common form.

    `path` leads to the value in the document, `schema_path` to the keyword in the bundled schema with references
    resolved, its last part being the keyword. `secret` says that the value must not be shown. `branches` holds, for a
    failed union, the errors of each variant; it is empty when more than one variant fits.
    """

    path: Parts
    schema_path: Parts
    secret: bool = False
    branches: tuple[tuple[Break, ...], ...] = ()


def locate(schema: dict[str, Any], parts: Iterable[str | int]) -> tuple[Parts, bool]:
    """The place in a bundled schema that a validation path leads to, and whether it passes an `x-secret` schema.

    Steps through `$ref` may be part of `parts` or left out: engines differ.
    """
    node: Any = schema
    path: Parts = ()
    secret = False
    for part in parts:
        while isinstance(node, dict) and (part == "$ref" or part not in node) and isinstance(node.get("$ref"), str):
            path = tuple(node["$ref"].split("/")[1:])
            node = follow(schema, path)
            secret = secret or node.get("x-secret") is True
            if part == "$ref":
                break
        if part == "$ref":
            continue
        node = node[part]
        path = (*path, part)
        secret = secret or (isinstance(node, dict) and node.get("x-secret") is True)
    return path, secret


def follow(tree: Any, path: Iterable[str | int]) -> Any:
    """The value at a path of a tree of dicts and lists."""
    for part in path:
        tree = tree[str(part)] if isinstance(tree, dict) else tree[part]
    return tree


def flatten(breaks: Iterable[Break], document: Any, schema: dict[str, Any]) -> list[Violation]:
    """All violations that raw errors stand for, ordered; `schema` is the bundle that the engine judged by."""
    return ordered(violation for found in breaks for violation in _violations(found, document, schema))


def ordered(violations: Iterable[Violation]) -> list[Violation]:
    """Violations without repetition, by pointer, then keyword, then message."""
    return sorted(set(violations), key=lambda item: (item.pointer, item.keyword, item.message, item.schema_pointer))


def github_line(violation: Violation, source: str, line: int | None = None) -> str:
    """A violation as a GitHub Actions annotation: one line of printable text for the log of a job.

    `source` is the file's path relative to the repository, `line` its line, counted from 1.
    """
    place = f"file={_escaped(source, in_property=True)}" + (f",line={line}" if line is not None else "")
    title = _escaped(f"evh: {violation.keyword}", in_property=True)
    return f"::error {place},title={title}::{_escaped(str(violation))}"


def _escaped(text: str, *, in_property: bool = False) -> str:
    printable = text.encode("utf-8", "backslashreplace").decode("utf-8")
    printable = printable.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable.replace(":", "%3A").replace(",", "%2C") if in_property else printable


# --- one raw error ---------------------------------------------------------------------------------------------------


def _violations(found: Break, document: Any, schema: dict[str, Any]) -> Iterator[Violation]:
    keyword = str(found.schema_path[-1])
    if keyword in ("oneOf", "anyOf"):
        yield from _union_violations(found, document, schema)
        return
    value = follow(document, found.path)
    rule = follow(schema, found.schema_path)
    where = pointer(*found.schema_path)
    if keyword == "required":
        for name in rule:
            if name not in value:
                yield Violation(pointer(*found.path), keyword, f"member {cut(name)} is missing", where)
    elif keyword == "additionalProperties":
        known = follow(schema, found.schema_path[:-1]).get("properties", {})
        for name in value:
            if name not in known:
                yield Violation(pointer(*found.path, name), keyword, f"unexpected member {cut(name)}", where)
    else:
        say = _MESSAGES.get(keyword)
        shown = _shown(value, found.secret)
        message = say(rule, value, shown) if say else f"the rule {keyword} is broken by {shown}"
        yield Violation(pointer(*found.path), keyword, message, where)


def _shown(value: Any, secret: bool) -> str:
    if secret:
        return "a value that is not shown"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int) and value.bit_length() > _SHOWN_DIGITS_BITS:
        return "a very large integer"
    return cut(value)


def _choices(values: Iterable[Any]) -> str:
    names = [cut(value) for value in values]
    more = len(names) - _SHOWN_CHOICES
    return ", ".join(names[:_SHOWN_CHOICES]) + (f" and {more} more" if more > 0 else "")


_TYPES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}


def _type_names(rule: str | list[str]) -> list[str]:
    return [_TYPES.get(name, name) for name in ([rule] if isinstance(rule, str) else rule)]


def _either(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))


def _length(at: str, unit: str) -> Callable[[Any, Any, str], str]:
    return lambda rule, value, shown: f"expected {at} {rule} {unit}, found {len(value)}"


def _bound(at: str) -> Callable[[Any, Any, str], str]:
    return lambda rule, value, shown: f"expected {at} {rule}, found {shown}"


_MESSAGES: dict[str, Callable[[Any, Any, str], str]] = {
    "type": lambda rule, value, shown: f"expected {_either(_type_names(rule))}, found {shown}",
    "enum": lambda rule, value, shown: f"expected one of {_choices(rule)}; found {shown}",
    "const": lambda rule, value, shown: f"expected {cut(rule)}, found {shown}",
    "format": lambda rule, value, shown: f"expected a {rule} (RFC 3339, a day of the calendar), found {shown}",
    "pattern": lambda rule, value, shown: f"expected text of the form {cut(rule)}, found {shown}",
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "minLength": _length("at least", "characters"),
    "maxLength": _length("at most", "characters"),
    "minItems": _length("at least", "items"),
    "maxItems": _length("at most", "items"),
    "minProperties": _length("at least", "members"),
    "maxProperties": _length("at most", "members"),
}


# --- unions ----------------------------------------------------------------------------------------------------------


def _union_violations(found: Break, document: Any, schema: dict[str, Any]) -> Iterator[Violation]:
    meant = [branch for branch in found.branches if not any(_is_other(error, found.path, schema) for error in branch)]
    if len(meant) == 1 and meant[0]:
        for error in meant[0]:
            yield from _violations(error, document, schema)
        return
    keyword = str(found.schema_path[-1])
    value = follow(document, found.path)
    yield Violation(
        pointer(*found.path), keyword, _no_variant(found, meant, value, schema), pointer(*found.schema_path)
    )


def _is_other(error: Break, path: Parts, schema: dict[str, Any]) -> bool:
    """Whether this error says that its variant is not the one that was meant: the type or the tag is another."""
    keyword = error.schema_path[-1]
    if keyword == "type":
        return error.path == path
    if keyword != "const" or error.path[:-1] != path or len(error.path) != len(path) + 1:
        return False
    # Below "properties", the name, "const": the object whose required member the tag is.
    return error.path[-1] in follow(schema, error.schema_path[:-3]).get("required", ())


def _no_variant(found: Break, meant: list[tuple[Break, ...]], value: Any, schema: dict[str, Any]) -> str:
    variants = [_resolved(variant, schema) for variant in follow(schema, found.schema_path)]
    if not found.branches:
        return f"fits more than one of {len(variants)} variants"
    tags = [tag for variant in variants if (tag := _tag(variant)) is not None]
    if isinstance(value, dict) and tags:
        name = tags[0][0]
        known = _choices(constant for _, constant in tags)
        if name not in value:
            return f"no variant: member {cut(name)} is missing (known: {known})"
        return f"no variant with {name}={_shown(value[name], found.secret)} (known: {known})"
    if not meant:
        names = [name for variant in variants for name in _type_names(variant.get("type", []))]
        if names:
            return f"expected {_either(names)}, found {_shown(value, found.secret)}"
    return f"fits none of {len(variants)} variants: {_shown(value, found.secret)}"


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    seen = 0
    while isinstance(node.get("$ref"), str) and "type" not in node and seen < len(schema.get("$defs", {})):
        node = follow(schema, node["$ref"].split("/")[1:])
        seen += 1
    return node


def _tag(variant: dict[str, Any]) -> tuple[str, Any] | None:
    required = variant.get("required", ())
    for name, member in variant.get("properties", {}).items():
        if name in required and isinstance(member, dict) and "const" in member:
            return name, member["const"]
    return None
