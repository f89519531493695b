"""`evh validate`: whether a tree of datasets, configs and runs holds together.

Promise: every rule runs, and says how much it looked at; one that had nothing to look at says so and is not `ok`.
Findings make exit code 1, notes do not; when no rule had anything to look at, that is a failure too. Policy: the look
of the report.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from evh.cli._args import DONE, FAILED, Parser, add_json, count
from evh.errors import SourceError

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh validate: say whether datasets, configs and runs hold together

Usage
  evh validate [DIR...] [OPTIONS]

A DIR is a project (the folder that has data/), its data/, a folder of runs, or
one run; without one it is the current folder. Of a project it takes all
datasets, configs, references, baselines and goals, and the runs in data/runs,
data/runs-*, data/runs-judged/* and EVAL_RUNS_DIR. Nothing is written.

Rules
  V1  every file matches its schema, strictly
  V2  the dataset of every run exists
  V3  every record names its build
  V4  materialized copies are as frozen
  V5  configs with other params have other results
  V6  the run behind every baseline exists
  V7  committed runs have their record
  V8  an arm is one run or one set of repeats
  V9  committed files of runs are whole
  V10 derived runs were scored by the code that is here
  R1  run.json and metrics.json name the same run
  R2  counts and scores are those of the rows, computed again
  R3  outputs are there and unchanged
  R4  rows are of items of their dataset
  R5  clocks and unfinished runs (notes only)
  R6  runs keep the goals that bind them
  R7  derived runs come from somewhere
  R8  a reply that could not be read gave no metric

All of them run, whatever the first ones find. A rule with nothing to look at
says so. V7 and V9 ask git; outside a git tree they check nothing.

Options
  --rule NAME      only this rule; may be given several times
  --format FORMAT  rich (default), json, or github (annotations in a workflow)
  --json           the same as --format json
  --max-errors N   show at most N findings of a file, and N notes (default 50;
                   0: all); all are counted
  -h, --help       this page

Exit codes
  0    nothing found; notes alone do not count
  1    findings, nothing to check, or a folder that cannot be read
  2    wrong usage
  130  interrupted

Environment
  EVAL_RUNS_DIR  a folder of runs beside the project's data/runs

Examples
  evh validate
  evh validate data/runs-rescored --rule V1 --rule R2
  evh validate data/runs/bm25_20261004T081530Z
  evh validate . --format github
"""

FORMATS = ("rich", "json", "github")
ALL = 1 << 60


def parser() -> Parser:
    made = Parser("validate")
    made.add_argument("paths", nargs="*", metavar="DIR")
    made.add_argument("--rule", action="append", metavar="NAME")
    made.add_argument("--format", choices=FORMATS, default="rich")
    made.add_argument("--max-errors", type=count, default=50)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Validate what the options name, print the report, return the exit code."""
    from evh.cli import _validated
    from evh.cli._terminal import Progress
    from evh.rules import validate

    most = options.max_errors or ALL
    progress = Progress("validating")
    try:
        outcomes = validate(options.paths, os.environ, options.rule, progress.at, most=most)
    finally:
        progress.done()
    if not any(outcome.checked or outcome.finding_count for outcome in outcomes):
        said = "; ".join(dict.fromkeys(f"{each.rule}: {note}" for each in outcomes for note in each.notes[:1]))
        where = ", ".join(options.paths) or "the current folder"
        why = "nothing there is what these rules look at" if options.rule else "it holds no files yet"
        raise SourceError(f"nothing was checked in {where}" + (f" ({said})" if said else f": {why}"))
    printers: dict[str, Any] = {"rich": _validated.pretty, "json": _validated.as_json, "github": _validated.github}
    printers["json" if options.json else options.format](outcomes, most)
    return FAILED if any(outcome.status == "FAIL" for outcome in outcomes) else DONE
