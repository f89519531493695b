"""The digest of one function of a Python file: its code, and all that the code leans on.

Promise: the digest changes with the function's text, with the text of what it names at the top of its file (functions,
classes, constants; those that these name too), with the value of such a constant when it is plain data (so a prompt
that is read from another file counts by what was read), and with every module of the file's own folder, packages
included, that the file imports for it. It does not change with the rest of the file, nor from one machine or Python to
the next: a constant that is a path below or beside the file counts by how it lies to the file.
Policy: installed libraries count by their name alone. What a function reads while it runs is not seen; a scorer names
such files in its `scorer_id` hook.
When it breaks: two judges that differ have one digest, and their scores are taken for one judge's.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evh.errors import EvhError
from evh.protocol.jsontext import canonical

__all__ = ["code_digest"]

STAR = "*"
LINE = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line; `splitlines` does so at form feeds and more."""
Import = ast.Import | ast.ImportFrom


def code_digest(names: object, data: bytes, path: Path, function: str) -> str:
    """The digest of the function of that name in a loaded file; `data` are the bytes that were loaded."""
    tree = ast.parse(data)
    lines = LINE.split(data.decode("utf-8", "replace"))
    places = dict(_definitions(tree))
    parts: dict[str, Any] = {}
    pending = [function]
    while pending:
        name = pending.pop()
        if name not in places and hasattr(names, name):
            name = STAR  # it came with `from … import *`, if there is one
        if name in parts or name not in places:
            continue
        nodes = places[name]
        code = ["\n".join(_text(node, lines)) for node in nodes]
        parts[name] = {"code": code, **_value(names, name, nodes, path.parent)}
        modules: dict[str, str] = {}
        for node in nodes:
            for each in ast.walk(node):
                if isinstance(each, ast.Name):
                    pending.append(each.id)
                elif isinstance(each, Import):
                    _add_modules(each, path.parent, (), modules)
        if modules:
            parts[name]["modules"] = modules
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
        for name in dict.fromkeys(_defined(node)):
            found.setdefault(name, []).append(node)
    yield from found.items()


def _defined(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    else:
        for each in ast.iter_child_nodes(node):
            yield from _defined(each)


def _text(node: ast.stmt, lines: list[str]) -> list[str]:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(each.lineno for each in decorators)])
    return lines[start - 1 : node.end_lineno]


def _value(names: object, name: str, nodes: list[ast.stmt], folder: Path) -> dict[str, Any]:
    """What a constant holds, when that is plain data."""
    if any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import) for node in nodes):
        return {}
    try:
        value = _portable(getattr(names, name, None), folder)
        return {"value": hashlib.sha256(canonical(value)).hexdigest()} if value is not None else {}
    except (EvhError, TypeError, ValueError, RecursionError):
        return {}  # no plain data: its code stands for it


def _portable(value: Any, folder: Path) -> Any:
    """A constant as it is on every machine: sets in order, paths near the file by how they lie to it."""
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return [_portable(each, folder) for each in value]
    if isinstance(value, dict):
        return {name: _portable(each, folder) for name, each in value.items()}
    if isinstance(value, str) and "\n" not in value and Path(value).is_absolute():
        top = os.path.commonpath([value, folder]) if Path(value).anchor == folder.anchor else folder.anchor
        return value if top == folder.anchor else Path(os.path.relpath(value, folder)).as_posix()
    return value


def _add_modules(node: Import, folder: Path, package: tuple[str, ...], found: dict[str, str]) -> None:
    """Add the digests of the modules beside the file that an import loads, and of those that they import in turn.

    `package` is the one that the importing module is in.
    """
    for parts in _imported(node, package):
        for count in range(1, len(parts) + 1):
            name, place = ".".join(parts[:count]), folder.joinpath(*parts[:count])
            inside = place / "__init__.py"
            path = inside if inside.is_file() else place.with_name(f"{place.name}.py")
            if name in found or not path.is_file():
                continue
            data = path.read_bytes()
            found[name] = hashlib.sha256(data).hexdigest()
            try:
                tree = ast.parse(data)
            except (SyntaxError, ValueError):
                continue
            own = parts[:count] if path == inside else parts[: count - 1]
            for each in ast.walk(tree):
                if isinstance(each, Import):
                    _add_modules(each, folder, own, found)


def _imported(node: Import, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What an import may load, as the parts of dotted names: `from a import b` may mean a module `a.b`."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield tuple(alias.name.split("."))
        return
    base = package[: len(package) - node.level + 1] if node.level else ()
    base += tuple(node.module.split(".")) if node.module else ()
    for alias in node.names:
        yield (*base, alias.name)
