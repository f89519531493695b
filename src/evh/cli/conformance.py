"""`evh conformance`: any reader, in any language, held against the conformance vectors.

Promise: exit code 0 only when everything that the program was asked was answered rightly, 1 when not, 2 when it
cannot be started; a program that hangs, ends or writes garbage is told, with the vector it was at. Policy: the look
of the report.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import UsageError, cut

if TYPE_CHECKING:
    from evh.cli._terminal import Part, Screen
    from evh.testing.conformance import Outcome

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh conformance: hold a reader in any language against the vectors

Usage
  evh conformance --cmd COMMAND [OPTIONS]

Starts COMMAND and asks it about documents of every type, right and wrong: a
request and an answer a line, as docs/conformance.md tells. The program says
first what it can do (strict, lenient, canonical, upgrade; the layers json,
schema, semantic), and is asked for no more. No shell sees COMMAND.

Prints what agrees by type and layer, then each disagreement with the document,
what was expected and what was said. A program that hangs, ends or writes what
is no answer is told so and started again; after five such falls the rest is
not asked.

Options
  --cmd COMMAND     the program, with its arguments
  --only TYPE       ask about this type alone; may be given several times
  --timeout SECONDS how long to wait for an answer (default 10; three times that
                    for the first line)
  --vectors FOLDER  vectors from elsewhere than this installation
  --max-errors N    show at most N disagreements (default 20; 0: all)
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    the program agrees on everything it was asked
  1    it disagrees, fell while it was asked, or was asked nothing
  2    wrong usage, or the program cannot be started or says no hello
  130  interrupted

Examples
  evh conformance --cmd "python -m evh.testing.reader"
  evh conformance --cmd ./your-reader --only Episode --only Trace
  evh conformance --cmd "node reader.mjs" --timeout 2 --json
"""

SHOWN_INPUT = 300


def parser() -> Parser:
    from evh.cli._args import count, number_of

    made = Parser("conformance")
    made.add_argument("--cmd", action=Once, required=True)
    made.add_argument("--only", action="append", default=[])
    made.add_argument("--timeout", type=number_of, action=Once)
    made.add_argument("--vectors", action=Once)
    made.add_argument("--max-errors", type=count, default=20)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Ask the program, print the report, return the exit code."""
    from evh.cli._types import type_named
    from evh.testing.conformance import TIMEOUT, check
    from evh.testing.vectors import load_vectors

    timeout = TIMEOUT if options.timeout is None else options.timeout
    if timeout <= 0:
        raise UsageError("--timeout is a number of seconds above 0")
    only = [type_named(each) for each in options.only]
    outcome = check(_words(options.cmd), load_vectors(options.vectors, only=only), timeout=timeout)
    if options.json:
        from evh.cli._data import json_text

        print(json_text(_data(outcome, options.max_errors)))
    else:
        _show(outcome, options.max_errors)
    return DONE if outcome.agrees else FAILED


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--cmd {cut(command)} cannot be split into words: {error}") from error
    if not words:
        raise UsageError("--cmd names no program")
    return words


def _data(outcome: Outcome, most: int) -> dict[str, Any]:
    hello = outcome.hello
    return {
        "ok": outcome.agrees,
        "reader": {"name": hello.name, "modes": hello.modes, "layers": hello.layers},
        "agreed": outcome.agreed.total(),
        "disagreed": outcome.disagreed.total(),
        "unsupported": dict(outcome.unsupported),
        "unasked": outcome.unasked,
        "types": [
            {
                "type": name,
                "layer": layer,
                "agreed": outcome.agreed[name, layer],
                "disagreed": outcome.disagreed[name, layer],
            }
            for name, layer in sorted(outcome.agreed.keys() | outcome.disagreed.keys())
        ],
        "disagreements": [each._asdict() for each in outcome.disagreements[: most or None]],
        "falls": [each._asdict() for each in outcome.falls],
    }


def _show(outcome: Outcome, most: int) -> None:
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    hello = outcome.hello
    able = ", ".join(hello.modes) + (f" ({', '.join(hello.layers)})" if hello.layers else "")
    screen.line((printable(hello.name), "bold"), f": {able}")
    _table(screen, outcome)
    for each in outcome.disagreements[: most or None]:
        screen.line()
        screen.line(screen.sign(False), f" {each.vector}: {each.mode}", (f"  [{each.layer}]", "dim"))
        screen.line(f"    document  {_clipped(each.input)}")
        screen.line(f"    expected  {_clipped(each.expected)}")
        screen.line(f"    said      {_clipped(each.said)}")
    hidden = outcome.disagreed.total() - len(outcome.disagreements[: most or None])
    if hidden:
        screen.line(f"  … and {plural(hidden, 'disagreement')} more")
    for fall in outcome.falls:
        screen.line()
        screen.line(screen.sign(False), f" {fall.vector}: {fall.mode}: the program {printable(fall.why)}")
        for line in fall.stderr.splitlines()[-5:]:
            screen.line(f"    {_clipped(line)}")
    screen.line()
    agreed, asked = outcome.agreed.total(), outcome.agreed.total() + outcome.disagreed.total() + len(outcome.falls)
    screen.line(screen.sign(outcome.agrees), f" agrees on {agreed:,} of {plural(asked, 'question')}")
    for what, times in sorted(outcome.unsupported.items()):
        screen.line(f"  not supported by the program, so not tested: {what} ({times:,})")
    if outcome.unasked:
        screen.line(f"  the program fell too often: {plural(outcome.unasked, 'question')} not asked")


def _clipped(text: str) -> str:
    from evh.cli._terminal import clip, printable

    return clip(printable(text), SHOWN_INPUT)


def _table(screen: Screen, outcome: Outcome) -> None:
    """A row a type, a column a layer: how many agree, and of how many when not all do."""
    from evh.cli._terminal import Column, table
    from evh.testing.comparison import LAYERS, MODES

    keys = outcome.agreed.keys() | outcome.disagreed.keys()
    layers = [each for each in (*LAYERS, *MODES) if any(layer == each for _, layer in keys)]
    rows: list[list[Part]] = []
    for name in sorted({name for name, _ in keys}):
        wrong = any(outcome.disagreed[name, layer] for layer in layers)
        rows.append([screen.sign(not wrong), name, *(_cell(outcome, name, layer) for layer in layers)])
    if rows:
        table(screen, [Column(""), Column("type"), *(Column(layer, right=True) for layer in layers)], rows)


def _cell(outcome: Outcome, name: str, layer: str) -> Part:
    agreed, disagreed = outcome.agreed[name, layer], outcome.disagreed[name, layer]
    if disagreed:
        return f"{agreed} of {agreed + disagreed}", "red"
    return str(agreed) if agreed else "–"
