"""Writes what the documentation takes from the code: `docs/cli.md`, and the table of rules in `docs/upgrade.md`.

`python scripts/docs.py` writes; with `--check` it compares instead, shows the difference and ends with 1.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from pathlib import Path

from evh.cli._args import COMMANDS
from evh.protocol.upgrade import RULES

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- rules: written by `make docs` -->", "<!-- end of rules -->"
CLI_HEAD = """<!-- Written by `make docs` from the command itself. -->

# The command line

What `evh` says about itself. The commands only parse, call the library and print: everything they do can be done from
Python, and their `--json` output is for programs.
"""


def help_of(*arguments: str) -> str:
    """The help text of a command, as a terminal of 100 columns without colours shows it."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    environment.pop("FORCE_COLOR", None)
    command = [sys.executable, "-m", "evh", *arguments, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=True)
    return done.stdout.strip("\n")


def cli_page() -> str:
    parts = [CLI_HEAD, f"```text\n{help_of()}\n```\n"]
    parts += [f"## evh {name}\n\n```text\n{help_of(name)}\n```\n" for name in COMMANDS]
    return "\n".join(parts)


def rules_table() -> str:
    rows = ["| rule | what a row shows | written (2026) | what becomes of it |", "|---|---|---|---|"]
    for name, about in RULES.items():
        cells = (f"`{name}`", about.shape, about.written, about.becomes)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def upgrade_page(text: str) -> str:
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{rules_table()}\n\n{END}{tail}"


def pages() -> dict[Path, str]:
    upgrade = Path("docs/upgrade.md")
    return {Path("docs/cli.md"): cli_page(), upgrade: upgrade_page((ROOT / upgrade).read_text("utf-8"))}


def main() -> int:
    stale = 0
    for path, text in pages().items():
        target = ROOT / path
        old = target.read_text("utf-8") if target.exists() else ""
        if old == text:
            continue
        if "--check" in sys.argv[1:]:
            stale = 1
            sys.stderr.writelines(
                difflib.unified_diff(old.splitlines(True), text.splitlines(True), f"{path} (tree)", f"{path} (code)")
            )
        else:
            target.write_text(text, "utf-8")
            print(f"wrote {path}")
    if stale:
        print("the documentation differs from the code: run `make docs`", file=sys.stderr)
    return stale


if __name__ == "__main__":
    sys.exit(main())
