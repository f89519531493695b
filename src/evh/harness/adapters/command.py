"""A program as the system: the item's text on its standard input, its answer on standard output.

Promise: a call is one run of the program, of which nothing is left afterwards (`process`). A failure tells the exit
code and the end of standard error. Values of `env` stand in no message.
Policy: output that is a JSON object with `output` is read as a result's members, any other as the text itself, less
one newline at its end. The settings are handed on in the variable `EVH_PARAMS`, as JSON.
When it breaks: the item fails, its output is not kept.
"""

from __future__ import annotations

import hashlib
import math
import os
import shlex
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import DecodeError, RecordError, UsageError, cut
from evh.harness.adapters.errors import AdapterError
from evh.harness.adapters.exact_match import DESCRIPTION, METRIC, exact_match, scorer_id
from evh.harness.adapters.process import Process
from evh.harness.adapters.workplace import Workplace, current
from evh.harness.result import Result, checked_result
from evh.protocol.jsontext import check_text, dumps, parse

__all__ = ["CommandSystem", "call_command"]

SHOWN_ERRORS = 500


class Settings(NamedTuple):
    """The checked params of a command."""

    words: list[str]
    timeout_s: float | None
    environment: dict[str, str]


class CommandSystem:
    """`evh:command`, in the form of an adapter's names."""

    PRIMARY_METRIC = METRIC
    METRIC_KINDS: Mapping[str, str] = {METRIC: "quality"}
    METRIC_DIRECTIONS: Mapping[str, str] = {METRIC: "higher"}
    METRIC_DESCRIPTIONS: Mapping[str, str] = {METRIC: DESCRIPTION}

    def check(self, params: dict[str, Any]) -> None:
        with current() as here:
            _settings(params, here)

    def call_system(self, text: str, params: dict[str, Any]) -> Result:
        return call_command(text, params)

    def score(self, output: str, reference: str | None) -> dict[str, float] | None:
        return exact_match(output, reference)

    def scorer_id(self) -> dict[str, str]:
        return scorer_id()

    def fingerprint(self, params: dict[str, Any]) -> dict[str, Any]:
        """The words of the command, and the digest of each that is a file beside the config or below the root."""
        words = _words(params.get("command"))
        with current() as here:
            files = {word: path for word in words if (path := _file(word, here)) is not None}
            digests = {word: hashlib.sha256(path.read_bytes()).hexdigest() for word, path in files.items()}
        return {"command": words, "files": digests}


def call_command(text: str, params: Mapping[str, Any]) -> Result:
    """Run the command of `params` over one text; usable as a Python adapter's `call_system`.

    `command`: a list of words, or a text that is split like a shell would; words that name a file beside the config or
    below the root become its path. `timeout_s`: seconds; `env`: more variables.
    Raises AdapterError when the command fails, UsageError for settings that make no sense, Stopped when the run stops.
    """
    with current() as here:
        settings = _settings(params, here)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise AdapterError(
                f"the item's text has half a character at {error.start}: a command reads UTF-8", transient=False
            ) from None
        output, errors, code = Process(settings.words, settings.environment, settings.timeout_s, here).run(data)
    if code:
        ended = f"was ended by {_signal_name(-code)}" if code < 0 else f"failed with exit code {code}"
        said = errors.decode("utf-8", "replace").strip()
        told = f": {said[-SHOWN_ERRORS:]}" if said else ", and wrote nothing to standard error"
        raise AdapterError(f"the command {cut(settings.words[0])} {ended}{told}")
    return _read(output)


def _read(output: bytes) -> Result:
    """The result that a program's output says."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AdapterError(f"the command's output is not UTF-8 at byte {error.start}", transient=False) from None
    if text.lstrip()[:1] == "{":
        try:
            value, _ = parse(text)
        except DecodeError:  # a text that begins with a brace
            value = None
        if isinstance(value, dict) and "output" in value:
            for fault in check_text(text):
                if fault.kind != "surrogate":
                    raise AdapterError(f"the command's JSON: {fault.pointer}: {fault.message}", transient=False)
            try:
                return checked_result(value)  # type: ignore[return-value]  # a mapping never gives an Episode
            except RecordError as error:
                raise AdapterError(f"the command's JSON: {error.message}", transient=False) from None
    return Result(text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text)


def _settings(params: Mapping[str, Any], here: Workplace) -> Settings:
    if os.name != "posix":
        raise UsageError("evh:command needs process groups, which this system does not have")
    words = _words(params.get("command"))
    found = [str(path.absolute()) if (path := _file(word, here)) is not None else word for word in words]
    if "/" in words[0] and _file(words[0], here) is None:
        raise UsageError(f"the command {cut(words[0], 200)} is no file in the config's folder or the project's root")
    limit = params.get("timeout_s")
    if limit is not None and (
        isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < math.inf
    ):
        raise UsageError(f"timeout_s is a number of seconds over 0, not {cut(limit)}")
    more = params.get("env")
    if more is not None and not isinstance(more, Mapping):
        raise UsageError(f"env is a table of variables, not {cut(more)}")
    environment = dict(os.environ)
    for name, value in (more or {}).items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise UsageError(f"env: {cut(name)} is no name of a variable")
        if not isinstance(value, str) or "\0" in value:
            # The value may be a secret: only its type is told.
            raise UsageError(f"env: {name} is a text, not a value of type {type(value).__name__}; quote it")
        environment[name] = value
    handed = {name: value for name, value in params.items() if name not in ("command", "env")}
    environment["EVH_PARAMS"] = dumps(handed).decode("utf-8")
    return Settings(found, limit, environment)


def _file(word: str, here: Workplace) -> Path | None:
    """The file that a word names; a word without a slash names a program of the path, or nothing."""
    return here.find(word) if "/" in word else None


def _words(command: Any) -> list[str]:
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"command: {cut(command)} can't be split into words: {error}") from None
    elif isinstance(command, list | tuple):
        words = list(command)
    else:
        raise UsageError(f"evh:command needs `command`, a list of words or a text, not {cut(command)}")
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise UsageError("command: expected one word or more, all of them texts; quote numbers")
    return words


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
