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

Looks at each record by itself, in three layers: the text (torn rows, duplicate
keys, NaN, integers beyond 2^53, nesting over 128), the schema, and how members
agree (message graph, token streams, spans). Of a folder it takes every file of
records below it, but not *.refused.jsonl; - is standard input.

A file's name tells its type: traces.jsonl and results.jsonl hold episodes,
metrics.json a RunRecord, run.json a RunManifest, predictions.jsonl
PredictionRows. Any other file is told by the `schema` member or the shape of
its first record, else by --type.

In the mode `upgrade`, a place that only today's shape has is one in the
upgraded row.

Options
  --mode MODE      upgrade: rows of any age are fine (default);
                   lenient: today's shape, members not known are notices;
                   strict: exactly the schema's verdict
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

    @property
    def ok(self) -> bool:
        return not self.finding_count

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
        raise SourceError(f"nothing to check: no record files (.jsonl, metrics.json, run.json) in {shown}")
    printer.end()
    return DONE if good else FAILED


def _reports(paths: list[str], mode: str, kind: str | None, most: int) -> Iterator[Report]:
    from evh.cli._files import record_files
    from evh.cli._terminal import Progress

    progress = Progress("checking")
    for path in paths:
        try:
            files = ["-"] if path == "-" else [str(file) for file in record_files(path)]
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
    from evh.cli._files import documents, is_msgpack, is_single, metadata_beside
    from evh.cli._layers import look, read_text
    from evh.cli._types import type_by_content, type_by_name

    wire, single = is_msgpack(file), is_single(file)
    report.type = type_by_name(file)
    size = 0 if file == "-" else _size(file)
    metadata: dict[str, Any] | None = None
    try:
        for line in documents(file, lambda rest: report.noted(None, *rest.notices)):
            report.rows += 1
            progress.at(report.file, report.rows, line.offset, size)
            where = None if single else line.line
            report.noted(where, *line.notices)
            text = read_text(line.data, wire=wire)
            if single and text.error is not None and text.error.offset is not None:
                where = line.data[: text.error.offset].count(b"\n") + 1
            if report.rows == 1 and file != "-":
                metadata = metadata_beside(file)
            if report.type is None and text.error is None:
                report.type = type_by_content(text.value, traces=mode != "upgrade") or kind
                if report.type is None:
                    report.found(where, Violation("", "type", "no type that is known fits: name it with --type"))
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


def _size(file: str) -> int:
    """Bytes of a plain file; 0 when a share of it would say nothing."""
    try:
        return 0 if file.endswith((".gz", ".zst")) else Path(file).stat().st_size
    except OSError:
        return 0
