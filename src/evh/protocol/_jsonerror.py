"""Why a text is not JSON, in words, with the byte where reading failed.

Promise: a `DecodeError` is made for any text that the JSON reader refused. Policy: the wording.
Loaded only when a text was refused. If this module breaks, torn rows are still refused, without a useful reason.
"""

from __future__ import annotations

import json
import re

from evh.errors import DecodeError, cut
from evh.protocol._jsonwrite import MAX_DEPTH, MAX_DIGITS

__all__ = ["explained", "too_deep", "too_many_digits"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?P<closed>"?)|[\[\]{}]|(?P<digits>[0-9]++)', re.DOTALL)
_NUMBER_TAIL = re.compile(r"\.[0-9]*([eE][+-]?)?|[eE][+-]?")
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_BLANK = " \t\r\n"
_STRING_START = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+(\\(u[0-9a-fA-F]{0,3})?)?')


def _bytes_before(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogatepass"))


def _deep_offset(text: str) -> int:
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                return _bytes_before(text, match.start())
        elif match[0] in ("]", "}"):
            depth -= 1
    return _bytes_before(text, len(text))


def too_deep(text: str, shift: int) -> DecodeError:
    """The refusal of a text nested over `MAX_DEPTH`, with the byte of the first bracket too many."""
    return DecodeError(f"nested too deeply: more than {MAX_DEPTH} levels", offset=shift + _deep_offset(text))


def too_many_digits(text: str, shift: int) -> DecodeError:
    """The refusal of an integer with more than `MAX_DIGITS` digits, with its byte."""
    found = next((match for match in _TOKEN.finditer(text) if len(match["digits"] or "") > MAX_DIGITS), None)
    offset = None if found is None else shift + _bytes_before(text, found.start())
    return DecodeError(f"an integer with too many digits (over {MAX_DIGITS})", offset=offset)


def explained(text: str, error: json.JSONDecodeError, shift: int) -> DecodeError:
    """Why a text is not JSON; `shift` bytes stood before it."""
    position = min(error.pos, len(text))
    if error.msg.startswith("Illegal trailing comma"):
        # Python 3.13 points at the comma; what is wrong stands behind it, as in the releases before.
        position += 1
        position += len(text[position:]) - len(text[position:].lstrip(_BLANK))
    rest = text[position:].rstrip(_BLANK)
    ends_in = _unfinished(text, rest, after_digit=text[position - 1 : position].isdigit())
    if not text.strip(_BLANK):
        message, position = "empty: there is no document", 0
    elif not text.strip(_BLANK + "\0"):
        message, position = "only NUL bytes: a hole that a crash or a full disk left in the file", text.index("\0")
    elif ends_in:
        message, position = f"torn row: the text ends {ends_in}", len(text)
    elif rest.startswith("\0"):
        message = "not JSON: a NUL byte, as a crash or a full disk leaves them"
    elif error.msg.startswith("Extra data"):
        message = "trailing data after the document"
    elif error.msg.startswith("Invalid control character"):
        message = "not JSON: a control character inside a string must be escaped"
    elif error.msg.startswith("Invalid \\"):
        message = "not JSON: an escape that JSON does not have"
    else:
        message = f"not JSON: unexpected {cut(rest[:1])}"
    offset = shift + _bytes_before(text, position)
    return DecodeError(f"{message} (byte {offset})", offset=offset)


def _unfinished(text: str, rest: str, *, after_digit: bool) -> str | None:
    """What the text ends inside of, when it could go on and become JSON; None when it is wrong before its end.

    `rest` is what stands from the place of the error on; `after_digit` says whether a digit stands right before it.
    """
    open_brackets: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] == '"' and not match["closed"]:
            # Torn here only if the error is about this string: it may also lie before it.
            return "inside a string" if len(rest) <= len(token) and not _bad_string(token) else None
        if token in ("[", "{"):
            open_brackets.append(token)
        elif token in ("]", "}") and open_brackets:
            open_brackets.pop()
    if rest and any(literal.startswith(rest) and literal != rest for literal in _LITERALS):
        return "inside a literal" if rest != "-" else "inside a number"
    if after_digit and _NUMBER_TAIL.fullmatch(rest):
        return "inside a number"
    if not rest and open_brackets:
        return "inside an object" if open_brackets[-1] == "{" else "inside an array"
    return None


def _bad_string(token: str) -> bool:
    """Whether an unclosed string has something in it that no string may have."""
    return _STRING_START.fullmatch(token) is None
