"""The plain output for real files, letter by letter: what scripts and documents quote does not change unnoticed.

`python tests/cli/test_golden.py` writes the files anew after a change that is meant; read the difference.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
REAL = Path(__file__).parents[1] / "data" / "verifiers"

CASES = {
    "check-hazards": ["check", "hazards"],
    "check-torn": ["check", "v0.4.0-torn", "v0.2.0-eval-trace-rows"],
    "check-strict": ["check", "v0.3.0-eval-trace-run", "--mode", "strict", "--max-errors", "4"],
    "check-github": ["check", "hazards", "--format", "github"],
    "check-json": ["check", "hazards/nan.jsonl", "hazards/crlf.jsonl", "--json"],
    "upgrade-traces": ["upgrade", "v0.2.0-eval-trace-rows/traces.jsonl", "--dry-run"],
    "upgrade-torn": ["upgrade", "v0.4.0-torn/traces.jsonl", "--dry-run"],
    "upgrade-folder": ["upgrade", "hazards", "-o", "nowhere", "--dry-run"],
    "upgrade-steps": ["upgrade", "hazards/nan.jsonl", "--dry-run", "--steps"],
    "convert-0.3.1": ["convert", "v0.4.0-eval/traces.jsonl", "--for", "verifiers-0.3.1", "--dry-run"],
    "convert-common": ["convert", "v0.2.0-eval-trace-rows/traces.jsonl", "--for", "common", "--dry-run"],
    "show-eval": ["show", "v0.4.0-eval"],
    "show-torn": ["show", "v0.4.0-torn", "--limit", "4"],
    "show-two-seat": ["show", "v0.4.0-two-seat", "#3"],
    "show-branches": ["show", "v0.4.0-branches", "#1"],
    "show-failed": ["show", "v0.2.0-eval-trace-rows", "#1"],
    "show-json": ["show", "v0.4.0-two-seat", "--json"],
    "schema": ["schema"],
    "help": ["--help"],
}


def output(arguments: list[str]) -> str:
    """What a command prints, run in the folder of the real rows, with its exit code below."""
    from evh.cli import main

    out, error = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(REAL)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = main(arguments)
    finally:
        os.chdir(before)
    return f"$ evh {' '.join(arguments)}\n{out.getvalue()}{error.getvalue()}[exit {code}]\n"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", CASES)
def test_the_output_is_as_recorded(name: str) -> None:
    assert output(CASES[name]) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_every_recorded_output_has_its_command() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(CASES)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
    GOLDEN.mkdir(exist_ok=True)
    for name, arguments in CASES.items():
        (GOLDEN / f"{name}.txt").write_text(output(arguments), encoding="utf-8")
