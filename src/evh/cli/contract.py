"""`evh contract`: what a consumer relies on, recorded, shown, and held against the schemas.

Promise: exit code 0 only when nothing that a contract names is broken; each break is told with its place in the
contract and in the schema. Nothing but the output file of `record` is written. Policy: the look of the report.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evh.cli._args import DONE, FAILED, Once, Parser, action_of, add_json
from evh.errors import SourceError, UsageError

if TYPE_CHECKING:
    from evh.protocol.models import Contract, ContractMember
    from evh.testing._schema_paths import SchemaSet

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh contract: what a consumer relies on, and would a change break it

Usage
  evh contract check FILE... [OPTIONS]
  evh contract show FILE... [OPTIONS]
  evh contract record -o FILE --name NAME PROGRAM [ARGUMENTS]

A contract is a small file (TOML or JSON, the type Contract) in which the author
of a program says which types and members it reads and writes, which tags it
knows and which Python names it imports. docs/contracts.md shows one.

check holds contracts against the installed schemas and package, or with
--schema against other schemas: those of the next release, say. Each break is
told with its place in the contract and in the schema.

show prints what contracts rely on.

record runs a Python program, PROGRAM.py or the name of a module (pytest, with
its arguments), and notes the members that it reads. What it exits with counts.
An option of the program comes after --.

Options
  --schema PATH     check: a folder of schemas (schema/v1), or the record of a
                    release (schema/released/1.0.json)
  --no-names        check: the Python names are not looked for
  -o FILE, --output FILE
                    record: the file to write, .toml or .json
  --name NAME       record: the consumer's name
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    nothing is broken; recorded
  1    a contract is broken, or cannot be read; the recorded program failed
  2    wrong usage
  130  interrupted

Examples
  evh contract check contract.toml
  evh contract check contracts/*.toml --schema schema/v1 --no-names
  evh contract show contract.toml --json
  evh contract record -o contract.toml --name viewer pytest tests/
"""

ACTIONS: dict[str, tuple[str, ...]] = {"check": ("schema", "no_names"), "show": (), "record": ("output", "name")}
"""What the command can do, and the options that belong to each alone."""


def parser() -> Parser:
    made = Parser("contract")
    made.add_argument("action", nargs="?", metavar="check")
    made.add_argument("files", nargs="*", metavar="FILE")
    made.add_argument("--schema", action=Once)
    made.add_argument("--no-names", action="store_true")
    made.add_argument("-o", "--output", action=Once)
    made.add_argument("--name", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Do what the options ask for; returns the exit code."""
    action = action_of(options, "contract", ACTIONS)
    if not options.files:
        raise UsageError("name the program to run" if action == "record" else "name the contract, or several")
    status: int = {"check": _check, "show": _show, "record": _record}[action](options)
    return status


def _check(options: argparse.Namespace) -> int:
    from evh.testing.contracts import check_contract, load_contract

    schemas = None if options.schema is None else _schemas(Path(options.schema))
    checked = []
    for file in options.files:
        contract = load_contract(file)
        checked.append((file, contract, check_contract(contract, schemas, names=not options.no_names)))
    broken = any(found for _, _, found in checked)
    if options.json:
        from evh.cli._data import json_text

        contracts = [
            {"file": file, "name": contract.name, "broken": [each._asdict() for each in found]}
            for file, contract, found in checked
        ]
        print(json_text({"ok": not broken, "contracts": contracts}))
        return FAILED if broken else DONE
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    for file, contract, found in checked:
        said = plural(len(found), "break") if found else _size(contract)
        screen.line(screen.sign(not found), f" {printable(contract.name)} ({printable(file)}): {said}")
        for each in found:
            screen.line(f"    {printable(each.pointer)}: {printable(each.message)}", (f"  [{each.kind}]", "dim"))
            if each.place:
                screen.line(f"        {printable(each.place)}")
    return FAILED if broken else DONE


def _schemas(path: Path) -> SchemaSet:
    from evh.testing._schema_paths import SchemaSet

    if not path.exists():
        raise SourceError("no such file or folder of schemas", source=str(path))
    return SchemaSet.at(path)


def _show(options: argparse.Namespace) -> int:
    from evh.testing.contracts import contract_text, load_contract

    contracts = [(file, load_contract(file)) for file in options.files]
    if options.json:
        import json

        from evh.cli._data import json_text

        data = [{"file": file, "contract": json.loads(contract_text(contract))} for file, contract in contracts]
        print(json_text({"contracts": data}))
        return DONE
    from evh.cli._terminal import Column, Part, Screen, printable, table

    screen = Screen()
    for number, (file, contract) in enumerate(contracts):
        if number:
            screen.line()
        screen.line((printable(contract.name), "bold"), f" ({printable(file)}): {_size(contract)}")
        if contract.about:
            screen.line(f"  {printable(contract.about)}")
        rows: list[list[Part]] = []
        for each in contract.types:
            for use, members in (("reads", each.reads), ("writes", each.writes)):
                for member in members:
                    rows.append([use, printable(each.type + member.path), printable(_terms(member))])
        if rows:
            table(screen, [Column(""), Column("member"), Column("as", least=20)], rows)
        for name in contract.names:
            screen.line(f"  imports {printable(name)}")
    return DONE


def _terms(member: ContractMember) -> str:
    """What a contract says of a member, in words."""
    said = [" or ".join(member.types)]
    if member.values:
        said.append(("only " if member.exhaustive else "") + ", ".join(member.values))
    if member.needed:
        said.append("always there")
    return "; ".join(each for each in said if each)


def _size(contract: Contract) -> str:
    from evh.cli._terminal import plural

    members = sum(len(each.reads) + len(each.writes) for each in contract.types)
    return (
        f"{plural(members, 'member')} of {plural(len(contract.types), 'type')}, {plural(len(contract.names), 'name')}"
    )


def _record(options: argparse.Namespace) -> int:
    """The program runs in a process of its own, whose exit code is ours when it fails."""
    if options.output is None or options.name is None:
        raise UsageError("say where to write and whose contract it is: evh contract record -o FILE --name NAME PROGRAM")
    program, *arguments = (each.removeprefix("./") if each.startswith("./-") else each for each in options.files)
    command = [sys.executable, "-m", "evh.testing.recorder", "-o", options.output, "--name", options.name]
    done = subprocess.run([*command, program, *arguments], stdout=2 if options.json else None, check=False)
    written = Path(options.output)
    if options.json:
        from evh.cli._data import json_text

        print(json_text({"ok": done.returncode == 0, "path": options.output, "program_exit": done.returncode}))
    elif written.exists():
        from evh.cli._terminal import Screen, printable
        from evh.testing.contracts import load_contract

        Screen(sys.stderr).line(f"{printable(options.output)}: {_size(load_contract(options.output))}")
    return DONE if done.returncode == 0 else FAILED
