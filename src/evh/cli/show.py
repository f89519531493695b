"""`evh show`: the episodes of a file or run as a table, or one of them in detail."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evh.cli._args import DONE, FAILED, Parser, add_json, count
from evh.errors import EvhError, SourceError, UsageError

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh show: list the episodes of a file or run, or look at one of them

Usage
  evh show FILE|FOLDER [ID] [OPTIONS]

Without ID, a row an episode (ok, reward, tokens, turns, errors, run), then a
summary. Rows of any age are read. With ID, one episode in detail: its verdict,
and per trace the rewards, cost, timing and conversation. ID is the id of an
episode or trace, or enough of its beginning, or #N for the row numbered N.
- is standard input.

Reward is that of the trainable traces, on average. A dash stands for none: an
episode that was never scored is not one that scored 0. Rows that cannot be read
are counted and named at the end.

Options
  -n, --limit N  list at most N episodes; 0: all
                 (default: 50 on a terminal, else all); all are counted
  --full         with ID: messages whole rather than cut to a line
  --json         the list, or the whole record, as data
  -h, --help     this page

Exit codes
  0    done
  1    rows that cannot be read, or no such episode
  2    wrong usage
  130  interrupted

Examples
  evh show traces.jsonl
  evh show runs/march --limit 10
  evh show traces.jsonl 8db56da9
  evh show traces.jsonl '#3' --full
  evh show traces.jsonl --json | jq '.episodes[] | select(.ok | not) | .id'
"""

CANDIDATES = 10
NOT_EPISODES = ("predictions.jsonl", "metrics.json", "run.json")


def parser() -> Parser:
    made = Parser("show")
    made.add_argument("source", nargs="?", metavar="FILE")
    made.add_argument("id", nargs="?", metavar="ID")
    made.add_argument("--limit", "-n", type=count)
    made.add_argument("--full", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Show what the options name; the exit code says whether every row could be read."""
    from evh.cli._files import need_source

    if options.source is None:
        raise UsageError("name the file or folder to show, or - for standard input")
    if options.full and options.id is None:
        raise UsageError("--full needs the ID of an episode")
    need_source(options.source)
    if options.id is not None:
        return _one(options)
    from evh.cli import _listing
    from evh.cli._terminal import Progress

    progress = Progress("reading")
    totals = _listing.Totals(before_printing=progress.done)
    entries = _entries(options.source, totals, progress)
    show = _listing.print_json if options.json else _listing.print_table
    show(entries, totals, options.limit)
    return FAILED if totals.bad else DONE


def _entries(source: str, totals: Any, progress: Any) -> Iterator[Any]:
    from evh.cli._listing import summarise

    for position, episode in enumerate(_episodes(source, totals.refuse, progress), 1):
        entry = summarise(position, episode)
        totals.add(entry)
        yield entry


def _episodes(source: str, refuse: Any, progress: Any) -> Iterator[Any]:
    """The episodes of a file, run or folder of runs; rows and files that cannot be read go to `refuse`."""
    from evh.protocol.reader import read_episodes

    files = _files(source)
    read = 0
    for file in files:
        try:
            for episode in read_episodes(file, on_error=refuse):
                read += 1
                progress.at(source, read)
                yield episode
        except EvhError as error:
            # The file itself, not a row of it: what came before it stays.
            if len(files) == 1 and not read:
                raise
            refuse(error.at(file, None))
        finally:
            progress.done()


def _files(source: str) -> list[str]:
    """The source itself when it holds rows, else the files of rows below it."""
    if source == "-" or not Path(source).is_dir():
        return [source]
    from evh.cli._files import record_files
    from evh.protocol.sources import iter_lines

    try:
        next(iter_lines(source), None)
    except SourceError as error:
        found = [str(file) for file in record_files(source) if file.name not in NOT_EPISODES]
        if not found:
            raise error from None
        return found
    return [source]


# --- one episode -----------------------------------------------------------------------------------------------------


def _one(options: argparse.Namespace) -> int:
    bad: list[EvhError] = []
    position, episode, trace_id = _found(options.source, options.id, bad)
    if options.json:
        from evh.cli._data import json_text

        sys.stdout.write(json_text(episode.to_record()) + "\n")
    else:
        from evh.cli._detail import print_episode

        print_episode(episode, position, full=options.full, trace_id=trace_id)
    return DONE


def _found(source: str, wanted: str, bad: list[EvhError]) -> tuple[int, Any, str | None]:
    """The episode that is meant, its number, and the id of its trace when that was named. Raises `EvhError`."""
    from evh.cli._terminal import Progress

    row = int(wanted[1:]) if wanted.startswith("#") and wanted[1:].isdecimal() else None
    exact: list[tuple[int, Any, str | None]] = []
    close: list[tuple[int, Any, str | None]] = []
    near: list[str] = []
    read = 0
    for position, episode in enumerate(_episodes(source, bad.append, Progress("looking through")), 1):
        read = position
        if row is not None:
            if position == row:
                return position, episode, None
            continue
        names = [(episode.id, None), *((trace.id, trace.id) for trace in episode.traces)]
        for name, trace_id in names:
            if name == wanted:
                if len(exact) < CANDIDATES:
                    exact.append((position, episode, trace_id))
                break
        else:
            match = next(((name, trace_id) for name, trace_id in names if name.startswith(wanted)), None)
            if match is not None and len(close) < CANDIDATES:
                close.append((position, episode, match[1]))
                near.append(f"#{position}  {match[0]}")
    found = exact or close
    if len(found) == 1:
        return found[0]
    unread = f" ({len(bad)} rows could not be read: `evh check` names them)" if bad else ""
    if row is not None:
        raise SourceError(f"there is no episode #{row}: there are {read:,}{unread}", source=source)
    if not found:
        raise SourceError(f"no episode or trace has an id that begins with {wanted!r}{unread}", source=source)
    if exact:
        near = [f"#{position}  {episode.id}" for position, episode, _ in exact]
    listed = "\n".join(f"  {each}" for each in near)
    more = "\n  …" if len(near) == CANDIDATES else ""
    raise SourceError(f"{wanted!r} is not one episode: give more of the id, or #N\n{listed}{more}", source=source)
