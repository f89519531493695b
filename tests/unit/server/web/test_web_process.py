"""The server as a process: started, asked by real sockets, stopped in order or killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.internal.conjecture import utils
from schemathesis.generation import GenerationMode
from server_support import body, episode, key, line, trace
from web_support import multipart, packed

EXAMPLES = {"dev": 2, "ci": 10, "deep": 300}[os.environ.get("EVH_TEST_PROFILE", "dev")]
LINES = body(episode("e1"), episode("e2"))


class Server:
    """A running `evh serve`."""

    def __init__(self, process: subprocess.Popen[str], about: dict[str, Any], ready: Path) -> None:
        self.process = process
        self.ready = ready
        self.url: str = about["url"]
        self.address = (urlsplit(self.url).hostname or "", int(about["port"]))
        assert about["pid"] == process.pid

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[Server]:
    """A server over a folder, whatever happens to it."""
    ready = folder / "ready.json"
    arguments = ["serve", "--port", "0", "--data", str(folder / "data"), "--ready-file", str(ready), "--reserve", "0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("EVH_", "PRIME_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "evh", *arguments, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=environment,
    )  # fmt: skip
    try:
        until = time.monotonic() + 30
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < until, process.communicate()[0]
            time.sleep(0.02)
        yield Server(process, json.loads(ready.read_text()), ready)
    finally:
        process.kill()
        if process.stdout is not None and not process.stdout.closed:
            process.communicate()
        ready.unlink(missing_ok=True)


def send(url: str, data: bytes) -> httpx.Response:
    sent, kind = multipart(packed(data, "zstd"), encoding="zstd")
    headers = {"Content-Type": kind, "Idempotency-Key": key(data), "X-Prime-Line-Format": "episode"}
    return httpx.post(f"{url}/api/v1/traces", content=sent, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("process"), "--quiet") as made:
        assert send(made.url, LINES).status_code == 200
        yield made


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        receipt = send(first.url, LINES).json()
        first.process.kill()
        first.process.wait()
    with serving(tmp_path) as second:
        assert httpx.get(f"{second.url}/api/v1/episodes/e1?raw=true").content == line(episode("e1"))
        assert send(second.url, LINES).json() == receipt | {"replayed": True}
        assert second.stop() == 0 and not second.ready.exists()
        said, _ = second.process.communicate()
    assert second.url in said and "no token is asked for" in said and "GET '/api/v1/episodes/e1' 200" in said


def unfinished(server: Server, data: bytes) -> tuple[socket.socket, bytes]:
    """An upload that has begun, and what it still has to send."""
    sent, kind = multipart(data)
    head = (
        f"POST /api/v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(sent)}\r\n"
        f"Idempotency-Key: {key(data)}\r\nX-Prime-Line-Format: episode\r\n\r\n"
    )
    connection = socket.create_connection(server.address, timeout=20)
    connection.sendall(head.encode() + sent[:100])
    while "evh_uploads_under_way 1" not in httpx.get(f"{server.url}/metrics").text:
        time.sleep(0.01)
    return connection, sent[100:]


def test_a_stop_lets_the_requests_under_way_finish(tmp_path: Path) -> None:
    with serving(tmp_path, "--quiet") as server:
        connection, rest = unfinished(server, LINES)
        with connection:
            server.process.send_signal(signal.SIGTERM)
            until = time.monotonic() + 20
            while True:  # it takes nobody new
                try:
                    socket.create_connection(server.address, timeout=5).close()
                except OSError:
                    break
                assert time.monotonic() < until
                time.sleep(0.02)
            connection.sendall(rest)
            assert b"committed" in connection.recv(65536)
        assert server.process.wait(20) == 0


def test_a_stop_does_not_wait_for_ever(tmp_path: Path) -> None:
    with serving(tmp_path, "--quiet", "--grace", "1") as server:
        connection, _ = unfinished(server, LINES)
        with connection:
            began = time.monotonic()
            assert server.stop() == 0 and time.monotonic() - began < 10


def test_it_answers_while_it_takes_a_large_upload_in(server: Server) -> None:
    nodes = [{"message": {"role": "user", "content": "word " * 200}} for _ in range(40)]
    data = body(*[episode(f"big-{at}", traces=[trace(f"big-t-{at}", nodes=nodes, calls=[])]) for at in range(400)])
    answers: list[int] = []
    upload = threading.Thread(target=lambda: answers.append(send(server.url, data).status_code))
    upload.start()
    started, slowest = time.monotonic(), 0.0
    with httpx.Client() as http:
        while upload.is_alive():
            began = time.monotonic()
            assert http.get(f"{server.url}/healthz").status_code == 200
            slowest = max(slowest, time.monotonic() - began)
    upload.join()
    assert answers == [200] and slowest < max(1.5, (time.monotonic() - started) / 2)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\x01\x02\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET //evil.example/api/v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET http://evil.example/api/v1/traces HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /api/v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /api/v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nz",
    ],
)  # fmt: skip
def test_what_is_hardly_http_gets_no_more_than_a_refusal(server: Server, sent: bytes) -> None:
    answer = b""  # it may hang up at once
    with socket.create_connection(server.address, timeout=20) as connection, suppress(OSError):
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert answer == b"" or answer.split()[1][:1] == b"4"
    assert httpx.get(f"{server.url}/healthz").status_code == 200


class Many(utils.many):
    """The loop of Hypothesis' collections as `hypothesis-jsonschema` still writes it."""

    def more(self) -> bool:
        if self._depth is None:
            self._elements = iter(self.__enter__())
        for _ in self._elements:
            return True
        self.__exit__(None)
        return False


MODES = list(GenerationMode) if EXAMPLES > 2 else [GenerationMode.POSITIVE]
"""Requests that break their declaration take long to make: those that are written down in the other tests must do."""


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_no_made_up_request_makes_the_server_fail(
    server: Server, mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hypothesis_jsonschema._from_schema.cu", SimpleNamespace(many=Many))
    monkeypatch.setattr("schemathesis.specs.openapi._hypothesis._canonical_strategy_or_none", lambda *_: None)
    document = httpx.get(f"{server.url}/openapi.json").json()
    with requests.Session() as session:
        for found in schemathesis.openapi.from_dict(document).get_all_operations():
            fuzz(found.ok(), mode, server.url, session)
    assert httpx.get(f"{server.url}/readyz").status_code == 200


def fuzz(operation: Any, mode: GenerationMode, url: str, session: requests.Session) -> None:
    """Some requests to one address: sound ones, or ones that break its declaration."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck), deadline=None,
        phases=[Phase.generate],
    )  # fmt: skip
    def ask(case: Any) -> None:
        answer = case.call(base_url=url, session=session)
        assert answer.status_code < 500, case.as_curl_command()

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # an address without anything that could be wrong


def test_answers_do_not_wait_for_the_network(server: Server) -> None:
    with httpx.Client() as http:
        http.get(f"{server.url}/api/v1/traces")
        times = []
        for _ in range(9):
            began = time.monotonic()
            http.get(f"{server.url}/api/v1/traces")
            times.append(time.monotonic() - began)
    assert min(times) < 0.035  # a delayed acknowledgement costs 40 ms
