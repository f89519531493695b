"""Help is complete: every command, option, exit code and variable stands in it, and every page ends in examples."""

from __future__ import annotations

import importlib
import re
import shlex
from typing import Any

import pytest
from cli_support import Evh

import evh as library
from evh.cli._args import COMMANDS

WIDTH = 80


def module(command: str) -> Any:
    return importlib.import_module(f"evh.cli.{command.replace('-', '_')}")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_first_page_names_every_command(evh: Evh, arguments: list[str]) -> None:
    ran = evh(*arguments)
    assert ran.code == 0 and not ran.err
    for name, text in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", ran.out, re.MULTILINE)
    for word in ("Exit codes", "Environment", "NO_COLOR", "FORCE_COLOR", "130", "--json", "--version"):
        assert word in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_and_every_page_ends_in_examples(evh: Evh, command: str) -> None:
    pages = {evh(*each).out for each in ([command, "--help"], [command, "x", "-h"], ["help", command])}
    [page] = pages
    assert page.startswith(f"evh {command}: ") and f"\nUsage\n  evh {command} " in page
    options = page.partition("\nOptions\n")[2].partition("\nExit codes\n")[0]
    for action in module(command).parser()._actions:
        for name in action.option_strings:
            assert re.search(rf"(^|[ ,]){re.escape(name)}\b", options, re.MULTILINE), name
        if not action.option_strings:
            assert action.metavar in page
        for choice in action.choices or ():
            assert choice in page
    codes = page.partition("\nExit codes\n")[2].partition("\nExamples\n")[0]
    assert {"0", "1", "2"} <= set(re.findall(r"^ +(\d+)  ", codes, re.MULTILINE))
    assert page.partition("\nExamples\n")[2].count(f"evh {command}") >= 3


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_parse(command: str) -> None:
    examples = module(command).HELP.partition("\nExamples\n")[2]
    for line in examples.splitlines():
        for part in re.split(r" (?:\||>) (?=evh|jq|\w+\.)", line.strip()):
            words = shlex.split(part)
            if words and words[0] == "evh":
                module(words[1]).parser().parse(words[2:])


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_pages_fit_a_terminal_of_80_columns(evh: Evh, command: str | None) -> None:
    page = evh("--help") if command is None else evh(command, "--help")
    assert max(len(line) for line in page.out.splitlines()) <= WIDTH


def test_the_version(evh: Evh) -> None:
    for option in ("--version", "-V"):
        assert evh(option).out == f"evh {library.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chekc"], "did you mean 'check'?"),
        (["--versoin"], "did you mean '--version'?"),
        (["check", "x", "--jsno"], "did you mean '--json'?"),
        (["upgrade", "x", "--dryrun"], "did you mean '--dry-run'?"),
        (["check"], "name a file or folder"),
        (["show"], "name the file or folder"),
        (["upgrade"], "name the file or folder"),
        (["convert"], "name the file or folder"),
        (["upgrade", "x"], "say with -o where to write"),
        (["show", "x", "--full"], "--full needs the ID"),
        (["show", "x", "--limit", "-1"], "a whole number from 0 on"),
        (["check", "x", "--max-errors", "many"], "a whole number from 0 on"),
        (["check", "x", "--mode", "loose"], "lenient"),
        (["check", "x", "--format", "xml"], "github"),
        (["check", "x", "--type", "Epsode"], "did you mean 'Episode'"),
        (["show", "a", "b", "c"], "unexpected argument 'c'"),
        (["upgrade", "x", "-o"], "expected one argument"),
        (["upgrade", "x", "-o", ""], "an argument is empty"),
        (["check", ""], "an argument is empty"),
        (["check", "x", ""], "an argument is empty"),
        (["show", ""], "an argument is empty"),
        (["show", "x", ""], "an argument is empty"),
        (["schema", ""], "an argument is empty"),
        (["upgrade", "x", "-o", "a", "--output", "b"], "--output is given twice"),
        (["convert", "x", "-o", "a", "-o", "b", "--for", "common"], "-o is given twice"),
        (["check", "-", "-"], "- is given twice"),
        (["check", "x", "--type", "Epsode"], "did you mean 'Episode'? `evh schema` lists them"),
        (["check", "x", "--type", "zzzz"], "there is no type 'zzzz'; `evh schema` lists them"),
    ],
)
def test_wrong_usage_is_2_on_standard_error_with_a_hint(evh: Evh, arguments: list[str], said: str) -> None:
    ran = evh(*arguments)
    assert ran.code == 2 and said in ran.err and not ran.out and "Traceback" not in ran.err
    if "--json" not in arguments and arguments[0] in COMMANDS:
        data = evh(*arguments, "--json")
        assert data.code == 2 and data.json["error"]["kind"] == "usage" and not data.err


@pytest.mark.parametrize("command", ["check", "show", "upgrade", "convert"])
@pytest.mark.parametrize("source", ["nowhere.jsonl", "no/where", "bad\0name"])
def test_a_source_that_is_not_there_is_a_line_and_1(evh: Evh, command: str, source: str) -> None:
    extra = {"upgrade": ["--dry-run"], "convert": ["--dry-run", "--for", "common"]}.get(command, [])
    ran = evh(command, source, *extra)
    assert ran.code == 1 and "Traceback" not in ran.err
    assert "no such file" in ran.out + ran.err or "cannot be" in ran.out + ran.err
