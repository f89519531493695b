"""A platform on the loopback that keeps what it is sent, and breaks as it is told.

    with FakePlatform() as platform:
        platform.breaks("POST", "/traces", status=504, times=1)
        ...  # uploads to platform.url
        assert platform.lines == [...]

What arrives is kept before a fault with `after=True` strikes: the answer is lost, the work is done. No thread is left.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import zstandard

ROOT = "/api/v1"
KEPT = ("evaluations", "uploads", "lines", "samples", "training", "metrics", "tables", "confirmed")


@dataclass
class Fault:
    """What breaks: the next `times` calls of a method whose path begins so."""

    method: str
    path: str
    status: int = 0
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    reset: bool = False
    garbage: bool = False
    delay: float = 0.0
    after: bool = False
    times: int = 1


class FakePlatform:
    """See the module. `zstd` says whether it is ours, which takes zstd and says what it can do."""

    def __init__(self, *, ours: bool = True, max_line_bytes: int | None = None, key: str = "key-1234567890") -> None:
        self.ours = ours
        self.key = key
        self.max_line_bytes = max_line_bytes
        self.evaluations: dict[str, dict[str, Any]] = {}
        self.uploads: dict[str, bytes] = {}
        self.upload_calls: list[str] = []
        self.contexts: list[dict[str, str]] = []
        self.lines: list[bytes] = []
        self.samples: dict[str, list[dict[str, Any]]] = {}
        self.training: dict[str, dict[str, Any]] = {}
        self.metrics: list[dict[str, Any]] = []
        self.tables: dict[str, bytes] = {}
        self.confirmed: list[tuple[int, str]] = []
        self.environments: list[str] = []
        self.calls: list[tuple[str, str]] = []
        self.seen: Callable[[], None] = lambda: None
        self.refuses: Callable[[bytes], str | None] = lambda line: None
        self._faults: list[Fault] = []
        self._guard = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def breaks(self, method: str, path: str, **how: Any) -> None:
        """Let the next calls fail: with a status, a reset, garbage; before the work is done or `after`."""
        with self._guard:
            self._faults.append(Fault(method, path, **how))

    def heals(self) -> None:
        """No fault strikes any more."""
        with self._guard:
            self._faults.clear()

    def kept(self) -> dict[str, Any]:
        """What it has now, to be given back to `restore`."""
        return copy.deepcopy({name: getattr(self, name) for name in KEPT})

    def restore(self, kept: dict[str, Any]) -> None:
        """Have what it had then, and nothing else."""
        for name, value in copy.deepcopy(kept).items():
            setattr(self, name, value)

    def count(self, method: str, path: str) -> int:
        """How many calls there were."""
        return sum(each == method and at.startswith(path) for each, at in self.calls)

    def __enter__(self) -> FakePlatform:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    # --- what it does ------------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, query: dict[str, list[str]], headers: Any, body: bytes) -> Any:
        """The status and document of a call."""
        if path.startswith("/storage/"):
            self.tables[path.removeprefix("/storage/")] = body
            return 200, {}
        if headers.get("Authorization") != f"Bearer {self.key}":
            return 401, error("unauthenticated", "this key is not taken")
        if path == "/capabilities":
            if not self.ours:
                return 404, {"detail": "Not Found"}
            return 200, {"server": "evh-fake", "encodings": ["zstd", "gzip"], "max_line_bytes": self.max_line_bytes}
        if path == "/traces":
            return self._upload(headers, body)
        document = json.loads(body) if body else {}
        parts = path.strip("/").split("/")
        if parts[0] == "environmentshub":
            name = document.get("name") or "/".join(parts[1:3])
            self.environments.append(name)
            return 200, {"data": {"id": f"env-{name}"}}
        if parts[0] == "evaluations":
            return self._evaluation(method, parts[1:], query, document)
        if parts[0] == "rft":
            return self._training(method, parts[1:], query, document)
        return 404, {"detail": "no such route"}

    def _upload(self, headers: Any, body: bytes) -> Any:
        boundary = headers["Content-Type"].partition("boundary=")[2].encode()
        parts = body.split(b"--" + boundary)
        metadata, lines = (part.partition(b"\r\n\r\n") for part in parts[1:3])
        data = lines[2][:-2]
        if b"zstd" in lines[0]:
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 30)
        elif b"gzip" in lines[0]:
            data = gzip.decompress(data)
        digest = hashlib.sha256(data).hexdigest()
        assert headers["Idempotency-Key"] == f"sha256:{digest}"
        assert headers["X-Prime-Line-Format"] == "episode"
        self.upload_calls.append(digest)
        replayed = digest in self.uploads
        if not replayed:
            for line in data.split(b"\n")[:-1]:
                if (code := self.refuses(line)) is not None:
                    return 400, error(code, "the record is not taken") if code else {}
            self.uploads[digest] = data
            self.contexts.append(json.loads(metadata[2][:-2]).get("context", {}))
            self.lines += data.split(b"\n")[:-1]
        receipt: dict[str, Any] = {"upload_id": digest, "status": "committed"}
        return 201, receipt | ({"replayed": replayed} if self.ours else {})

    def _evaluation(self, method: str, parts: list[str], query: dict[str, list[str]], document: dict[str, Any]) -> Any:
        if method == "POST" and not parts:
            name = f"ev-{len(self.evaluations) + 1}"
            self.evaluations[name] = {"evaluation_id": name, "status": "RUNNING", **document}
            self.samples[name] = []
            return 201, {"evaluation_id": name, "viewer_url": f"{self.url}/runs/{name}"}
        if not parts:
            skip, limit = int(query.get("skip", ["0"])[0]), int(query.get("limit", ["100"])[0])
            found = list(self.evaluations.values())
            shown = found[skip : skip + limit]
            return 200, {"evaluations": shown, "total": len(found), "skip": skip, "limit": limit}
        evaluation = self.evaluations.get(parts[0])
        if evaluation is None:
            return 404, error("not_found", "no such evaluation")
        if parts[1:] == ["samples"]:
            kept = self.samples[parts[0]]
            if method == "POST":
                kept += document["samples"]
                return 200, {}
            page, limit = int(query.get("page", ["1"])[0]), int(query.get("limit", ["100"])[0])
            shown = kept[(page - 1) * limit : page * limit]
            return 200, {
                "samples": shown,
                "total": len(kept),
                "page": page,
                "limit": limit,
                "hasMore": page * limit < len(kept),
            }
        if method == "GET":
            return 200, evaluation
        if evaluation["status"] != "RUNNING":
            return 409, error("closed", "it is closed")
        if parts[1:] == ["finalize"]:
            evaluation |= {"status": "COMPLETED", "metrics": document.get("metrics")}
        else:
            evaluation |= document
        return 200, {}

    def _training(self, method: str, parts: list[str], query: dict[str, list[str]], document: dict[str, Any]) -> Any:
        if parts == ["external-runs"] and method == "GET":
            return (200, {"runs": list(self.training.values())[int(query["skip"][0]) :]}) if self.ours else (404, {})
        if parts == ["external-runs"]:
            name = f"run-{len(self.training) + 1}"
            self.training[name] = {"id": name, "status": "running", **document}
            return 201, {"run": {"id": name}}
        if parts == ["metrics"]:
            self.metrics.append(document["metrics"])
        elif parts == ["samples", "presign"]:
            key = f"{document['run_id']}-{document['step']}-{len(self.calls)}"
            return 200, {"data": {"presignedUrl": f"{self.url}{ROOT}/storage/{key}", "s3Key": key}}
        elif parts == ["samples", "confirm"]:
            if document["s3_key"] not in self.tables:
                return 404, error("not_found", "nothing was put there")
            if (document["step"], document["s3_key"]) not in self.confirmed:
                self.confirmed.append((document["step"], document["s3_key"]))
        elif parts == ["finalize"]:
            self.training[document["run_id"]]["status"] = "completed"
        elif parts[-1] == "status":
            self.training[parts[1]] |= document
        return 200, {}

    def _fault(self, method: str, path: str) -> Fault | None:
        with self._guard:
            for fault in self._faults:
                if fault.method in (method, "*") and path.startswith(fault.path) and fault.times:
                    fault.times -= 1
                    return fault
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 5

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                address = urlsplit(self.path)
                path = address.path.removeprefix(ROOT).rstrip("/") or "/"
                fault = platform._fault(self.command, path)
                with platform._guard:
                    platform.calls.append((self.command, path))
                status, document = 200, None
                if fault is not None and fault.delay:
                    time.sleep(fault.delay)
                if fault is None or fault.after or not (fault.status or fault.reset or fault.garbage):
                    with platform._guard:
                        status, document = platform.answer(
                            self.command, path, parse_qs(address.query), self.headers, body
                        )
                        platform.seen()
                if fault is not None and fault.reset:
                    self.close_connection = True
                    return
                data = b"" if document is None else json.dumps(document).encode()
                headers = {} if fault is None else fault.headers
                if fault is not None and fault.garbage:
                    status, data = 200, b"<html>all is well</html>"
                elif fault is not None and fault.status:
                    status, data = fault.status, json.dumps(error(fault.code, "told to") if fault.code else {}).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = True

            do_GET = do_POST = do_PUT = _do

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        return Handler


def error(code: str, message: str) -> dict[str, Any]:
    """The envelope of an error."""
    return {"error": {"code": code, "message": message}}
