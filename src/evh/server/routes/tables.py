"""Tables of training samples: a place is asked for, a Parquet file put there, and the run told that it is there.

Promise: the address that `presign` gives holds a secret of its own, opens one place for an hour, and needs no token.
The same table put there again is the same; another one is refused.
"""

from __future__ import annotations

import hashlib
from functools import partial
from urllib.parse import quote

from starlette.responses import Response

from evh.server import shapes
from evh.server.bodies import Holding, read_body
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import conflict, not_found, refused
from evh.server.parameters import Param
from evh.server.ranges import ranged
from evh.server.routes.training import MISSING, ROOTS

__all__ = ["ENDPOINTS"]

PLACE = "/api/v1/rft/tables/"
MAGIC = b"PAR1"


def presign(ask: Ask) -> Response:
    place, secret = ask.storage.catalog.training.presign(ask.who, ask.body["run_id"], ask.body["step"])
    url = ask.url(f"{PLACE}{quote(place.key)}?token={secret}")
    return answer({"data": {"presignedUrl": url, "s3Key": place.key}})


async def put(ask: Ask, holding: Holding) -> Response:
    key, house = ask.path("key"), ask.house
    secret: str = ask.query.get("token", "")
    await house.aside(partial(ask.storage.catalog.training.redeem, key, secret))
    settings = house.settings
    data = await read_body(ask.request, settings.table_bytes, settings.silence_seconds, holding)
    if len(data) < 12 or not data.startswith(MAGIC) or not data.endswith(MAGIC):
        raise refused("invalid_table", "the body is no Parquet file")
    return await house.aside(partial(_store, ask, key, secret, data), ingest=True)  # type: ignore[no-any-return]


def _store(ask: Ask, key: str, secret: str, data: bytes) -> Response:
    """Put the bytes in their place. A try before may have left them there without the row that says so."""
    training, blobs = ask.storage.catalog.training, ask.storage.blobs
    place = training.redeem(key, secret)
    digest = hashlib.sha256(data).hexdigest()
    if not blobs.put_if_absent(key, data):
        held = hashlib.sha256()
        for piece in blobs.open_range(key):
            held.update(piece)
        if held.hexdigest() != digest:
            raise conflict("upload_stored", "another table was stored at this address already")
    if place.state == "presigned":
        training.stored(key, len(data), digest)
    return Response(status_code=200, headers={"ETag": f'"{digest}"'})


def confirm(ask: Ask) -> Response:
    row = ask.storage.catalog.training.confirm(ask.who, ask.body["run_id"], ask.body["step"], ask.body["s3_key"])
    return answer({"data": shapes.table(row)})


def listing(ask: Ask) -> Response:
    rows = ask.storage.catalog.training.uploads(ask.who, ask.path("run_id"))
    return answer({"items": [shapes.table(row) for row in rows]})


def show(ask: Ask) -> Response:
    """A table of a run, by the key that the presign gave."""
    key = ask.path("key")
    rows = ask.storage.catalog.training.uploads(ask.who, ask.path("run_id"))
    found = next((row for row in rows if row.key == key and row.digest is not None), None)
    if found is None or found.size is None or found.digest is None:
        raise not_found("table", key)
    return ranged(
        ask.request, found.size, found.digest, "application/vnd.apache.parquet",
        lambda start, stop: ask.storage.blobs.open_range(key, start, stop),
    )  # fmt: skip


ENDPOINTS = (
    *(
        Endpoint(
            method="POST", path=f"{root}/samples/presign", handler=presign, scope="evals:write", tag="training",
            body="SamplesPresign", answer="SamplesPresigned", codes=(MISSING, (409, "run_closed")),
            about="Where the table of a step goes.",
        )
        for root in ROOTS
    ),
    *(
        Endpoint(
            method="POST", path=f"{root}/samples/confirm", handler=confirm, scope="evals:write", tag="training",
            body="SamplesConfirm", codes=(MISSING, (400, "upload_missing")),
            about="The table of a step is in its place.",
        )
        for root in ROOTS
    ),
    Endpoint(
        method="PUT", path=PLACE + "{key:path}", handler=put, scope=None, tag="training", presigned=True,
        raw_body="application/parquet", params=(Param("token", about="The secret of the address."),),
        codes=((403, "forbidden"), (400, "invalid_table"), (409, "upload_stored"), (413, "request_too_large")),
        about="Put a table in its place. The address itself, as `presign` gave it, is the permission.",
    ),
    Endpoint(
        method="GET", path="/api/v1/rft/external-runs/{run_id}/tables", handler=listing, scope="evals:read",
        tag="training", about="The tables of a run, by step.", codes=(MISSING,),
    ),
    Endpoint(
        method="GET", path="/api/v1/rft/external-runs/{run_id}/tables/{key:path}", handler=show, scope="evals:read",
        tag="training", media="application/vnd.apache.parquet", about="A table; ranges are honoured.",
        codes=(MISSING, (404, "table_not_found")),
    ),
)  # fmt: skip
