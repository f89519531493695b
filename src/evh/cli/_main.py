"""From arguments to a command, and from whatever happens to an exit code and one clear line.

Promise: every `EvhError` becomes a line on standard error (with `--json`, an object on standard output) and its exit
code; Ctrl-C and SIGTERM give 130 after temporary files are gone; a reader that goes away (`| head`) is no error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from evh.cli._args import COMMANDS, DONE, FAILED, INTERRUPTED, USAGE, closest, command_help, first_page
from evh.errors import EvhError, UsageError

__all__ = ["run"]

DOING = (
    "dataset", "run", "import-run", "runs", "validate", "rescore", "judge-score", "reparse", "promote", "plot",
    "serve", "sync",
)  # fmt: skip
"""Commands that end as they would have when nobody reads on; the others stop, as filters do."""
WRITING_ROWS = ("upgrade", "convert")
"""Commands whose `-o -` sends rows to standard output."""


def run(arguments: list[str]) -> int:
    """Run the command that the arguments name; returns its exit code."""
    if not _has_streams():
        return FAILED
    _forgiving_streams()
    try:
        with _terminated_as_interrupted(), _heard_or_not(arguments):
            status = _dispatch(arguments)
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        _mute(sys.stdout)
        return DONE
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            what = "; nothing was written" if arguments[:1] in (["upgrade"], ["convert"]) else ""
            print(f"\n{_name(arguments)}: interrupted{what}", file=sys.stderr, flush=True)
        return INTERRUPTED
    except UsageError as error:
        return _fail(arguments, error, USAGE)
    except EvhError as error:
        return _fail(arguments, error, FAILED)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        return _fail(arguments, EvhError(f"the system refused: {error.strerror or error}{place}"), FAILED)
    except MemoryError:
        return _fail(arguments, EvhError("out of memory: is one row very large?"), FAILED)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(first_page())
        return DONE
    name, rest = arguments[0], arguments[1:]
    if name == "help":
        if not rest:
            print(first_page())
            return DONE
        name, rest = rest[0], ["--help"]
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        likely = closest(name, [*COMMANDS, "--help", "--version"], "`evh --help` lists what there is")
        raise UsageError(f"there is no {what} {name!r}{likely}")
    module: Any = import_module(f"evh.cli.{name.replace('-', '_')}")
    options = rest[: rest.index("--")] if "--" in rest else rest
    if "-h" in options or "--help" in options:
        print(command_help(module.HELP))
        return DONE
    status: int = module.run(module.parser().parse(rest))
    return status


def _name(arguments: list[str]) -> str:
    """What a message begins with."""
    return f"evh {arguments[0]}" if arguments and arguments[0] in COMMANDS else "evh"


def _fail(arguments: list[str], error: EvhError, status: int) -> int:
    from evh.cli._terminal import printable

    command = _name(arguments)
    try:
        if _wants_json(arguments):
            from evh.cli._data import json_text

            kind = "usage" if status == USAGE else "failed"
            sys.stdout.write(json_text({"ok": False, "error": {"kind": kind, "message": str(error)}}) + "\n")
            sys.stdout.flush()
        else:
            try:
                sys.stdout.flush()
            except OSError:  # the reader is gone, or the disk is full
                _mute(sys.stdout)  # what is said on standard error is said all the same
            print(f"{command}: {printable(str(error), lines=True)}", file=sys.stderr, flush=True)
            if status == USAGE and command != "evh":
                print(f"Try `{command} --help`.", file=sys.stderr, flush=True)
    except BrokenPipeError:
        _mute(sys.stdout)
    except OSError:  # a full disk behind standard output: said where people read, if it can be
        _mute(sys.stdout)
        with contextlib.suppress(OSError):
            print(f"{command}: {printable(str(error), lines=True)}", file=sys.stderr, flush=True)
    return status


class _Unheard:
    """Standard output for commands whose exit code matters more than who reads them: when the reader goes away, the
    command goes on, and ends with the code it would have had."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text))
        except BrokenPipeError:
            _mute(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            _mute(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _heard_or_not(arguments: list[str]) -> Iterator[None]:
    """Let a reader of the output go away without changing how a command ends, for commands that do something."""
    if arguments[:1] not in ([name] for name in DOING):
        yield
        return
    before = sys.stdout
    sys.stdout = _Unheard(before)
    try:
        yield
    finally:
        sys.stdout = before


def _wants_json(arguments: list[str]) -> bool:
    """Whether the reason of a failure belongs on standard output as data (rows may go there instead)."""
    pairs = list(zip(arguments, [*arguments[1:], ""], strict=True))
    asked = "--json" in arguments or "--format=json" in arguments or ("--format", "json") in pairs
    if arguments[:1] not in ([name] for name in WRITING_ROWS):
        return asked
    rows_on_stdout = any(pair in (("-o", "-"), ("--output", "-")) for pair in pairs) or "-o-" in arguments
    return asked and not rows_on_stdout and "--output=-" not in arguments


def _has_streams() -> bool:
    """Whether there is somewhere to print to. A standard output that was closed (`>&-`) is a failure before anything
    is opened: the next file would take its place and get what is printed."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        print("evh: standard output is closed: send it to /dev/null if nobody is to read it", file=sys.stderr)
        return False
    return True


def _forgiving_streams() -> None:
    """A terminal that cannot show a character shows its escape; it is never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM cleans up as Ctrl-C does. Signals can be set in the main thread only: elsewhere nothing changes."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _mute(stream: Any) -> None:
    """Let Python flush at exit into nothing: the reader is gone, and saying so again helps nobody."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
