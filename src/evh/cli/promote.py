"""`evh promote`: make a run the baseline that others are compared with, and say why.

Promise: what is refused is refused before anything is written; the baseline that is replaced is kept, and named.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, Once, Parser, add_json

if TYPE_CHECKING:
    from evh.cli._compared import Runs
    from evh.harness.baselines import Promoted

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh promote: make a run the baseline that others are compared with

Usage
  evh promote RUN --as BASELINE --reason "WHY" [OPTIONS]

RUN is the name of a finished run, or its folder. The baseline is a copy of its
scores, data/baselines/BASELINE.json; the one it replaces is kept in the folder
superseded/ beside it.

Options
  --as BASELINE           the baseline's id
  --reason WHY            why, in three words or more
  --allow-unknown-build   also when nobody knows which version was measured
  --allow-dirty-build     also when it had changes that were not committed
  --runs-dir DIR          the folder of runs (default: data/runs)
  --root DIR              the folder that holds data/ (default: the current one)
  --json                  print the same as data
  -h, --help              this page

Exit codes
  0    promoted
  1    refused (unfinished, build unknown or dirty, another dataset), or failed
  2    wrong usage
  130  interrupted

Examples
  evh promote bm25_20261004T081530Z --as main --reason "first complete run"
  evh promote reranked --as main --reason "ahead on every metric" --json
  evh promote old --as old --reason "of no known build" --allow-unknown-build
"""


def parser() -> Parser:
    from evh.cli._compared import add_runs

    made = Parser("promote")
    made.add_argument("run", metavar="RUN")
    made.add_argument("--as", action=Once, required=True, dest="baseline")
    made.add_argument("--reason", action=Once, required=True)
    made.add_argument("--allow-unknown-build", action="store_true")
    made.add_argument("--allow-dirty-build", action="store_true")
    add_runs(made)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Promote; returns the exit code."""
    from evh.cli._compared import Runs
    from evh.harness.baselines import promote

    runs = Runs.of(options)
    made = promote(
        runs.project,
        runs.the_run(options.run),
        options.baseline,
        options.reason,
        unknown_build=options.allow_unknown_build,
        dirty_build=options.allow_dirty_build,
    )
    changes = _changes(runs, made)
    if options.json:
        from evh.cli._data import as_plain, json_text

        kept = None if made.kept is None else runs.project.portable(made.kept)
        data = {"path": runs.project.portable(made.path), "kept": kept, "changes": changes}
        print(json_text({"ok": True} | data | {"baseline": as_plain(made.baseline)}))
        return DONE
    _show(runs, made, changes)
    return DONE


def _changes(runs: Runs, made: Promoted) -> dict[str, str]:
    """Metric to how it changed from the baseline before."""
    from evh.stats.direction import change, direction_of

    if made.before is None:
        return {}
    found = [runs.run(each.promoted_from) for each in (made.before, made.baseline)]
    records = [run.record for run in found if run is not None and run.record is not None]
    old, new = made.before.scores, made.baseline.scores
    words: dict[str, str] = {}
    for name in sorted(old.keys() & new.keys()):
        direction = direction_of(name, records=records)
        words[name] = "no verdict" if direction.conflict else change(new[name] - old[name], direction)
    return words


def _show(runs: Runs, made: Promoted, changes: dict[str, Any]) -> None:
    from evh.cli._tabled import print_table
    from evh.cli._terminal import Screen

    screen = Screen()
    path = runs.project.portable(made.path)
    screen.line(
        screen.sign(True), f" {path}: {made.baseline.promoted_from} is the baseline of {made.baseline.dataset_id}"
    )
    if made.before is None or made.kept is None:
        return
    screen.line(f"  replaces {made.before.promoted_from}, kept as {runs.project.portable(made.kept)}")
    if changes:
        old, new = made.before.scores, made.baseline.scores
        columns = [("metric", False), ("before", False), ("now", False), ("", False)]
        print_table(screen, columns, [[name, old[name], new[name], word] for name, word in changes.items()])
