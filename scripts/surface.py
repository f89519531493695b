"""The public surface of the package, held against that of the last release.

`python scripts/surface.py --check` compares and ends with 1 when a change would break a program that imports `evh`: a
name, a parameter or a member that is gone, a parameter that is new and required, a default or kind that changed.
`python scripts/surface.py --release` records the surface of this tree as released, in `tests/repository/surface/`: a
stub for each public package, reviewed like code.

Promise: what is compared is each package's `__all__`, resolved: functions with their parameters, classes with their
bases, members and methods, inherited ones included; griffe tells what breaks. A break that is meant is answered by a
line in CHANGELOG.md, above the heading of the version that was released:

    - Break for importers: `evh.Trace.reward`: why, and what to do.

Policy: annotations are shown in the stubs and break nobody.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import griffe

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codegen.compat.acknowledged import Acknowledgement, acknowledgements

ROOT = Path(__file__).resolve().parents[1]
SURFACE = ROOT / "tests" / "repository" / "surface"
CHANGES = ROOT / "CHANGELOG.md"
INDEX = "released.json"
CALLED = ("__init__", "__call__", "__enter__", "__exit__", "__iter__", "__len__", "__getitem__")
PLUMBING = frozenset(
    {
        "additional", "checked", "construction_plan", "known", "known_type", "left_out_of_json", "minting_plan",
        "omitted_when_empty", "over", "read", "read_strict", "record_name",
    }
)  # fmt: skip
"""Attributes of record classes that the codec works with."""


class Break(NamedTuple):
    """A change that breaks importers: the dotted name, and what griffe says of it."""

    name: str
    why: str


def stubs() -> dict[str, str]:
    """The surface of this tree: a stub by the name of its package."""
    tree = griffe.load("evh", search_paths=[ROOT / "src"], resolve_aliases=True, resolve_external=False)
    found = {}
    for module in _modules(tree):
        names = sorted(str(name) for name in module.exports or ())
        if names:
            parts = [part for name in names for part in _object(name, module)]
            found[module.path] = "\n".join([*parts, ""])
    return found


def _modules(module: Any) -> Iterator[Any]:
    """The public packages and modules with a surface of their own, top down."""
    yield module
    for name, member in sorted(module.modules.items()):
        if not name.startswith("_") and (member.is_init_module or member.path == "evh.errors"):
            yield from _modules(member)


def _object(name: str, module: Any) -> list[str]:
    """A public name as lines of a stub."""
    try:
        found = module[name]
        found = found.final_target if found.is_alias else found
        if found.is_module and name in found.members:  # a function that is named like its module
            found = found[name]
    except (KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError):
        return [f"{name}: object"]
    if found.is_class:
        return _class(name, found)
    if found.is_function:
        return [_function(name, found)]
    return [f"{name}: object" if found.is_module else f"{name}: {_text(found.annotation) or 'object'}"]


def _class(name: str, found: Any) -> list[str]:
    lines = []
    for member, value in sorted({**found.inherited_members, **found.members}.items()):
        if member in PLUMBING or (member.startswith("_") and member not in CALLED):
            continue
        value = value.final_target if value.is_alias else value
        if value.is_function:
            lines += [f"    {each}" for each in _method(member, value)]
        elif value.is_attribute:
            default = " = ..." if value.value is not None or "property" in value.labels else ""
            lines.append(f"    {member}: {_text(value.annotation) or 'object'}{default}")
    return [f"class {name}:", *(lines or ["    pass"])]


def _method(name: str, found: Any) -> list[str]:
    for label, decorator in (("staticmethod", "@staticmethod"), ("classmethod", "@classmethod")):
        if label in found.labels:
            return [decorator, _function(name, found)]
    return [_function(name, found)]


def _function(name: str, found: Any) -> str:
    parts: list[str] = []
    kinds = [parameter.kind.value for parameter in found.parameters]
    for index, parameter in enumerate(found.parameters):
        kind = kinds[index]
        if (
            kind == "keyword-only"
            and "variadic positional" not in kinds[:index]
            and "keyword-only" not in kinds[:index]
        ):
            parts.append("*")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        default = "" if parameter.default is None or stars else f"={_default(parameter.default)}"
        parts.append(f"{stars}{parameter.name}{default}")
        if kind == "positional-only" and kinds[index + 1 : index + 2] != ["positional-only"]:
            parts.append("/")
    return f"def {name}({', '.join(parts)}): ..."


def _default(value: Any) -> str:
    """A default as it can stand in a stub on its own: a literal as it is, anything else by its text."""
    text = str(value)
    try:
        compile(text, "default", "eval")
    except SyntaxError:
        return repr(text)
    return text


def _text(annotation: Any) -> str:
    return " ".join(str(annotation).split()) if annotation is not None else ""


def breaks(old: dict[str, str], new: dict[str, str]) -> list[Break]:
    """What a program that imports the old surface would miss in the new one, by name."""
    found = []
    for package, text in old.items():
        if package not in new:
            found.append(Break(package, "the package is gone, or has no public names any more"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            before, after = (_loaded(each, Path(folder), side) for each, side in ((text, "old"), (new[package], "new")))
            for each in griffe.find_breaking_changes(before, after):
                name = f"{package}.{each.obj.path.partition('.')[2]}"
                if each.kind.name.startswith("PARAMETER"):
                    parameter = each.old_value if hasattr(each.old_value, "name") else each.new_value
                    name = f"{name}({getattr(parameter, 'name', '')})"
                found.append(Break(name, str(each.kind.value).rstrip(".")))
            found += [Break(f"{package}.{name}", "must be given now") for name in _newly_required(before, after)]
    return sorted(set(found))


def _newly_required(before: Any, after: Any) -> Iterator[str]:
    """Members of records that had a default: griffe leaves the values of attributes alone."""
    for name, old in before.classes.items():
        now = after.classes[name].attributes if name in after.classes else {}
        for member, attribute in old.attributes.items():
            if attribute.value is not None and member in now and now[member].value is None:
                yield f"{name}.{member}"


def _loaded(text: str, folder: Path, side: str) -> Any:
    path = folder / side / "surface.pyi"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return griffe.visit("surface", path, text)


def released() -> tuple[str, dict[str, str]]:
    """The version that was released, and its surface."""
    version = json.loads((SURFACE / INDEX).read_text("utf-8"))["version"]
    return version, {path.stem: path.read_text("utf-8") for path in sorted(SURFACE.glob("*.txt"))}


def answered(changes: str, version: str) -> list[Acknowledgement]:
    """The answers to breaks since a version was released."""
    return acknowledgements(changes.partition(f"\n## {version}\n")[0])


def check(old: dict[str, str], new: dict[str, str], answers: list[Acknowledgement]) -> list[str]:
    """What is to be done: breaks that nobody answered for, and answers to no break."""
    found = breaks(old, new)
    importers = [each for each in answers if "importers" in each.audience]
    said = [f"{each.name}: {each.why}" for each in found if not any(line.covers(each.name) for line in importers)]
    idle = [line.place for line in importers if not any(line.covers(each.name) for each in found)]
    return said + [f"CHANGELOG.md: a break is acknowledged at {place}, and there is none" for place in idle]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/surface.py")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--check", action="store_true", help="compare with the last release")
    group.add_argument("--release", action="store_true", help="record the surface of this tree as released")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    if options.release:
        from evh._version import __version__

        SURFACE.mkdir(exist_ok=True)
        for path in SURFACE.glob("*.txt"):
            path.unlink()
        for package, text in stubs().items():
            (SURFACE / f"{package}.txt").write_text(text, "utf-8")
        (SURFACE / INDEX).write_text(json.dumps({"version": __version__}) + "\n", "utf-8")
        print(f"recorded the public surface of {__version__} in {SURFACE.relative_to(ROOT)}")
        return 0
    version, old = released()
    todo = check(old, stubs(), answered(CHANGES.read_text("utf-8"), version))
    if todo:
        print(f"the public surface breaks programs that import {version}:", *todo, sep="\n  ", file=sys.stderr)
        print(
            "A break that is meant is answered in CHANGELOG.md, below a new heading:\n"
            "  - Break for importers: `evh.name`: why, and what to do",
            file=sys.stderr,
        )
        return 1
    print(f"the public surface holds what {version} had")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
