"""`evh schema`: the JSON Schemas that came with the package."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from evh.cli._args import DONE, Parser, add_json, closest
from evh.errors import UsageError

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh schema: print the JSON Schema of a type, or list the types

Usage
  evh schema [NAME] [OPTIONS]

Without NAME, lists the types with a line on each. NAME is a type (Episode,
MessageNode) or a schema file (episode, episode.json); capitals do not matter.
The schemas are of Draft 2020-12.

Options
  --bundle     one document that needs no other: the rest stands below $defs
  --json       list the types as data (a schema is data anyway)
  -h, --help   this page

Exit codes
  0    done
  1    the schema files cannot be read
  2    wrong usage, or no such type

Examples
  evh schema
  evh schema Episode
  evh schema Episode --bundle > episode.schema.json
"""


def parser() -> Parser:
    made = Parser("schema")
    made.add_argument("name", nargs="?", metavar="NAME")
    made.add_argument("--bundle", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Print the schema or the list that the options ask for."""
    if options.name is not None:
        from evh.protocol.engine import json_schema

        schema = json_schema(_address(options.name), options.bundle)
        sys.stdout.write(json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        return DONE
    if options.bundle:
        raise UsageError("--bundle needs the NAME of a type")
    files = _listed()
    if options.json:
        from evh.cli._data import json_text

        sys.stdout.write(json_text({"types": files}) + "\n")
    else:
        _print(files)
    return DONE


def _listed() -> list[dict[str, Any]]:
    """Every schema file, its type, what that is, and the types defined in it."""
    from evh.protocol.engine import packaged

    schemas = packaged()
    listed = []
    for stem in schemas.names():
        schema = schemas.json_schema(stem)
        defined = schema.get("$defs", {}).items()
        listed.append(
            {
                "type": schema.get("title", stem),
                "file": f"{stem}.json",
                "description": _first_sentence(schema.get("description", "")),
                "definitions": {name: _first_sentence(each.get("description", "")) for name, each in defined},
            }
        )
    return listed


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".")


def _address(name: str) -> str:
    """Where a schema is: a file's stem, or `stem#Definition`. Raises `UsageError` with what is close."""
    from evh.protocol.engine import packaged

    schemas = packaged()
    files: dict[str, str] = {}
    definitions: dict[str, str] = {}
    for stem in schemas.names():
        schema = schemas.json_schema(stem)
        definitions |= {each: f"{stem}#{each}" for each in schema.get("$defs", {})}
        files[schema.get("title", stem)] = files[stem] = files[f"{stem}.json"] = stem
    known = files | {each: address for each, address in definitions.items() if each not in files}
    wanted = name.rpartition("#")[2].lower()
    for each, address in known.items():
        if each.lower() == wanted and ("#" not in name or address.partition("#")[0] == name.partition("#")[0]):
            return address
    names = [each for each in known if not each.endswith(".json")]
    raise UsageError(f"there is no type {name!r}{closest(name, names, '`evh schema` lists them')}")


def _print(files: list[dict[str, Any]]) -> None:
    from evh.cli._terminal import Column, Part, Screen, table

    screen = Screen()
    rows: list[tuple[Part, Part, Part]] = [
        ((file["type"], "bold"), file["file"], file["description"].replace("`", "")) for file in files
    ]
    table(screen, [Column("type"), Column("file"), Column("what it is", least=20)], rows)
    screen.line()
    import textwrap

    for file in files:
        names = [name for name in file["definitions"] if name != file["type"]]
        if names:
            screen.line((f"also in {file['file']}", "dim"))
            for line in textwrap.wrap(", ".join(names), min(screen.width, 100) - 2):
                screen.line(f"  {line}")
