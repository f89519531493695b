"""The public surface is each package's `__all__`, held against a committed list: `exports.txt`.

A name that comes or goes is a decision: it changes the list in the same commit, by
`python -m tests.repository.test_exports`, and the difference is reviewed.
"""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import evh

LIST = Path(__file__).with_name("exports.txt")
SOURCE = Path(__file__).parents[2] / "src"


def committed() -> dict[str, list[str]]:
    """Package to names, from lines `package: name name …`; an indented line goes on."""
    surfaces: dict[str, list[str]] = {}
    package = ""
    text = LIST.read_text("utf-8") if LIST.exists() else ""
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            package, _, line = line.partition(":")
            surfaces[package] = []
        surfaces[package] += line.split()
    return surfaces


def packages() -> Iterator[str]:
    """Every public package, and every public module that has an `__all__` of its own at the first level."""
    for path in sorted((SOURCE / "evh").rglob("__init__.py")):
        parts = path.parent.relative_to(SOURCE).parts
        if not any(part.startswith("_") for part in parts):
            yield ".".join(parts)
    yield "evh.errors"


@pytest.mark.parametrize("package", sorted(set(packages()) | committed().keys()))
def test_the_surface_is_the_committed_one(package: str) -> None:
    module = importlib.import_module(package)
    assert sorted(getattr(module, "__all__", [])) == sorted(committed().get(package, []))


@pytest.mark.parametrize("package", sorted(committed()))
def test_every_exported_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_the_top_level_lists_what_it_loads() -> None:
    assert dir(evh) == sorted(evh.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        evh.no_such_name  # noqa: B018


def test_every_public_name_is_documented() -> None:
    undocumented = [
        name
        for name in evh.__all__
        if callable(value := getattr(evh, name)) and not (getattr(value, "__doc__", None) or "").strip()
    ]
    assert undocumented == []


def write() -> None:
    """Put today's surface into the list."""
    parts = [
        "# The public names, by package. Written by `python -m tests.repository.test_exports`, reviewed like code.\n"
    ]
    for package in sorted(packages()):
        names = " ".join(sorted(getattr(importlib.import_module(package), "__all__", [])))
        if names:
            parts.append(
                f"\n{package}:\n{textwrap.fill(names, 110, initial_indent='    ', subsequent_indent='    ')}\n"
            )
    LIST.write_text("".join(parts), "utf-8")


if __name__ == "__main__":
    write()
