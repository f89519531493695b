"""The digest of a function: whatever it leans on changes it, wherever that stands, and no machine does."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.harness.adapters.module import load_module
from evh.harness.judging.code_digest import code_digest


def digest(folder: Path, text: str, function: str = "parse") -> str:
    path = folder / "judge.py"
    path.write_text(text, "utf-8")
    module, _ = load_module(path)
    return code_digest(module, path.read_bytes(), path, function)


def helper(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@pytest.mark.parametrize("before", ["X = 1\n\f\n\f\n", "X = '''\u2028\u2028\u2028\x85'''\n", "X = 'a\\x0b'\n\x0c\n"])
def test_lines_are_counted_as_python_counts_them(tmp_path: Path, before: str) -> None:
    text = before + "def parse(reply):\n    return {'n': 1}\n\n\nUNUSED = 1\n"
    assert digest(tmp_path, text) != digest(tmp_path, text.replace("'n': 1", "'n': 2"))
    assert digest(tmp_path, text) == digest(tmp_path, text.replace("UNUSED = 1", "UNUSED = 2"))


@pytest.mark.parametrize(
    ("imported", "called", "file"),
    [
        ("import reading", "reading.value", "reading.py"),
        ("import tools.reading", "tools.reading.value", "tools/reading.py"),
        ("import tools.reading as short", "short.value", "tools/reading.py"),
        ("from tools import reading", "reading.value", "tools/reading.py"),
        ("from tools.reading import value", "value", "tools/reading.py"),
        ("from reading import *", "value", "reading.py"),
        ("from package import value", "value", "package/__init__.py"),
        ("from package import outer as value", "value.value", "package/inner/deep.py"),
        ("try:\n    import reading\nexcept ImportError:\n    import other as reading", "reading.value", "reading.py"),
        ("for _ in range(1):\n    import reading", "reading.value", "reading.py"),
    ],
)
def test_modules_beside_the_file_count_however_they_are_imported(
    tmp_path: Path, imported: str, called: str, file: str
) -> None:
    helper(tmp_path, "other.py", "")
    if file.startswith("package/inner"):
        helper(tmp_path, "package/__init__.py", "from . import outer\n")
        helper(tmp_path, "package/outer.py", "from .inner.deep import value\n")
        helper(tmp_path, "package/inner/__init__.py", "")
    text = f"{imported}\n\n\ndef parse(reply):\n    return {{'n': {called}(reply)}}\n"
    helper(tmp_path, file, "def value(reply):\n    return 1\n")
    one = digest(tmp_path, text)
    helper(tmp_path, file, "def value(reply):\n    return 2\n")
    assert digest(tmp_path, text) != one


def test_a_function_that_came_with_a_star_has_a_digest_of_its_own(tmp_path: Path) -> None:
    helper(tmp_path, "reading.py", "def parse(reply):\n    return {'n': 1}\n")
    one = digest(tmp_path, "from reading import *\n")
    helper(tmp_path, "reading.py", "def parse(reply):\n    return {'n': 2}\n")
    assert digest(tmp_path, "from reading import *\n") != one


def test_a_definition_in_a_loop_counts(tmp_path: Path) -> None:
    text = "for N in (1, 2):\n    def grade(reply):\n        return 1\n"
    text += "\n\ndef parse(reply):\n    return {'n': grade(reply)}\n"
    assert digest(tmp_path, text) != digest(tmp_path, text.replace("return 1", "return 2"))


def test_a_path_beside_the_file_is_the_same_on_every_machine(tmp_path: Path) -> None:
    text = (
        "import os\n\nHERE = os.path.dirname(os.path.abspath(__file__))\nPLACES = {'a': [os.path.join(HERE, 'NAME')]}\n"
        "TOP = os.path.dirname(HERE)\n\n\ndef parse(reply):\n    return {'n': len(HERE) + len(PLACES) + len(TOP)}\n"
    )
    found = set()
    for folder in (tmp_path / "one", tmp_path / "two" / "three"):
        folder.mkdir(parents=True)
        found.add(digest(folder, text))
    assert len(found) == 1
    assert digest(tmp_path / "one", text.replace("NAME", "OTHER")) not in found
