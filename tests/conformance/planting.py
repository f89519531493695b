"""Faults planted in our own reader, one at a time (`planted.json`), each in a process of its own: `python
planting.py` prints, a line each, the vector that caught it, or null.

The list has the form that the TypeScript client's has: a name, a file, a text in it that stands there once, what
stands there instead, and `also` more replacements. A text that is not there any more is an error, so that none rots.
The modules are changed as they are imported, by a loader in front of Python's own; no file is written.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = ROOT / "src" / "evh" / "protocol"
LIST = Path(__file__).with_name("planted.json")
CHUNK = 40
STRIDE = 13
SPECIAL = ("text", "canonical", "semantic")

Plant = dict[str, Any]
Files = dict[str, list[dict[str, Any]]]


class Planted(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Loads one module of ours from a changed source."""

    def __init__(self, path: Path, source: str) -> None:
        super().__init__("planted", str(path))
        self.source = source

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found is None or found.origin != self.path:
            return None
        self.name = name
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def get_code(self, name: str) -> Any:
        return compile(self.source, self.path, "exec")


def replacements(plant: Plant) -> list[tuple[str, str, str]]:
    """File, text and what stands there instead, of all places of one fault."""
    return [(plant["file"], plant["find"], plant["replace"]), *(tuple(each) for each in plant.get("also", ()))]


def changed(plant: Plant) -> dict[Path, str]:
    """The files that a fault changes, with their changed text."""
    sources: dict[Path, str] = {}
    for file, find, replace in replacements(plant):
        path = (PROTOCOL / file).resolve()
        source = sources.get(path) or path.read_text("utf-8")
        if source.count(find) != 1:
            raise SystemExit(f"{plant['name']}: {file} has {source.count(find)} times: {find}")
        sources[path] = source.replace(find, replace)
    return sources


def caught(plant: Plant, files: Files) -> str | None:
    """The name of the first vector that finds the fault; a reader that can't even be loaded is found by its import."""
    for path, source in changed(plant).items():
        sys.meta_path.insert(0, Planted(path, source))
    from evh.testing import reader
    from evh.testing.conformance import hold

    vectors = in_order(files, Path(plant["file"]).stem)
    for start in range(0, len(vectors), CHUNK):
        found = hold(reader.answer, vectors[start : start + CHUNK], reader.HELLO).disagreements
        if found:
            return found[0].vector
    return None


def in_a_child(plant: Plant, files: Files) -> str | None:
    """`caught`, in a copy of this process."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writable, json.dumps(caught(plant, files)).encode())
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as said:
        data = said.read()
    os.waitpid(child, 0)
    if not data:
        raise SystemExit(f"{plant['name']}: the planted reader fell")
    found: str | None = json.loads(data)
    return found


def load(folder: Path) -> Files:
    """The vectors by the stem of their file."""
    return {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        for path in sorted(folder.glob("*.jsonl"))
    }


def in_order(files: Files, near: str) -> list[dict[str, Any]]:
    """All vectors, so that most faults are met early: those of the module's own file, of the texts and rules, the rest
    spread."""
    left = dict(files)
    own = [name for name in files if near.startswith(name)]
    first = [each for name in (*own, *SPECIAL) for each in left.pop(name, ())]
    upgrades = left.pop("upgrade", [])
    rest = [each for name in left for each in left[name]]
    return first + [each for start in range(STRIDE) for each in rest[start::STRIDE]] + upgrades


def main() -> int:
    import jsonschema  # noqa: F401  loaded once, for all children
    import jsonschema_rs  # noqa: F401
    import msgspec  # noqa: F401
    import rfc8785  # noqa: F401

    files = load(ROOT / "schema" / "v1" / "vectors")
    assert not any(name.startswith("evh") for name in sys.modules), "the children must load the package themselves"
    for plant in json.loads(LIST.read_text("utf-8")):
        print(json.dumps({"name": plant["name"], "caught": in_a_child(plant, files)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    sys.exit(main())
