"""A client for the tests of the web half: the framework's own, with the calls that many tests make."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Mapping
from typing import Any

from server_support import key

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it prefers another HTTP library; ours is the one that users have
    import starlette_testclient  # noqa: F401 - schemathesis' own client, which warns when it is loaded
    from starlette.testclient import TestClient

__all__ = ["LOCAL", "Client", "TestClient", "code_of", "multipart", "packed"]

LOCAL = "http://127.0.0.1"
METADATA = b'{"schema_version":1}'


def packed(data: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.compress(data, 1, mtime=0)
    if encoding == "zstd":
        import zstandard

        return zstandard.ZstdCompressor(level=1).compress(data)
    return data


def multipart(
    data: bytes | None, metadata: bytes | None = METADATA, *, encoding: str | None = None, more: bytes = b""
) -> tuple[bytes, str]:
    """The body of an upload and its content type; `data` is put in as it is."""
    parts = [more]
    if metadata is not None:
        parts.append(b'--x\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n' + metadata + b"\r\n")
    if data is not None:
        packing = "" if encoding is None else f"Content-Encoding: {encoding}\r\n"
        head = f'--x\r\nContent-Disposition: form-data; name="traces"; filename="traces.jsonl"\r\n{packing}\r\n'
        parts.append(head.encode() + data + b"\r\n")
    return b"".join(parts) + b"--x--\r\n", "multipart/form-data; boundary=x"


class Client:
    """Sends requests; answers are the framework's."""

    def __init__(self, http: Any) -> None:
        self.http = http

    def get(self, path: str, **more: Any) -> Any:
        return self.http.get(path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        content = json.dumps(body).encode() if body is not None else None
        return self.http.post(path, content=content, headers={"Content-Type": "application/json"}, **more)

    def put(self, path: str, body: Any) -> Any:
        return self.http.put(path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    def delete(self, path: str, **more: Any) -> Any:
        return self.http.delete(path, **more)

    def upload(
        self, data: bytes, *, encoding: str = "gzip", context: Mapping[str, str] | None = None,
        headers: Mapping[str, str | None] | None = None, line_format: str | None = "episode",
    ) -> Any:  # fmt: skip
        """Upload lines as a client does; a header of None is left out."""
        metadata = json.dumps({"schema_version": 1, "context": dict(context or {})}).encode()
        body, kind = multipart(packed(data, encoding), metadata, encoding=encoding)
        sent = {"Idempotency-Key": key(data), "X-Prime-Line-Format": line_format}
        return self.send(body, kind, sent | dict(headers or {}))

    def send(self, body: bytes, kind: str, headers: Mapping[str, str | None]) -> Any:
        """Send a body that was made by hand to the address of uploads."""
        sent = {"Content-Type": kind} | {name: value for name, value in headers.items() if value is not None}
        return self.http.post("/api/v1/traces", content=body, headers=sent)


def code_of(answer: Any) -> tuple[int, str]:
    """Status and code of a refusal, which has the one envelope."""
    error = answer.json()["error"]
    assert set(error) == {"code", "message"} and error["message"]
    return answer.status_code, error["code"]
