"""Stored traces: listed, read whole or in parts, looked into, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from starlette.responses import Response

from evh.server import cursors, filters, shapes
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import ServerFault, not_found, refused
from evh.server.inside import Inside, inside
from evh.server.parameters import Param, where
from evh.server.ranges import ranged
from evh.server.records import TraceHead
from evh.server.routes.listing import PAGING, SORT, STEPS, TRACE_FILTERS

__all__ = ["ENDPOINTS"]

LIST = (
    Param("upload_id", field="upload_id", op="in", many=True, about="Of one of these uploads."),
    *TRACE_FILTERS,
    *STEPS,
)


def listing(ask: Ask) -> Response:
    query = ask.query
    found = ask.storage.catalog.heads.traces(
        ask.who, where(query, LIST), order=query.get("sort", "-created_at"), limit=query.get("limit", 50),
        cursor=query.get("cursor"),
    )  # fmt: skip
    return answer(shapes.page(found, shapes.trace))


def show(ask: Ask) -> Response:
    head = ask.storage.catalog.heads.trace(ask.who, ask.path("trace_id"))
    return _document(ask, head) if ask.query.get("raw") else answer(shapes.trace(head))


def _document(ask: Ask, head: TraceHead) -> Response:
    """The trace as it was uploaded."""
    if head.position < 0:
        return ranged(
            ask.request, head.placement.length, head.digest, "application/json",
            lambda start, stop: ask.storage.segments.open_range(head.placement, start, stop),
        )  # fmt: skip
    data = b"".join(ask.storage.documents.trace(head))
    return ranged(
        ask.request, len(data), f"{head.digest}-{head.position}", "application/json",
        lambda start, stop: iter((data[start:stop],)),
    )  # fmt: skip


def delete(ask: Ask) -> Response:
    created = ask.query.get("created_at")
    ask.storage.catalog.heads.delete_trace(ask.who, ask.path("trace_id"), created_us=created)
    return Response(status_code=202)


def delete_of_run(ask: Ask) -> Response:
    ask.storage.catalog.heads.delete_run_traces(ask.who, ask.query["run_id"])
    return Response(status_code=202)


def nodes(ask: Ask) -> Response:
    query = ask.query
    if "after" in query and "cursor" in query:
        raise refused("invalid_filter", "after and cursor cannot be given together")
    roles, sampled = query.get("role"), query.get("sampled")
    found = _looked_into(ask)
    items = (
        node
        for node in found.nodes()
        if (roles is None or node["message"].get("role") in roles) and (sampled is None or node["sampled"] is sampled)
    )
    return _page(ask, items, "node_idx", query.get("after", -1))


def calls(ask: Ask) -> Response:
    models, reasons = ask.query.get("model"), ask.query.get("finish_reason")
    items = (
        call
        for call in _looked_into(ask).calls()
        if (models is None or call["model"] in models) and (reasons is None or call["finish_reason"] in reasons)
    )
    return _page(ask, items, "call_idx", -1)


def _looked_into(ask: Ask) -> Inside:
    head = ask.storage.catalog.heads.trace(ask.who, ask.path("trace_id"))
    return inside(b"".join(ask.storage.documents.trace(head)))


def _page(ask: Ask, items: Iterator[dict[str, Any]], index: str, after: int) -> Response:
    """The items after an index, or after the one in the cursor."""
    query = ask.query
    shaping = repr(sorted((name, value) for name, value in query.items() if name not in ("cursor", "limit")))
    listing = filters.fingerprint(filters.everything, index, str(ask.who.project), ask.path("trace_id"), shaping)
    key = cursors.after(query.get("cursor"), listing, (int,))
    start = after if key is None else key[0]
    limit = query.get("limit", 50)
    found = list(islice((item for item in items if item[index] > start), limit + 1))
    more = cursors.cursor(listing, [found[limit - 1][index]]) if len(found) > limit else None
    return answer({"items": found[:limit], "next_cursor": more, "partial_index": False})


def export(ask: Ask) -> Response:
    raise ServerFault(403, "service_not_enabled", "this server exports nothing: read the documents with ?raw=true")


def export_job(ask: Ask) -> Response:
    raise not_found("export_job", ask.path("job_id"))


RAW = Param("raw", "flag", about="The stored document itself, byte for byte; ranges are honoured.")
MISSING = ((404, "trace_not_found"),)
ENDPOINTS = (
    Endpoint(
        method="GET", path="/api/v1/traces", handler=listing, scope="traces:read", tag="traces", answer="TracePage",
        params=(*LIST, SORT, *PAGING), contexts=True, about="Traces that pass the filters, newest first.",
        codes=((400, "invalid_cursor"),),
    ),
    Endpoint(
        method="DELETE", path="/api/v1/traces", handler=delete_of_run, scope="traces:write", tag="traces", status=202,
        params=(Param("run_id", required=True),), about="Delete all traces of a run; its episodes stay.",
        codes=((404, "run_not_found"),),
    ),
    Endpoint(
        method="GET", path="/api/v1/traces/export", handler=export, scope="traces:read", tag="traces",
        about="Not here: always refused.", codes=((403, "service_not_enabled"),),
    ),
    Endpoint(
        method="GET", path="/api/v1/traces/export/{job_id}", handler=export_job, scope="traces:read", tag="traces",
        about="There are no export jobs.", codes=((404, "export_job_not_found"),),
    ),
    Endpoint(
        method="GET", path="/api/v1/traces/{trace_id}", handler=show, scope="traces:read", tag="traces",
        answer="TraceSummary", params=(RAW,), about="What is known of a trace, or the trace.", codes=MISSING,
    ),
    Endpoint(
        method="DELETE", path="/api/v1/traces/{trace_id}", handler=delete, scope="traces:write", tag="traces",
        status=202, params=(Param("created_at", "instant", about="A hint: only if a copy was created then."),),
        about="Delete every stored copy of a trace. Again: 404.", codes=MISSING,
    ),
    Endpoint(
        method="GET", path="/api/v1/traces/{trace_id}/nodes", handler=nodes, scope="traces:read", tag="traces",
        answer="NodePage", about="The message nodes of a trace, in order.", codes=(*MISSING, (400, "invalid_cursor")),
        params=(
            Param("role", many=True), Param("sampled", "flag"),
            Param("after", "integer", least=-1, about="Only nodes after this index."), *PAGING,
        ),
    ),
    Endpoint(
        method="GET", path="/api/v1/traces/{trace_id}/calls", handler=calls, scope="traces:read", tag="traces",
        answer="CallPage", about="The model calls of a trace, in order.", codes=(*MISSING, (400, "invalid_cursor")),
        params=(Param("model", many=True), Param("finish_reason", many=True), *PAGING),
    ),
)  # fmt: skip
