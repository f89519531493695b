"""Every change of a disk in `evh.store`, `evh.harness` and `evh.live` goes through `evh.store._os`: read from the
syntax trees.

So a test that records or breaks the functions of that module sees all of them: kills, power cuts and full disks are
tried at each one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "evh"
OF_OS = frozenset(
    [
        "write", "pwrite", "writev", "fsync", "fdatasync", "ftruncate", "truncate", "rename", "renames", "replace",
        "unlink", "remove", "mkdir", "makedirs", "rmdir", "removedirs", "link", "symlink", "mkfifo", "mknod", "chmod",
        "utime", "sendfile",
    ]
)  # fmt: skip
OF_PATHS = frozenset(
    [
        "write_text", "write_bytes", "unlink", "rename", "mkdir", "rmdir", "touch", "chmod", "symlink_to",
        "hardlink_to", "lchmod",
    ]
)  # fmt: skip
WRITING = frozenset("wax+")


def changes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The calls in a tree that change a disk, with their lines."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        owner, _, method = name.rpartition(".")
        others = owner not in ("os", "_os")
        if any(
            (
                owner == "os" and method in OF_OS,
                owner == "os"
                and method == "open"
                and any(flag in ast.unparse(node) for flag in ("O_CREAT", "O_TRUNC")),
                # a TemporaryFile has no name on the disk, and the other one only looks
                owner in ("shutil", "tempfile") and method not in ("TemporaryFile", "disk_usage"),
                owner and others and method in OF_PATHS,
                method == "replace" and others and len(node.args) == 1 and not node.keywords,  # a text's takes two
                method == "open" and owner != "os" and _mode(node, 0 if owner else 1) & WRITING,
            )
        ):
            yield node.lineno, name


def _mode(node: ast.Call, at: int) -> set[str]:
    given = [*node.args[at : at + 1], *(word.value for word in node.keywords if word.arg == "mode")]
    return {letter for each in given if isinstance(each, ast.Constant) for letter in str(each.value)}


@pytest.mark.parametrize("package", ["store", "harness", "server", "live"])
def test_nothing_but_one_module_changes_the_disk(package: str) -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in sorted((SOURCE / package).rglob("*.py"))
        if path.name != "_os.py"
        for line, name in changes(ast.parse(path.read_text("utf-8")))
        if not (path.name == "process.py" and name == "os.write")  # into the pipe of a command
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.fsync(3)\n",
        "path.write_text('x')\n",
        "path.replace(other)\n",
        "path.open('wb')\n",
        "open(path, mode='a')\n",
        "import os\nos.open(path, os.O_WRONLY | os.O_CREAT)\n",
        "import shutil\nshutil.copy(a, b)\n",
        "if path.exists():\n    path.unlink(missing_ok=True)\n",
    ],
)
def test_a_change_elsewhere_is_found(text: str) -> None:
    assert len(list(changes(ast.parse(text)))) == 1


@pytest.mark.parametrize("text", ["text.replace('a', 'b')\n", "path.open('rb')\n", "_os.fsync(3)\n", "os.open(p, 0)\n"])
def test_what_changes_nothing_passes(text: str) -> None:
    assert list(changes(ast.parse(text))) == []
