"""Samples of evaluations: JSON objects, kept as they were spelled and given back so, in order of arrival.

Promise: a page is sent sample by sample, so that it needs no more memory than the largest of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from starlette.responses import Response, StreamingResponse

from evh.errors import EvhError
from evh.protocol.jsontext import dumps, parse
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import refused
from evh.server.parameters import Param
from evh.server.records import SampleRow

__all__ = ["ENDPOINTS"]


class _Body(msgspec.Struct):
    samples: list[msgspec.Raw]


_decoder = msgspec.json.Decoder(_Body)
NEVER = frozenset({"non-finite", "depth", "bom"})


def add(ask: Ask) -> Response:
    rows = _rows(ask.data)
    total = ask.storage.ingest.samples(ask.who, ask.path("evaluation_id"), rows)
    return answer({"samples_pushed": len(rows), "samples_skipped": 0, "total_samples": total})


def _rows(data: bytes) -> list[bytes]:
    """Each sample as one line. Text with lone surrogates is taken too; such a body is spelled anew."""
    try:
        data.decode("utf-8")
        rows = [bytes(row) for row in _decoder.decode(data).samples]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        rows = _forgivingly(data)
    for row in rows:
        if not row.startswith(b"{"):
            raise refused("invalid_request", "each sample is a JSON object")
    return [_one_line(row) if b"\n" in row else row for row in rows]


def _forgivingly(data: bytes) -> list[bytes]:
    try:
        body, faults = parse(data)
    except EvhError:
        body, faults = None, []
    if not isinstance(body, dict) or not isinstance(samples := body.get("samples"), list):
        raise refused("invalid_request", "the body is no JSON object with a list `samples`")
    if any(fault.kind in NEVER for fault in faults):
        raise refused("invalid_request", "the body is no strict JSON: NaN, an infinity, or nested too deeply")
    return [dumps(each) for each in samples]


def _one_line(row: bytes) -> bytes:
    """A sample that is laid out over several lines, on one: outside of texts, JSON's spaces mean nothing."""
    return bytes(msgspec.json.format(row, indent=-1))


def listing(ask: Ask) -> Response:
    page, limit = ask.query.get("page", 1), ask.query.get("limit", 100)
    rows, total = ask.storage.catalog.evaluations.samples(
        ask.who, ask.path("evaluation_id"), skip=(page - 1) * limit, limit=limit
    )
    after = {"total": total, "page": page, "limit": limit, "hasMore": page * limit < total}
    pieces = iter(()) if ask.request.method == "HEAD" else _pieces(ask, rows, b"]," + dumps(after)[1:])
    return StreamingResponse(pieces, media_type="application/json")


def _pieces(ask: Ask, rows: Sequence[SampleRow], end: bytes) -> Iterator[bytes]:
    before = b'{"samples":['
    for row in rows:
        yield before
        yield from ask.storage.segments.open_range(row.placement)
        before = b","
    yield (before if not rows else b"") + end


ENDPOINTS = (
    Endpoint(
        method="POST", path="/api/v1/evaluations/{evaluation_id}/samples", handler=add, scope="evals:write",
        tag="evaluations", body="SamplesBody", samples=True, answer="SamplesAppended",
        codes=((404, "evaluation_not_found"), (429, "rate_limited"), (429, "ingest_capacity_exceeded")),
        about="Append samples. Sent again, they are there again.",
    ),
    Endpoint(
        method="GET", path="/api/v1/evaluations/{evaluation_id}/samples", handler=listing, scope="evals:read",
        tag="evaluations", answer="SamplesPage", codes=((404, "evaluation_not_found"),),
        params=(
            Param("page", "integer", least=1, most=10**9, about="Counted from 1."),
            Param("limit", "integer", least=1, most=1000),
        ),
        about="Samples in the order they came.",
    ),
)  # fmt: skip
