"""The proxy does what its faults are called: what the server saw, and what the client got."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from evh.testing.live import (
    Fault,
    FaultProxy,
    answer,
    cut,
    delay,
    drop,
    garble,
    lose,
    passing,
    replace,
    reset,
    truncate,
)

SAID = b'{"said": "something of some length"}'


class Counted(ThreadingHTTPServer):
    """Answers everything, and notes the bodies that came whole."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        super().__init__(("127.0.0.1", 0), Answering)


class Answering(BaseHTTPRequestHandler):
    server: Counted  # type: ignore[assignment]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) == length:
            self.server.bodies.append(body)
        self.send_response(201)
        self.send_header("Content-Length", str(len(SAID)))
        self.end_headers()
        self.wfile.write(SAID)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[Counted]:
    server = Counted()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def proxy(server: Counted) -> Iterator[FaultProxy]:
    with FaultProxy(f"http://127.0.0.1:{server.server_address[1]}") as proxy:
        yield proxy


def post(proxy: FaultProxy, body: bytes = b"x" * 1000) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(proxy.url).port, timeout=10)
    try:
        connection.request("POST", "/somewhere", body)
        found = connection.getresponse()
        return found.status, found.read()
    finally:
        connection.close()


@pytest.mark.parametrize("fault", [drop(), reset(), cut()])
def test_before_the_server_nothing_is_done_and_nothing_answered(
    fault: Fault, server: Counted, proxy: FaultProxy
) -> None:
    proxy.script(fault)
    with pytest.raises((OSError, http.client.HTTPException)):
        post(proxy)
    assert server.bodies == []
    assert [(each.fault, each.status) for each in proxy.seen] == [(fault, None)]
    assert post(proxy) == (201, SAID), "the next one passes"


@pytest.mark.parametrize("fault", [lose(), truncate()])
def test_behind_the_server_it_is_done_and_the_answer_is_gone(fault: Fault, server: Counted, proxy: FaultProxy) -> None:
    proxy.script(fault)
    with pytest.raises((OSError, http.client.HTTPException)):
        post(proxy)
    assert len(server.bodies) == 1
    assert proxy.seen[0].status == 201


def test_answers_in_the_server_s_stead_and_in_its_answer_s(server: Counted, proxy: FaultProxy) -> None:
    proxy.script(answer(429, retry_after="7"), replace(504), garble(), delay(0.0), passing())
    assert post(proxy)[0] == 429 and server.bodies == []
    assert post(proxy)[0] == 504 and len(server.bodies) == 1
    status, page = post(proxy)
    assert status == 200 and len(server.bodies) == 2
    with pytest.raises(ValueError):
        json.loads(page)
    assert post(proxy) == post(proxy) == (201, SAID)


def test_a_server_that_is_gone_looks_like_a_connection_that_is_reset(server: Counted, proxy: FaultProxy) -> None:
    upstream, proxy.upstream = proxy.upstream, "http://127.0.0.1:1"
    with pytest.raises((OSError, http.client.HTTPException)):
        post(proxy)
    proxy.upstream = upstream
    assert post(proxy) == (201, SAID)


def test_chance_is_drawn_from_its_seed_and_heals(server: Counted, proxy: FaultProxy) -> None:
    def drawn() -> list[str]:
        proxy.by_chance(5, 0.5)
        return [proxy.fault_for("POST", "/").kind for _ in range(60)]

    first = drawn()
    assert first == drawn()
    assert len(set(first)) > 6 and first.count("passing") > 10
    proxy.heal()
    assert {proxy.fault_for("POST", "/").kind for _ in range(20)} == {"passing"}
