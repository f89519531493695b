"""`evh sync`: send what is on disk and not yet with the platform.

Promise: every record goes once, however often this runs and whatever stops it. A platform that cannot be reached is
waited for, for a minute unless told otherwise, and what is pending is said. Nothing is sent with `--dry-run`.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, STOPPED, Once, Parser, add_json, count
from evh.errors import EvhError, LockedError, PlatformError, UsageError

if TYPE_CHECKING:
    from evh.harness.project import Project
    from evh.platform import Settings

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh sync: send runs from disk to the platform, every record once

Usage
  evh sync [RUN...] [OPTIONS]

Sends the episodes (of training runs the metrics too) that the platform does
not have yet and, when a run is over, closes it there. RUN is the folder or the
id of a run; without one, all live runs of data/runs that have something left,
and the measured ones that were pushed before. May be stopped at any moment and
run again: nothing is sent twice, nothing is left out.

Records that the platform refuses are named in sync/refused.jsonl of their run
and are not sent again unless asked for. A run that is being uploaded by another
process is left to it.

Options
  --watch           go on until the runs are over, however long that takes
  --dry-run         say how many rows and bytes would go; send nothing
  --retry-refused   send the refused records once more
  --close           a measured run that stopped will not be resumed: close it
  --wait SECONDS    how long to try a platform that does not answer (default 60)
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    everything is sent
  1    refused records, a platform that says no, or a run that cannot be read
  2    wrong usage, or no key
  3    something is left: run it again
  130  interrupted before anything began

Environment
  PRIME_API_KEY       the key (or api_key in ~/.prime/config.json)
  PRIME_API_BASE_URL  the platform, such as http://127.0.0.1:8321
  PRIME_TEAM_ID       the team that runs belong to
  PRIME_RUNS_MODE     disabled: nothing is sent
  EVAL_RUNS_DIR       where runs are, instead of data/runs

Examples
  evh sync
  evh sync --dry-run
  evh sync gsm8k-qwen3_20261004T081530Z --watch
  evh sync data/runs/arm_r1 --retry-refused
"""

WAIT = 60


def parser() -> Parser:
    made = Parser("sync")
    made.add_argument("runs", nargs="*", metavar="RUN")
    made.add_argument("--watch", action="store_true")
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("--retry-refused", action="store_true")
    made.add_argument("--close", action="store_true")
    made.add_argument("--wait", type=count, action=Once, metavar="SECONDS")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Send what is left; returns the exit code."""
    from evh.cli._uploaded import chosen_runs, sending_settings, uploaded
    from evh.harness.project import Project

    if options.watch and (options.dry_run or options.retry_refused or options.close):
        raise UsageError("--watch goes with no --dry-run, --retry-refused or --close")
    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    directories = chosen_runs(project, options.runs)
    told: list[dict[str, Any]] = []
    wanted: list[Path] = []
    for directory in directories:
        try:
            found = uploaded(directory)
        except EvhError as error:
            told.append(_failed(project, directory, error))
            continue
        if options.runs or options.watch or found.unfinished or (options.retry_refused and found.counted.refused):
            wanted.append(directory)
    if options.dry_run:
        told += [_asked(project, directory) for directory in wanted]
    elif wanted:
        settings = sending_settings()
        if options.watch:
            told += _watched(project, wanted, settings)
        else:
            told += [_sent(project, directory, settings, options) for directory in wanted]
    return _report(options, told)


def _asked(project: Project, directory: Path) -> dict[str, Any]:
    from evh.cli._uploaded import as_data, uploaded

    return as_data(uploaded(directory), project) | {"sent_now": 0, "code": DONE}


def _sent(project: Project, directory: Path, settings: Settings, options: argparse.Namespace) -> dict[str, Any]:
    """Send one run, and say how far it is then."""
    from evh.live.patience import Patience, can_pass
    from evh.live.sync import Sync

    sent, code, fault = 0, DONE, None
    try:
        with Sync(directory, settings, Patience(float(WAIT if options.wait is None else options.wait))) as sync:
            try:
                if options.retry_refused:
                    sync.retry_refused()
                sync.run(abandon=options.close)
                sync.tell("stopped")
            except (EvhError, KeyboardInterrupt) as error:
                sync.tell("stopped", "interrupted" if isinstance(error, KeyboardInterrupt) else str(error))
                raise
            finally:
                sent = sync.sent
    except LockedError as error:
        code, fault = STOPPED, str(error)
    except PlatformError as error:
        code, fault = STOPPED if can_pass(error) else FAILED, str(error)
    except EvhError as error:
        code, fault = FAILED, str(error)
    except KeyboardInterrupt:
        code, fault = STOPPED, "interrupted"
    return _after(project, directory, sent, code, fault)


def _watched(project: Project, directories: list[Path], settings: Settings) -> list[dict[str, Any]]:
    """Send runs until they are over, each in a thread of its own; an interrupt leaves the rest for later."""
    from evh.cli._uploaded import settings_of
    from evh.live.patience import Patience
    from evh.live.sync import Sync
    from evh.live.watching import watch

    results: dict[Path, dict[str, Any]] = {}

    def work(directory: Path) -> None:
        sent, code, fault = 0, DONE, None
        try:
            with Sync(directory, settings, Patience(None)) as sync:
                ending = watch(sync, settings_of, told=lambda text: _say(directory, text))
                sent = sync.sent
                code, fault = (DONE, None) if ending is not None else (STOPPED, sync.report.state.error)
        except LockedError as error:
            code, fault = STOPPED, str(error)
        except EvhError as error:
            code, fault = FAILED, str(error)
        results[directory] = {"sent": sent, "code": code, "fault": fault}

    threads = [
        threading.Thread(target=work, args=(each,), name=f"sync {each.name}", daemon=True) for each in directories
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)
    except KeyboardInterrupt:
        pass
    left = {"sent": 0, "code": STOPPED, "fault": "interrupted"}
    found = [(each, results.get(each, left)) for each in directories]
    return [_after(project, each, how["sent"], how["code"], how["fault"]) for each, how in found]


def _say(directory: Path, text: str) -> None:
    from evh.cli._terminal import printable

    sys.stderr.write(f"{printable(directory.name)}: {printable(text)}\n")
    sys.stderr.flush()


def _after(project: Project, directory: Path, sent: int, code: int, fault: str | None) -> dict[str, Any]:
    from evh.cli._uploaded import as_data, uploaded

    try:
        found = uploaded(directory)
    except EvhError as error:
        return _failed(project, directory, error)
    if found.counted.refused and code == DONE:
        code = FAILED
    if found.counted.pending and found.state != "running" and code == DONE:
        code = STOPPED
    return as_data(found, project) | {"sent_now": sent, "code": code, "error": fault}


def _failed(project: Project, directory: Path, error: EvhError) -> dict[str, Any]:
    return {"run_id": directory.name, "path": project.portable(directory), "error": str(error), "code": FAILED}


def _report(options: argparse.Namespace, told: list[dict[str, Any]]) -> int:
    codes = [each.pop("code") for each in told]
    code = FAILED if FAILED in codes else STOPPED if STOPPED in codes else DONE
    if options.json:
        from evh.cli._data import json_text

        sys.stdout.write(json_text({"ok": code == DONE, "dry_run": options.dry_run, "runs": told}) + "\n")
        return code
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    if not told:
        screen.line("nothing to send")
    for each, its in zip(told, codes, strict=True):
        path = printable(each["path"])
        if "rows" not in each:
            screen.line(screen.sign(False), f" {path}: {printable(each['error'])}")
            continue
        if options.dry_run:
            rows = plural(each["pending"], "row")
            screen.line(f"{path}: {rows}, {each['pending_bytes']:,} bytes would go; {each['sent']:,} are there")
            continue
        counted = [f"{plural(each['sent_now'], 'row')} sent", f"{each['sent']:,} of {each['rows']:,} are there"]
        counted += [f"{each[name]:,} {name}" for name in ("pending", "refused", "lost") if each[name]]
        screen.line(screen.sign(its == DONE), f" {path}: {', '.join(counted)}")
        if each["error"]:
            screen.line(f"  {printable(each['error'])}")
        for note in each["notes"]:
            screen.line(f"  {printable(note)}")
        if each["refused"]:
            screen.line(f"  refused records are named in {path}/sync/refused.jsonl")
        if each["url"]:
            screen.line(f"  {printable(each['url'])}")
    return code
