"""What an adapter's file says about its metrics, checked when it is loaded.

Promise: a declaration that the record's schema would refuse is a `SourceError` that names the file and the name, before
any call. What is not declared is empty.
Policy: none; the values allowed are the schema's.
When it breaks: a run would end without its record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from evh.errors import EvhError, SourceError, cut
from evh.harness.result import check_names

__all__ = ["DIRECTIONS", "KINDS", "Declarations", "checked_digests", "declared"]

HEX = frozenset("0123456789abcdef")
KINDS = ("quality", "descriptive", "cost", "speed")
DIRECTIONS = ("higher", "lower", "none")
ROW_METRICS = frozenset({"latency_ms", "cost_usd", "tokens_in", "tokens_out", "output_words"})
"""Metrics of every row that an adapter may describe but not produce."""


class Declarations(msgspec.Struct, frozen=True):
    """The declarations of one adapter."""

    primary_metric: str | None = None
    metric_kinds: dict[str, str] = {}
    metric_directions: dict[str, str] = {}
    metric_descriptions: dict[str, str] = {}
    transient_markers: tuple[str, ...] = ()


def declared(names: object, source: str) -> Declarations:
    """The declarations among the names of a loaded adapter; `source` is its file, for messages."""
    primary = getattr(names, "PRIMARY_METRIC", None)
    if primary is not None and (not isinstance(primary, str) or not primary):
        raise SourceError(f"PRIMARY_METRIC is the name of a metric, not {cut(primary)}", source=source)
    return Declarations(
        primary,
        _map(names, "METRIC_KINDS", KINDS, source),
        _map(names, "METRIC_DIRECTIONS", DIRECTIONS, source),
        _map(names, "METRIC_DESCRIPTIONS", None, source),
        _markers(getattr(names, "TRANSIENT_MARKERS", None), source),
    )


def _map(names: object, name: str, allowed: tuple[str, ...] | None, source: str) -> dict[str, str]:
    found: Any = getattr(names, name, None)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise SourceError(f"{name} is a mapping from metrics, not {cut(found)}", source=source)
    for metric, value in found.items():
        try:
            if metric not in ROW_METRICS and not str(metric).startswith("total_"):
                check_names([metric])
        except EvhError:
            raise SourceError(f"{name}: {cut(metric)} can't be the name of a metric", source=source) from None
        if not isinstance(value, str) or (allowed is not None and value not in allowed):
            expected = "a text" if allowed is None else f"one of {', '.join(allowed)}"
            raise SourceError(f"{name}[{cut(metric)}] is {expected}, not {cut(value)}", source=source)
    return {str(metric): str(value) for metric, value in found.items()}


def _markers(found: Any, source: str) -> tuple[str, ...]:
    if found is None:
        return ()
    if isinstance(found, str) or not isinstance(found, list | tuple | set | frozenset):
        raise SourceError(f"TRANSIENT_MARKERS is a list of texts, not {cut(found)}", source=source)
    for each in found:
        if not isinstance(each, str) or not each.strip():
            raise SourceError(f"TRANSIENT_MARKERS holds texts that are not empty, not {cut(each)}", source=source)
    return tuple(found)


def checked_digests(found: object, source: str) -> dict[str, str]:
    """What a `scorer_id` hook returned, as names to SHA-256s. Raises `SourceError`."""
    if not isinstance(found, Mapping):
        raise SourceError(f"scorer_id() returns a mapping of names to SHA-256s, not {cut(found)}", source=source)
    for name, digest in found.items():
        if not isinstance(name, str) or not isinstance(digest, str) or len(digest) != 64 or set(digest) - HEX:
            raise SourceError(
                f"scorer_id()[{cut(name)}] is a SHA-256 in 64 lower-case hex digits, not {cut(digest)}", source=source
            )
    return dict(found)
