"""`evh rescore`: score stored outputs with today's scorer, into runs of their own.

Promise: no system and no model is called; the runs that are read stay as they are. A run that cannot be derived is told
with its reason and stops no other. The summary repeats what the numbers leave out: items that failed, items without a
reference, metrics that are gone.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import EvhError, UsageError

if TYPE_CHECKING:
    from evh.cli._terminal import Part, Screen
    from evh.harness.project import Project
    from evh.harness.rescore import Rescored

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh rescore: score stored outputs again, calling nothing

Usage
  evh rescore --dataset-id ID [OPTIONS]

Each finished run of the dataset becomes a derived run of the same name in
data/runs-rescored: its outputs and episodes scored by the adapter's scorer as
it is now, on all cores. Time, tokens, money and extras are carried; metrics of
the old scorer are dropped. Episodes are scored as a whole where the adapter has
score_episode. The runs that are read are never touched, so --out may not be,
hold or lie in the runs directory.

References are the set that the run was scored against; when it is missing here
the run is refused. A metric that is also in a row's _extra is refused.

Options
  --dataset-id ID   the dataset whose runs are scored
  --match TEXT      only runs whose name or config_id holds the text
  --reference ID    score against this set: gold, silver, or gold/DATASET
  --adapter FILE    score with this adapter, not with the one of the record
  --out DIR         where derived runs go (default: data/runs-rescored)
  --force           replace derived runs of the same name, each as a whole
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    every run was scored
  1    a run could not be scored, or there is none
  2    wrong usage
  130  interrupted

Examples
  evh rescore --dataset-id questions_v1
  evh rescore --dataset-id questions_v1 --reference gold --out data/runs-gold
  evh rescore --dataset-id questions_v1 --match small --adapter scorers/f1.py
"""


def parser() -> Parser:
    made = Parser("rescore")
    for name in ("--dataset-id", "--match", "--reference", "--adapter", "--out", "--root"):
        made.add_argument(name, action=Once)
    made.add_argument("--force", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Score the runs that the options name; returns the exit code."""
    from evh.cli._terminal import Screen, printable
    from evh.harness.derived_dir import check_out
    from evh.harness.project import Project
    from evh.harness.rescore import choose_runs, rescore_run

    if options.dataset_id is None:
        raise UsageError("--dataset-id is missing: evh rescore --dataset-id ID")
    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    out = project.data / "runs-rescored" if options.out is None else Path(options.out)
    check_out(out, project.runs, ())
    adapter = None if options.adapter is None else Path(options.adapter)
    chosen = choose_runs(project, options.dataset_id, options.match, needs_adapter=adapter is None)
    sources = [each.path for each in chosen.runs]
    check_out(out, project.runs, sources)
    screen = Screen()
    told: list[dict[str, Any]] = []
    good = bool(chosen.runs)
    for each in chosen.runs:
        try:
            made = rescore_run(
                project,
                each,
                out,
                reference=options.reference,
                adapter=adapter,
                sources=sources,
                force=options.force,
            )
        except UsageError:
            raise
        except EvhError as error:
            good = False
            told.append({"source": project.portable(each.path), "error": str(error)})
            if not options.json:
                screen.line(screen.sign(False), f" {printable(project.portable(each.path))}: {printable(str(error))}")
            continue
        told.append(_as_data(made, project))
        if not options.json:
            _show(screen, made, project)
    if options.json:
        from evh.cli._data import json_text

        passed = [{"run": name, "why": why} for name, why in chosen.passed_over]
        sys.stdout.write(json_text({"ok": good, "runs": told, "passed_over": passed}) + "\n")
    else:
        for name, why in chosen.passed_over:
            screen.line(f"passed over {printable(name)}: {printable(why)}")
    return DONE if good else FAILED


def _as_data(made: Rescored, project: Project) -> dict[str, Any]:
    record = made.record
    return {
        "source": project.portable(made.source),
        "path": project.portable(made.directory),
        "run_id": record.run_id,
        "n_items": record.n_items,
        "n_errors": record.n_errors or 0,
        "reference_tier": record.reference_tier,
        "scores": record.scores,
        "counts": made.counts,
        "dropped": made.dropped,
        "notices": made.notices,
    }


def _show(screen: Screen, made: Rescored, project: Project) -> None:
    from evh.cli._terminal import Column, number, plural, printable, table

    record = made.record
    path = printable(project.portable(made.directory))
    screen.line(screen.sign(True), f" {path}: {plural(record.n_items, 'item')} scored again")
    for each in made.notices:
        screen.line(f"  {printable(each)}")
    rows: list[list[Part]] = []
    for name, value in record.scores.items():
        count = made.counts.get(name, made.counts.get(name.removeprefix("total_"), record.n_items))
        over = f"over {count:,} of {plural(record.n_items, 'item')}" if count != record.n_items else ""
        rows.append([printable(name), number(value, digits=4), over])
    if rows:
        table(screen, [Column("metric"), Column("value", right=True), Column("")], rows, indent=2)
    if made.dropped:
        screen.line(f"  dropped, for this scorer does not give them: {', '.join(map(printable, made.dropped))}")
