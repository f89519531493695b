"""Imports run only downward: which package may know which, read from the syntax trees of `src/evh`.

Every import counts: at the top of a module, inside a function, below `if TYPE_CHECKING`, relative or absolute, and by
name through `importlib`. Third-party libraries load where they are used; only msgspec may stand at the top of a module.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[2] / "src"
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "protocol": {"errors"},
    "store": {"protocol"},
    "harness": {"store"},
    "stats": {"store"},
    "rules": {"store", "harness"},
    "platform": {"protocol"},
    "live": {"store", "platform"},
    "server": {"store", "protocol"},
    "testing": {"protocol"},
    "testing.live": {"testing", "harness", "stats", "rules", "live", "server"},
}
"""What each package may import beside itself, directly; what these may import is allowed too."""
EVERYWHERE = {"_version"}
FREE = {"cli", "__main__"}
"""May import everything."""
TOP = {"errors", "protocol", "store", "harness", "live"}
"""What the top level shows; the rest is reached through its own package."""
AT_THE_TOP = {"msgspec"}
HEAVY_WELCOME = {"cli", "server", "testing", "testing.live"}
LONGEST = 400


class Import(NamedTuple):
    file: str
    line: int
    target: str
    at_top: bool


def reach(package: str) -> set[str]:
    """Everything a package may import: what the table gives it, and what that may import in turn."""
    found = {package} | EVERYWHERE
    pending = [package]
    while pending:
        for each in ALLOWED[pending.pop()] - found:
            found.add(each)
            pending.append(each)
    return found


def room(module: str) -> str:
    """The row of the table that a dotted module below `evh` belongs to; empty for `evh` itself."""
    parts = module.split(".")[1:]
    return "testing.live" if parts[:2] == ["testing", "live"] else (parts[0] if parts else "")


@cache
def imports(path: Path, source: Path = SOURCE) -> tuple[Import, ...]:
    """Every import of a file as the dotted name of what it loads."""
    tree = ast.parse(path.read_text("utf-8"), str(path))
    return tuple(found_below(tree, path.relative_to(source), source, at_top=True))


def found_below(node: ast.AST, file: Path, source: Path, *, at_top: bool) -> Iterator[Import]:
    """The imports below a node; `at_top` says that they run when the module loads."""
    for child in ast.iter_child_nodes(node):
        for name in loaded(child, list(file.parent.parts), source):
            yield Import(str(file), child.lineno, name, at_top)  # type: ignore[attr-defined]
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        guarded = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from found_below(child, file, source, at_top=at_top and not inside and not guarded)


def loaded(node: ast.AST, package: list[str], source: Path) -> list[str]:
    """What a statement or call loads, in dotted names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        is_module = (source / base.replace(".", "/")).with_suffix(".py").exists()
        return [base] if is_module else [f"{base}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return []


def module_name(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def breaches(source: Path) -> list[str]:
    """A line for every import that runs upward or sideways."""
    found = []
    for path in sorted((source / "evh").rglob("*.py")):
        here = room(module_name(path, source))
        if here in FREE or here in EVERYWHERE:
            continue
        if here and here not in ALLOWED:
            found.append(f"{path.relative_to(source)}: the package {here} has no row in the import table")
            continue
        allowed = reach(here) if here else TOP | EVERYWHERE
        for each in imports(path, source):
            if each.target.partition(".")[0] == "evh" and room(each.target) not in allowed:
                found.append(f"{each.file}:{each.line}: {here or 'evh'} may not import {each.target}")
    return found


def heavy_at_the_top(source: Path) -> list[str]:
    found = []
    for path in sorted((source / "evh").rglob("*.py")):
        if room(module_name(path, source)) in HEAVY_WELCOME:
            continue
        for each in imports(path, source):
            library = each.target.partition(".")[0]
            if each.at_top and library not in sys.stdlib_module_names | AT_THE_TOP | {"evh"}:
                found.append(f"{each.file}:{each.line}: {library} loads with the module; import it where it is used")
    return found


def test_imports_run_only_down_the_table() -> None:
    assert breaches(SOURCE) == []


def test_only_msgspec_loads_with_a_module() -> None:
    assert heavy_at_the_top(SOURCE) == []


def test_hand_written_modules_stay_readable() -> None:
    lengths = {
        str(path.relative_to(SOURCE)): len(text.splitlines())
        for path in (SOURCE / "evh").rglob("*.py")
        if not (text := path.read_text("utf-8")).startswith("# Generated from schema/v1")
    }
    assert {file: length for file, length in lengths.items() if length > LONGEST} == {}


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("protocol/a.py", "from evh.store import Journal\n", "protocol may not import evh.store.Journal"),
        ("protocol/a.py", "import evh.cli.main\n", "protocol may not import evh.cli.main"),
        ("protocol/a.py", "from evh import testing\n", "protocol may not import evh.testing"),
        ("protocol/a.py", "import evh\n", "protocol may not import evh"),
        (
            "protocol/a.py",
            "def f():\n    from evh.store.lock import FileLock\n",
            "protocol may not import evh.store.lock",
        ),
        ("protocol/deep/a.py", "from ...store import lock\n", "protocol may not import evh.store.lock"),
        ("protocol/deep/a.py", "from ... import store\n", "protocol may not import evh.store"),
        (
            "protocol/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from evh.cli import main\n",
            "protocol may not import evh.cli.main",
        ),
        (
            "protocol/a.py",
            "import importlib\nimportlib.import_module('evh.store')\n",
            "protocol may not import evh.store",
        ),
        ("errors.py", "from evh.protocol import codec\n", "errors may not import evh.protocol.codec"),
        ("store/a.py", "from evh.harness import x\n", "store may not import evh.harness.x"),
        ("stats/a.py", "import evh.harness\n", "stats may not import evh.harness"),
        ("testing/a.py", "import evh.store\n", "testing may not import evh.store"),
        ("newcomer/a.py", "import os\n", "the package newcomer has no row in the import table"),
    ],
)
def test_a_breach_is_found_and_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    path = tmp_path / "evh" / file
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    found = breaches(tmp_path)
    assert len(found) == 1, found
    assert said in found[0] and file in found[0]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("protocol/a.py", "from evh.errors import EvhError\nfrom . import b\nfrom evh._version import __version__\n"),
        ("store/a.py", "from evh.errors import EvhError\nfrom evh.protocol.codec import decode\n"),
        ("live/a.py", "from evh.platform import x\nfrom evh.errors import EvhError\n"),
        ("testing/live/a.py", "import evh.server\nimport evh.store\n"),
        ("cli/a.py", "import evh\nimport evh.server\n"),
        ("__init__.py", "def __getattr__(name):\n    from evh.store import writer\n"),
    ],
)
def test_what_the_table_allows_passes(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / "evh" / file
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    assert breaches(tmp_path) == []


def test_a_heavy_library_at_the_top_of_a_module_is_found(tmp_path: Path) -> None:
    path = tmp_path / "evh" / "store" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text("import json\nimport msgspec\nimport numpy\ndef f():\n    import zstandard\n", "utf-8")
    assert [line.partition(":")[2] for line in heavy_at_the_top(tmp_path)] == [
        "3: numpy loads with the module; import it where it is used"
    ]
