"""The three reports of `evh validate`: for people, for programs, for a workflow's log."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from evh.cli._data import json_text
from evh.cli._terminal import Column, Part, Screen, cells, plural, printable, short_pointer, table, wrapped
from evh.errors import Violation
from evh.protocol.report import github_line
from evh.rules import Finding, Outcome

__all__ = ["as_json", "github", "pretty"]

COLUMNS = (Column("rule"), Column("status"), Column("checked", right=True), Column("findings", right=True), Column(""))
STYLES = {"FAIL": "red", "ok": "green", "nothing to check": "yellow"}
HIDDEN = "not shown (--max-errors 0 shows all)"


def pretty(outcomes: Sequence[Outcome], most: int) -> None:
    """A table of the rules, then the findings of each file with what to do about them, then notes."""
    screen = Screen()
    table(screen, COLUMNS, map(_row, outcomes))
    totals: Counter[str] = Counter()
    for outcome in outcomes:
        totals.update(outcome.files)
    for file, found in _by_file(outcomes).items():
        screen.line()
        screen.line(screen.sign(False), " ", (printable(file), "bold"), "  ", (plural(totals[file], "finding"), "red"))
        shown = found[:most]
        for at, (rule, finding) in enumerate(shown):
            _finding(screen, rule, finding)
            if at + 1 == len(shown) or shown[at + 1][1].advice != finding.advice:
                _wrapped(screen, "    → " if screen.unicode else "    > ", printable(finding.advice), "dim")
        if totals[file] > len(shown):
            screen.line((f"  … {plural(totals[file] - len(shown), 'more finding')} {HIDDEN}", "dim"))
    notes = [(outcome.rule, note) for outcome in outcomes for note in outcome.notes]
    if notes:
        screen.line()
    for rule, note in notes[:most]:
        _wrapped(screen, f"note {rule}  ", printable(note), "yellow")
    if len(notes) > most:
        screen.line((f"… {plural(len(notes) - most, 'more note')} {HIDDEN}", "dim"))
    screen.line()
    screen.line((_sum(outcomes, len(totals), len(notes)), "bold"))


def as_json(outcomes: Sequence[Outcome], most: int) -> None:
    """One object with an entry a rule."""
    rules = [
        {
            "rule": outcome.rule,
            "title": outcome.title,
            "status": outcome.status,
            "checked": outcome.checked,
            "counts": outcome.counts,
            "findings": [finding._asdict() for finding in outcome.findings],
            "findings_total": outcome.finding_count,
            "notes": outcome.notes[:most],
        }
        for outcome in outcomes
    ]
    ok = all(outcome.status != "FAIL" for outcome in outcomes)
    sys.stdout.write(json_text({"ok": ok, "rules": rules}) + "\n")


def github(outcomes: Sequence[Outcome], most: int) -> None:
    """An annotation a finding (errors) and a note (notices) for the log of a workflow."""
    for file, found in _by_file(outcomes).items():
        for rule, finding in found[:most]:
            violation = Violation(finding.pointer, rule, f"{finding.message}: {finding.advice}")
            head, mark, said = github_line(violation, file, finding.line).partition("::(root): ")
            text = f"{head}::{said}" if mark and not finding.pointer else head + mark + said
            sys.stdout.write(text.removesuffix(f" [{rule}]") + "\n")
        hidden = sum(outcome.files.get(file, 0) for outcome in outcomes) - len(found[:most])
        if hidden:
            more = github_line(Violation("", "max-errors", f"{plural(hidden, 'more finding')} {HIDDEN}"), file)
            sys.stdout.write(more.replace("::(root): ", "::") + "\n")
    for outcome in outcomes:
        for note in outcome.notes[:most]:
            said = github_line(Violation("", outcome.rule, note), "").partition("::(root): ")[2]
            sys.stdout.write(f"::notice title=evh%3A {outcome.rule}::{said.removesuffix(f' [{outcome.rule}]')}\n")


def _row(outcome: Outcome) -> tuple[Part, ...]:
    status = outcome.status
    found: Part = (f"{outcome.finding_count:,}", "red") if outcome.finding_count else "0"
    return outcome.rule, (status, STYLES[status]), f"{outcome.checked:,}", found, (outcome.title, "dim")


def _by_file(outcomes: Sequence[Outcome]) -> dict[str, list[tuple[str, Finding]]]:
    files: dict[str, list[tuple[str, Finding]]] = {}
    for outcome in outcomes:
        for finding in outcome.findings:
            files.setdefault(finding.file, []).append((outcome.rule, finding))
    return files


def _finding(screen: Screen, rule: str, finding: Finding) -> None:
    place = f"  {rule}  " + ("" if finding.line is None else f"line {finding.line}  ")
    pointer, message = short_pointer(finding.pointer), printable(finding.message)
    if not screen.terminal or cells(f"{place}{pointer}  {message}") <= screen.width:
        screen.line(place, (f"{pointer}  " if pointer else "", "cyan"), message)
        return
    if pointer:
        screen.line(place, (pointer, "cyan"))
        place = " " * len(place)
    _wrapped(screen, place, message, "")


def _wrapped(screen: Screen, start: str, text: str, style: str) -> None:
    """A text behind a start; on a terminal on as many lines as it takes."""
    lines = wrapped(text, screen.width - len(start)) if screen.terminal else [text]
    for at, line in enumerate(lines):
        part: Part = (line, style) if style else line
        screen.line(start if at == 0 else " " * len(start), part)


def _sum(outcomes: Sequence[Outcome], files: int, notes: int) -> str:
    count = Counter(outcome.status for outcome in outcomes)
    said = [f"{count[status]} {status}" for status in ("FAIL", "ok", "nothing to check") if count[status]]
    found = sum(outcome.finding_count for outcome in outcomes)
    told = f"{plural(found, 'finding')} in {plural(files, 'file')}" if found else "no findings"
    return f"{plural(len(outcomes), 'rule')}: {', '.join(said)}; {told}, {plural(notes, 'note')}"
