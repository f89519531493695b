"""Runs as their traces show them, and the search in their messages."""

from __future__ import annotations

import hashlib
from typing import Any

from starlette.responses import Response

from evh.server import shapes
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import refused
from evh.server.inside import FIELDS
from evh.server.parameters import Param, where
from evh.server.records import RunSummary
from evh.server.routes.listing import PAGING
from evh.server.search import search

__all__ = ["ENDPOINTS"]

RUN_TYPES = ("eval", "train", "unknown")
SEARCHED = (
    Param("run_step", "integer", "step"),
    Param("has_error", "flag", "has_error"),
    Param("reward_min", "number", "reward", "ge"),
    Param("reward_max", "number", "reward", "le"),
)
SHORTEST, LONGEST = 3, 1000


def listing(ask: Ask) -> Response:
    """A page is narrowed by type after it was read, so it may hold fewer runs than were asked for."""
    query = ask.query
    kinds, makers = query.get("run_type"), query.get("created_by")
    if makers is not None:  # no upload has a user here
        return answer({"items": [], "next_cursor": None})
    mark = "" if kinds is None else hashlib.sha256(repr(sorted(kinds)).encode()).hexdigest()[:8] + "."
    cursor: str | None = query.get("cursor")
    if cursor is not None:
        if not cursor.startswith(mark) or (not mark and "." in cursor):
            raise refused("invalid_cursor", "this cursor is of a listing with other filters: begin again without one")
        cursor = cursor.removeprefix(mark)
    found = ask.storage.catalog.runs.runs(
        ask.who, created_after=query.get("created_after"), created_before=query.get("created_before"),
        limit=query.get("limit", 50), cursor=cursor,
    )  # fmt: skip
    items = [shapes.run(row) for row in found.items if kinds is None or _kind(row) in kinds]
    return answer({"items": items, "next_cursor": found.next_cursor and mark + found.next_cursor})


def _kind(row: RunSummary) -> str:
    said = row.context.get("run_type", "unknown")
    return said if said in RUN_TYPES else "unknown"


def show(ask: Ask) -> Response:
    return answer(shapes.run(ask.storage.catalog.runs.run(ask.who, ask.path("run_id"))))


def steps(ask: Ask) -> Response:
    return answer(shapes.run_steps(ask.storage.catalog.runs.steps(ask.who, ask.path("run_id"))))


def find(ask: Ask) -> Response:
    query, run_id = ask.query, ask.path("run_id")
    text: str = query["query"]
    if len(text) < SHORTEST:
        raise refused("invalid_filter", f"query has at least {SHORTEST} characters")
    if len(text) > LONGEST:
        raise refused("search_limit_exceeded", f"query has at most {LONGEST} characters")
    known = ask.storage.catalog.runs.run(ask.who, run_id)
    narrowed = where(query | {"run_id": run_id}, (*SEARCHED, Param("run_id", field="run_id")))
    items, cursor = search(
        ask.storage, ask.who, narrowed, text=text, field=query.get("field", "content"), role=query.get("role"),
        limit=query.get("limit", 50), cursor=query.get("cursor"),
    )  # fmt: skip
    page: dict[str, Any] = {"items": items, "next_cursor": cursor, "coverage": None}
    if "cursor" not in query:
        page["coverage"] = {"examined_traces": known.trace_count, "unindexed_trace_ids": [], "partial_index": False}
    return answer(page)


MISSING = ((404, "run_not_found"),)
ENDPOINTS = (
    Endpoint(
        method="GET", path="/api/v1/runs", handler=listing, scope="traces:read", tag="runs", answer="RunPage",
        about="Runs with totals over their traces, those that were added to last first.",
        params=(
            Param("run_type", many=True, choices=RUN_TYPES, about="By `run_type` in the context of the newest trace."),
            Param("created_by", many=True, about="Uploads have no users here: with it nothing is listed."),
            Param("created_after", "instant", about="Count only traces from then on."),
            Param("created_before", "instant", about="Count only traces until then."),
            *PAGING,
        ),
        codes=((400, "invalid_cursor"),),
    ),
    Endpoint(
        method="GET", path="/api/v1/runs/{run_id}", handler=show, scope="traces:read", tag="runs",
        answer="RunSummary", about="Totals over the traces of a run.", codes=MISSING,
    ),
    Endpoint(
        method="GET", path="/api/v1/runs/{run_id}/steps", handler=steps, scope="traces:read", tag="runs",
        answer="RunSteps", about="Totals over each training step of a run; none of a run that is not there.",
    ),
    Endpoint(
        method="GET", path="/api/v1/runs/{run_id}/search", handler=find, scope="traces:read", tag="runs",
        answer="SearchPage", codes=(*MISSING, (400, "invalid_cursor"), (400, "search_limit_exceeded")),
        about="Places of a text in the messages of a run. A page may be empty and not the last.",
        params=(
            Param("query", required=True, about="The text, as it is spelled; 3 characters or more."),
            Param("field", choices=FIELDS), Param("role"), *SEARCHED, *PAGING,
        ),
    ),
)  # fmt: skip
