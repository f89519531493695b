"""A table of episodes: one row an episode as it is read, then a line that sums up.

Promise: memory is bounded by what is shown; a row that cannot be read is counted, named at the end, and hides no other.
Policy: on a terminal ids are as short as tells them apart, and a column that says the same in every row is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice, pairwise, takewhile
from typing import Any, NamedTuple

from evh.cli._data import json_text, plain
from evh.cli._terminal import Column, Part, Screen, Table, number, plural, printable, wrapped
from evh.errors import EvhError

__all__ = ["Entry", "Totals", "print_json", "print_table", "summarise"]

BLOCK = 50
SHOWN_BAD = 20
MANY_RUNS = 1000
SHORT_ID = 8
FIRST_TO_GO = ("run", "traces", "turns", "errors", "number")
"""Columns that a narrow terminal does without, in this order."""


class Entry(NamedTuple):
    """An episode in the table. Tokens are None where the message graph is broken."""

    number: int
    id: str
    task: str
    ok: bool
    reward: float | None
    input_tokens: int | None
    output_tokens: int | None
    turns: int
    errors: int
    traces: int
    run: str | None
    run_name: str | None
    file: str
    """Its name below the folder that is shown."""


class Totals:
    """Sums over all episodes read, shown or not."""

    def __init__(self, before_printing: Callable[[], None]) -> None:
        self.before_printing = before_printing
        self.episodes = self.ok = self.scored = self.input_tokens = self.output_tokens = self.errors = 0
        self.reward_sum = 0.0
        self.runs: dict[str, str | None] = {}
        self.bad = 0
        self.bad_rows: list[EvhError] = []

    def add(self, entry: Entry) -> None:
        self.episodes += 1
        self.ok += entry.ok
        self.errors += entry.errors
        self.input_tokens += entry.input_tokens or 0
        self.output_tokens += entry.output_tokens or 0
        if entry.reward is not None:
            self.scored += 1
            self.reward_sum += entry.reward
        if entry.run is not None and len(self.runs) < MANY_RUNS:
            self.runs.setdefault(entry.run, entry.run_name)

    def refuse(self, error: EvhError) -> None:
        """Note a row that could not be read."""
        self.bad += 1
        if len(self.bad_rows) < SHOWN_BAD:
            self.bad_rows.append(error)

    @property
    def reward(self) -> float | None:
        return self.reward_sum / self.scored if self.scored else None


def summarise(position: int, episode: Any, file: str) -> Entry:
    """What the table says of an episode."""
    from evh.protocol.summaries import summary_of

    summary = summary_of(episode)
    try:
        tokens: tuple[int | None, int | None] = (episode.num_input_tokens, episode.num_output_tokens)
    except EvhError:
        tokens = (None, None)
    return Entry(
        position, episode.id, task_name(episode.task), episode.ok, summary.reward, *tokens, episode.num_turns,
        summary.errors, summary.traces, *run_of(episode.run), file,
    )  # fmt: skip


def task_name(task: Any) -> str:
    """The name people know a task by: its data's `name`, `id` or `idx`, else its type, else its key."""
    data = task.data
    for member in ("name", "id"):
        value = data.get(member)
        if isinstance(value, str) and value:
            return value
    index = data.get("idx")
    kind = task.type or "task"
    if isinstance(index, int) and not isinstance(index, bool):
        return f"{kind} {index}"
    return task.type or (task.key or "–")[:16]


def run_of(run: Any) -> tuple[str | None, str | None]:
    """A run's id and name; those of a kind that is not known are taken from the object."""
    if run is None:
        return None, None
    value = getattr(run, "value", None)
    found = (value.get("id"), value.get("name")) if value is not None else (run.id, run.name)
    return tuple(each if isinstance(each, str) else None for each in found)  # type: ignore[return-value]


# --- for people ------------------------------------------------------------------------------------------------------


def print_table(entries: Iterator[Entry], totals: Totals, limit: int | None, *, name_files: bool) -> None:
    """Print up to `limit` rows (all without one), each with its file if need be, count the rest, and sum up."""
    screen = Screen()
    if limit is None:
        limit = BLOCK if screen.terminal else 0
    shown = 0
    first = list(islice(entries, min(BLOCK, limit) if limit else BLOCK))
    if first:
        names = _columns(screen, first, name_files)
        listed = Table(screen, [HEADINGS[name] for name in names])
        while first:
            shown += len(first)
            totals.before_printing()
            length = _short(first) if screen.terminal else 1 << 30
            listed.add([_cell(screen, entry, name, length) for name in names] for entry in first)
            screen.flush()
            left = limit - shown if limit else BLOCK
            first = list(islice(entries, min(BLOCK, left)))
    rest = sum(1 for _ in entries)
    totals.before_printing()
    if rest:
        screen.line((f"… {rest:,} more: --limit 0 shows all", "dim"))
    if shown:
        screen.line()
    _sum_up(screen, totals)
    screen.flush()


def _columns(screen: Screen, first: list[Entry], name_files: bool) -> list[str]:
    names = [name for name in HEADINGS if name != "file" or name_files]
    if not screen.terminal:
        return names
    if all(entry.traces == 1 for entry in first):
        names.remove("traces")
    if len({entry.run for entry in first}) == 1:
        names.remove("run")
    for name in FIRST_TO_GO:
        if name in names and _least(first, names) > screen.width:
            names.remove(name)
    return names


def _least(first: list[Entry], names: list[str]) -> int:
    """The cells that these columns take at least."""
    return sum(_cells_of(first, name) for name in names) + 2 * (len(names) - 1)


def _cells_of(first: list[Entry], name: str) -> int:
    column = HEADINGS[name]
    if column.least:
        return column.least
    if name in ("id", "ok"):
        return SHORT_ID if name == "id" else len(column.title)
    return max(len(column.title), *(len(number(getattr(entry, name))) for entry in first))


HEADINGS = {
    "number": Column("#", right=True),
    "id": Column("id"),
    "task": Column("task", least=12),
    "ok": Column("ok"),
    "reward": Column("reward", right=True),
    "input_tokens": Column("in", right=True),
    "output_tokens": Column("out", right=True),
    "turns": Column("turns", right=True),
    "errors": Column("errors", right=True),
    "traces": Column("traces", right=True),
    "run": Column("run", least=10),
    "file": Column("file", least=16),
}


def _short(entries: list[Entry]) -> int:
    """The shortest length, from eight on, at which the ids of these entries differ."""
    ids = sorted({entry.id for entry in entries})
    length = SHORT_ID
    for one, other in pairwise(ids):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        length = max(length, same + 1)
    return length


def _cell(screen: Screen, entry: Entry, name: str, length: int) -> Part:
    value = getattr(entry, name)
    if name == "ok":
        return screen.sign(entry.ok)
    if name == "id":
        return printable(entry.id[:length])
    if name == "run":
        named = (entry.run_name if screen.terminal else None) or entry.run or "–"
        return (printable(named), "dim")
    if isinstance(value, str):
        return printable(value)
    if name == "errors":
        return (str(value), "red" if value else "dim")
    if name == "number":
        return (str(value), "dim")
    return number(value)


def _sum_up(screen: Screen, totals: Totals) -> None:
    share = f" ({100 * totals.ok / totals.episodes:.0f} %)" if totals.episodes else ""
    screen.line((f"{plural(totals.episodes, 'episode')}, {totals.ok:,} ok{share}", "bold"))
    unscored = totals.episodes - totals.scored
    if totals.episodes:
        reward = f"mean reward {number(totals.reward)} over {totals.scored:,} scored" if totals.scored else "no reward"
        more = f", {unscored:,} unscored" if unscored else ""
        tokens = f"tokens {totals.input_tokens:,} in, {totals.output_tokens:,} out"
        _wrapped(screen, f"{reward}{more}; {tokens}; {plural(totals.errors, 'error')}")
    if len(totals.runs) == 1:
        [(run, name)] = totals.runs.items()
        screen.line(f"run {printable(run)}" + (f" ({printable(name)})" if name else ""))
    elif totals.runs:
        many = f"{MANY_RUNS:,} or more" if len(totals.runs) == MANY_RUNS else f"{len(totals.runs):,}"
        names = ", ".join(printable(name or run) for run, name in islice(totals.runs.items(), 3))
        _wrapped(screen, f"{many} runs: {names}" + (", …" if len(totals.runs) > 3 else ""))
    if totals.bad:
        screen.line()
        screen.line((f"{plural(totals.bad, 'row')} could not be read:", "red"))
        for error in totals.bad_rows:
            _wrapped(screen, f"  {printable(str(error))}")
        if totals.bad > len(totals.bad_rows):
            screen.line((f"  … {totals.bad - len(totals.bad_rows):,} more: `evh check` names them all", "dim"))


def _wrapped(screen: Screen, text: str) -> None:
    """A sentence, on several lines where a terminal is too narrow for it."""
    for line in wrapped(text, screen.width) if screen.terminal else [text]:
        screen.line(line)


# --- for programs ----------------------------------------------------------------------------------------------------


def print_json(entries: Iterator[Entry], totals: Totals, limit: int | None) -> None:
    """Print one JSON object as the episodes come: `episodes`, then `summary` and `bad_rows`."""
    write = sys.stdout.write
    write('{\n  "episodes": [')
    separator = "\n"
    for entry in islice(entries, limit) if limit else entries:
        write(f"{separator}    {json_text(plain(entry._asdict()), indent=None)}")
        separator = ",\n"
    for _ in entries:
        pass  # counted below, though not listed
    write(("" if separator == "\n" else "\n  ") + "],\n")
    rest = {
        "ok": not totals.bad,
        "summary": {
            "episodes": totals.episodes,
            "ok": totals.ok,
            "reward": totals.reward,
            "scored": totals.scored,
            "unscored": totals.episodes - totals.scored,
            "input_tokens": totals.input_tokens,
            "output_tokens": totals.output_tokens,
            "errors": totals.errors,
            "runs": len(totals.runs),
            "bad_rows": totals.bad,
        },
        "bad_rows": [{"file": error.source, "line": error.line, "reason": error.message} for error in totals.bad_rows],
    }
    write(json_text(rest).removeprefix("{\n") + "\n")
