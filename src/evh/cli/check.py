"""`evh check`: what is wrong in record files, by file, line and place.

Promise: every document is looked at, good ones behind a bad one too; memory is bounded by one document and the findings
shown. Findings make exit code 1; notices alone do not. Policy: the look of the report.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Parser, add_json, count
from evh.errors import EvhError, Notice, SourceError, UsageError, Violation

if TYPE_CHECKING:
    from evh.cli._terminal import Progress

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh check: say what is wrong in record files

Usage
  evh check FILE|FOLDER... [OPTIONS]

Looks at each record by itself, in three layers and in every mode: the text
(torn rows, duplicate keys, NaN, integers beyond 2^53, nesting over 128), the
schema, and how members agree (message graph, token streams, spans). The mode
says how the schema layer reads. Of a folder it takes every file of records
below it, MessagePack too, but no refused rows; - is standard input.

A file's name tells its type: traces.jsonl and results.jsonl hold episodes,
metrics.json a RunRecord, run.json a RunManifest, predictions.jsonl
PredictionRows. Any other file is told by the `schema` member or the shape of
its first record, else by --type. Bare traces in a file of episodes are checked
as they are with --type Trace.

In the mode `upgrade`, a place that only today's shape has is one in the
upgraded row.

Options
  --mode MODE      upgrade: rows of any age are fine (default);
                   lenient: today's shape, members not known are notices;
                   strict: exactly the schema's verdict, with what the
                   layers of text and agreement find on top
  --type NAME      the type of files that say it in no other way: Episode, ...
  --format FORMAT  rich (default), json, or github (annotations in a workflow)
  --json           the same as --format json
  --max-errors N   show at most N findings and N notices of a file (default 50;
                   0: all); all are counted
  -h, --help       this page

Exit codes
  0    nothing found, or notices alone (byte order mark, CR LF, blank lines, no
       newline at the end, members that are not known)
  1    findings, nothing to check, or a file that cannot be read
  2    wrong usage
  130  interrupted

Examples
  evh check traces.jsonl
  evh check runs/ --mode strict --max-errors 0
  evh check runs/ --format github
  zcat traces.jsonl.gz | evh check - --json
"""

SHOWN_UNREADABLE = 3
"""Findings that people see of a file in which nothing is JSON."""
MODES = ("upgrade", "lenient", "strict")
FORMATS = ("rich", "json", "github")


def parser() -> Parser:
    made = Parser("check")
    made.add_argument("paths", nargs="*", metavar="FILE")
    made.add_argument("--mode", choices=MODES, default="upgrade")
    made.add_argument("--type", dest="kind")
    made.add_argument("--format", choices=FORMATS, default="rich")
    made.add_argument("--max-errors", type=count, default=50)
    add_json(made)
    return made


class Report:
    """What was found in one file."""

    def __init__(self, file: str, most: int) -> None:
        self.file = file
        self._most = most or 1 << 60
        self.type: str | None = None
        self.rows = self.good_rows = self.older_rows = 0
        self.shapes: Counter[str] = Counter()
        self.findings: list[tuple[int | None, Violation]] = []
        self.notices: dict[tuple[str, str], tuple[int | None, Notice, int]] = {}
        """By kind and message: the first line, the notice there, and in how many places it stands."""
        self.finding_count = self.notice_count = 0
        self.unreadable = 0
        """Rows that are no JSON at all."""

    @property
    def ok(self) -> bool:
        return not self.finding_count

    @property
    def no_rows(self) -> bool:
        """Whether not a single row of several could be read, so that it is another kind of file."""
        return self.unreadable == self.rows > SHOWN_UNREADABLE

    def shown_findings(self) -> list[tuple[int | None, Violation]]:
        """The findings that people are shown: of a file in which nothing is JSON the first few stand for all."""
        return self.findings[:SHOWN_UNREADABLE] if self.no_rows else self.findings

    def found(self, line: int | None, finding: Violation) -> None:
        """Count a finding, and keep it if there is room."""
        self.finding_count += 1
        if len(self.findings) < self._most:
            self.findings.append((line, finding))

    def noted(self, line: int | None, *notices: Notice) -> None:
        """Count notices; the same one in other places is kept once."""
        for notice in notices:
            self.notice_count += 1
            key = (notice.kind, notice.message)
            if key in self.notices:
                first, kept, times = self.notices[key]
                self.notices[key] = (first, kept, times + 1)
            elif len(self.notices) < self._most:
                self.notices[key] = (line, notice, 1)


def run(options: argparse.Namespace) -> int:
    """Check what the options name, print the report, return the exit code."""
    from evh.cli import _checked
    from evh.cli._types import type_named

    if not options.paths:
        raise UsageError("name a file or folder to check, or - for standard input")
    if options.paths.count("-") > 1:
        raise UsageError("- is given twice: standard input can be read once")
    format = "json" if options.json else options.format
    kind = None if options.kind is None else type_named(options.kind)
    printer: Any = {"rich": _checked.Pretty, "json": _checked.Json, "github": _checked.GitHub}[format]()
    total = 0
    good = True
    for report in _reports(options.paths, options.mode, kind, options.max_errors):
        printer.file(report)
        total += 1
        good = good and report.ok
    if not total:
        shown = ", ".join(options.paths)
        raise SourceError(f"nothing to check: no record files (.jsonl, .msgpack, metrics.json, run.json) in {shown}")
    printer.end()
    return DONE if good else FAILED


def _reports(paths: list[str], mode: str, kind: str | None, most: int) -> Iterator[Report]:
    from evh.cli._terminal import Progress
    from evh.protocol.sources import find_files

    progress = Progress("checking")
    for path in paths:
        try:
            files = ["-"] if path == "-" else [str(file) for file in find_files(path)]
        except EvhError as error:
            report = Report(path, most)
            report.found(None, Violation("", "source", error.message))
            yield report
            continue
        for file in files:
            report = Report("<stdin>" if file == "-" else file, most)
            try:
                _check_file(file, report, mode, kind, progress)
            finally:
                progress.done()
            yield report


def _check_file(file: str, report: Report, mode: str, kind: str | None, progress: Progress) -> None:
    from evh.cli._documents import documents, is_msgpack, is_single
    from evh.cli._layers import look, read_text
    from evh.cli._types import type_by_name
    from evh.protocol._upgrading import metadata_beside

    wire, single = is_msgpack(file), is_single(file)
    report.type = type_by_name(file)
    told = False
    size = 0 if file == "-" else _size(file)
    metadata: dict[str, Any] | None = None
    try:
        for line in documents(file, lambda rest: _note(report, rest.line + 1, rest.notices, single)):
            report.rows += 1
            progress.at(report.file, report.rows, line.offset, size)
            where = None if single else line.line
            _note(report, line.line, line.notices, single)
            text = read_text(line.data, wire=wire)
            report.unreadable += text.error is not None
            if b"\n" in line.data and not wire and text.error is not None and text.error.offset is not None:
                where = line.data[: text.error.offset].count(b"\n") + line.line
            if report.rows == 1 and file != "-":
                metadata = metadata_beside(file)
            if text.error is None and (report.type is None or not told):
                told = True
                report.type = _type_of(report.type, text.value, kind, mode)
                if report.type is None:
                    said = "no record that is known: name the type with --type"
                    report.found(where, Violation("", "type", said))
                    continue
            looked = look(line, text, report.type or "Episode", mode, wire=wire, metadata=metadata)
            for finding in looked.findings:
                report.found(where, finding)
            report.noted(where, *looked.notices)
            if line.torn and text.error is None and not wire and not single:
                report.noted(where, Notice("no-final-newline", "", "the last row has no newline, but is whole"))
            report.good_rows += not looked.findings
            report.older_rows += bool(looked.history)
            report.shapes.update(looked.history)
    except EvhError as error:
        report.found(error.line, Violation("", "source", error.message))
    if not report.rows and report.ok and not report.notice_count:
        report.noted(None, Notice("empty", "", "the file is empty: there is no record in it"))
    if kind is not None and report.rows and report.type not in (kind, None):
        message = f"--type {kind} is not used: the file says by its name or contents that it holds {report.type}"
        report.noted(None, Notice("type", "", message))


def _type_of(named: str | None, document: Any, kind: str | None, mode: str) -> str | None:
    """The type that a file's name says, else that its first document shows, else that the caller said.

    Names and upgrades take bare traces for episodes: such a file is one of traces for a caller who says so.
    """
    from evh.cli._types import type_by_content

    found = named or type_by_content(document, traces=mode != "upgrade") or kind
    if found == "Episode" and kind == "Trace" and type_by_content(document, traces=True) == kind:
        return kind
    return found


def _note(report: Report, line: int, notices: tuple[Notice, ...], single: bool) -> None:
    """Notices that came with a line, or before the one that would be there, each with the line that it is about."""
    for notice in notices:
        at = {"blank": line - (notice.value or 0), "bom": 1}.get(notice.kind, line)
        report.noted(None if single else at, notice)


def _size(file: str) -> int:
    """Bytes of a plain file; 0 when a share of it would say nothing."""
    try:
        return 0 if file.endswith((".gz", ".zst")) else Path(file).stat().st_size
    except OSError:
        return 0
