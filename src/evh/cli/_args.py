"""What is common to the commands' arguments: the parser, exit codes, and the pages of help.

Promise: every option of a command stands in its help text, and every help text ends in examples (tests hold both). The
texts are written by hand; argparse only parses.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from evh.errors import UsageError, cut

__all__ = [
    "COMMANDS", "DONE", "FAILED", "INTERRUPTED", "STOPPED", "USAGE", "Once", "Parser", "closest", "command_help",
    "count", "first_page", "number_of",
]  # fmt: skip

DONE, FAILED, USAGE, STOPPED, INTERRUPTED = 0, 1, 2, 3, 130

COMMANDS = {
    "dataset": "Freeze a folder of inputs as a dataset; give it references",
    "run": "Measure a config over its dataset; stop and go on",
    "import-run": "Make a measured run of outputs or episodes made elsewhere",
    "runs": "List the runs: finished, stopped, stale, and how to go on",
    "validate": "Check a whole tree of runs, rule by rule",
    "rescore": "Score stored runs anew, with no call to any model",
    "judge-score": "Let a model judge stored runs; stop and go on",
    "reparse": "Read stored raw replies anew with a repaired parser",
    "lineage": "What a run was derived from, step by step",
    "leaderboard": "Rank the arms of a dataset, with intervals",
    "pair-test": "Could the difference between two arms be chance",
    "family-test": "One arm against many, corrected for their number",
    "compare": "A candidate beside a baseline, metric by metric",
    "promote": "Make a run the baseline, and say why",
    "diff": "How two runs differ, in setup and item by item",
    "catalog": "Every arm there is, by its address",
    "plot": "A leaderboard, a pair or a family as a picture",
    "sync": "Send runs from disk to the platform, every record once",
    "status": "How far runs are uploaded, and what stands in the way",
    "doctor": "Is everything here that live runs and uploads need",
    "serve": "A server that receives, keeps and gives back runs",
    "token": "Make, list and revoke the tokens of a server",
    "check": "Say what is wrong in record files: file, line, place, reason",
    "upgrade": "Bring rows of any age into today's shape, losing nothing",
    "convert": "Shape rows for a named release of another library, and back",
    "show": "List the episodes of a file or run, or look at one of them",
    "schema": "Print the JSON Schema of a type, or list the types",
    "conformance": "Hold a reader in any language against the vectors",
    "contract": "What a consumer relies on, and would a change break it",
}

FIRST_PAGE = """\
evh: measure AI systems and keep the records; read those of every age

Usage
  evh COMMAND [ARGUMENTS]

{commands}

Start here
  evh dataset create questions/ --id questions_v1
  evh run --config data/configs/first.yaml
  evh run --resume                      go on after a stop, nothing paid twice
  evh validate                          is every run sound, and do they fit
  evh leaderboard                       which arm is best, with intervals
  evh pair-test reranked bm25           could their difference be chance
  evh check runs/                       what is wrong, in which file and line
  evh upgrade old.jsonl -o new.jsonl    today's shape, old.jsonl untouched
  evh show new.jsonl                    a table: ok, reward, tokens, errors
  evh show new.jsonl 8db56              one episode, by the start of its id

Files
  Rows, one record a line (.jsonl), or one document (.json), both also packed
  (.gz, .zst); MessagePack (.msgpack, .msgpacks); the folder of a run; or - for
  standard input and output.

Options
  -h, --help       this page; `evh COMMAND --help` explains a command
  -V, --version    the version

Exit codes
  0  done; notices alone do not count      2    wrong usage
  1  findings, refused rows, or failed     130  interrupted, nothing was kept
  3  stopped, resumable (run, judge-score), or not all sent (sync)

Environment
  NO_COLOR    no colours              FORCE_COLOR  colours also in a pipe
  COLUMNS     width of the terminal   CI           no progress line
  EVAL_RUNS_DIR  where runs are (default: data/runs); see `evh run --help`

Every command takes --json and then prints the same as data.
"""


GROUPS = {
    "dataset": "Measure",
    "rescore": "Derive from what was measured",
    "leaderboard": "Compare",
    "sync": "Share and serve",
    "check": "Records of any age",
}
"""The command that a group of the first page begins with."""


def first_page() -> str:
    """What `evh` alone prints."""
    lines: list[str] = []
    for name, text in COMMANDS.items():
        if name in GROUPS:
            lines += ["", GROUPS[name]] if lines else [GROUPS[name]]
        lines.append(f"  {name:<11} {text}")
    return command_help(FIRST_PAGE.format(commands="\n".join(lines)))


def command_help(text: str) -> str:
    """A page of help as it is printed: with bold headings where the terminal shows them."""
    from evh.cli._terminal import shows_colour

    text = text.rstrip("\n")
    if not shows_colour(sys.stdout):
        return text
    lines = text.split("\n")
    return "\n".join(f"\x1b[1m{line}\x1b[0m" if line[:1].isupper() and "  " not in line else line for line in lines)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are `UsageError`s with a suggestion; help is not its business."""

    def __init__(self, command: str) -> None:
        super().__init__(prog=f"evh {command}", add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The arguments as a namespace; options may stand before, between and after files."""
        if "--" in arguments:
            # What follows are names, whatever they look like; argparse's intermixed parsing does not know that.
            at = list(arguments).index("--")
            names = [f"./{each}" if each.startswith("-") and each != "-" else each for each in arguments[at + 1 :]]
            arguments = [*arguments[:at], *names]
        try:
            known, rest = self.parse_known_intermixed_args(arguments)
        except argparse.ArgumentError as error:
            # Not every release of argparse sends all its refusals through error().
            raise UsageError(str(error)) from None
        if rest:
            names = [name for action in self._actions for name in action.option_strings]
            first = rest[0]
            what = "option" if first.startswith("-") else "argument"
            raise UsageError(f"unexpected {what} {cut(first)}{closest(first.partition('=')[0], names)}")
        for value in vars(known).values():
            if value == "" or (isinstance(value, list) and "" in value):
                raise UsageError("an argument is empty: is a variable of the shell not set?")
        return known


class Once(argparse.Action):
    """An option with a value that may be given once: a second one would win in silence."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if getattr(namespace, self.dest, None) is not None:
            parser.error(f"{option} is given twice")
        setattr(namespace, self.dest, values)


def closest(name: str, names: Sequence[str], more: str = "") -> str:
    """How a sentence about an unknown name ends: `: did you mean 'x'?` when one that there is comes close (others only
    when they come as close), and where to read `more`."""
    import difflib

    by_lower = {each.lower(): each for each in reversed(names)}
    found = difflib.get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.6)
    likeness = [difflib.SequenceMatcher(None, each, name.lower()).ratio() for each in found]
    found = [each for each, ratio in zip(found, likeness, strict=True) if ratio > likeness[0] - 0.1]
    if not found:
        return f"; {more}" if more else ""
    return f": did you mean {' or '.join(repr(by_lower[each]) for each in found)}?" + (f" {more}" if more else "")


def action_of(
    options: argparse.Namespace, command: str, actions: Mapping[str, Sequence[str]], spelled: Mapping[str, str] = {}
) -> str:
    """Which of a command's actions was asked for; `actions` has the options that belong to each alone, `spelled` those
    whose names are not their attributes'. Raises `UsageError` for none, an unknown one, or another one's option."""
    action: str | None = options.action
    first, last = ", ".join([*actions][:-1]), [*actions][-1]
    if action is None:
        raise UsageError(f"say what to do: {first} or {last}")
    if action not in actions:
        raise UsageError(f"there is no `evh {command} {action}`{closest(action, [*actions]) or f': {first} or {last}'}")
    for other, names in actions.items():
        for name in names if other != action else ():
            if getattr(options, name):
                raise UsageError(f"--{spelled.get(name, name.replace('_', '-'))} belongs to `evh {command} {other}`")
    return action


def count(text: str) -> int:
    """A whole number of at least 0, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, not {cut(text)}")
    return value


def number_of(text: str) -> float:
    """A finite number, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -float("inf") < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number, not {cut(text)}")
    return value


def add_json(parser: Any) -> None:
    """The option that every command has."""
    parser.add_argument("--json", action="store_true")
