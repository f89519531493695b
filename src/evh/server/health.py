"""Is it alive, can it store, and what did it do: for those who watch over the server.

Promise: `/healthz` says that the process answers, and asks nothing else; `/readyz` that a small write was committed
just now and that the disk has room (503 otherwise). `/metrics` has numbers without names; where tokens are asked for it
needs one with the scope `admin`.
Policy: readiness is looked at once a second at most, however many ask.
"""

from __future__ import annotations

import asyncio
import shutil
import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evh.errors import EvhError
from evh.server.endpoint import Ask, Endpoint, House
from evh.server.envelopes import answer, refusal
from evh.server.faults import ServerFault, retry_later

__all__ = ["METRICS", "routes"]

FRESH_SECONDS = 1.0
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class _Readiness:
    """What the last look found."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._lock = asyncio.Lock()
        self._seen = float("-inf")
        self._fault: ServerFault | None = None

    async def look(self) -> ServerFault | None:
        async with self._lock:
            if time.monotonic() - self._seen >= FRESH_SECONDS:
                try:
                    await self._house.aside(self._house.storage.ready)
                    self._fault = None
                except ServerFault as fault:
                    self._fault = fault
                except EvhError as error:
                    self._fault = retry_later("storage_unavailable", error.message)
                self._seen = time.monotonic()
            return self._fault


def routes(house: House) -> list[Route]:
    """The addresses that need no token and are no part of the API."""
    readiness = _Readiness(house)

    async def alive(request: Request) -> Response:
        return answer({"status": "ok"})

    async def ready(request: Request) -> Response:
        fault = await readiness.look()
        return answer({"status": "ready"}) if fault is None else refusal(fault)

    return [Route("/healthz", alive, methods=["GET"]), Route("/readyz", ready, methods=["GET"])]


def show(ask: Ask) -> Response:
    """The counters, and what can be measured now."""
    storage = ask.storage
    opened = storage.segments.opened_at()
    lines = ask.house.metrics.lines(
        disk_free_bytes=float(shutil.disk_usage(storage.directory).free), room_bytes=float(storage.room.left()),
        open_segment_age_seconds=None if opened is None else max(0.0, time.time() - opened),
        uploads_under_way=float(ask.house.uploads), held_bytes=float(ask.house.held.now),
    )  # fmt: skip
    return Response("\n".join(lines) + "\n", media_type=TEXT)


METRICS = Endpoint(
    method="GET", path="/metrics", handler=show, scope="admin", tag="service", media="text/plain",
    about="What the server counts, in the text format of Prometheus.",
)  # fmt: skip
