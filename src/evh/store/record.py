"""The run record, `metrics.json`: made from the rows of the directory by `run_record`, written by `write_record`.

Promise: a measured run's record has this one constructor and this one writer. Its numbers are computed from the rows on
disk, never carried along; the file appears whole, durable, with sorted keys, and only when it is valid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from evh.errors import SourceError
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store.aggregate import Aggregate
from evh.store.atomic import write_file
from evh.store.clock import now
from evh.store.layout import LIVE_KINDS, RECORD

__all__ = ["Declared", "document_bytes", "run_record", "write_record"]


class Declared(msgspec.Struct, frozen=True):
    """What an adapter declares about its metrics."""

    primary_metric: str | None = None
    metric_kinds: dict[str, Any] = msgspec.field(default_factory=dict)
    metric_directions: dict[str, Any] = msgspec.field(default_factory=dict)
    metric_descriptions: dict[str, str] = msgspec.field(default_factory=dict)


def run_record(
    manifest: models.RunManifest,
    counted: Aggregate,
    *,
    declared: Declared | None = None,
    adapter: str | None = None,
    reference_tier: Any = None,
    coverage: tuple[int, int] | None = None,
    resume: Any = None,
    warmup_ms: float | None = None,
    created_at: str | None = None,
) -> models.RunRecord:
    """The record of a measured run: what the manifest says, what the rows add up to, what the adapter declares.

    `coverage` is (items with a reference, items): it is recorded only when some have one and some have none.
    `created_at` is of a record that is made again somewhere else (an import); the default is this instant. Raises
    `SourceError` for a manifest without dataset and config (a training run has no record), `RecordError` when a sum
    cannot be held.
    """
    if manifest.dataset_id is None or manifest.config_id is None:
        raise SourceError(f"the run {manifest.run_id} names no dataset and config, so it has no record")
    declared = declared or Declared()
    live = manifest.kind in LIVE_KINDS  # its configuration is of the program that ran it: all of it are its params
    config = {} if live else manifest.config
    params = manifest.config if live else config.get("params") or {}
    partly = coverage is not None and 0 < coverage[0] < coverage[1]
    return models.RunRecord(
        run_id=manifest.run_id,
        dataset_id=manifest.dataset_id,
        config_id=manifest.config_id,
        build=manifest.build or models.Build(ref="unknown"),
        created_at=now() if created_at is None else created_at,
        scores=counted.scores(),
        n_items=counted.n_items,
        n_errors=counted.n_errors or None,
        params=params,
        adapter=adapter,
        fingerprint=manifest.fingerprint,
        primary_metric=declared.primary_metric,
        metric_kinds=declared.metric_kinds,
        metric_directions=declared.metric_directions,
        metric_descriptions=declared.metric_descriptions,
        reference_tier=reference_tier,
        reference_coverage=(
            models.ReferenceCoverage(items_with_reference=coverage[0], items=coverage[1])
            if partly and coverage is not None
            else None
        ),
        goal=config.get("goal"),
        format=config.get("format"),
        round=config.get("round"),
        repeat_index=manifest.repeat_index,
        resume=resume,
        providers_seen=dict(sorted(counted.providers.items())),
        warmup_ms=warmup_ms,
        imported=manifest.imported,
    )


def write_record(directory: Path, record: models.RunRecord) -> None:
    """Write `metrics.json`, at once and durably. Raises `NotWritable` or `WriteError`; nothing has changed then."""
    write_file(directory / RECORD, document_bytes(record))


def document_bytes(record: Any) -> bytes:
    """A record as a file for people: valid, sorted keys, two spaces, LF at the end."""
    plain = msgspec.json.decode(encode(record))
    text = json.dumps(plain, ensure_ascii=False, sort_keys=True, indent=2)
    for odd in ("\u0085", "\u2028", "\u2029"):
        text = text.replace(odd, f"\\u{ord(odd):04x}")
    return text.encode() + b"\n"
