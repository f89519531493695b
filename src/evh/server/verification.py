"""Is everything that the catalog cites still there, byte for byte?

Promise: `verify_store` reads every line and table that a row points to and holds it against the digest of the row (the
samples of evaluations have none: their frames' checksums count). It changes nothing and may run beside a server.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from msgspec import Struct

from evh.server.faults import ServerFault
from evh.server.records import Placement
from evh.server.storage import Storage

__all__ = ["Damage", "Verified", "verify_store"]


class Damage(Struct, frozen=True):
    """Something that is cited and not there as it was."""

    place: str
    message: str


class Verified(Struct, frozen=True):
    """What was looked at, and what was wrong with it."""

    lines: int
    tables: int
    bytes: int
    damages: list[Damage]


def verify_store(store: Storage) -> Verified:
    """Re-hash everything that the catalog cites."""
    lines = tables = size = 0
    damages: list[Damage] = []
    for placement, digest in store.catalog.uploads.cited():
        lines += 1
        size += placement.length
        message = _fault(store.segments.open_range(placement) if placement.length else iter(()), digest)
        if message is not None:
            damages.append(Damage(_shown(placement), message))
    for upload in store.catalog.training.stored_tables():
        tables += 1
        size += upload.size or 0
        try:
            message = _fault(store.blobs.open_range(upload.key), upload.digest)
        except ServerFault as fault:
            message = fault.message
        if message is not None:
            damages.append(Damage(upload.key, message))
    return Verified(lines, tables, size, damages)


def _fault(pieces: Iterator[bytes], digest: str | None) -> str | None:
    hashed = hashlib.sha256()
    try:
        for piece in pieces:
            hashed.update(piece)
    except ServerFault as fault:
        return fault.message
    if digest is not None and hashed.hexdigest() != digest:
        return f"its digest is {hashed.hexdigest()}, the catalog says {digest}"
    return None


def _shown(placement: Placement) -> str:
    return f"{placement.segment} at {placement.offset}, {placement.length} bytes"
