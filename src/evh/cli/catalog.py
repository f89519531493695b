"""`evh catalog`: every arm of one or more runs directories, by its address.

Promise: what the library's `HarnessAdapter` says, one entry an arm. What is left out is named, and
makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import cut

if TYPE_CHECKING:
    from evh.cli._tabled import Value
    from evh.stats.catalog import Entry, HarnessAdapter

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh catalog: every arm there is, by its address

Usage
  evh catalog [DIR ...] [OPTIONS]

DIRs are folders of runs (default: data/runs, or EVAL_RUNS_DIR, and every
data/runs-* beside it, with what is directly below data/runs-judged). The
address of an arm, <runs dir>/<dataset id>/<config id>, is what pair-test and
the others take.

Options
  --dataset-id ID   only the arms of one dataset
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print everything as data
  -h, --help        this page

Exit codes
  0    listed, be there arms or none
  1    something was left out (unreadable, or no set of repeats)
  2    wrong usage
  130  interrupted

Examples
  evh catalog
  evh catalog data/runs-judged/style --json
  evh catalog --dataset-id questions_v1
"""


def parser() -> Parser:
    made = Parser("catalog")
    made.add_argument("folders", nargs="*", metavar="DIR")
    made.add_argument("--dataset-id", action=Once)
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """List the arms; returns the exit code."""
    from evh.cli._data import as_data
    from evh.harness.project import Project
    from evh.stats.catalog import HarnessAdapter

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    folders = [Path(each) for each in options.folders]
    if not folders:  # as they are named from here, so that an address can be given to another command
        folders = [Path(os.path.relpath(each)) for each in _folders(project.runs, project.data)]
    catalog = HarnessAdapter(*folders) if folders else None
    entries = [] if catalog is None else list(catalog.entries(options.dataset_id))
    good = catalog is None or not catalog.faults
    if options.json:
        from evh.cli._data import json_text

        faults = [] if catalog is None else [as_data(each) for each in catalog.faults]
        unfinished = [] if catalog is None else catalog.unfinished
        data = {"arms": [as_data(each) for each in entries], "unfinished": unfinished, "faults": faults}
        print(json_text({"ok": good} | data))
    else:
        _show(entries, catalog, options.dataset_id)
    return DONE if good else FAILED


def _folders(runs: Path, data: Path) -> list[Path]:
    """Where runs are kept, as far as it exists; a folder of folders of judged runs stands for those."""
    found = [runs]
    for each in sorted(data.glob("runs-*")):
        found += sorted(each.iterdir()) if each.name == "runs-judged" and each.is_dir() else [each]
    return [each for each in found if each.is_dir() and not each.name.startswith(".")]


def _show(entries: list[Entry], catalog: HarnessAdapter | None, dataset_id: str | None) -> None:
    from evh.cli._tabled import known, print_notices, print_table
    from evh.cli._terminal import Screen, plural

    screen = Screen()
    if entries:
        names = ["address", "runs", "items", "failed", "primary", "value", "cost of a pass", "kind", "last"]
        rows: list[list[Value]] = []
        for each in entries:
            value = each.metrics.get(each.primary or "")
            over = "" if value is None or value.n == each.n_items else f" over {value.n} of {each.n_items}"
            primary = None if each.primary is None else each.primary + over
            cells: list[Value] = [each.address, len(each.run_ids), each.n_items, each.failed, primary]
            cells += [None if value is None else value.value, each.per_pass, "+".join(each.kinds), each.created_at[1]]
            rows.append(cells)
        columns, rows = known([(name, name == "address") for name in names], rows, "cost of a pass")
        print_table(screen, columns, rows)
    else:
        of = "" if dataset_id is None else f" of the dataset {cut(dataset_id)}"
        but = " but what was left out" if catalog is not None and catalog.faults else ""
        screen.line(f"no arms: there is no finished run{of}{but}")
    if catalog is None:
        return
    if catalog.unfinished:
        screen.line(f"{plural(len(catalog.unfinished), 'unfinished run')} left out")
    notices = [f"{each.address} {flag}" for each in entries for flag in each.flags]
    notices += [notice for each in entries for notice in each.notices]
    print_notices(screen, notices + [f"left out: {each.path}: {each.why}" for each in catalog.faults])
