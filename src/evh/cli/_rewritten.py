"""The report of `evh upgrade` and `evh convert`: rows, what was done to them and why, and what was refused."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from evh.cli._rewrite import FileReport, Run
from evh.cli._terminal import Column, Part, Screen, clip, number, plural, printable, short_pointer, table, wrapped

__all__ = ["Section", "Words", "by_reason", "print_json", "print_report"]

SHOWN_REFUSALS = 20
SHOWN_PLACES = 20
SHOWN_LEFT_OUT = 8


class Section(NamedTuple):
    """A part of what was done to a file: rows of a name, a count and what is counted. With a heading (an action and
    its reason), the rows are places and have no names."""

    rows: list[tuple[str, int, str]]
    action: str = ""
    heading: str = ""


class Words(NamedTuple):
    """How a command speaks: `unchanged` of rows that needed nothing, `changed` of the others."""

    unchanged: str
    changed: str
    actions: dict[str, str]
    """Names of the actions, in the order in which they are told."""
    says_older: bool = False
    """Whether rows of an older shape are worth a word."""


def print_report(
    run: Run, words: Words, sections: Callable[[FileReport], list[Section]], *, to_stderr: bool, list_steps: bool
) -> None:
    """Print for people; `sections` says what was done to a file."""
    screen = Screen(sys.stderr if to_stderr else sys.stdout)
    if list_steps:
        for step in run.steps():
            _step(screen, json.loads(step))
        screen.line()
    if run.dry:
        screen.line(("A dry run: nothing is written.", "yellow"))
        screen.line()
    for at, file in enumerate(run.files):
        if at:
            screen.line()
        _file(screen, file, words, sections(file))
    if run.left_out:
        screen.line()
        names = ", ".join(printable(name) for name in run.left_out[:SHOWN_LEFT_OUT])
        more = f" and {len(run.left_out) - SHOWN_LEFT_OUT} more" if len(run.left_out) > SHOWN_LEFT_OUT else ""
        for line in wrapped(f"Left where they are, being no files of records: {names}{more}", screen.width):
            screen.line((line, "dim"))
    if len(run.files) > 1:
        total, written = sum(file.rows for file in run.files), sum(file.written for file in run.files)
        refused = sum(file.refused_count for file in run.files)
        screen.line()
        said = f"{plural(len(run.files), 'file')}, {plural(total, 'row')}: {plural(written, 'record')}"
        screen.line((f"{said}, {refused:,} refused", "bold"))
    screen.flush()


def _file(screen: Screen, file: FileReport, words: Words, sections: Sequence[Section]) -> None:
    where: list[Part] = []
    if file.target is not None:
        where = [" → " if screen.unicode else " -> ", (_shown(file.target), "bold")]
    screen.line(screen.sign(file.ok), " ", (_shown(file.source), "bold"), *where)
    records = "" if file.written == file.rows else f" → {plural(file.written, 'record')}"
    parts = [f"{plural(file.rows, 'row')}{records}"]
    parts += [f"{file.unchanged:,} {words.unchanged}"] if file.unchanged else []
    parts += [f"{file.changed:,} {words.changed}"] if file.changed else []
    parts += [f"{file.older:,} of an older shape, upgraded first"] if file.older and words.says_older else []
    parts += [f"{file.refused_count:,} refused"] if file.refused_count else []
    screen.line(f"  {', '.join(parts)}")
    for section in sections:
        screen.line()
        _section(screen, section)
    told = [f"{name} {number(file.actions[action])}" for action, name in words.actions.items() if file.actions[action]]
    if told:
        screen.line()
        screen.line((f"  members: {', '.join(told)}", "dim"))
    _refusals(screen, file)


def _section(screen: Screen, section: Section) -> None:
    text = Column("", least=30, wraps=True)
    if section.heading:
        screen.line("  ", (section.action, "cyan"), f": {printable(section.heading)}")
        rows = [(f"{count:,}", short_pointer(place)) for _, count, place in section.rows]
        table(screen, [Column("", right=True), text], rows, indent=4)
        return
    named = [((name, "cyan"), f"{count:,}", printable(what)) for name, count, what in section.rows]
    table(screen, [Column(""), Column("", right=True), text], named, indent=2)


def _refusals(screen: Screen, file: FileReport) -> None:
    if file.failure is not None:
        screen.line()
        screen.line(("  the source cannot be read to its end: ", "red"), printable(file.failure))
    if not file.refused_count:
        return
    screen.line()
    how = "kept as it is" if file.refused_count == 1 else "kept as they are"
    kept = f", {how} in {_shown(file.refused_target)}" if file.refused_target else ""
    screen.line((f"  refused: {plural(file.refused_count, 'row')}{kept}", "red"))
    for line, reason in file.refused[:SHOWN_REFUSALS]:
        text = f"    line {line}  {printable(reason)}"
        screen.line(clip(text, screen.width) if screen.terminal else text)
    if file.refused_count > SHOWN_REFUSALS:
        screen.line((f"    … {file.refused_count - SHOWN_REFUSALS:,} more (--json lists a thousand)", "dim"))


def _step(screen: Screen, step: dict[str, Any]) -> None:
    to = f" → {short_pointer(step['to'])}" if step["to"] and step["to"] != step["pointer"] else ""
    place = f"{short_pointer(step['pointer']) or '(root)'}{to}"
    note = f"  {printable(step['note'])}" if step["note"] else ""
    screen.line(f"line {step['line']}  ", (step["rule"], "cyan"), f" {step['action']} {place}", (note, "dim"))


def _shown(name: str) -> str:
    return "<stdout>" if name == "-" else printable(name)


def print_json(run: Run, extra: dict[str, Any], names: dict[str, str], *, to_stderr: bool) -> None:
    """Print as one JSON object, the steps one a line and last; `names` of the actions as in the text."""
    from evh.cli._data import json_text

    stream = sys.stderr if to_stderr else sys.stdout
    head = {"ok": run.ok, "dry_run": run.dry, **extra, "files": [_entry(file, names) for file in run.files]}
    text = json_text({**head, "left_out": run.left_out})
    stream.write(text.removesuffix("\n}") + ',\n  "steps": [')
    separator = "\n"
    for step in run.steps():
        stream.write(f"{separator}    {step}")
        separator = ",\n"
    stream.write(("" if separator == "\n" else "\n  ") + "]\n}\n")
    stream.flush()


def _entry(file: FileReport, names: dict[str, str]) -> dict[str, Any]:
    return {
        "source": file.source,
        "target": file.target,
        "type": file.type,
        "ok": file.ok,
        "rows": file.rows,
        "records": file.written,
        "unchanged": file.unchanged,
        "changed": file.changed,
        "older": file.older,
        "rules": dict(sorted(file.rules.items())),
        "actions": {names.get(action, action): count for action, count in sorted(file.actions.items())},
        "refused": file.refused_count,
        "refused_rows": [{"line": line, "reason": reason} for line, reason in file.refused],
        "refused_target": file.refused_target,
        "failure": file.failure,
    }


def by_reason(
    reasons: Counter[tuple[str, str, str]], names: dict[str, str], sentences: dict[str, str]
) -> list[Section]:
    """What was done for which reason (as one of the `sentences`, where it is no sentence by itself), and to which
    members (`*` stands for an index) how often."""
    order = list(names)
    grouped: dict[tuple[str, str], list[tuple[str, int, str]]] = {}
    for (action, place, note), count in reasons.items():
        if action in names:
            grouped.setdefault((action, note), []).append(("", count, place))
    sections = []
    for action, note in sorted(grouped, key=lambda key: (order.index(key[0]), key[1])):
        rows = sorted(grouped[action, note], key=lambda row: (-row[1], row[2]))
        hidden = len(rows) - SHOWN_PLACES
        if hidden > 0:
            rest = sum(count for _, count, _ in rows[SHOWN_PLACES:])
            rows = [*rows[:SHOWN_PLACES], ("", rest, f"in {hidden:,} more places (--json lists each step)")]
        heading = sentences.get(note, note) or "an earlier conversion had stashed it"
        sections.append(Section(rows, names[action], heading))
    return sections
