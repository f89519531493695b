"""`evh reparse`: rebuild outputs from stored raw replies with another parser, and score them anew.

Promise: no model is called and no source is changed; runs that are passed over are named with the reason. Policy: the
look of what is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import UsageError

if TYPE_CHECKING:
    from evh.harness.project import Project
    from evh.harness.reparse import Reparsing

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh reparse: read stored raw replies with another parser; no model is called

Usage
  evh reparse --parser FILE.py[:FUNCTION] --dataset-id ID [OPTIONS]

For an arm whose output was made from a model's reply: where the parser had a
bug, the reply that each row keeps in _meta is read again. The parser is a
Python function reparse(row, output, params) that returns the new output, None
to leave it, or either of them with a map of the extras it computed again; RAW
in its file names the member of _meta (default: llm_raw). The adapter's scorer
then scores the outputs, into a derived run beside the original. Runs without
raw replies are passed over.

Options
  --parser FILE     the parser; :FUNCTION when it is not called reparse
  --dataset-id ID   the dataset whose runs are read
  --runs DIR        where the runs are (default: data/runs, EVAL_RUNS_DIR)
  --match TEXT      runs with TEXT in their config id or name only
  --adapter FILE    score with this adapter instead of the run's own
  --out DIR         where derived runs go (default: data/runs-reparsed)
  --force           replace derived runs that are there
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the outcome as data
  -h, --help        this page

Exit codes
  0  done
  1  refused, failed, or every run was passed over
  2  wrong usage

Examples
  evh reparse --parser reparsing.py --dataset-id kitchen
  evh reparse --parser parsers.py:strict --dataset-id kitchen --match rerank
  evh reparse --parser reparsing.py --dataset-id kitchen --out data/again
"""


def parser() -> Parser:
    made = Parser("reparse")
    for name in ("--parser", "--dataset-id", "--runs", "--match", "--adapter", "--out", "--root"):
        made.add_argument(name, action=Once)
    made.add_argument("--force", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Re-parse; print what was made; return the exit code."""
    if options.parser is None:
        raise UsageError("name the parser's file (--parser FILE[:FUNCTION])")
    if options.dataset_id is None:
        raise UsageError("name the dataset whose runs are parsed again (--dataset-id ID)")
    from evh.harness.project import Project
    from evh.harness.reparse import reparse_runs
    from evh.harness.reply_parser import load_parser

    environ = dict(os.environ) if options.runs is None else {**os.environ, "EVAL_RUNS_DIR": options.runs}
    project = Project.at(None if options.root is None else Path(options.root), environ)
    with contextlib.redirect_stdout(sys.stderr):  # what a parser prints is no part of the result
        done = reparse_runs(
            project,
            load_parser(options.parser, root=project.root),
            dataset_id=options.dataset_id,
            out=None if options.out is None else Path(options.out),
            adapter=options.adapter,
            match=options.match,
            force=options.force,
        )
    if options.json:
        from evh.cli._data import json_text

        print(json_text(_as_data(project, done)))
    else:
        _show(project, done)
    return DONE if done.runs else FAILED


def _show(project: Project, done: Reparsing) -> None:
    from evh.cli._derived import about_references
    from evh.cli._terminal import Screen, number, plural, printable

    screen = Screen()
    for path, why in done.skipped:
        screen.line(f"passed over {project.portable(path)}: {printable(why)}")
    for each in done.runs:
        record = each.record
        changed = f"{each.changed:,} of {plural(record.n_items, 'output')} changed"
        screen.line(screen.sign(True), f" {project.portable(each.directory)}: {changed}")
        if each.without_reply:
            screen.line(f"  {plural(each.without_reply, 'row')} without a raw reply: left as they were")
        if record.n_errors:
            screen.line(f"  {plural(record.n_errors, 'item')} failed when measured: not parsed")
        for note in about_references(record):
            screen.line(f"  {printable(note)}")
        primary = record.primary_metric
        if primary is not None and primary in record.scores:
            count = each.counts.get(primary, 0)
            over = "" if count == record.n_items else f" over {count:,} of {record.n_items:,}"
            screen.line(f"  {primary}  {number(record.scores[primary], digits=4)}{over}")


def _as_data(project: Project, done: Reparsing) -> dict[str, Any]:
    return {
        "ok": bool(done.runs),
        "runs": [
            {
                "source": project.portable(each.source),
                "path": project.portable(each.directory),
                "items": each.record.n_items,
                "changed": each.changed,
                "without_reply": each.without_reply,
                "scores": each.record.scores,
                "counts": dict(each.counts),
            }
            for each in done.runs
        ],
        "passed_over": [{"path": project.portable(path), "why": why} for path, why in done.skipped],
    }
