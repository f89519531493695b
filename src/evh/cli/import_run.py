"""`evh import-run`: a measured run out of outputs or episodes that were made elsewhere.

Promise: the source is only read; the run appears whole or not at all. Policy: the look of what is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evh.cli._args import DONE, Once, Parser, add_json, closest
from evh.errors import UsageError

if TYPE_CHECKING:
    from evh.cli._terminal import Screen
    from evh.harness.adapters import Adapter
    from evh.harness.importing import Imported
    from evh.harness.project import Project

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh import-run: make a measured run of outputs or episodes made elsewhere

Usage
  evh import-run --from SRC --dataset-id ID --config-id ID [OPTIONS]

SRC is one of these; its kind is told by names and by its first row:
  run       a run directory of this or an older harness, or predictions.jsonl
            beside outputs/
  episodes  a run of verifiers, or a file of its rows, of any age; several
            rollouts of an item make one row of means
  jsonl     rows with item_id (or id) and output (or text, completion,
            response); - reads them, or episodes, from standard input
  csv       the same as a table with a header

Every item of the dataset needs a row, and every row an item of the dataset.
Other numbers of a row become metrics, those below `extra` extras; what is left
is kept in _meta. When data/configs has the config of that id, its adapter gives
the metrics instead, and it names params, goal, format and round; --adapter
beats it. Without either, outputs that come without metrics are compared with
the references, if there are any. SRC is read twice and never changed. The run
appears when it is complete: an import that is refused or interrupted leaves
nothing. What did not fit is named, and stands in `imported.lossy`.

Options
  --from SRC         a file, a folder, or - for standard input
  --dataset-id ID    the frozen dataset that the outputs answer
  --config-id ID     the name of what made them: the arm of the run
  --adapter FILE     a Python file whose score() scores the outputs, or
                     evh:chat for exact match, whatever the config says
  --build-ref REF    version of the system that made the outputs
  --run-id ID        name of the run (default: the config and the time)
  --partial          import although items of the dataset have no row
  --kind KIND        run, episodes, jsonl or csv, whatever SRC looks like
  --root DIR         the folder that holds data/ (default: the current one)
  --json             print what was done as data
  -h, --help         this page

Exit codes
  0    imported
  1    refused or failed: nothing was made
  2    wrong usage
  130  interrupted: nothing was made

Examples
  evh import-run --from answers.jsonl --dataset-id qa_v1 --config-id vendor
  evh import-run --from old/run_7 --dataset-id qa_v1 --config-id base
  evh import-run --from vf/gsm8k --dataset-id gsm8k --config-id m1 --partial
  cat rows.jsonl | evh import-run --from - --dataset-id qa_v1 --config-id m2
"""

SHOWN = 8


def parser() -> Parser:
    made = Parser("import-run")
    made.add_argument("--from", dest="source", action=Once)
    for name in ("--dataset-id", "--config-id", "--adapter", "--build-ref", "--run-id", "--kind", "--root"):
        made.add_argument(name, action=Once)
    made.add_argument("--partial", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Import what the options name; returns the exit code."""
    from evh.cli._terminal import Progress
    from evh.harness.importing import KINDS, import_run
    from evh.harness.project import Project

    for name, value in (
        ("--from", options.source), ("--dataset-id", options.dataset_id), ("--config-id", options.config_id),
    ):  # fmt: skip
        if value is None:
            raise UsageError(f"{name} is missing: evh import-run --from SRC --dataset-id ID --config-id ID")
    if options.kind is not None and options.kind not in KINDS:
        raise UsageError(f"--kind is one of {', '.join(KINDS)}, not {options.kind!r}{closest(options.kind, KINDS)}")
    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    adapter = _adapter(options.adapter, project)
    progress = Progress("importing")
    try:
        made = import_run(
            project,
            options.source,
            options.dataset_id,
            options.config_id,
            adapter=adapter,
            build_ref=options.build_ref,
            run_id=options.run_id,
            partial=options.partial,
            kind=options.kind,
            environ=os.environ,
            progress=lambda stage, rows: progress.at(f"{options.source} ({stage})", rows),
        )
    finally:
        progress.done()
        if adapter is not None:
            adapter.close()
    if options.json:
        return _print_json(made, project)
    _print(made, project)
    return DONE


def _adapter(name: str | None, project: Project) -> Adapter | None:
    if name is None:
        return None
    from evh.harness.adapters import load_adapter

    return load_adapter(name, config_dir=Path.cwd(), root=project.root)


def _print(made: Imported, project: Project) -> None:
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    failed = made.record.n_errors or 0
    what = plural(made.n_items, "item")
    if made.n_episodes:
        what += f" out of {plural(made.n_episodes, 'episode')}"
    screen.line(screen.sign(True), f" {printable(project.portable(made.directory))}: {what} imported ({made.kind})")
    if made.missing:
        screen.line(f"  {plural(made.missing, 'item')} of the dataset {'has' if made.missing == 1 else 'have'} no row")
    if failed:
        screen.line(f"  {plural(failed, 'item')} failed where {'it was' if failed == 1 else 'they were'} measured")
    if made.unscored:
        screen.line(f"  {plural(made.unscored, 'item')} {'is' if made.unscored == 1 else 'are'} not scored")
    _scores(screen, made)
    _few(screen, "did not fit: ", made.lossy)
    _few(screen, "note: ", made.notices)


def _scores(screen: Screen, made: Imported) -> None:
    """The metrics, and over how many items each is when those are not all."""
    from evh.cli._terminal import Column, Part, number, plural, printable, table

    if not made.record.scores:
        return
    rows: list[list[Part]] = []
    for name, value in made.record.scores.items():
        count = made.counts.get(name, made.counts.get(name.removeprefix("total_"), made.n_items))
        over = f"over {count:,} of {plural(made.n_items, 'item')}" if count != made.n_items else ""
        rows.append([printable(name), number(value, digits=4), over])
    table(screen, [Column("metric"), Column("value", right=True), Column("")], rows, indent=2)
    covered = made.record.reference_coverage
    if covered is not None:
        screen.line(f"  {covered.items_with_reference:,} of {plural(covered.items, 'item')} have a reference")


def _few(screen: Screen, head: str, said: list[str]) -> None:
    from evh.cli._terminal import printable

    for each in said[:SHOWN]:
        screen.line(f"  {head}{printable(each)}")
    if len(said) > SHOWN:
        screen.line(f"  {head}{len(said) - SHOWN} more; --json prints all")


def _print_json(made: Imported, project: Project) -> int:
    from evh.cli._data import json_text

    about = {
        "ok": True,
        "run_id": made.record.run_id,
        "path": project.portable(made.directory),
        "kind": made.kind,
        "n_items": made.n_items,
        "n_episodes": made.n_episodes,
        "n_errors": made.record.n_errors or 0,
        "missing": made.missing,
        "unscored": made.unscored,
        "scores": made.record.scores,
        "counts": made.counts,
        "lossy": made.lossy,
        "notices": made.notices,
    }
    sys.stdout.write(json_text(about) + "\n")
    return DONE
