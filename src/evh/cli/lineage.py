"""`evh lineage`: how a run came to be, derivation by derivation, and whether its numbers would come out again.

Promise: a source that is gone is told, not refused: the chain in the record says what it was. A chain that comes back
to itself is a finding. Nothing is written, and no scorer is run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import SourceError

if TYPE_CHECKING:
    from evh.harness.lineage import Step
    from evh.store.run_dir import RunDir

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh lineage: what a run was derived from, step by step

Usage
  evh lineage RUN [OPTIONS]

Prints the derivations of a run, the newest first: what was done, when, with
what, from which run, and whether that run and the files that scored are still
as they were. A measured run has none. Files that changed mean that the numbers
would not come out again; a source that is gone is told and is no fault.

Options
  RUN          the folder of a run, or its name in the runs directory
  --root DIR   the folder that holds data/ (default: the current one)
  --json       print the same as data
  -h, --help   this page

Exit codes
  0    printed
  1    the chain comes back to itself or is too deep, or there is no such run
  2    wrong usage
  130  interrupted

Examples
  evh lineage data/runs-rescored/small_20261004T081530Z
  evh lineage data/runs-judged/helpful/small_20261004T081530Z
  evh lineage small_20261004T081530Z --json
"""


def parser() -> Parser:
    made = Parser("lineage")
    made.add_argument("run", metavar="RUN")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Print the lineage of a run; returns the exit code."""
    from evh.harness.lineage import lineage
    from evh.harness.project import Project
    from evh.store.run_dir import open_run_dir

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    path = Path(options.run)
    if not path.is_dir() and (project.runs / options.run).is_dir():
        path = project.runs / options.run
    found = open_run_dir(path)
    record = found.record
    if record is None:
        raise SourceError("has no record: it is not finished", source=str(path))
    chain = lineage(found)
    steps = [_as_data(step, project.root, project.portable(step.path)) for step in chain.steps]
    if options.json:
        from evh.cli._data import json_text

        about = {"ok": not chain.faults, "run": project.portable(path), "created_at": record.created_at}
        sys.stdout.write(json_text(about | {"derivations": steps, "faults": chain.faults}) + "\n")
    else:
        _show(found, project.portable(path), steps, chain.faults)
    return FAILED if chain.faults else DONE


def _as_data(step: Step, root: Path, shown: str) -> dict[str, Any]:
    from evh.harness.lineage import changed_since

    return {
        "derived": step.block,
        "source": shown,
        "source_created_at": None if step.source is None else step.source.created_at,
        "note": step.note,
        "changed": changed_since(step, root),
    }


def _show(run: RunDir, shown: str, steps: list[dict[str, Any]], faults: list[str]) -> None:
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    record = run.record
    made = "" if record is None else record.created_at
    what = plural(len(steps), "derivation") if steps or faults else "measured"
    screen.line(f"{printable(shown)}: {what}, {made}")
    for depth, step in enumerate(steps, 1):
        block = step["derived"]
        with_ = block.get("with", {})
        by = with_.get("scorer") if isinstance(with_.get("scorer"), str) else None
        by = with_.get("parser") or by or with_.get("adapter") or "?"
        indent = "  " * depth
        screen.line(f"{indent}{printable(str(block.get('kind')))} by {printable(str(by))}, {block.get('at')}")
        at = step["source_created_at"]
        screen.line(f"{indent}  from {printable(step['source'])}" + ("" if at is None else f", {at}"))
        if step["note"] is not None:
            screen.line(f"{indent}  {printable(step['note'])}")
        for each in step["changed"]:
            screen.line(f"{indent}  would not come out again: {printable(each)}")
    for fault in faults:
        screen.line(screen.sign(False), f" {printable(fault)}")
