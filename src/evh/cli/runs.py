"""`evh runs`: which runs there are, how each ended, and the command that goes on.

Promise: runs are found by looking at the folder; one that cannot be read is listed with its reason and hides no other.
Of an unfinished run only its manifest and lease are read, and of its rows no more than it takes to count them (from
64 MiB on, to estimate them). A link that leads out of the folder is not followed, and is named.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import EvhError

if TYPE_CHECKING:
    from evh.cli._terminal import Screen
    from evh.harness.project import Project
    from evh.protocol import models
    from evh.store.run_dir import RunDir
    from evh.store.runs import Skipped

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh runs: list the runs, and how to go on with those that stopped

Usage
  evh runs [OPTIONS]

A run is finished (it has its record), ended (a live run that was closed
without one: its end says how), running (its writer said so within the last
minute), stale (its writer is silent, which is no proof that it ended) or
unfinished (it stopped and can be resumed). Of a live run its episodes are
counted. Runs are the folders of data/runs, or of EVAL_RUNS_DIR.

Options
  --dataset-id ID   only the runs of one dataset
  --unfinished      only runs that are not finished
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    listed, be there runs or none
  1    a run cannot be read, or the folder cannot be listed
  2    wrong usage
  130  interrupted

Examples
  evh runs
  evh runs --unfinished
  EVAL_RUNS_DIR=/mnt/shared/runs evh runs --json
"""

COLOURS = {"finished": "green", "ended": "green", "running": "cyan", "stale": "yellow", "unfinished": "yellow"}


def parser() -> Parser:
    made = Parser("runs")
    made.add_argument("--dataset-id", action=Once)
    made.add_argument("--unfinished", action="store_true")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """List the runs; returns the exit code."""
    from evh.harness.project import Project
    from evh.store.runs import find_runs

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    left_out: list[Skipped] = []
    found = [_about(each, project, options.root) for each in find_runs(project.runs, left_out)]
    readable = [each for each in found if "error" not in each]
    shown = [
        each
        for each in found
        if (options.dataset_id is None or each.get("dataset_id") in (options.dataset_id, None))
        and not (options.unfinished and each.get("state") in ("finished", "ended"))
    ]
    good = len(readable) == len(found)
    if options.json:
        from evh.cli._data import json_text

        skipped = [{"path": project.portable(path), "why": why} for path, why in left_out]
        print(json_text({"ok": good, "folder": project.portable(project.runs), "runs": shown, "skipped": skipped}))
        return DONE if good else FAILED
    _show(project, shown, left_out)
    return DONE if good else FAILED


def _about(run: RunDir, project: Project, root: str | None) -> dict[str, Any]:
    about: dict[str, Any] = {"run_id": run.path.name, "path": project.portable(run.path)}
    try:
        return about | _described(run, root)
    except EvhError as error:
        return about | {"error": str(error)}


def _described(run: RunDir, root: str | None) -> dict[str, Any]:
    from evh.cli._running import resume_command
    from evh.harness.resuming import lacks_repeats, resumable
    from evh.store.rows import count_rows

    record, manifest, state = run.record, run.manifest, run.state
    about: dict[str, Any] = {"state": state}
    if record is not None:
        if lacks_repeats(run):
            about["note"] = "repeats after it were never begun"
            about["resume"] = resume_command(run.path.name, root, os.environ)
        return about | {
            "dataset_id": record.dataset_id,
            "config_id": record.config_id,
            "items": record.n_items,
            "items_exact": True,
            "planned": record.n_items,
            "failed": record.n_errors or 0,
            "at": record.created_at,
            "kind": "imported" if record.imported else record.derived.kind if record.derived else _kind(manifest),
            "primary_metric": record.primary_metric,
            "primary": None if record.primary_metric is None else record.scores.get(record.primary_metric),
        }
    items, exact = count_rows(run.path)
    about |= {"items": items, "items_exact": exact, "planned": None, "failed": 0}
    if manifest is None:
        return about | {"note": "no run.json: it cannot be resumed"}
    about |= {
        "dataset_id": manifest.dataset_id,
        "config_id": manifest.config_id,
        "planned": manifest.n_items_planned,
        "at": manifest.started_at,
        "kind": manifest.kind,
    }
    if run.is_live:
        about |= _live(run)
    holder = run.holder
    if holder is not None and state in ("running", "stale"):
        about["holder"] = str(holder)
    if resumable(run):
        more = ["--take-over"] if state == "stale" else []
        about["resume"] = resume_command(run.path.name, root, os.environ, *more)
    return about


def _kind(manifest: models.RunManifest | None) -> str:
    return "measured" if manifest is None else manifest.kind


def _live(run: RunDir) -> dict[str, Any]:
    """What a live run without a record has, and how it ended."""
    from evh.store.rows import count_soon

    end = run.end
    if end is None:
        counted = [count_soon(path) for path in run.segments()]
        about: dict[str, Any] = {
            "episodes": sum(count for count, _ in counted),
            "episodes_exact": all(exact for _, exact in counted),
        }
        if run.state == "unfinished":
            about["note"] = f"a live run: evh.open_run(dir={str(run.path)!r}, resume=True) goes on with it"
        return about
    about = {"episodes": end.counts.episodes, "episodes_exact": True, "ended_as": end.status, "at": end.ended_at}
    if end.status != "completed":
        about["note"] = f"ended as {end.status}" + ("" if end.error is None else f": {end.error}")
    return about


def _show(project: Project, found: list[dict[str, Any]], left_out: list[Skipped]) -> None:
    from evh.cli._terminal import Column, Screen, number, plural, printable, table

    screen = Screen()
    if not found:
        screen.line(f"no runs in {project.portable(project.runs)}")
        _show_left_out(screen, project, left_out)
        return
    columns = [
        Column("run", least=20),
        Column("state"),
        Column("dataset", least=8),
        Column("config", least=8),
        Column("items", right=True),
        Column("primary", right=True),
        Column("at"),
    ]
    rows = []
    for each in found:
        if "error" in each:
            rows.append((printable(each["run_id"]), ("unreadable", "red"), "", "", "", "", ""))
            continue
        items, of = each["items"], each["planned"]
        count = ("" if each["items_exact"] else "~") + f"{items:,}"
        if of not in (None, items):
            count += f"/{of:,}"
        if "episodes" in each:
            count = ("" if each["episodes_exact"] else "~") + plural(each["episodes"], "episode")
        value = each.get("primary")
        primary = "" if value is None else f"{printable(each['primary_metric'])} {number(value, digits=4)}"
        rows.append(
            (
                printable(each["run_id"]),
                (each["state"], COLOURS[each["state"]]),
                printable(each.get("dataset_id") or "–"),
                printable(each.get("config_id") or "–"),
                count + (f", {each['failed']} failed" if each["failed"] else ""),
                primary,
                each.get("at", ""),
            )
        )
    table(screen, columns, rows)
    for each in found:
        if "error" in each:
            screen.line(f"{each['run_id']}: {printable(each['error'])}")
        elif "holder" in each:
            screen.line(f"{each['run_id']}: held by {printable(each['holder'])}")
        elif "note" in each:
            screen.line(f"{each['run_id']}: {printable(each['note'])}")
    _show_left_out(screen, project, left_out)
    stopped = [each for each in found if "resume" in each]
    if stopped:
        screen.line(f"{plural(len(stopped), 'run')} can go on:")
        for each in stopped:
            screen.line(f"  {each['resume']}")


def _show_left_out(screen: Screen, project: Project, left_out: list[Skipped]) -> None:
    from evh.cli._terminal import printable

    for path, why in left_out:
        screen.line(f"{printable(project.portable(path))} {why}")
