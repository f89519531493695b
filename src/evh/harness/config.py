"""A config: one way to produce outputs, read from its YAML file.

Promise: what is read is a valid Config of JSON values, or a `SourceError` says in which line what is wrong, before
anything was called. Nothing in the file runs. A config is published with its runs, so one that holds a credential
outside the tables whose values are masked is refused, by place, its value never shown. No variable is read and nothing
is filled in: what a config says is what is recorded.
Policy: at most 1 MiB; what looks like a credential (`store.credentials`), what YAML may say (`_yaml`).
When it breaks: a config that is refused says so with file and line; `find_config` tells of configs that it cannot read
only when none that it can read is the one looked for.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import EvhError, SchemaError, SourceError, cut, pointer
from evh.harness._yaml import read_yaml
from evh.harness.project import Project
from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.protocol.jsontext import dumps
from evh.store.credentials import credentials
from evh.store.outputs import read_regular

__all__ = ["LoadedConfig", "find_config", "load_config"]

LARGEST = 1 << 20
MEMBERS = ("config_id", "dataset_id", "adapter", "params", "goal", "format", "round")


class LoadedConfig(NamedTuple):
    """A config, its file, and the file's text."""

    config: models.Config
    path: Path
    text: str


def load_config(path: Path) -> LoadedConfig:
    """The config of a YAML file. Raises `SourceError`, with file and line."""
    source = str(path)
    text = _text(path)
    document = read_yaml(text, source)
    if not isinstance(document.value, dict):
        raise SourceError(
            f"expected the members of a config ({', '.join(MEMBERS)}), found {_kind(document.value)}",
            source=source,
            line=document.line(""),
        )
    for key in document.value:
        if key not in MEMBERS:
            raise SourceError(
                f"{cut(key)} is no member of a config{_likely(key)}", source=source, line=document.line(pointer(key))
            )
    for place, what in credentials(document.value):
        raise SourceError(
            f"{place} seems to hold {what}, and a config is published with its runs: put it into an environment "
            "variable and name that (such as `api_key_env`)",
            source=source,
            line=document.line(place),
        )
    try:
        return LoadedConfig(decode_strict(dumps(document.value), models.Config), path, text)
    except SchemaError as error:
        first = error.violations[0]
        told = "; ".join(f"{each.pointer or 'the document'}: {each.message}" for each in error.violations)
        raise SourceError(f"is no valid config: {told}", source=source, line=document.line(first.pointer)) from None
    except EvhError as error:
        raise SourceError(f"is no valid config: {error.message}", source=source) from None


def find_config(project: Project, config_id: str) -> Path | None:
    """The file below `data/configs` that holds a config of that id; None when there is none.

    Raises `SourceError` when two files hold it, or when none does and some could not be read.
    """
    found: list[Path] = []
    broken: SourceError | None = None
    for path in sorted(project.configs.glob("*.y*ml")):
        if path.suffix not in (".yaml", ".yml") or path.name.startswith("."):
            continue
        try:
            if load_config(path).config.config_id == config_id:
                found.append(path)
        except SourceError as error:
            broken = broken or error
    if len(found) > 1:
        raise SourceError(
            f"{found[0].name} and {found[1].name} both hold the config {cut(config_id)}: an id names one instrument",
            source=str(project.configs),
        )
    if not found and broken is not None:
        raise SourceError(f"no config {cut(config_id)} was found, and one cannot be read: {broken}")
    return found[0] if found else None


def _text(path: Path) -> str:
    try:
        # A link to a config is as good as a file: it was named by whoever runs this.
        size = path.stat().st_size
        data = read_regular(path.resolve()) if size <= LARGEST else b""
    except SourceError as error:
        raise SourceError(error.message, source=str(path)) from None
    except OSError as error:
        raise SourceError(
            f"the config cannot be read ({error.strerror or error}): name the YAML file of one", source=str(path)
        ) from None
    if max(size, len(data)) > LARGEST:
        raise SourceError(
            f"has more than {LARGEST >> 20} MiB: a config is short; keep data in files of its own", source=str(path)
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError("is not UTF-8", source=str(path), line=line) from None


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "nothing" if value is None else f"the value {cut(value, 20)}"


def _likely(key: str) -> str:
    close = difflib.get_close_matches(key.lower(), MEMBERS, n=1, cutoff=0.6)
    if close:
        return f": did you mean {close[0]!r}?"
    return f" (those are {', '.join(MEMBERS)}): knobs of the adapter belong below `params`"
