"""`evh judge-score`: ask a judge model about the stored outputs of finished runs.

Promise: nothing is asked before everything that can be refused was refused; a stop of any kind is exit code 3 with the
command that goes on, and nothing that was paid is paid again. Every mean says over how many rows it is when those are
not all. Policy: the look of what is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, INTERRUPTED, STOPPED, Once, Parser, add_json
from evh.cli.run import cap_of, dollars, positive
from evh.errors import UsageError, cut

if TYPE_CHECKING:
    from evh.harness.judging import JudgedRun, Judging
    from evh.harness.project import Project

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh judge-score: let a judge model score stored outputs; the originals stay

Usage
  evh judge-score --scorer FILE.py [OPTIONS]

Asks a judge once about each output of the finished runs and writes a derived
run for each into data/runs-judged/<scorer id>/. The scorer is a Python file:
SCORER_ID, PARAMS (model, base_url, api_key_env, temperature, max_tokens, ...),
prompt(output, reference=None, source_text=None) or prompt_episode(episode),
and parse(reply), which gives a map of metrics, or None for a reply that cannot
be read. docs/judging.md has a whole one.

A reply is kept as it comes. Whatever stops a pass, --resume goes on with it
and asks for no reply again. A reply that cannot be read gives no metric and
judge_unparsed 1; items that failed when they were measured are not judged.
What the judge cost is judge_cost_usd, apart from what the arm cost. Runs that
this judge judged before are passed over.

Options
  --scorer FILE       the judge
  --dataset-id ID     runs of this dataset only
  --match TEXT        runs with TEXT in their config id or name only
  --max-cost-usd X    begin no call once X is spent (EVAL_MAX_COST_USD)
  --max-failed SHARE  share of calls that may fail before a run is left
                      without its record (default 0.1)
  --resume            go on with passes that stopped
  --concurrency N     calls at a time (default 8)
  --root DIR          the folder that holds data/ (default: the current one)
  --json              print the outcome as data
  -h, --help          this page

Exit codes
  0    done: every run has its record
  1    refused, or failed before anything was asked
  2    wrong usage
  3    stopped, resumable: Ctrl-C, the cap, too many failed calls, a fault
  130  interrupted before anything was kept

Environment
  EVAL_RUNS_DIR         the runs to judge, instead of data/runs
  EVAL_MAX_COST_USD     the cap, when --max-cost-usd is not given
  EVAL_MAX_RETRIES      attempts at a call (default 8)
  EVAL_RETRY_MAX_DELAY  longest wait between them, in seconds (default 60)

Examples
  evh judge-score --scorer judges/helpful.py --dataset-id kitchen
  evh judge-score --scorer judges/helpful.py --match chat --max-cost-usd 2
  evh judge-score --scorer judges/helpful.py --resume
"""

WHY = {
    "interrupted": "interrupted",
    "cap": "the cost cap was reached",
    "failing": "every call fails",
    "failures": "too many calls failed",
    "disk": "the disk refused",
    "fault": "a fault",
}
EVERY_SECONDS = 10.0


def parser() -> Parser:
    made = Parser("judge-score")
    made.add_argument("--scorer", action=Once)
    made.add_argument("--dataset-id", action=Once)
    made.add_argument("--match", action=Once)
    made.add_argument("--max-cost-usd", type=dollars, action=Once)
    made.add_argument("--max-failed", type=share, action=Once)
    made.add_argument("--resume", action="store_true")
    made.add_argument("--concurrency", type=positive, action=Once)
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Judge; print how it ended; return the exit code."""
    if options.scorer is None:
        raise UsageError("name the judge's file (--scorer FILE)")
    from evh.harness.judging import JudgeOptions, judge_runs, load_judge_scorer
    from evh.harness.project import Project

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    how = JudgeOptions(
        concurrency=options.concurrency or 8,
        max_cost_usd=options.max_cost_usd if options.max_cost_usd is not None else cap_of(os.environ),
        max_failed=0.1 if options.max_failed is None else options.max_failed,
        resume=options.resume,
    )
    # What a scorer prints is no part of the result.
    with (
        contextlib.redirect_stdout(sys.stderr),
        load_judge_scorer(options.scorer, root=project.root, environ=os.environ) as scorer,
    ):
        judging = judge_runs(
            project,
            scorer,
            dataset_id=options.dataset_id,
            match=options.match,
            options=how,
            environ=os.environ,
            notice=lambda text: print(text, file=sys.stderr, flush=True),
            told=_Progress(),
        )
    good = all(each.record is not None for each in judging.runs) and not judging.untouched
    command = _going_on(options)
    if options.json:
        from evh.cli._data import json_text

        print(json_text(_as_data(project, judging, good, command)))
    else:
        _show(project, judging, good, command, options)
    if good:
        return DONE
    kept = any(each.replies for each in judging.runs)
    return INTERRUPTED if judging.runs[-1].stop == "interrupted" and not kept else STOPPED


class _Progress:
    """Says on standard error how far a pass is."""

    def __init__(self) -> None:
        self._next = time.monotonic() + EVERY_SECONDS

    def __call__(self, replies: int, failed: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY_SECONDS
            print(f"{replies:,} replies" + (f", {failed:,} failed" if failed else ""), file=sys.stderr, flush=True)


def _show(project: Project, judging: Judging, good: bool, command: str, options: argparse.Namespace) -> None:
    from evh.cli._derived import about_references
    from evh.cli._terminal import Screen, number, plural, printable

    screen = Screen()
    for path, said in judging.skipped:
        screen.line(f"skipped {project.portable(path)}: {printable(said)}")
    if judging.already:
        screen.line(f"{plural(len(judging.already), 'run')} judged before, passed over")
    for each in judging.runs:
        named = project.portable(each.directory if each.record is not None else each.source)
        paid = f", ${number(each.judge_cost_usd, digits=4)} for the judge" if each.judge_cost_usd else ""
        if each.record is not None:
            screen.line(screen.sign(True), f" {named}: {plural(each.replies, 'reply', 'replies')}{paid}")
        else:
            why = WHY.get(each.stop or "fault", "stopped")
            screen.line(
                screen.sign(False),
                f" {named}: stopped ({why}) after {each.replies:,} of {plural(each.rows, 'row')}{paid}",
            )
        for name, value in each.means.items():
            count = each.counts.get(name, 0)
            over = (
                f" over {count:,} of {each.rows + each.failed_rows:,}" if count != each.rows + each.failed_rows else ""
            )
            screen.line(f"  {name}  {number(value, digits=4)}{over}")
        if each.fault is not None:
            screen.line(f"  {printable(each.fault)}")
        if each.unparsed:
            screen.line(f"  {plural(each.unparsed, 'reply', 'replies')} could not be read: no verdict, not 0")
        if each.truncated:
            screen.line(f"  {plural(each.truncated, 'reply', 'replies')} cut off at the token limit: see max_tokens")
        for note in [] if each.record is None else about_references(each.record):
            screen.line(f"  {printable(note)}")
        if each.failures:
            _, said = next(iter(each.failures.items()))
            screen.line(
                f"  warning: {len(each.failures):,} of {plural(each.rows, 'call')} failed, the first: {printable(said)}"
            )
        if each.failed_rows:
            screen.line(f"  {plural(each.failed_rows, 'item')} failed when measured: not judged")
    if judging.unpriced:
        screen.line(f"cost of {plural(judging.unpriced, 'call')} unknown: no bill, and no prices in PARAMS")
    if judging.untouched:
        screen.line(f"{plural(judging.untouched, 'more run')} not begun")
    if not good:
        screen.line(f"go on with: {command}")


def _as_data(project: Project, judging: Judging, good: bool, command: str) -> dict[str, Any]:
    return {
        "ok": good,
        "runs": [_run_data(project, each, command) for each in judging.runs],
        "judged_before": [project.portable(path) for path in judging.already],
        "skipped": [{"path": project.portable(path), "why": why} for path, why in judging.skipped],
        "not_begun": judging.untouched,
        "judge_cost_usd": judging.spent,
        "calls_without_cost": judging.unpriced,
    }


def _run_data(project: Project, each: JudgedRun, command: str) -> dict[str, Any]:
    return {
        "source": project.portable(each.source),
        "path": project.portable(each.directory),
        "ok": each.record is not None,
        "rows": each.rows,
        "failed_when_measured": each.failed_rows,
        "replies": each.replies,
        "asked": each.asked,
        "unparsed": each.unparsed,
        "truncated": each.truncated,
        "failed": len(each.failures),
        "judge_cost_usd": each.judge_cost_usd,
        "means": dict(each.means),
        "counts": dict(each.counts),
        "scores": None if each.record is None else each.record.scores,
        "stopped": None
        if each.record is not None
        else {"reason": each.stop, "message": each.fault or WHY.get(each.stop or "fault", ""), "resume": command},
    }


def _going_on(options: argparse.Namespace) -> str:
    """The command that goes on, quoted for a shell."""
    words = ["evh", "judge-score", "--scorer", options.scorer]
    for name in ("dataset_id", "match", "max_failed", "root"):
        if getattr(options, name) is not None:
            words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    folder = os.environ.get("EVAL_RUNS_DIR")
    return (f"EVAL_RUNS_DIR={shlex.quote(folder)} " if folder else "") + shlex.join([*words, "--resume"])


def share(text: str) -> float:
    """A share from 0 to 1, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, such as 0.1, not {cut(text)}")
    return value
