"""A proxy on loopback that breaks what goes through it, by a script or by chance.

Promise: requests are taken in the order of their arrival, one fault each: first what is scripted, then what `decide`
says, else none. Every request is noted in `seen`, with what was done to it, and how the server answered. A server that
does not answer looks to the client like a connection that is reset. The address stays the same while `upstream`
changes, so that a server may come back at another port.
Policy: bodies are held in memory.
When it breaks: what breaks is what it is for; nothing is raised.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self, cast
from urllib.parse import urlsplit

from evh.testing.live.faults import Fault, passing, random_fault

__all__ = ["Decide", "FaultProxy", "Seen"]

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "upgrade", "te", "trailer"})
UPSTREAM_SECONDS = 120.0
PAGE = b"<html><body>an error page</body></html>"


class Seen(NamedTuple):
    """A request. `status` is the server's answer: None when it gave none, or was not asked."""

    method: str
    path: str
    body_bytes: int
    fault: Fault
    status: int | None = None


Decide = Callable[[str, str], Fault | None]
"""The fault of a request, from its method and path; None: none."""


class _Answer(NamedTuple):
    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes


class FaultProxy:
    """Use it in a `with` block. `upstream` is the address of the server it stands before."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.seen: list[Seen] = []
        self.decide: Decide | None = None
        self.watch: Callable[[bytes], object] = len
        """Called with the body of every request."""
        self._script: deque[Fault] = deque()
        self._guard = threading.Lock()
        self._server = _Listener(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *faults: Fault) -> None:
        """The faults of the next requests, one each."""
        with self._guard:
            self._script.extend(faults)

    def by_chance(self, seed: int, rate: float = 0.3, **how: Any) -> None:
        """Break this share of the requests, drawn from a seed."""
        chance = random.Random(seed)
        self.decide = lambda method, path: random_fault(chance, **how) if chance.random() < rate else None

    def heal(self) -> None:
        """Break nothing more."""
        with self._guard:
            self.decide = None
            self._script.clear()

    def requests(self, method: str, part: str = "") -> list[Seen]:
        """The requests so far with this method and this text in their path."""
        with self._guard:
            return [each for each in self.seen if each.method == method and part in each.path]

    def fault_for(self, method: str, path: str) -> Fault:
        """Draw the fault of a request."""
        with self._guard:
            if self._script:
                return self._script.popleft()
            return (self.decide and self.decide(method, path)) or passing()

    def note(self, seen: Seen) -> None:
        with self._guard:
            self.seen.append(seen)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True

    def __init__(self, proxy: FaultProxy) -> None:
        self.proxy = proxy
        self._open: set[socket.socket] = set()
        self._open_guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End the connections that clients keep open, so that their threads end."""
        with self._open_guard:
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _proxy(self) -> FaultProxy:
        return cast("_Listener", self.server).proxy

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def log_message(self, format: str, *args: Any) -> None:
        return

    def handle_any(self) -> None:
        body = self._body()
        proxy = self._proxy
        proxy.watch(body)
        fault = proxy.fault_for(self.command, self.path)
        seen = Seen(self.command, self.path, len(body), fault)
        if fault.kind == "delay":
            time.sleep(fault.seconds)
        if fault.kind == "cut":
            self._forward_half(body)
        if fault.kind in ("drop", "reset", "cut", "answer"):
            proxy.note(seen)
            self._give(fault, None)
            return
        found = self._forward(body)
        proxy.note(seen._replace(status=None if found is None else found.status))
        self._give(fault, found)

    def _give(self, fault: Fault, found: _Answer | None) -> None:
        if fault.kind in ("answer", "replace"):
            later = [] if fault.retry_after is None else [("Retry-After", fault.retry_after)]
            page = b'{"error":{"code":"made_by_the_proxy","message":"a fault"}}'
            self._send(_Answer(fault.status, "", [("Content-Type", "application/json"), *later], page))
        elif fault.kind == "drop":
            self.close_connection = True
        elif found is None or fault.kind in ("reset", "lose", "cut"):
            self._reset()
        elif fault.kind == "garble":
            self._send(_Answer(200, "", [("Content-Type", "text/html")], PAGE))
        elif fault.kind == "truncate":
            self._send(found, part=len(found.body) // 2)
            self._reset(linger=True)
        else:
            self._send(found)

    def _send(self, answer: _Answer, part: int | None = None) -> None:
        self.send_response_only(answer.status, answer.reason or None)
        for name, value in answer.headers:
            self.send_header(name, value)
        if answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body[:part])

    def _reset(self, *, linger: bool = False) -> None:
        """End the connection with an error, not in order."""
        self.close_connection = True
        if not linger:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The listener's own goodbye would be an orderly one.
            with contextlib.suppress(OSError):
                self.connection.close()

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _passed_on(self, body: bytes) -> dict[str, str]:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        return {**headers, "Content-Length": str(len(body)), "Connection": "close"}

    def _forward(self, body: bytes) -> _Answer | None:
        """The server's answer; None when it gives none."""
        host = urlsplit(self._proxy.upstream)
        connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=UPSTREAM_SECONDS)
        try:
            connection.request(self.command, self.path, body, self._passed_on(body))
            answer = connection.getresponse()
            kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP]
            return _Answer(answer.status, answer.reason, kept, answer.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _forward_half(self, body: bytes) -> None:
        host = urlsplit(self._proxy.upstream)
        head = [f"{self.command} {self.path} HTTP/1.1"]
        head += [f"{name}: {value}" for name, value in self._passed_on(body).items()]
        whole = "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body
        with contextlib.suppress(OSError), socket.create_connection((host.hostname or "", host.port or 80), 5) as line:
            line.sendall(whole[: len(whole) // 2 if not body else len(whole) - len(body) // 2 - 1])

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any
