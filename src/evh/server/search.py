"""Search for a text in the messages of a run: literal, case-sensitive, over the documents themselves.

Promise: a page ends after its matches or after `SCAN_BYTES` of documents, whichever is first, and its cursor goes on
where it ended; so a page may be empty and not the last one. Nothing is indexed, so nothing is missing for being new.
"""

from __future__ import annotations

from typing import Any

from evh.server import cursors, filters
from evh.server.filters import Filter
from evh.server.inside import Field, inside
from evh.server.records import Principal, TraceHead
from evh.server.storage import Storage

__all__ = ["SCAN_BYTES", "search"]

SCAN_BYTES = 64 << 20


def search(
    storage: Storage, who: Principal, where: Filter, *, text: str, field: Field, role: str | None, limit: int,
    cursor: str | None,
) -> tuple[list[dict[str, Any]], str | None]:  # fmt: skip
    """Matches in the traces that pass the filter, newest trace first, and the cursor of what follows."""
    listing = filters.fingerprint(where, "search", str(who.project), text, field, str(role))
    key = cursors.after(cursor, listing, (str, int))
    before, node = ("", -1) if key is None else key
    found: list[dict[str, Any]] = []
    scanned = 0
    while True:
        # One trace a step: the cursor before it and a node within it say where to go on.
        page = storage.catalog.heads.traces(who, where, order="-created_at", limit=1, cursor=before or None)
        if not page.items:
            return found, None
        head = page.items[0]
        if scanned and scanned + head.size_bytes > SCAN_BYTES:
            return found, cursors.cursor(listing, [before, node])
        scanned += head.size_bytes
        opened = inside(b"".join(storage.documents.trace(head)))
        for match in opened.matches(text, field, role, node):
            if len(found) == limit:
                return found, cursors.cursor(listing, [before, node])
            found.append(_shape(head, match, field))
            node = match.node_idx
        if page.next_cursor is None:
            return found, None
        before, node = page.next_cursor, -1


def _shape(head: TraceHead, match: Any, field: Field) -> dict[str, Any]:
    return {
        "trace_id": head.trace_id, "upload_id": head.upload_id, "generation": 1, "episode_id": head.episode_id,
        "node_idx": match.node_idx, "role": match.role, "field": field, "representation": match.representation,
        "match_start": match.start, "match_end": match.end, "excerpt": match.excerpt,
        "excerpt_start": match.excerpt_start,
    }  # fmt: skip
