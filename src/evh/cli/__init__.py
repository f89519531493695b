"""The command line: thin commands that parse, call, print and say with an exit code how it went.

Promise: exit codes 0 done, 1 findings, refused or failed, 2 usage, 3 stopped but resumable, 130 interrupted before
anything was kept; no traceback for a fault that a user or a file can cause; `--json` prints the same as data. Policy:
the wording and look of what people read. `evh --version` imports nothing but the version: it is what scripts ask first.
"""

from __future__ import annotations

import sys

from evh._version import __version__

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run a command (`sys.argv` without an argument) and return its exit code; never exits by itself."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments in (["--version"], ["-V"]):
        if sys.stdout is None:
            return 1
        try:
            print(f"evh {__version__}", flush=True)
        except OSError:
            return 1
        return 0
    try:
        from evh.cli._main import run

        return run(arguments)
    except KeyboardInterrupt:  # while the command was still loading
        return 130
