"""A chat endpoint on the loopback that answers by script.

    with ChatServer() as server:
        server.says(answer("hello"), Reply(429, headers={"Retry-After": "7"}))
        ...  # calls of server.url
        assert server.requests[0].body["model"] == "m"

Replies are given in order; when there are none left, the server echoes the last message. No thread is left behind.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What the server was sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Reply(NamedTuple):
    """What the server sends back: an object as JSON, or bytes as they are."""

    status: int = 200
    body: dict[str, Any] | bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})
    hangs: bool = False
    """Wait, before the first byte, until the server is closed or `release` is called."""
    promised: int | None = None
    """The length that is announced, when it is to be another one than the body's."""


def answer(content: Any, *, finish: str = "stop", usage: dict[str, Any] | None = None, **members: Any) -> Reply:
    """A usual reply."""
    message = {"role": "assistant", "content": content}
    body: dict[str, Any] = {
        "id": "reply-1",
        "model": "scripted-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **members,
    }
    if usage is not None:
        body["usage"] = usage
    return Reply(body=body)


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # with the usual five, callers at a time wait a second for the system to try again


class ChatServer:
    """The endpoint; a context manager."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.arrived = threading.Semaphore(0)
        """Released once for every request that came in."""
        self._replies: deque[Reply] = deque()
        self._released = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """What goes into `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def says(self, *replies: Reply) -> None:
        """Put replies at the end of the script."""
        self._replies.extend(replies)

    def release(self) -> None:
        """Let the replies that hang go on."""
        self._released.set()

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()  # waits for the threads of the requests

    def _reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self._replies.popleft() if self._replies else answer(request.body["messages"][-1]["content"])
        self.arrived.release()
        if reply.hangs:
            self._released.wait(30)
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                reply = server._reply_to(Request(self.path, dict(self.headers), json.loads(data)))
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body) if reply.promised is None else reply.promised))
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client has given up, as some tests want it to

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
