"""The digest of one function of a Python file: its code, and all that the code leans on.

Promise: the digest changes with the function's text, with the text of what it names at the top of its file (functions,
classes, constants; those that these name too), with the value of such a constant when it is plain data (so a prompt
that is read from another file counts by what was read), and with every module of the file's own folder that the
file imports for it. It does not change with the rest of the file, nor from one machine or Python to the next.
Policy: installed libraries count by their name alone. What a function reads while it runs is not seen; a scorer names
such files in its `scorer_id` hook.
When it breaks: two judges that differ have one digest, and their scores are taken for one judge's.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evh.errors import EvhError
from evh.protocol.jsontext import canonical

__all__ = ["code_digest"]


def code_digest(names: object, data: bytes, path: Path, function: str) -> str:
    """The digest of the function of that name in a loaded file; `data` are the bytes that were loaded."""
    tree = ast.parse(data)
    lines = data.decode("utf-8", "replace").splitlines()
    places = dict(_definitions(tree))
    parts: dict[str, Any] = {}
    pending = [function]
    while pending:
        name = pending.pop()
        if name in parts or name not in places:
            continue
        nodes = places[name]
        parts[name] = {"code": ["\n".join(_text(node, lines)) for node in nodes], **_value(names, name, nodes)}
        for node in nodes:
            pending += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
            if isinstance(node, ast.Import | ast.ImportFrom):
                parts[name]["modules"] = _modules(node, path.parent, {})
    return hashlib.sha256(canonical(parts)).hexdigest()


def _definitions(tree: ast.Module) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The names that the top of a file defines, each with every statement that does."""
    found: dict[str, list[ast.stmt]] = {}
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If | ast.Try | ast.With):
            bodies = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
            bodies += [handler.body for handler in getattr(node, "handlers", [])]
            pending += [each for body in reversed(bodies) for each in reversed(body)]
            continue
        for name in _defined(node):
            found.setdefault(name, []).append(node)
    yield from found.items()


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    else:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                yield each.id


def _text(node: ast.stmt, lines: list[str]) -> list[str]:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(each.lineno for each in decorators)])
    return lines[start - 1 : node.end_lineno]


def _value(names: object, name: str, nodes: list[ast.stmt]) -> dict[str, Any]:
    """What a constant holds, when that is plain data."""
    if any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import) for node in nodes):
        return {}
    value = getattr(names, name, None)
    if isinstance(value, set | frozenset):
        value = sorted(map(repr, value))
    elif isinstance(value, tuple):
        value = list(value)
    try:
        return {"value": hashlib.sha256(canonical(value)).hexdigest()} if value is not None else {}
    except (EvhError, TypeError, ValueError, RecursionError):
        return {}  # no plain data: its code stands for it


def _modules(node: ast.Import | ast.ImportFrom, folder: Path, found: dict[str, str]) -> dict[str, str]:
    """The digests of the modules beside the file that an import loads, and of those that they import in turn."""
    if isinstance(node, ast.ImportFrom):
        names = [node.module or ""] if not node.level else []
    else:
        names = [alias.name for alias in node.names]
    for name in names:
        path = folder.joinpath(*name.split(".")).with_suffix(".py") if name else folder
        if name in found or not path.is_file():
            continue
        data = path.read_bytes()
        found[name] = hashlib.sha256(data).hexdigest()
        try:
            inner = ast.parse(data)
        except (SyntaxError, ValueError):
            continue
        for each in ast.walk(inner):
            if isinstance(each, ast.Import | ast.ImportFrom):
                _modules(each, folder, found)
    return found
