"""A parser of raw replies: the Python file that rebuilds an item's output from what its row keeps.

Promise: the parser gets copies, so nothing that it does reaches the row. What it returns is checked; its own faults are
told with the item and the line of its file.
Policy: the raw reply is the member of `_meta` that the file names in `RAW`, `llm_raw` when it names none. The parser
returns the output as text, or None to leave it as it is; or either of them with a mapping of extras computed again.
When it breaks: nothing is derived.
"""

from __future__ import annotations

import copy
import inspect
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import SourceError, cut
from evh.harness.adapters.module import load_module, short
from evh.harness.result import row_metrics

__all__ = ["Parser", "load_parser", "parsed", "raw_reply"]

RAW = "llm_raw"


class Parser(NamedTuple):
    """A loaded parser: `function(row, output, params)`."""

    function: Callable[[dict[str, Any], str, dict[str, Any]], Any]
    name: str
    """Its file below the project's root, and the function's name behind a colon when it is not `reparse`."""
    path: Path
    sha256: str
    raw: str


def load_parser(named: str, *, root: Path) -> Parser:
    """The parser that `FILE` or `FILE:function` names, from the current folder or the project's root.

    Raises `SourceError` when it does not load or has no such function.
    """
    file, colon, function = named.rpartition(":")
    if not colon or not function.isidentifier():
        file, function = named, "reparse"
    path = next((each for each in (Path(file), root / file) if each.is_file()), None)
    if path is None:
        raise SourceError(
            "no parser file there; a parser is a Python file with reparse(row, output, params)", source=file or named
        )
    path = path.resolve()
    module, sha256 = load_module(path)
    found: Any = getattr(module, function, None)
    try:
        if not callable(found):
            raise TypeError("no function")
        inspect.signature(found).bind(None, None, None)
    except TypeError:
        raise SourceError(f"defines no {function}(row, output, params)", source=str(path)) from None
    except ValueError:
        pass  # a function that shows no signature
    raw = getattr(module, "RAW", RAW)
    if not isinstance(raw, str) or not raw:
        raise SourceError(f"RAW names the member of `_meta` that keeps the raw reply, not {cut(raw)}", source=str(path))
    top = root.resolve()
    shown = path.relative_to(top).as_posix() if path.is_relative_to(top) else path.name
    return Parser(found, shown if function == "reparse" else f"{shown}:{function}", path, sha256, raw)


def raw_reply(row: Mapping[str, Any], parser: Parser) -> Any:
    """The raw reply that a row keeps; None when it has none."""
    meta = row.get("_meta")
    return meta.get(parser.raw) if isinstance(meta, Mapping) else None


def parsed(
    parser: Parser, row: dict[str, Any], output: str, params: Mapping[str, Any]
) -> tuple[str, dict[str, int | float]]:
    """The new output of a row, and the extras that were computed again."""
    item_id = row["item_id"]
    try:
        found = parser.function(copy.deepcopy(row), output, copy.deepcopy(dict(params)))
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(parser.path)), None)
        raise SourceError(
            f"the parser failed on item {cut(item_id)}: {short(error)}", source=str(parser.path), line=line
        ) from error
    extras: Any = {}
    if isinstance(found, tuple) and len(found) == 2:
        found, extras = found
    if (found is not None and not isinstance(found, str)) or not isinstance(extras, Mapping):
        raise SourceError(
            f"the parser gave {cut(found)} for item {cut(item_id)}: expected the output as text, None to leave it, "
            "or either of them with a mapping of extras",
            source=str(parser.path),
        )
    return (output if found is None else found), row_metrics({}, extras, item_id)
