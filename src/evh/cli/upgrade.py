"""`evh upgrade`: rows of any age in today's shape, in a new file; the old one is only read."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import UsageError

if TYPE_CHECKING:
    from evh.cli._rewrite import FileReport, Made
    from evh.cli._rewritten import Section
    from evh.cli._units import Unit

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh upgrade: bring rows of any age into today's shape

Usage
  evh upgrade SRC -o DST [OPTIONS]

SRC is a file, the folder of a run, or - for standard input; it is never
touched. DST is a file, or a folder when SRC is one, or - for standard output.
A name in .gz or .zst is packed, one in .msgpack or .msgpacks is written as
MessagePack. DST appears when it is complete: an interrupted upgrade leaves
nothing.

Nothing is lost: members move to their place of today; what has none is kept in
the record, below the key `evh` of its `info`. Rows that cannot be upgraded
(torn ones, say) are kept as they are in DST.refused.jsonl. A metadata.json
beside SRC completes rows of the first generation. Neighbouring traces that a
trainer wrote of one episode become one episode. Of a folder, files that hold
no records stay where they are.

Options
  -o, --output DST   where to write; may be left out in a dry run
  --dry-run          write nothing, print the same report
  --steps            list each single step as well
  --overwrite        replace DST if it exists
  --json             print the report, with each step, as data
  -h, --help         this page

Exit codes
  0    every row is in DST
  1    rows refused, DST refused (it exists, or is SRC), or failed
  2    wrong usage
  130  interrupted, nothing written

Examples
  evh upgrade traces.jsonl -o today.jsonl
  evh upgrade runs/march -o upgraded/march
  evh upgrade traces.jsonl --dry-run --steps
  zcat old.jsonl.gz | evh upgrade - -o - | evh check -
"""

OWN_RULES = {
    "schema": "the version of the schema that an upgraded row follows",
    "retired": "a member that was taken out of the contract: dropped",
    "duplicate-key": "a member that stands twice in one object: the last one counts",
    "non-finite": "a NaN or an infinity: null, the original kept aside",
    "bytes": "bytes, which JSON has no form for: Base64 text",
    "surrogate": "a lone surrogate in a text: U+FFFD, the original kept aside",
    "additionalProperties": "a member that no release knows: kept aside",
    "unknown-tag": "a message or part of an unknown kind: nearest known form, the original kept aside",
}


def parser() -> Parser:
    made = Parser("upgrade")
    made.add_argument("source", nargs="?", metavar="SRC")
    made.add_argument("-o", "--output", metavar="DST", action=Once)
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("--steps", action="store_true")
    made.add_argument("--overwrite", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Upgrade as the options say, print the report, return the exit code."""
    from evh.cli._files import check_target, need_source
    from evh.cli._rewrite import Job, Run, rewrite
    from evh.cli._rewritten import Words, print_json, print_report
    from evh.cli._units import read_units

    if options.source is None:
        raise UsageError("name the file or folder to upgrade, or - for standard input")
    if options.output is None and not options.dry_run:
        raise UsageError("say with -o where to write (the source is never touched), or try --dry-run")
    need_source(options.source)
    if options.output is not None:
        check_target(options.source, options.output, overwrite=options.overwrite)
    run = Run(keep_steps=options.steps or options.json, dry=options.dry_run)
    try:
        job = Job("upgrading", read_units, _make, only_episodes=False, overwrite=options.overwrite)
        rewrite(run, job, options.source, options.output)
        rows_on_stdout = options.output == "-" and not options.dry_run
        if options.json:
            print_json(run, {}, {}, to_stderr=rows_on_stdout)
        else:
            actions = {name: name for name in ("moved", "kept", "repaired", "dropped", "added")}
            words = Words("of today's shape already", "upgraded", actions | {"kept": "kept aside"})
            print_report(run, words, _rules, to_stderr=rows_on_stdout, list_steps=options.steps)
        return DONE if run.ok else FAILED
    finally:
        run.close()


def _make(unit: Unit, source_format: str, target_format: str) -> Made:
    """A row of today is copied byte by byte; any other is written anew."""
    from evh.cli._rewrite import Made
    from evh.errors import Notice
    from evh.protocol.codec import encode
    from evh.protocol.upgrade.step import Step

    made = unit.made
    if made is None:
        raise UsageError("a row that was refused has nothing to write")
    if not made.steps and source_format == target_format:
        return Made(_on_one_line(unit.lines[0].data, source_format), ())
    notices: list[Notice] = []
    data = encode(made.record, format="msgpack" if target_format == "msgpack" else "json", notices=notices)
    left = tuple(Step("wire-only", "dropped", each.pointer, None, each.message) for each in notices)
    return Made(data, (*made.steps, *left))


def _on_one_line(data: bytes, format: str) -> bytes:
    """A document of several lines as a row; anything else as it is."""
    if format != "json" or b"\n" not in data:
        return data
    from evh.protocol.jsontext import dumps, parse

    return dumps(parse(data)[0])


def _rules(file: FileReport) -> list[Section]:
    """What each rule did to how many records."""
    from evh.cli._rewritten import Section
    from evh.protocol.upgrade.table import RULES

    rows = []
    for rule in sorted(file.rules, key=_order):
        about = RULES.get(rule)
        said = OWN_RULES.get(rule, "a value that does not fit: kept aside")
        text = f"{about.shape} → {about.becomes}" if about else said
        rows.append((rule, file.rules[rule], text.replace("`", "")))
    return [Section(rows)] if rows else []


def _order(rule: str) -> tuple[int, int, str]:
    return (0, int(rule[1:]), rule) if rule[1:].isdecimal() else (1, 0, rule)
