"""`python -m codegen` writes everything generated; `--check` compares instead and fails on any difference.

`python -m codegen compat` compares the schemas with a version of before: see `codegen/compat/command.py`.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .bundle import bundle
from .compat.command import main as compat
from .open_objects import known_module, open_module, slots_module
from .package import models_module
from .pages import reference_pages
from .profile import lint
from .shapes import Contract
from .structs import GenerationError, generate_structs
from .tables import tables_module
from .typescript import TYPESCRIPT, typescript_modules
from .vectors import UPGRADE, VECTORS, upgrade_vectors, vector_files

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMAS = REPOSITORY / "schema" / "v1"
PROTOCOL = Path("src/evh/protocol")
HEADER = "# Generated from schema/v1 by `make generate` ({source}, sha256 {digest}). Edit the schema, not this file.\n"


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["compat"]:
        return compat(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the tree instead of writing")
    options = parser.parse_args(arguments)
    faults = lint(SCHEMAS)
    if faults:
        print("the schemas leave their profile (schema/PROFILE.md):", *faults, sep="\n  ", file=sys.stderr)
        return 1
    contract = Contract(SCHEMAS)
    try:
        if options.check:
            return compare(generate(contract))
        kept = REPOSITORY / UPGRADE
        outputs = generate(contract, upgrades=kept.read_text("utf-8") if kept.exists() else "")
        status = write(outputs)
        # Rows are upgraded by the code that was just written.
        return status or write(outputs | vector_files(contract, SCHEMAS, upgrade_vectors()))
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1


def generate(contract: Contract, *, upgrades: str | None = None) -> dict[Path, str]:
    """Every generated file below the repository, with its text; `upgrades` are the vectors of the upgrade, which
    are made anew when they are not given."""
    whole = _digest("".join(_digest(path.read_text("utf-8")) for path in sorted(SCHEMAS.glob("*.json"))))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        modules = {
            PROTOCOL / "models" / "__init__.py": models_module(contract),
            PROTOCOL / "models" / "_open.py": open_module(contract),
            PROTOCOL / "models" / "_slots.py": slots_module(contract),
            PROTOCOL / "models" / "_known.py": known_module(contract),
            PROTOCOL / "tables.py": tables_module(contract),
        }
        modules = {path: HEADER.format(source="all files", digest=whole) + text for path, text in modules.items()}
        for name, text in generate_structs(contract, work).items():
            source = f"{Path(name).stem}.json"
            digest = _digest((SCHEMAS / source).read_text("utf-8"))
            modules[PROTOCOL / "models" / name] = HEADER.format(source=source, digest=digest) + _body(text, source)
        outputs = _formatted(modules, work / "formatted")
    for path in sorted(SCHEMAS.glob("*.json")):
        outputs[PROTOCOL / "schemas" / path.name] = path.read_text("utf-8")
    for file in contract.files:
        if file.removesuffix(".json") in contract.roots():
            text = json.dumps(bundle(contract, file), indent=1, ensure_ascii=False) + "\n"
            outputs[PROTOCOL / "schemas" / "bundled" / file] = text
    outputs |= reference_pages(contract)
    outputs |= typescript_modules(
        contract, {file: _digest((SCHEMAS / file).read_text("utf-8")) for file in contract.files}
    )
    outputs |= vector_files(contract, SCHEMAS, upgrade_vectors() if upgrades is None else upgrades)
    return outputs


def _body(text: str, source: str) -> str:
    """The tool's module with our docstring in place of its comment lines."""
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    title = source.removesuffix(".json").replace("_", " ")
    return f'"""The closed types of `schema/v1/{source}`: {title}."""\n' + "\n".join(lines) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _formatted(modules: dict[Path, str], folder: Path) -> dict[Path, str]:
    for path, text in modules.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    config = ["--config", str(REPOSITORY / "pyproject.toml"), "--no-cache"]
    ruff = [sys.executable, "-m", "ruff"]
    for command in (
        ["check", "--quiet", "--fix", "--select", "I,F401,UP,RUF022", *config],
        ["format", "--quiet", *config],
    ):
        done = subprocess.run([*ruff, *command, str(folder)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise GenerationError(f"ruff {command[0]}: {done.stdout}{done.stderr}")
    return {path: (folder / path).read_text("utf-8") for path in modules}


def _existing() -> set[Path]:
    folders = (PROTOCOL / "models", PROTOCOL / "schemas", Path("docs/reference"), TYPESCRIPT, VECTORS)
    found = {path.relative_to(REPOSITORY) for each in folders for path in (REPOSITORY / each).rglob("*")}
    kinds = {".py", ".json", ".jsonl", ".md", ".ts"}
    return {path for path in found if path.suffix in kinds and path != VECTORS / "README.md"}


def write(outputs: dict[Path, str]) -> int:
    for path in _existing() - outputs.keys():
        (REPOSITORY / path).unlink()
    for path, text in outputs.items():
        target = REPOSITORY / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text("utf-8") != text:
            target.write_text(text, "utf-8")
            print(f"wrote {path}")
    return 0


def compare(outputs: dict[Path, str]) -> int:
    stale = 0
    for path in sorted(_existing() | outputs.keys()):
        target = REPOSITORY / path
        old = target.read_text("utf-8") if target.exists() else ""
        new = outputs.get(path, "")
        if old != new:
            stale = 1
            sys.stderr.writelines(
                difflib.unified_diff(
                    old.splitlines(True), new.splitlines(True), f"{path} (tree)", f"{path} (generated)"
                )
            )
    if stale:
        print("generated files differ from the schemas: run `make generate`", file=sys.stderr)
    return stale


if __name__ == "__main__":
    sys.exit(main())
