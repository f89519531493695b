"""Stored episodes: listed, read whole or in parts, with their traces and versions. They are only ever added."""

from __future__ import annotations

from starlette.responses import Response

from evh.server import shapes
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import not_found
from evh.server.filters import CONTEXT, And, Compare
from evh.server.parameters import Param, where
from evh.server.ranges import ranged
from evh.server.records import EpisodeHead
from evh.server.routes.listing import EPISODE_FILTERS, PAGING, STEPS, TRACE_FILTERS

__all__ = ["ENDPOINTS"]

OF_TRACES = frozenset(each.name for each in STEPS)
"""What an episode is narrowed by through its traces: one without any never passes."""


def listing(ask: Ask) -> Response:
    query = ask.query
    narrowed = where(query, EPISODE_FILTERS)
    if any(name in OF_TRACES or name.startswith(CONTEXT) for name in query):
        narrowed = And((*narrowed.items, Compare("n_traces", "ge", 1)))
    found = ask.storage.catalog.heads.episodes(
        ask.who, narrowed, order="-created_at", limit=query.get("limit", 50), cursor=query.get("cursor")
    )
    return answer(shapes.page(found, shapes.episode))


def show(ask: Ask) -> Response:
    head = _head(ask)
    raw = ask.query.get("raw", "false")
    if raw in ("envelope", "true") and (raw == "envelope" or ask.house.settings.is_released):
        data = ask.storage.documents.envelope(head)
        return ranged(
            ask.request, len(data), f"{head.digest}-envelope", "application/json",
            lambda start, stop: iter((data[start:stop],)),
        )  # fmt: skip
    if raw != "false":
        return ranged(
            ask.request, head.placement.length, head.digest, "application/json",
            lambda start, stop: ask.storage.segments.open_range(head.placement, start, stop),
        )  # fmt: skip
    totals = ask.storage.catalog.heads.trace_aggregate(ask.who, head)
    return answer(shapes.episode(head) | {"traces": shapes.episode_totals(totals)})


def members(ask: Ask) -> Response:
    query = ask.query
    narrowed = where(query, TRACE_FILTERS)
    mine = Compare("episode_seq", "eq", ask.storage.catalog.heads.episode(ask.who, ask.path("episode_id")).seq)
    found = ask.storage.catalog.heads.traces(
        ask.who, And((mine, *narrowed.items)), order="-created_at", limit=query.get("limit", 50),
        cursor=query.get("cursor"),
    )  # fmt: skip
    return answer(shapes.page(found, shapes.trace))


def versions(ask: Ask) -> Response:
    head = _head(ask)
    rows = ask.storage.catalog.heads.episode_versions(ask.who, head.episode_id, head.run_id)
    return answer({"items": [shapes.episode(row) for row in rows], "next_cursor": None})


def _head(ask: Ask) -> EpisodeHead:
    heads = ask.storage.catalog.heads
    newest = heads.episode(ask.who, ask.path("episode_id"), ask.query.get("run_id"))
    wanted = ask.query.get("version")
    if wanted is None or wanted == newest.version:
        return newest
    rows = heads.episode_versions(ask.who, newest.episode_id, newest.run_id)
    found = next((row for row in rows if row.version == wanted), None)
    if found is None:
        raise not_found("episode", f"{newest.episode_id} version {wanted}")
    return found


RAW = Param(
    "raw", choices=("true", "false", "document", "envelope"),
    about="`document`: the stored line, byte for byte; `envelope`: with the ids of its traces in their place; `true`: "
    "the document, under the profile `prime` the envelope. Ranges are honoured.",
)  # fmt: skip
RUN = Param("run_id", about="Of this run; without it the newest of any.")
MISSING = ((404, "episode_not_found"),)
ENDPOINTS = (
    Endpoint(
        method="GET", path="/api/v1/episodes", handler=listing, scope="traces:read", tag="episodes",
        answer="EpisodePage", params=(*EPISODE_FILTERS, *PAGING), contexts=True, codes=((400, "invalid_cursor"),),
        about="Episodes that pass the filters, newest first, each in its newest version.",
    ),
    Endpoint(
        method="GET", path="/api/v1/episodes/{episode_id}", handler=show, scope="traces:read", tag="episodes",
        answer="EpisodeSummary", codes=MISSING, about="What is known of an episode, or its document.",
        params=(RAW, RUN, Param("version", "integer", least=1, about="This version; without it the newest.")),
    ),
    Endpoint(
        method="GET", path="/api/v1/episodes/{episode_id}/traces", handler=members, scope="traces:read",
        tag="episodes", answer="TracePage", params=(*TRACE_FILTERS, *PAGING), contexts=True,
        codes=(*MISSING, (400, "invalid_cursor")), about="The traces of an episode, newest first.",
    ),
    Endpoint(
        method="GET", path="/api/v1/episodes/{episode_id}/versions", handler=versions, scope="traces:read",
        tag="episodes", answer="EpisodePage", params=(RUN,), codes=MISSING,
        about="Every content that came under this id, oldest first.",
    ),
)  # fmt: skip
