"""Uploads of episodes and traces: the one way in, and the receipts."""

from __future__ import annotations

import time
from functools import partial

from starlette.responses import Response

from evh.server import shapes
from evh.server.bodies import RETRY_SECONDS, Holding
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import not_found, retry_later
from evh.server.records import LineFormat, Receipt
from evh.server.uploads import Arrived, arrive, line_format

__all__ = ["ENDPOINTS"]


async def take(ask: Ask, holding: Holding) -> Response:
    """Store an upload; the answer is its receipt. The same bytes again get the same receipt."""
    house = ask.house
    if house.uploads >= house.settings.max_uploads:
        raise retry_later(
            "ingest_capacity_exceeded", f"{house.uploads} uploads are under way: send it again", after=RETRY_SECONDS
        )
    house.uploads += 1
    try:
        key = ask.request.headers.get("idempotency-key")
        house.storage.ingest.key_digest(key)
        form = line_format(ask.request)
        arrived = await arrive(ask.request, house.settings, holding)
        receipt = await house.aside(partial(_store, ask, key, form, arrived), ingest=True)
        return answer(shapes.receipt(receipt))
    finally:
        house.uploads -= 1


def _store(ask: Ask, key: str | None, form: LineFormat, arrived: Arrived) -> Receipt:
    began = time.perf_counter()
    receipt = ask.storage.ingest.upload(ask.who, arrived.unpacked(), key=key, line_format=form, context=arrived.context)
    ask.house.metrics.committed(
        accepted=receipt.accepted, duplicates=receipt.duplicates, size=receipt.bytes, replayed=receipt.replayed,
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    return receipt


def show(ask: Ask) -> Response:
    """The receipt of an upload that was committed."""
    upload_id = ask.path("upload_id")
    receipt = ask.storage.catalog.heads.receipt(ask.who, f"sha256:{upload_id}")
    if receipt is None:
        raise not_found("upload", upload_id)
    return answer(shapes.receipt(receipt))


ENDPOINTS = (
    Endpoint(
        method="POST", path="/api/v1/traces", handler=take, scope="traces:write", tag="traces", answer="UploadReceipt",
        raw_body="multipart/form-data",
        about="Upload episodes or traces, a document a line. The receipt means: durable, all of it.",
        codes=(
            (400, "upload_too_large"), (400, "trace_too_large"), (400, "too_many_traces_in_episode"),
            (400, "too_many_traces_in_upload"), (400, "episode_id_too_long"), (400, "environment_id_too_long"),
            (400, "duplicate_trace_id"), (400, "duplicate_episode_id"), (400, "digest_mismatch"),
            (400, "line_format_mismatch"), (400, "malformed_encoding"), (400, "invalid_trace"),
            (400, "invalid_metadata"), (400, "created_at_out_of_window"), (400, "unsupported_schema_version"),
            (400, "invalid_idempotency_key"), (409, "line_format_conflict"), (429, "rate_limited"),
            (429, "ingest_capacity_exceeded"),
        ),
    ),
    Endpoint(
        method="GET", path="/api/v1/uploads/{upload_id}", handler=show, scope="traces:read", tag="traces",
        answer="UploadReceipt", about="The receipt of an upload, by its id.", codes=((404, "upload_not_found"),),
    ),
)  # fmt: skip
