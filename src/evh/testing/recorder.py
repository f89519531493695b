"""A contract, noted from what a program does: the members that it reads from records, the names that it imports.

    with recording("viewer") as noted:
        show(evh.read_episodes("traces.jsonl"))
    Path("contract.toml").write_text(contract_text(noted.contract(), toml=True))

`python -m evh.testing.recorder -o FILE --name NAME SCRIPT.py|MODULE ARGUMENTS…` runs a program so, and the pytest
option `--evh-contract FILE` a test suite.

Promise: every attribute of a record that the program's own code reads is noted, by type, with the tags that were seen
and the JSON types that the schemas of now allow, so that a contract just recorded holds. What this package reads in
between is not noted, nor what pytest and the standard library read. Attributes that are no members (`trace.reward`) are
noted as names. Nothing is changed but the time that a read takes.
Policy: imports are read from the source text of the modules that read records. Only one recording at a time.
When it breaks: a contract is too small, and its consumer is not warned.
"""

from __future__ import annotations

import argparse
import ast
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import EvhError, UsageError, WriteError

if TYPE_CHECKING:
    from evh.protocol.models import Contract

__all__ = ["Recording", "recording"]

SEEN_VALUES = 50
"""So many different texts of one member are remembered; tags are few."""
NOT_CONSUMERS = frozenset({"evh", "_pytest", "pytest", "pluggy", "xdist", "execnet", "hypothesis", "msgspec"})


class Recording:
    """What has been noted so far."""

    def __init__(self, name: str, about: str | None = None, modules: Sequence[str] = ()) -> None:
        self.name = name
        self.about = about
        self.modules = tuple(modules)
        self.reads: dict[tuple[str, str], set[str]] = {}
        self.attributes: set[str] = set()
        self.sources: set[str] = set()

    def is_consumer(self, module: str) -> bool:
        """Whether what a module reads counts: the modules that were named and what is in them, else all but our own."""
        if self.modules:
            return any(module == each or module.startswith(f"{each}.") for each in self.modules)
        top = module.partition(".")[0]
        return top == "__main__" or (top not in NOT_CONSUMERS and top not in sys.stdlib_module_names)

    def note(self, type_name: str, member: str, value: Any) -> None:
        values = self.reads.setdefault((type_name, member), set())
        if isinstance(value, str) and len(values) < SEEN_VALUES:
            values.add(value)

    def contract(self) -> Contract:
        """The contract as noted so far."""
        from evh.protocol._finish import SCHEMA_VERSION
        from evh.protocol.models import Contract, ContractMember, ContractType
        from evh.testing._schema_paths import SchemaSet

        schemas = SchemaSet.packaged()
        by_type: dict[str, list[ContractMember]] = {}
        for (type_name, member), seen in sorted(self.reads.items()):
            path = "/" + member.replace("~", "~0").replace("/", "~1")
            spots = schemas.along(type_name, path)
            types = [schemas.types(spot) for spot in spots]
            listed = {value for spot in spots for value in schemas.values(spot) or ()}
            noted = ContractMember(
                path=path,
                types=[] if None in types else _ordered({kind for each in types for kind in each or ()}),
                values=sorted(seen & listed),
            )
            by_type.setdefault(type_name, []).append(noted)
        return Contract(
            name=self.name,
            about=self.about,
            schema_version=SCHEMA_VERSION,
            types=[ContractType(type=name, reads=members) for name, members in by_type.items()],
            names=sorted(self.attributes | self._imported()),
        )

    def _imported(self) -> set[str]:
        """The names of this package that the consumer's modules import, from their source."""
        named = {each for name, each in list(sys.modules.items()) if self.modules and self.is_consumer(name)}
        paths = self.sources | {str(getattr(each, "__file__", "")) for each in named}
        found = {name for path in paths if path.endswith(".py") for name in _imports_of(Path(path))}
        return found - {"evh.testing:recording"}

    def data(self) -> dict[str, Any]:
        """What was noted, as plain values: for another process."""
        return {
            "reads": [[*key, sorted(values)] for key, values in sorted(self.reads.items())],
            "names": sorted(self.attributes | self._imported()),
        }

    def merge(self, data: dict[str, Any]) -> None:
        """Add what another process noted."""
        for type_name, member, values in data["reads"]:
            self.reads.setdefault((type_name, member), set()).update(values)
        self.attributes.update(data["names"])


@contextmanager
def recording(name: str, *, about: str | None = None, modules: Sequence[str] = ()) -> Iterator[Recording]:
    """Note what is read from records in this process while the block runs; `modules` are the consumer's own (default:
    all but this package, pytest and the standard library). Raises `UsageError` inside of another recording."""
    from evh.protocol._base import Model
    from evh.protocol._open import OpenObject

    if "__getattribute__" in vars(Model):
        raise UsageError("a recording is running already")
    noted = Recording(name, about, modules)
    bases: tuple[Any, ...] = (Model, OpenObject)
    for base in bases:
        base.__getattribute__ = _noting(noted)
    try:
        yield noted
    finally:
        for base in bases:
            del base.__getattribute__


def _noting(noted: Recording) -> Any:
    from evh.protocol.tables import CLASSES

    wire_names: dict[type, dict[str, str]] = {}

    def names_of(cls: Any) -> dict[str, str]:
        if cls not in wire_names:
            known = getattr(cls, "known", None)
            if known is None:
                known = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
            table = CLASSES.get(cls.__name__)
            wire_names[cls] = {**{each: each for each in table.members}, **known} if table else {}
        return wire_names[cls]

    def read(self: Any, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if name[:1] != "_":
            reader = sys._getframe(1).f_globals
            if noted.is_consumer(reader.get("__name__", "")):
                noted.sources.add(reader.get("__file__") or "")
                cls = type(self)
                wire = names_of(cls).get(name)
                if wire is not None and wire in CLASSES[cls.__name__].members:
                    noted.note(cls.__name__, wire, value)
                elif cls.__name__ in CLASSES:
                    noted.attributes.add(f"{_home(cls.__name__)}:{cls.__name__}.{name}")
        return value

    return read


def _home(name: str) -> str:
    """The package that shows a class: the top level, when it does."""
    return "evh" if name in getattr(sys.modules["evh"], "__all__", ()) else "evh.protocol.models"


def _imports_of(path: Path) -> set[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    as_evh: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "evh":
            found |= {f"{node.module}:{each.name}" for each in node.names if each.name != "*"}
        elif isinstance(node, ast.Import):
            as_evh |= {each.asname or "evh" for each in node.names if each.name == "evh"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in as_evh:
            found.add(f"evh:{node.attr}")
    return {name for name in found if not name.endswith("__")}


def _ordered(types: set[str]) -> Any:
    """JSON types as a contract lists them, null last."""
    return sorted(types, key=lambda kind: (kind == "null", kind))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m evh.testing.recorder")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    try:
        return _record(options.output, options.name, options.program, options.arguments)
    except EvhError as error:
        print(f"recording: {error}", file=sys.stderr)
        return 1


def _record(output: str, name: str, program: str, arguments: list[str]) -> int:
    from evh.testing.contracts import contract_text

    sys.path.insert(0, str(Path(program).resolve().parent) if program.endswith(".py") else str(Path.cwd()))
    if not (Path(program).is_file() if program.endswith(".py") else find_spec(program)):
        raise UsageError(f"there is no program {program!r}: name a script (x.py) or a module that Python can run")
    sys.argv = [program, *arguments]
    with recording(name) as noted:
        status = _ran(program)
        text = contract_text(noted.contract(), toml=output.endswith(".toml"))
    try:
        Path(output).write_text(text, "utf-8")
    except (OSError, ValueError) as error:
        raise WriteError(f"the contract cannot be written: {error}", source=output) from error
    return status


def _ran(program: str) -> int:
    """Run a script or a module as Python would; what it exits with."""
    try:
        if program.endswith(".py"):
            runpy.run_path(program, run_name="__main__")
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
