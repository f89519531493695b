"""`evh run`: measure an arm, or go on with a run that stopped.

Promise: nothing is called before everything that can be refused was refused; a stop of any kind is exit code 3 with the
command that goes on. Policy: the look of what is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, STOPPED, Once, Parser, add_json
from evh.errors import UsageError, cut

if TYPE_CHECKING:
    from evh.harness.launch import Finished, Options
    from evh.harness.progress import Listener
    from evh.harness.project import Project

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh run: measure a config over its dataset; stop and go on without paying twice

Usage
  evh run --config CONFIG.yaml [OPTIONS]
  evh run --resume [RUN] [OPTIONS]

Measures every item of the config's dataset with the config's adapter, scores
each output and leaves a run directory: run.json before the first call, a row
and an output file as each item finishes, metrics.json when all are there.
Whatever stops it, what was measured is kept, and --resume goes on from there:
the only stopped run when none is named, then the repeats that are left. It
refuses when the dataset, the references, the adapter or the parameters are not
what the run began with.

An item that fails after all retries stops the run; calls that run then are
waited for and recorded. Ctrl-C does the same; a second one gives up on them.

Options
  --config FILE     the config, a YAML file; with --resume only when the one of
                    the last launch was moved
  --resume          go on with a stopped run: its id or path may follow
  --repeat N        N passes, a run directory each: <id>_r1 ... <id>_rN
  --concurrency N   calls at a time (default: 8 for endpoints and async
                    adapters, 1 for other code)
  --limit N         only the first N items
  --run-id ID       name of the run (default: <config_id>_<time>)
  --dry-run         say what would be called and what it may cost; call nothing
  --keep-going      note items that fail and go on; the run then ends without
                    a record, and --resume tries them again
  --accept-failures with --resume: give items that failed a row that says so
  --max-cost-usd X  begin no call once X is spent (EVAL_MAX_COST_USD)
  --push, --no-push
                    upload the run while it is measured (evh sync does it later)
  --fsync POLICY    always, group (default: within 20 ms or 1 MiB) or never
  --take-over       take a run whose holder cannot be asked (another machine)
  --force           resume although what it measures with changed; recorded
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the outcome as data
  -h, --help        this page

Exit codes
  0    done, or nothing to resume
  1    refused, or failed before anything was measured
  2    wrong usage
  3    stopped, resumable: Ctrl-C, SIGTERM, the cap, an error, failed items
  130  interrupted before anything was kept

Environment
  EVAL_RUNS_DIR         where runs are, instead of data/runs
  EVAL_MAX_COST_USD     the cap, when --max-cost-usd is not given
  EVAL_MAX_RETRIES      attempts at a call (default 8)
  EVAL_RETRY_MAX_DELAY  longest wait between them, in seconds (default 60)
  EVAL_BUILD_REF        version of the system under test, instead of git's
  EVAL_HOST_LABEL       name of this machine in fingerprints
  EVH_MODE              online: push, unless --no-push is given

Examples
  evh run --config data/configs/bm25.yaml --repeat 3
  evh run --config data/configs/chat.yaml --limit 20 --max-cost-usd 1.50
  evh run --config data/configs/chat.yaml --dry-run
  evh run --resume
  evh run --config data/configs/chat.yaml --push
  evh run --resume chat_20261004T081530Z_r2 --accept-failures
"""

LATEST = "\x00"
"""What `--resume` alone stands for; no run can be named so."""
POLICIES = ("always", "group", "never")


def parser() -> Parser:
    made = Parser("run")
    made.add_argument("--config", action=Once)
    made.add_argument("--resume", nargs="?", const=LATEST, action=Once)
    made.add_argument("--repeat", type=positive, action=Once)
    made.add_argument("--concurrency", type=positive, action=Once)
    made.add_argument("--limit", type=positive, action=Once)
    made.add_argument("--run-id", action=Once)
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("--keep-going", action="store_true")
    made.add_argument("--accept-failures", action="store_true")
    made.add_argument("--max-cost-usd", type=dollars, action=Once)
    made.add_argument("--push", action=argparse.BooleanOptionalAction, default=None)
    made.add_argument("--fsync", choices=POLICIES, action=Once)
    made.add_argument("--take-over", action="store_true")
    made.add_argument("--force", action="store_true")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Measure or go on; print how it ended; return the exit code."""
    _check(options)
    from evh.cli._pushing import pusher
    from evh.cli._running import Watcher, config_path
    from evh.harness.launch import Options
    from evh.harness.project import Project

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    if options.dry_run:
        return _dry_run(options, project, config_path(options.config))
    how = Options(
        concurrency=options.concurrency,
        keep_going=options.keep_going,
        max_cost_usd=options.max_cost_usd if options.max_cost_usd is not None else cap_of(os.environ),
        fsync=options.fsync or "group",
        accept_failures=options.accept_failures,
        take_over=options.take_over,
        force=options.force,
    )
    watcher = Watcher(project)
    try:
        # What an adapter prints is no part of the result.
        with contextlib.redirect_stdout(sys.stderr):
            listener = pusher(options.push, watcher, project, os.environ)
            finished = _launched(options, project, how, listener)
            pushed = listener.finish()
    finally:
        watcher.done()
    return _report(options, project, finished, pushed)


def _launched(options: argparse.Namespace, project: Project, how: Options, listener: Listener) -> list[Finished]:
    from evh.cli._running import config_path
    from evh.harness.launch import measure, resume

    config = None if options.config is None else config_path(options.config)
    if options.resume is not None:
        named = None if options.resume == LATEST else options.resume
        return resume(project, named, config_path=config, options=how, listener=listener)
    if config is None:
        raise UsageError("name a config to measure (--config FILE)")
    return measure(
        project,
        config,
        repeats=options.repeat or 1,
        limit=options.limit,
        run_id=options.run_id,
        options=how,
        listener=listener,
    )


def _report(
    options: argparse.Namespace, project: Project, finished: list[Any], pushed: dict[Path, dict[str, Any]]
) -> int:
    from evh.cli._finished import as_data, show_finished, show_stopped

    good = all(each.record is not None for each in finished)
    commands = [_going_on(options, project, each.directory) for each in finished]
    if options.json:
        from evh.cli._data import json_text

        runs = [as_data(project, each, command) for each, command in zip(finished, commands, strict=True)]
        for each, run in zip(finished, runs, strict=True):
            run |= {"upload": pushed[each.directory]} if each.directory in pushed else {}
        print(json_text({"ok": good, "runs": runs}))
        return DONE if good else STOPPED
    from evh.cli._terminal import Screen

    screen = Screen()
    if not finished:
        screen.line(
            "nothing to resume: no run is stopped" if options.resume == LATEST else "nothing to resume: finished"
        )
        return DONE
    show_finished(screen, project, finished)
    for each, command in zip(finished, commands, strict=True):
        if each.record is None:
            accept = _going_on(options, project, each.directory, "--accept-failures")
            show_stopped(screen, project, each, command, accept)
    return DONE if good else STOPPED


def _going_on(options: argparse.Namespace, project: Project, directory: Path, *more: str) -> str:
    """The command that goes on with a run: by its id where it lies with the others, else by its path; with the config
    where what is recorded of its place (never a home folder) does not lead to it."""
    from evh.cli._running import config_path, resume_command

    where = directory.absolute()
    named = where.name if where.parent == project.runs else str(where)
    if options.config is not None and not (project.root / project.portable(config_path(options.config))).is_file():
        more = (*more, "--config", options.config)
    return resume_command(named, options.root, os.environ, *more)


def _dry_run(options: argparse.Namespace, project: Project, config: Path) -> int:
    from evh.harness.estimate import estimate

    found = estimate(project, config, repeats=options.repeat or 1, limit=options.limit, environ=os.environ)
    if options.json:
        from evh.cli._data import json_text

        print(json_text({"ok": True, **found._asdict()}))
        return DONE
    from evh.cli._terminal import Screen, number, plural

    screen = Screen()
    screen.line(f"{found.config_id} on {found.dataset_id} with {found.adapter}: nothing was called")
    screen.line(
        f"  {plural(found.calls, 'call')} ({plural(found.items, 'item')}, {plural(found.repeats, 'pass', 'passes')})"
    )
    screen.line(f"  about {number(found.tokens_in)} tokens in (a token for four characters)")
    if found.tokens_out is not None:
        screen.line(f"  at most {number(found.tokens_out)} tokens out (max_tokens for each call)")
    if found.cost_usd is not None:
        screen.line(f"  at most ${number(found.cost_usd, digits=4)} at the config's prices")
    else:
        screen.line("  cost unknown: usd_per_mtok_in, usd_per_mtok_out and max_tokens say what it can be")
    return DONE


def _check(options: argparse.Namespace) -> None:
    if options.resume is None and options.config is None:
        raise UsageError("name a config to measure (--config FILE), or go on with a run (--resume)")
    if options.resume is not None:
        for name in ("repeat", "limit", "run_id"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} cannot be changed by --resume: the run says it")
        if options.dry_run:
            raise UsageError("--dry-run is for a config: `evh runs` says what a resume would go on with")
    else:
        for name in ("accept_failures", "take_over", "force"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} goes with --resume")


def positive(text: str) -> int:
    """A whole number from 1 on, for argparse."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:16]) <= 10**9:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 1,000,000,000, not {cut(text)}")
    return int(text)


def dollars(text: str) -> float:
    """An amount of US dollars from 0 on, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"expected an amount in US dollars, such as 1.50, not {cut(text)}")
    return value


def cap_of(environ: Any) -> float | None:
    """The cap that the environment sets, if it does."""
    text = environ.get("EVAL_MAX_COST_USD", "").strip()
    if not text:
        return None
    try:
        return dollars(text)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"EVAL_MAX_COST_USD: {error}") from None
