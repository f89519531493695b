"""Texts that a pattern of the profile matches, of a wanted length where it can be had; always the same ones.

Promise: what `matching` gives is built from the pattern's own parts, so it matches, unless the pattern uses
something the profile does not allow, which is a ValueError. When it breaks: the reference validator refuses a vector
that was meant to be valid, and the coverage count shows the gap.
"""

from __future__ import annotations

import re
from typing import Any

parser: Any = re._parser  # type: ignore[attr-defined]
"""The standard library's parser of patterns, which has no public name."""

DEEPEST = 8


def matching(pattern: str, length: int = 0, choice: int = 0) -> str:
    """A text that the pattern matches, at least `length` characters long if it can be; `choice` picks among its
    alternatives."""
    text, _ = _sequence(parser.parse(pattern.removesuffix("$")), length, choice)
    return text


def _sequence(parts: Any, length: int, choice: int) -> tuple[str, int]:
    """The text of parts in a row, and how much of the wanted length is still missing."""
    least = sum(part_least(each) for each in parts)
    missing = max(0, length - least)
    made = []
    for operation, argument in parts:
        text, missing = _part(str(operation), argument, missing, choice)
        made.append(text)
    return "".join(made), missing


def part_least(part: Any) -> int:
    """The fewest characters that a part takes."""
    operation, argument = str(part[0]), part[1]
    if operation == "MAX_REPEAT":
        return int(argument[0]) * sum(part_least(each) for each in argument[2])
    if operation == "SUBPATTERN":
        return sum(part_least(each) for each in argument[3])
    if operation == "BRANCH":
        return min(sum(part_least(each) for each in branch) for branch in argument[1])
    return 0 if operation in ("AT", "ASSERT_NOT") else 1


def _part(operation: str, argument: Any, missing: int, choice: int) -> tuple[str, int]:
    match operation:
        case "LITERAL":
            return chr(argument), missing
        case "IN":
            return _one_of(argument, choice), missing
        case "AT" | "ASSERT_NOT":
            return "", missing
        case "SUBPATTERN":
            return _grown(argument[3], missing, choice)
        case "BRANCH":
            branches = argument[1]
            return _grown(branches[choice % len(branches)], missing, choice)
        case "MAX_REPEAT":
            return _repeated(argument, missing, choice)
        case _:
            raise ValueError(f"no text is made for {operation} in a pattern")


def _grown(parts: Any, missing: int, choice: int) -> tuple[str, int]:
    least = sum(part_least(each) for each in parts)
    text, _ = _sequence(parts, least + missing, choice)
    return text, max(0, missing - (len(text) - least))


def _repeated(argument: Any, missing: int, choice: int) -> tuple[str, int]:
    fewest, most, parts = argument
    made: list[str] = []
    while len(made) < fewest or (missing > 0 and len(made) < most):
        is_last = len(made) + 1 == most
        text, _ = _sequence(parts, missing if is_last and len(made) >= fewest else 0, choice)
        missing -= len(text) if len(made) >= fewest else 0
        made.append(text)
    return "".join(made), max(0, missing)


def _one_of(members: Any, choice: int) -> str:
    found = []
    for operation, argument in members:
        match str(operation):
            case "LITERAL":
                found.append(chr(argument))
            case "RANGE":
                found += [chr(argument[0]), chr(argument[1])]
            case other:
                raise ValueError(f"no character is made for {other} in a class of a pattern")
    return found[choice % len(found)]
