"""A platform on the loopback: it gives the answers it was told to give, and remembers what it was asked; and both
clients as one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import httpx

from evh.platform import AsyncPlatform, Paged, Platform, Policy, Settings

KEY = "pit-canary-0123456789"


class Asked(NamedTuple):
    method: str
    path: str
    params: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """`body` is bytes or becomes JSON; `cut` closes the connection after so many bytes of it, -1 before any."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


Answering = Callable[[Asked], Reply]


@dataclass
class Loopback:
    """`replies` are given in order, the last one again and again; `answering` decides where it is set."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    answering: Answering | None = None
    asked: list[Asked] = field(default_factory=list)

    def settings(self, **more: Any) -> Settings:
        return Settings(api_key=KEY, base_url=self.url, traces_url=self.url, **more)

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if self.answering is not None:
            return self.answering(asked)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def loopback() -> Iterator[Loopback]:
    server = Loopback()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 20  # head and body in one piece: two make the other side wait
        disable_nagle_algorithm = True

        def do_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            parts = urlsplit(self.path)
            params: dict[str, list[str]] = {}
            for name, value in parse_qsl(parts.query, keep_blank_values=True):
                params.setdefault(name, []).append(value)
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.reply(Asked(self.command, parts.path, params, headers, self.rfile.read(length)))
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            if reply.cut == -1:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: reply.cut])
            if reply.cut is not None:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_any

        def log_message(self, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = False
        block_on_close = True

    listener = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


NOW = 1_700_000_000.0


class Client:
    """Runs calls with one of the clients; `slept` are the pauses that it asked for."""

    def __init__(self, kind: str, server: Loopback) -> None:
        self.kind = kind
        self.server = server
        self.slept: list[float] = []
        self.policy = Policy(now=lambda: NOW, uniform=lambda low, high: 1.0)

    def run(self, work: Any) -> Any:
        if self.kind == "blocking":
            with self._blocking() as platform:
                return platform.run(work)

        async def awaited() -> Any:
            async with self._platform() as platform:
                return await platform.run(work)

        return asyncio.run(awaited())

    def items(self, listing: Paged[Any, Any]) -> list[Any]:
        if self.kind == "blocking":
            with self._blocking() as platform:
                return list(platform.items(listing))

        async def awaited() -> list[Any]:
            async with self._platform() as platform:
                return [item async for item in platform.items(listing)]

        return asyncio.run(awaited())

    def download(self, call: Any, path: Path, *, force: bool = False) -> int:
        if self.kind == "blocking":
            with self._blocking() as platform:
                return platform.download(call, path, force=force)

        async def awaited() -> int:
            async with self._platform() as platform:
                return await platform.download(call, path, force=force)

        return asyncio.run(awaited())

    def _blocking(self) -> Platform:
        transport = httpx.HTTPTransport(verify=False)  # no certificates to load: the loopback has none
        return Platform(self.server.settings(), policy=self.policy, sleep=self.slept.append, transport=transport)

    def _platform(self) -> AsyncPlatform:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        transport = httpx.AsyncHTTPTransport(verify=False)
        return AsyncPlatform(self.server.settings(), policy=self.policy, sleep=sleep, transport=transport)
