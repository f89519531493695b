"""The web app over a storage: the endpoints behind their guard.

Promise: every answer has an id, the headers that keep browsers out, and, when it is a refusal, the one envelope. The
app neither opens nor closes the storage.
"""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from evh.protocol.jsontext import dumps
from evh.server import health
from evh.server.endpoint import Endpoint, House, handle
from evh.server.envelopes import http_refusal
from evh.server.guard import Guard
from evh.server.openapi import document
from evh.server.profiles import Settings
from evh.server.routes import ENDPOINTS
from evh.server.storage import Storage

__all__ = ["ALL", "make_app"]

ALL: tuple[Endpoint, ...] = (*ENDPOINTS, health.METRICS)


def make_app(settings: Settings, storage: Storage) -> Starlette:
    """The app; `app.state.house` is what its requests share."""
    house = House(settings, storage)
    described: list[bytes] = []

    async def openapi(request: Request) -> Response:
        if not described:
            described.append(await house.aside(lambda: dumps(document(ALL, settings))))
        return Response(described[0], media_type="application/json")

    routes: list[BaseRoute] = [_route(house, endpoint) for endpoint in ALL]
    routes += [*health.routes(house), Route("/openapi.json", openapi, methods=["GET"])]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, settings=settings, metrics=house.metrics)],
        exception_handlers={HTTPException: http_refusal},
    )
    app.router.redirect_slashes = False
    app.state.house = house
    return app


def _route(house: House, endpoint: Endpoint) -> Route:
    async def run(request: Request) -> Response:
        return await handle(house, endpoint, request)

    return Route(endpoint.path, run, methods=[endpoint.method], name=_name(endpoint))


def _name(endpoint: Endpoint) -> Any:
    return f"{endpoint.method} {endpoint.path}"
