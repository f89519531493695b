"""The installed package, as mypy and pyright see it: a consumer's program passes both at their strictest, and what is
wrong is refused by both."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.repository.children import run

PROGRAMS = Path(__file__).with_name("typing")
Checker = Callable[[Path, Path], dict[int, str]]
"""Takes an interpreter and a program; gives the lines it refuses, each with the reason."""


def mypy(python: Path, program: Path) -> dict[int, str]:
    flags = ["--strict", "--config-file=", "--no-incremental", "--cache-dir=/dev/null", "--output=json"]
    done = run([sys.executable, "-m", "mypy", *flags, f"--python-executable={python}", program], cwd=program.parent)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {each["line"]: each["message"] for each in found if each["severity"] == "error"}


def pyright(python: Path, program: Path) -> dict[int, str]:
    (program.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", f"--pythonpath={python}", program]
    done = run(command, cwd=program.parent)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {each["range"]["start"]["line"] + 1: each["message"] for each in found if each["severity"] == "error"}


@pytest.fixture(params=[mypy, pyright], ids=["mypy", "pyright"])
def checker(request: pytest.FixtureRequest) -> Checker:
    chosen: Checker = request.param
    return chosen


def test_a_consumer_passes_both_checkers(checker: Checker, installed: Path, tmp_path: Path) -> None:
    program = shutil.copy(PROGRAMS / "consumer.py", tmp_path)
    assert checker(installed, Path(program)) == {}


def test_mistakes_are_refused_by_both_checkers(checker: Checker, installed: Path, tmp_path: Path) -> None:
    program = Path(shutil.copy(PROGRAMS / "mistakes.py", tmp_path))
    lines = program.read_text("utf-8").splitlines()
    marked = {number: line.strip() for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    refused = {number: lines[number - 1].strip() for number in checker(installed, program)}
    assert refused == marked


def test_a_consumer_runs(installed: Path, tmp_path: Path) -> None:
    program = shutil.copy(PROGRAMS / "consumer.py", tmp_path)
    text = (
        f"import runpy; names = runpy.run_path({str(program)!r}); import pathlib, evh\n"
        f"path = pathlib.Path({str(tmp_path)!r}) / 'rows.jsonl'\n"
        "assert len(names['files'](path)) == 1\n"
        "line = path.read_bytes()\n"
        "episode = evh.decode_strict(line)\n"
        "assert list(names['records'](episode)) == [2.0], list(names['records'](episode))\n"
        "names['open_objects'](episode.task, episode.traces[0].agent)\n"
    )
    done = run([installed, "-c", text], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
