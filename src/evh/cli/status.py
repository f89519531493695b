"""`evh status`: how far runs are uploaded, and what keeps them from it.

Promise: nothing is sent, nothing is written, no lock is taken: a run may be asked about while it is written and
uploaded. The rows that are with the platform, pending and refused add up to those on disk.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import EvhError

if TYPE_CHECKING:
    from evh.cli._terminal import Part

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh status: how far runs are uploaded, and what stands in the way

Usage
  evh status [RUN...] [OPTIONS]

Of every run: its state, whether a platform knows it (online) or not (offline),
the rows on disk, with the platform, pending, refused and lost, what the
uploader does now, and where to look at it. RUN is the folder or the id of a
run; without one, all live runs of data/runs and the measured ones that were
pushed. Only looks.

Options
  --root DIR   the folder that holds data/ (default: the current one)
  --json       print the same as data
  -h, --help   this page

Exit codes
  0    told
  1    a run cannot be read
  2    wrong usage
  130  interrupted

Examples
  evh status
  evh status data/runs/arm_r1
  evh status --json
"""


def parser() -> Parser:
    made = Parser("status")
    made.add_argument("runs", nargs="*", metavar="RUN")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Say how far the runs are; returns the exit code."""
    from evh.cli._uploaded import as_data, chosen_runs, uploaded
    from evh.harness.project import Project

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    told: list[dict[str, Any]] = []
    for directory in chosen_runs(project, options.runs):
        try:
            told.append(as_data(uploaded(directory), project))
        except EvhError as error:
            told.append({"run_id": directory.name, "path": project.portable(directory), "error": str(error)})
    good = all("rows" in each for each in told)
    if options.json:
        from evh.cli._data import json_text

        sys.stdout.write(json_text({"ok": good, "runs": told}) + "\n")
    else:
        _show(told)
    return DONE if good else FAILED


def _show(told: list[dict[str, Any]]) -> None:
    from evh.cli._terminal import Column, Screen, printable, table

    screen = Screen()
    if not told:
        screen.line("no live runs")
        return
    columns = [
        Column("run", least=20),
        Column("state"),
        Column("mode"),
        *(Column(name, right=True) for name in ("rows", "sent", "pending", "refused", "lost")),
        Column("uploader"),
        Column("there"),
    ]
    rows: list[list[Part]] = []
    for each in told:
        if "rows" not in each:
            rows.append([printable(each["run_id"]), ("unreadable", "red"), *([""] * 8)])
            continue
        numbers: list[Part] = [
            (f"{each[name]:,}", style) if each[name] and style else f"{each[name]:,}"
            for name, style in (("rows", ""), ("sent", ""), ("pending", "yellow"), ("refused", "red"), ("lost", "red"))
        ]
        uploader, there = each["uploader"] or "–", each["remote"] or "–"
        rows.append([printable(each["run_id"]), each["state"], each["mode"], *numbers, uploader, printable(there)])
    table(screen, columns, rows)
    for each in told:
        said = [each["error"], *each.get("notes", []), each.get("url")]
        for text in said:
            if text:
                screen.line(f"{printable(each['run_id'])}: {printable(text)}")
