"""The file a run was launched from: read once, and recorded word for word only when it holds no secret.

Promise: a file is recorded only when its every member could be looked at: TOML, JSON or YAML that parses, members that
stand twice included. A warning names the table that keeps it out, never a value.
Policy: at most 256 KiB of UTF-8. YAML that no reader is installed for cannot be looked at, so it is left out.
When it breaks: `SourceError` for a file that cannot be read at all; anything else costs the verbatim copy alone.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import SourceError
from evh.live.config_secrets import Pairs, secret_places
from evh.protocol import models
from evh.store.atomic import why
from evh.store.credentials import credentials
from evh.store.masking import Masker

__all__ = ["LaunchFile", "read_launch_file"]

LARGEST = 256 << 10
FORMATS = {".toml": "toml", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}
SHOWN = 3
MOST_NODES = 100_000


class LaunchFile(NamedTuple):
    """A launch file: its text and format, what it says (None when that cannot be told), and why it is left out."""

    name: str = ""
    format: str = ""
    text: str | None = None
    document: Any = None
    members: Any = None
    """The document with members that stand twice, where a format lets them."""
    fault: str | None = None

    def source_without_secrets(self, masker: Masker) -> tuple[models.ConfigSource | None, str | None]:
        """What to record of it, and the warning when that is nothing."""
        if not self.name:
            return None, None
        left_out = f"the launch file {self.name} is not recorded word for word"
        if self.fault is not None or self.text is None:
            return None, f"{left_out}: {self.fault}"
        places = secret_places(self.members)
        if places:
            more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
            return None, f"{left_out}: it has secrets in {', '.join(places[:SHOWN])}{more}"
        if masker.text(self.text) != self.text or any(True for line in self._remarks() for _ in credentials(line)):
            return None, f"{left_out}: a secret stands in its text"
        return models.ConfigSource(format=self.format, text=self.text, filename=self.name), None

    def _remarks(self) -> Iterator[str]:
        """The lines of which no parser tells the content."""
        return (line for line in (self.text or "").splitlines() if "#" in line)


def read_launch_file(path: Path) -> LaunchFile:
    """The launch file at a path. Raises `SourceError` when it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise SourceError(
            f"the launch file cannot be read: {why(error)}; name it, or give a mapping", source=str(path)
        ) from None
    kind = FORMATS.get(path.suffix.lower(), "")
    found = LaunchFile(path.name, kind)
    if len(data) > LARGEST:
        return found._replace(fault=f"it is larger than {LARGEST >> 10} KiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return found._replace(fault="it is not UTF-8")
    if not kind:
        return found._replace(fault="it is neither TOML, JSON nor YAML by its name, so nobody can look into it")
    try:
        document, members = _parsed(text, kind)
    except ImportError:
        return found._replace(fault="no reader for YAML is installed (pip install 'evh[run]') to look into it")
    except (ValueError, RecursionError, OverflowError) as error:
        return found._replace(fault=f"it cannot be parsed as {kind.upper()} ({type(error).__name__})")
    return found._replace(text=text, document=document, members=members)


def _parsed(text: str, kind: str) -> tuple[Any, Any]:
    """What a text says, and the same with members that stand twice."""
    if kind == "toml":
        document = tomllib.loads(text)
        return document, document
    if kind == "json":
        return json.loads(text), json.loads(text, object_pairs_hook=Pairs)
    return _parsed_yaml(text)


def _parsed_yaml(text: str) -> tuple[Any, Any]:
    import yaml

    try:
        documents = list(yaml.safe_load_all(text))
        nodes = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error
    count = 0

    def below(node: Any) -> Any:
        nonlocal count
        count += 1
        if count > MOST_NODES:
            raise ValueError("too many values")
        if isinstance(node, yaml.MappingNode):
            return Pairs((str(getattr(key, "value", "")), below(value)) for key, value in node.value)
        if isinstance(node, yaml.SequenceNode):
            return [below(value) for value in node.value]
        return None if node is None or node.tag.endswith(":null") else str(node.value)

    members = [below(node) for node in nodes]
    return (documents[0], members[0]) if len(documents) == 1 else (None, members)
