"""What surrounds every request: its id, the log of it, the headers that keep browsers out, and the guard of a server
that asks for no token.

Promise: a server without tokens answers only under its own names: a web page that had its name point to this machine
(DNS rebinding), one that posts across sites, and a proxy that passes on what others ask are refused (403 `forbidden`).
The log holds method, path, status, times and sizes; never a query, a header or a body.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evh.errors import cut
from evh.server.envelopes import refusal
from evh.server.faults import ServerFault
from evh.server.metrics import Metrics
from evh.server.profiles import Settings

__all__ = ["Guard"]

LOG = logging.getLogger("evh.server.access")
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
PROXIED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class Guard:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        seen: dict[str, Any] = {"status": 499, "size": 0}

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                added = MutableHeaders(scope=message)
                added["X-Request-ID"] = request_id
                for name, value in HEADERS.items():
                    added.setdefault(name, value)
            elif message["type"] == "http.response.body":
                seen["size"] += len(message.get("body", b""))
            await send(message)

        began = time.perf_counter()
        try:
            fault = None if self._settings.tokens else self._foreign(headers)
            if fault is None:
                await self._app(scope, receive, sent)
            else:
                self._metrics.refused(fault.code)
                await refusal(fault)(scope, receive, sent)
        finally:
            self._metrics.answered(seen["status"])
            LOG.info(
                "%s %s %d %d bytes %.1f ms %s", scope["method"], ascii(scope["path"][:500]), seen["status"],
                seen["size"], (time.perf_counter() - began) * 1000, request_id,
            )  # fmt: skip

    def _foreign(self, headers: Headers) -> ServerFault | None:
        """Why a request to a server without tokens is refused; None when it is not."""
        hosts = self._settings.hosts
        host = _name(f"//{headers.get('host', '')}")
        if host not in hosts:
            return _forbidden(f"it answers only as {', '.join(sorted(hosts))}, not as {cut(host or '')}")
        origin = headers.get("origin")
        if origin is not None and _name(origin) not in hosts:
            return _forbidden("it takes nothing from pages of other sites")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _forbidden("it takes nothing from pages of other sites")
        if any(name in headers for name in PROXIED):
            return _forbidden("the request came through a proxy, so anybody may have sent it: make a token first")
        return None


def _forbidden(why: str) -> ServerFault:
    return ServerFault(403, "forbidden", f"this server asks for no token, so {why}")


def _name(address: str) -> str | None:
    """The host in an address, without its port."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
