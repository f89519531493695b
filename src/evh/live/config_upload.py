"""The configuration of a run as it is recorded and uploaded: what somebody set, without secrets, and the launch file.

Promise
    `snapshot` copies what it is given: what happens to the objects later changes nothing. Of an object that knows which
    of its fields were set (`model_dump(exclude_unset=True)`), only those count. Secrets are masked by their place
    (`evh.live.config_secrets`), and what they taught the masker is masked wherever it recurs. The launch file goes
    along byte for byte, at most 256 KiB of UTF-8, only when it was parsed (TOML, JSON, YAML) and holds no secret;
    otherwise it is left out with a warning that names the table, never a value.
    `upload_view` adds what the platform's lists read unconditionally: model, number of examples (-1: not known),
    rollouts per example.
Policy
    Values that JSON has no form for are given by their text (paths, enums, times) or by the name of their type.
When it breaks
    `UsageError` for what is no configuration, `SourceError` for a launch file that cannot be read.
"""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import msgspec

from evh.errors import UsageError, cut
from evh.live.config_file import LaunchFile, read_launch_file
from evh.live.config_secrets import learn, masked
from evh.protocol import models
from evh.store.masking import Masker
from evh.store.secret_values import named_values

__all__ = ["Snapshot", "snapshot", "upload_view"]

DEEPEST = 100
TEXTS = (PurePath, datetime, date, time, timedelta)


class Snapshot(NamedTuple):
    """A configuration as a run records it: `fields` masked, `source` the launch file or None, and why it was left
    out."""

    fields: dict[str, Any]
    source: models.ConfigSource | None
    warnings: tuple[str, ...] = ()


def snapshot(config: Any, masker: Masker, environ: Mapping[str, str] | None = None) -> Snapshot:
    """What to record of `config`: a path to the launch file, a mapping (or an object with `model_dump`), a pair of
    both, or None. The masker learns the secrets, those of variables that the configuration names included."""
    path, given = _apart(config)
    launched = LaunchFile() if path is None else read_launch_file(path)
    fields = _plain(given, 0) if given is not None else launched.document if launched.document is not None else {}
    if not isinstance(fields, dict):
        fields = {}
    for document in (fields, launched.members):
        learn(masker, document)
    for document in (fields, launched.document):
        masker.add(named_values(document, environ or {}))
    source, warning = launched.source_without_secrets(masker)
    return Snapshot(masked(fields, masker), source, () if warning is None else (warning,))


def upload_view(manifest: models.RunManifest) -> dict[str, Any]:
    """The configuration that is uploaded as the run's metadata, from what its `run.json` says."""
    view: dict[str, Any] = dict(manifest.config)
    view["model"] = manifest.model if manifest.model is not None else view.get("model")
    view["num_examples"] = -1 if manifest.num_examples is None else manifest.num_examples
    view["rollouts_per_example"] = 1 if manifest.rollouts_per_example is None else manifest.rollouts_per_example
    if manifest.config_source is not None:
        view["config_source"] = msgspec.to_builtins(manifest.config_source)
    return view


def _apart(config: Any) -> tuple[Path | None, Any]:
    """The launch file and the fields of what was given."""
    parts = list(config) if isinstance(config, tuple | list) else [] if config is None else [config]
    path, fields = None, None
    for part in parts:
        if isinstance(part, str | os.PathLike):
            if path is not None:
                raise UsageError("config names two files: name the one the run was launched from")
            path = Path(os.fspath(part))
        elif isinstance(part, Mapping | msgspec.Struct) or callable(getattr(part, "model_dump", None)):
            if fields is not None:
                raise UsageError("config has two mappings: give one")
            fields = part
        elif part is not None:
            raise UsageError(
                f"config is a path, a mapping, an object with model_dump(), or a path and one of them; not {cut(part)}"
            )
    return path, fields


def _plain(value: Any, depth: int) -> Any:
    """A value as JSON, copied."""
    if value is None or isinstance(value, str | bool) or type(value) is int:
        return str(value) if type(value) not in (str, bool, int) and isinstance(value, str) else value
    if depth > DEEPEST:
        raise UsageError(f"the config nests deeper than {DEEPEST} levels, or within itself")
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, enum.Enum):
        return _plain(value.value, depth + 1)
    if isinstance(value, Mapping):
        return {str(key): _plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(member, depth + 1) for member in value]
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return _plain(_dumped(dump, value), depth + 1)
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name), depth + 1) for name in value.__struct_fields__}
    if isinstance(value, int):
        return int(value)
    return str(value) if isinstance(value, TEXTS) else f"<{type(value).__name__}>"


def _dumped(dump: Any, value: Any) -> Any:
    """The fields that somebody set; secrets of types that hide themselves come out hidden."""
    for options in ({"mode": "json", "exclude_unset": True}, {"mode": "json"}, {}):
        try:
            return dump(**options)
        except TypeError:
            continue
        except Exception as error:
            raise UsageError(f"model_dump() of the config failed: {type(error).__name__}") from None
    raise UsageError(f"model_dump() of {type(value).__name__} takes no usual options: give a mapping")
