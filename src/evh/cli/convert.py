"""`evh convert`: rows shaped for a named release of another library, and back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.cli._rewrite import FileReport, Made
    from evh.cli._units import Unit
    from evh.protocol.codec import Format

__all__ = ["HELP", "parser", "run"]

TARGETS = ("verifiers-0.4", "verifiers-0.3.1", "common")

HELP = """\
evh convert: shape rows for a named release of another library, and back

Usage
  evh convert SRC -o DST --for TARGET [OPTIONS]
  evh convert --restore SRC -o DST [OPTIONS]

SRC is a file, the folder of a run, or - for standard input; it is never
touched, and its rows may be of any age. DST is a file, or a folder when SRC is
one, or - for standard output; names in .gz, .zst, .msgpack and .msgpacks are
written so. DST appears when it is complete.

What the release would refuse is stashed in the row, below the key `evh` of a
trace's `info`, where it survives that release's own load and save; --restore
puts it back. Rows that cannot be converted are kept as they are in
DST.refused.jsonl.

Targets
  verifiers-0.4      verifiers 0.4.0 reads every row
  verifiers-0.3.1    verifiers 0.3.1 reads every row
  common             both do

Options
  -o, --output DST   where to write; may be left out in a dry run
  --for TARGET       the release to write for
  --restore          put back what an earlier conversion stashed
  --dry-run          write nothing, print the same report
  --overwrite        replace DST if it exists
  --json             print the report, with each step, as data
  -h, --help         this page

Exit codes
  0    every row is in DST
  1    rows refused, DST refused (it exists, or is SRC), or failed
  2    wrong usage
  130  interrupted, nothing written

Examples
  evh convert traces.jsonl -o old.jsonl --for verifiers-0.3.1
  evh convert runs/march -o for-both/march --for common
  evh convert traces.jsonl --for verifiers-0.4 --dry-run
  evh convert --restore old.jsonl -o traces.jsonl
"""


def parser() -> Parser:
    made = Parser("convert")
    made.add_argument("source", nargs="?", metavar="SRC")
    made.add_argument("-o", "--output", metavar="DST", action=Once)
    made.add_argument("--for", dest="target", choices=TARGETS)
    made.add_argument("--restore", action="store_true")
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("--overwrite", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Convert as the options say, print the report, return the exit code."""
    from evh.cli._files import check_target, need_source
    from evh.cli._rewrite import Job, Run, rewrite
    from evh.cli._rewritten import Section, Words, by_reason, print_json, print_report
    from evh.cli._units import read_rows, read_units

    if options.source is None:
        raise UsageError("name the file or folder to convert, or - for standard input")
    if options.restore == (options.target is not None):
        raise UsageError(f"give either --for TARGET ({', '.join(TARGETS)}) or --restore")
    if options.output is None and not options.dry_run:
        raise UsageError("say with -o where to write (the source is never touched), or try --dry-run")
    need_source(options.source)
    if options.output is not None:
        check_target(options.source, options.output, overwrite=options.overwrite)
    make = _restore if options.restore else _for(options.target)
    read = read_rows if options.restore else read_units
    run = Run(keep_steps=options.json, dry=options.dry_run)
    try:
        verb = "restoring" if options.restore else "converting"
        job = Job(verb, read, make, only_episodes=True, overwrite=options.overwrite)
        rewrite(run, job, options.source, options.output)
        rows_on_stdout = options.output == "-" and not options.dry_run
        actions = RESTORED if options.restore else CONVERTED
        if options.json:
            extra = {"target": options.target, "restore": options.restore}
            print_json(run, extra, actions, to_stderr=rows_on_stdout)
        else:
            words = Words("needed nothing", "changed", actions, says_older=True)

            def reasons(file: FileReport) -> list[Section]:
                return by_reason(file.reasons, actions, SENTENCES)

            print_report(run, words, reasons, to_stderr=rows_on_stdout, list_steps=False)
        return DONE if run.ok else FAILED
    finally:
        run.close()


CONVERTED = {"moved": "stashed", "kept": "kept", "repaired": "changed", "added": "added", "dropped": "lost"}
RESTORED = CONVERTED | {"moved": "put back", "dropped": "removed"}
"""What the actions of steps are called in a report, in the order in which they are told."""
SENTENCES = {
    "says: back to the provider's own": "null says to go back to the provider's own value, and a re-save drops it",
    "said in the target's terms, as nearly as it can": "the row says it in the release's terms, as nearly as it can",
    "stands in for what the release does not read": "it stands in for what the release does not read",
    "computed": "it is computed from the rest of the row",
    "computed again": "it is computed anew from the rest of the row",
    "its name in the release": "the release has another name for it",
    "read from its text": "the release had it as text, which is read again",
    "put in for the release": "the conversion had put it in for the release",
}
"""Reasons that are no sentence of their own, as one."""
OF_THE_FILE = frozenset({"schema", "duplicate-key"})
"""Steps that say nothing about the members of a record."""


def _for(target: str) -> Callable[[Unit, str, str], Made]:
    def make(unit: Unit, source_format: str, target_format: str) -> Made:
        from evh.cli._rewrite import Made
        from evh.protocol.converted import convert

        made = unit.made
        if made is None:
            raise UsageError("a row that was refused has nothing to write")
        format: Format = "msgpack" if target_format == "msgpack" else "json"
        own = [step for step in made.steps if step.rule not in OF_THE_FILE]
        if len(unit.lines) == 1 and source_format == target_format and all(step.rule != "v0" for step in own):
            done = convert(unit.lines[0].data, target, format=format)
            done = done._replace(steps=done.steps[len(own) :])  # those of the upgrade are told apart below
        else:
            if any(step.rule == "schema" for step in made.steps):
                made.record.schema = None  # the row did not say it, and the release does not know it
            done = convert(made.record, target, format=format)
        same = source_format == target_format and [done.data] == [line.data for line in unit.lines]
        if same:
            return Made(done.data, ())
        lost = tuple(step for step in made.steps if step.rule == "duplicate-key")
        upgraded = tuple(step for step in made.steps if step.rule != "duplicate-key")
        return Made(done.data, (*lost, *done.steps), upgraded)

    return make


def _restore(unit: Unit, source_format: str, target_format: str) -> Made:
    from evh.cli._rewrite import Made
    from evh.protocol.codec import encode
    from evh.protocol.converted import restore

    data = unit.lines[0].data
    done = restore(data, format="msgpack" if source_format == "msgpack" else "json")
    written = encode(done.record, format="msgpack" if target_format == "msgpack" else "json")
    return Made(written, () if written == data else done.steps)
