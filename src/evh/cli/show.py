"""`evh show`: the episodes of a file or run as a table, or one of them in detail."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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

Of a folder: the rows of a run (traces.jsonl, or the files in traces/, or
numbered chunks) and what is MessagePack; when it is no run, every file of
episodes below it. Rows are numbered through all files, and each names its file.

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
_TORN = re.compile(r"torn last row of ([0-9]+) bytes: (.*)", re.DOTALL)
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
    files = _files(options.source)
    entries = _entries(options.source, files, totals, progress)
    if options.json:
        _listing.print_json(entries, totals, options.limit)
    else:
        _listing.print_table(entries, totals, options.limit, name_files=len(files) > 1)
    return FAILED if totals.bad else DONE


def _counted(bad: int) -> str:
    from evh.cli._terminal import plural

    return f" ({plural(bad, 'row')} could not be read: `evh check` names {'it' if bad == 1 else 'them'})"


def _entries(source: str, files: list[str], totals: Any, progress: Any) -> Iterator[Any]:
    from evh.cli._listing import summarise

    for position, (file, episode) in enumerate(_episodes(source, files, totals.refuse, progress), 1):
        entry = summarise(position, episode, file)
        totals.add(entry)
        yield entry


def _episodes(source: str, files: list[str], refuse: Any, progress: Any) -> Iterator[tuple[str, Any]]:
    """The episodes of a file, run or folder of runs, each with the name of its file below the source; rows and files
    that cannot be read go to `refuse`."""
    from evh.cli._documents import Flat, holds_rows, is_single
    from evh.protocol._folders import twin_of
    from evh.protocol.reader import read_episodes

    read = 0
    being_written = _being_written(source)

    def refuse_row(error: EvhError) -> None:
        if not (being_written and error.message.startswith("torn last row")):  # its writer is in the middle of it
            refuse(_in_our_words(error))

    for file in files:
        # A live chunk may be sealed (renamed and compressed) between the listing and its turn.
        there: Any = twin_of(Path(file)) or file
        name = Path(file).relative_to(source).as_posix() if file != source else file
        try:
            if file == "-" or (is_single(file) and not holds_rows(file)):
                there = Flat(file)
            for episode in read_episodes(there, on_error=refuse_row):
                read += 1
                progress.at(source, read)
                yield name, episode
            if isinstance(there, Flat) and there.failure is not None:
                raise there.failure
        except EvhError as error:
            # The file itself, not a row of it: what came before it stays.
            if len(files) == 1 and not read:
                raise
            refuse_row(error.at(file, None))
        finally:
            progress.done()


def _being_written(source: str) -> bool:
    """Whether a source is a run that somebody writes, as far as its lease says."""
    from evh.store.run_dir import open_run_dir

    if source == "-" or not Path(source).is_dir():
        return False
    try:
        return open_run_dir(source).state in ("running", "stale")
    except EvhError:
        return False  # no run, or one whose files tell it


def _in_our_words(error: EvhError) -> EvhError:
    """An error of the reader as every command tells it."""
    from evh.cli._terminal import grouped

    said = grouped(error.message)
    torn = _TORN.fullmatch(said)
    if torn is not None:
        size = int(torn[1])
        said = f"torn row: {torn[2]}; its {size:,} {'byte holds' if size == 1 else 'bytes hold'} no whole record"
    return EvhError(said, source=error.source, line=error.line)


def _files(source: str) -> list[str]:
    """The files of rows that a source stands for: itself, those of a run, or all those of episodes below a folder."""
    if source == "-" or not Path(source).is_dir():
        return [source]
    from evh.cli._documents import is_msgpack
    from evh.protocol._folders import find_files, row_files

    below = [file for file in find_files(source) if file.name not in NOT_EPISODES]
    try:
        rows = row_files(Path(source))
    except SourceError:
        if not below:
            raise
        return [str(file) for file in below]
    return [str(file) for file in (*rows, *(file for file in below if is_msgpack(file.name)))]


# --- one episode -----------------------------------------------------------------------------------------------------


def _one(options: argparse.Namespace) -> int:
    files = _files(options.source)
    found = _found(options.source, files, options.id)
    if options.json:
        from evh.cli._data import json_text

        sys.stdout.write(json_text(found.episode.to_record()) + "\n")
    else:
        from evh.cli._detail import print_episode

        file = found.file if len(files) > 1 else None
        print_episode(found.episode, found.position, full=options.full, trace_id=found.trace_id, file=file)
    return DONE


class Found(NamedTuple):
    """An episode, its number, its file, and the id of its trace when that was named."""

    position: int
    episode: Any
    file: str
    trace_id: str | None = None


def _found(source: str, files: list[str], wanted: str) -> Found:
    """The episode that is meant. Raises `EvhError`."""
    from evh.cli._terminal import Progress

    row = int(wanted[1:]) if wanted.startswith("#") and wanted[1:].isdecimal() else None
    bad: list[EvhError] = []
    exact: list[Found] = []
    close: list[Found] = []
    same: list[str] = []
    near: list[str] = []
    read = 0
    for position, (file, episode) in enumerate(_episodes(source, files, bad.append, Progress("looking through")), 1):
        read = position
        if row is not None:
            if position == row:
                return Found(position, episode, file)
            continue
        where = f"  {file}" if len(files) > 1 else ""
        names = [(episode.id, None), *((trace.id, trace.id) for trace in episode.traces)]
        for name, trace_id in names:
            if name == wanted:
                if len(exact) < CANDIDATES:
                    exact.append(Found(position, episode, file, trace_id))
                    same.append(f"#{position}  {episode.id}{where}")
                break
        else:
            match = next(((name, trace_id) for name, trace_id in names if name.startswith(wanted)), None)
            if match is not None and len(close) < CANDIDATES:
                close.append(Found(position, episode, file, match[1]))
                near.append(f"#{position}  {match[0]}{where}")
    found = exact or close
    if len(found) == 1:
        return found[0]
    unread = _counted(len(bad)) if bad else ""
    if row is not None:
        raise SourceError(f"there is no episode #{row}: there are {read:,}{unread}", source=source)
    if not found:
        raise SourceError(f"no episode or trace has an id that begins with {wanted!r}{unread}", source=source)
    listed = same or near
    told = "\n".join(f"  {each}" for each in listed) + ("\n  …" if len(listed) == CANDIDATES else "")
    if exact:
        said = "is the id of more than one row: give the number of one, as #N"
    else:
        said = "is not one episode: give more of the id, or #N"
    raise SourceError(f"{wanted!r} {said}\n{told}", source=source)
