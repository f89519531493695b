"""The three reports of `evh check`: for people, for programs, for a workflow's log."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from evh.cli._data import json_text
from evh.cli._terminal import Part, Screen, cells, plural, printable, short_pointer, text_of, wrapped
from evh.errors import Notice, Violation

if TYPE_CHECKING:
    from evh.cli.check import Report

__all__ = ["GitHub", "Json", "Pretty"]


class Pretty:
    """A paragraph a file, and a line that sums up."""

    def __init__(self) -> None:
        self.screen = Screen()
        self.files = 0
        self.counts: Counter[str] = Counter()

    def file(self, report: Report) -> None:
        screen = self.screen
        self.files += 1
        self.counts.update(
            rows=report.rows, good=report.good_rows, older=report.older_rows,
            findings=report.finding_count, notices=report.notice_count,
        )  # fmt: skip
        name, rows = printable(report.file), _rows(report)
        said: list[Part] = [f"  {rows}"]
        if report.finding_count:
            said += [", ", (plural(report.finding_count, "finding"), "red")]
        if report.notice_count:
            said += [", ", (plural(report.notice_count, "notice"), "yellow")]
        head: list[Part] = [screen.sign(report.ok), " ", (name, "bold")]
        if screen.terminal and cells(name + "".join(map(text_of, said))) > screen.width - 2:
            screen.line(*head)
            screen.line(*said)
        else:
            screen.line(*head, *said)
        if report.older_rows:
            every = report.older_rows == report.rows > 1
            whose = "all rows are" if every else plural(report.older_rows, "row is", "rows are")
            screen.line((f"  {whose} of an older shape: {_shapes(report)}", "dim"))
        shown = report.shown_findings()
        for line, finding in shown:
            self._place(line, finding.pointer, finding.message, finding.keyword, "red")
        if report.no_rows:
            more = plural(report.finding_count - len(shown), "more row is alike", "more rows are alike")
            screen.line((f"  … this does not look like rows of JSON: {more}", "red"))
        else:
            self._hidden(report.finding_count - len(shown), "finding")
        noticed = [] if report.no_rows else list(report.notices.values())
        for line, notice, times in noticed:
            more = f" ({times:,} places)" if times > 1 else ""
            self._place(line, notice.pointer, notice.message + more, notice.kind, "yellow")
        if not report.no_rows:
            self._hidden(report.notice_count - sum(times for _, _, times in noticed), "notice")
        screen.flush()

    def _place(self, line: int | None, pointer: str, message: str, kind: str, style: str) -> None:
        """A finding on one line; on a terminal where it does not fit, its message below its place."""
        screen = self.screen
        place = "  " if line is None else f"  line {line}  "
        pointer, message, kind = short_pointer(pointer), printable(message), f"[{printable(kind)}]"
        told = cells(f"{place}{pointer}  {message}  {kind}")
        if not screen.terminal or told <= screen.width:
            screen.line(place, (f"{pointer}  " if pointer else "", "cyan"), f"{message}  ", (kind, style))
            return
        if pointer:
            screen.line(place, (pointer, "cyan"))
            place = " " * len(place)
        lines = wrapped(f"{message}  {kind}", screen.width - len(place))
        for at, text in enumerate(lines):
            head, mark, _ = text.rpartition(kind) if at == len(lines) - 1 else (text, "", "")
            screen.line(place if at == 0 else " " * len(place), head, (mark, style))

    def _hidden(self, number: int, word: str) -> None:
        if number:
            more = plural(number, f"more {word}")
            self.screen.line((f"  … {more} not shown (--max-errors 0 shows all)", "dim"))

    def end(self) -> None:
        counts = self.counts
        said = f"{plural(self.files, 'file')}, {plural(counts['rows'], 'row')}: {counts['good']:,} good"
        said += f", {plural(counts['findings'], 'finding')}, {plural(counts['notices'], 'notice')}"
        self.screen.line()
        self.screen.line((said, "bold"))
        if counts["older"]:
            number = plural(counts["older"], "row is", "rows are")
            self.screen.line((f"{number} of an older shape: `evh upgrade SRC -o DST` brings them up to date.", "dim"))


class Json:
    """One object with an entry a file."""

    def __init__(self) -> None:
        self.files: list[dict[str, Any]] = []

    def file(self, report: Report) -> None:
        self.files.append(
            {
                "file": report.file,
                "type": report.type,
                "ok": report.ok,
                "rows": report.rows,
                "good_rows": report.good_rows,
                "older_rows": report.older_rows,
                "shapes": dict(sorted(report.shapes.items(), key=lambda pair: _order(pair[0]))),
                "findings": [
                    {"line": line, "pointer": each.pointer, "keyword": each.keyword, "message": each.message}
                    for line, each in report.findings
                ],
                "notices": [
                    {"line": line, "pointer": each.pointer, "kind": each.kind, "message": each.message, "places": times}
                    for line, each, times in report.notices.values()
                ],
                "findings_total": report.finding_count,
                "notices_total": report.notice_count,
            }
        )

    def end(self) -> None:
        sys.stdout.write(json_text({"ok": all(file["ok"] for file in self.files), "files": self.files}) + "\n")


class GitHub:
    """An annotation a finding (errors) and notice (warnings) for the log of a workflow."""

    def file(self, report: Report) -> None:
        shown = report.shown_findings()
        for line, finding in shown:
            sys.stdout.write(_annotation(finding, report.file, line) + "\n")
        for line, notice, _ in [] if report.no_rows else report.notices.values():
            text = _annotation(_as_violation(notice), report.file, line)
            sys.stdout.write(f"::warning{text.removeprefix('::error')}\n")
        hidden = report.finding_count - len(shown)
        if hidden:
            more = f"{plural(hidden, 'more finding')} not shown (--max-errors 0 shows all)"
            if report.no_rows:
                alike = plural(hidden, "more row is alike", "more rows are alike")
                more = f"this does not look like rows of JSON: {alike}"
            sys.stdout.write(_annotation(Violation("", "max-errors", more), report.file) + "\n")

    def end(self) -> None:
        return


def _annotation(violation: Violation, file: str, line: int | None = None) -> str:
    """A line for the log; what is about a row as a whole has no place in it to name."""
    from evh.protocol.report import github_line

    head, mark, said = github_line(violation, file, line).partition("::(root): ")
    return f"{head}::{said}" if mark and not violation.pointer else head + mark + said


def _as_violation(notice: Notice) -> Violation:
    return Violation(notice.pointer, notice.kind, notice.message)


def _rows(report: Report) -> str:
    said = "1 record" if report.file.endswith(".json") and report.rows else plural(report.rows, "row")
    if report.rows and report.type:
        said = f"{said} ({report.type})"
    return said if report.good_rows == report.rows else f"{said}, {report.good_rows:,} good"


def _shapes(report: Report) -> str:
    return ", ".join(sorted(report.shapes, key=_order))


def _order(rule: str) -> tuple[bool, int]:
    return not rule.startswith("S"), int(rule[1:])
