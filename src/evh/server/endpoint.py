"""One address of the API: what it needs, what it takes, what it gives; and the way from a request to its handler.

Promise: nothing is read before the caller is known and may do this: 401 without a token that counts, 403 with one that
lacks the scope, and only then whether the thing is there. Parameters and bodies reach a handler checked. Handlers
block; they run in threads, so that the server goes on answering.
Policy: the OpenAPI document and the tests of access are made from these declarations.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal

import anyio
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from evh.server.access import CatalogAccess
from evh.server.bodies import Held, Holding, drain, read_body, read_json
from evh.server.envelopes import INTERNAL, refusal
from evh.server.faults import ServerFault, retry_later
from evh.server.metrics import Metrics
from evh.server.parameters import Param, Query, parse
from evh.server.profiles import Settings
from evh.server.records import Principal, Scope
from evh.server.storage import Storage

__all__ = ["Ask", "Endpoint", "House", "handle"]

LOG = logging.getLogger("evh.server")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
WRITES = frozenset({"traces:write", "evals:write"})


class House:
    """What all requests share."""

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self.settings = settings
        self.storage = storage
        self.metrics = Metrics()
        self.held = Held(settings.held_bytes)
        self.reading = anyio.CapacityLimiter(settings.read_threads)
        self.ingesting = anyio.CapacityLimiter(settings.ingest_threads)
        self.uploads = 0

    async def aside(self, work: Callable[[], Any], *, ingest: bool = False) -> Any:
        """The result of blocking work, done in a thread."""
        return await anyio.to_thread.run_sync(work, limiter=self.ingesting if ingest else self.reading)


class Ask(Struct):
    """A request as its handler sees it."""

    house: House
    who: Principal
    request: Request
    query: Query
    body: dict[str, Any] = {}
    data: bytes = b""

    @property
    def storage(self) -> Storage:
        return self.house.storage

    def path(self, name: str) -> str:
        """A part of the address."""
        value: str = self.request.path_params[name]
        return value

    def url(self, path: str) -> str:
        """An address of this server, as others reach it."""
        base = self.house.settings.public_url or str(self.request.base_url)
        return base.rstrip("/") + path


Handler = Callable[[Ask], Response] | Callable[[Ask, Holding], Awaitable[Response]]
"""A coroutine reads its body itself, under the given share of memory."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """A method and path, and what they stand for. `scope` None: no token is needed, one that is there must count.

    `body` and `answer` name types of `evh.protocol.models`; `raw_body` is the media type of a body that its handler
    reads; `codes` are refusals of its own, beside those that every address has.
    """

    method: Method
    path: str
    handler: Handler
    scope: Scope | None
    about: str
    tag: str
    params: tuple[Param, ...] = ()
    contexts: bool = False
    body: str | None = None
    body_optional: bool = False
    samples: bool = False
    raw_body: str | None = None
    answer: str | None = None
    media: str = "application/json"
    status: int = 200
    codes: tuple[tuple[int, str], ...] = ()
    presigned: bool = False


async def handle(house: House, endpoint: Endpoint, request: Request) -> Response:
    """The answer to a request, whatever happens."""
    try:
        with Holding(house.held) as holding:
            return await _carried_out(house, endpoint, request, holding)
    except ServerFault as fault:
        if fault.status >= 500 and fault.status != 503:
            LOG.error("request %s: %s", request.state.request_id, fault)
        house.metrics.refused(fault.code)
        if endpoint.raw_body is not None or endpoint.body is not None:
            await drain(request)
        return refusal(fault)
    except ClientDisconnect:
        house.metrics.refused("client_went_away")
        return Response(status_code=400)  # nobody reads it
    except Exception:
        LOG.exception("request %s failed", request.state.request_id)
        house.metrics.refused(INTERNAL.code)
        return refusal(INTERNAL)


async def _carried_out(house: House, endpoint: Endpoint, request: Request, holding: Holding) -> Response:
    who = await house.aside(partial(_admitted, house, endpoint, request))
    query = parse(request.query_params.multi_items(), endpoint.params, contexts=endpoint.contexts)
    ask = Ask(house, who, request, query)
    handler: Any = endpoint.handler
    if inspect.iscoroutinefunction(handler):
        response: Response = await handler(ask, holding)
        return response
    if endpoint.body is not None:
        settings = house.settings
        limit = settings.samples_bytes if endpoint.samples else settings.json_bytes
        ask.data = await read_body(request, limit, settings.silence_seconds, holding)
    return await house.aside(partial(_worked, endpoint, handler, ask))  # type: ignore[no-any-return]


def _worked(endpoint: Endpoint, handler: Callable[[Ask], Response], ask: Ask) -> Response:
    if endpoint.body is not None and not endpoint.samples and not (endpoint.body_optional and not ask.data):
        ask.body = read_json(ask.data, endpoint.body)
    return handler(ask)


def _admitted(house: House, endpoint: Endpoint, request: Request) -> Principal:
    """Who asks, if they may. 401, 403, and 503 for a write that the disk has no room for."""
    who = _principal(house, endpoint, request)
    if endpoint.scope is not None and not who.may(endpoint.scope):
        raise ServerFault(403, "forbidden", f"this token lacks the scope {endpoint.scope}")
    if (endpoint.scope in WRITES or endpoint.presigned) and endpoint.method != "DELETE" and not _room(house):
        raise retry_later("storage_unavailable", "the server's disk is nearly full: nothing is stored now", after=60.0)
    return who


def _room(house: House) -> int:
    return house.storage.room.left()


def _principal(house: House, endpoint: Endpoint, request: Request) -> Principal:
    access: CatalogAccess = house.storage.access
    token = bearer(request)
    if token is not None and (house.settings.tokens or token.startswith("evh_")):
        return access.authenticate(token)
    if not house.settings.tokens:
        return access.local()
    if endpoint.scope is None:
        return Principal(0, "", frozenset())
    raise ServerFault(401, "unauthenticated", "a token is needed: `Authorization: Bearer evh_…`")


def bearer(request: Request) -> str | None:
    """The token that a request carries. Hosted runs repeat theirs in `x-api-key`."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return token.strip()
    if request.url.path.startswith("/api/internal/"):
        return request.headers.get("x-api-key", "").strip() or None
    return None
