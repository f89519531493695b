"""Bodies of requests: read within a limit, within patience, and, where they are JSON, held against their schema.

Promise: no body is held beyond its limit, nor all of them together beyond the server's; a client that falls silent is
given up. A JSON body is strict JSON (no NaN, no lone surrogate, at most 128 levels deep) that fits the schema of its
type; members that the schema does not name are kept.
When it breaks: 413 `request_too_large`, 408 `request_timeout`, 503 `ingest_capacity_exceeded`, 400 `invalid_request`.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import anyio
from starlette.requests import Request

from evh.errors import EvhError
from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.protocol.jsontext import NOTED_DEPTH, parse
from evh.server.faults import ServerFault, refused, retry_later
from evh.server.unpacking import Unpacker

__all__ = ["Held", "Holding", "chunks", "drain", "read_body", "read_json"]

SHOWN = 2000
DRAINED = 32 << 20
DRAIN_SECONDS = 5.0
RETRY_SECONDS = 2.0


class Held:
    """The bytes that all requests under way hold."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guard = threading.Lock()
        self.now = 0

    def take(self, count: int) -> None:
        """Count bytes in. 503 `ingest_capacity_exceeded` when they are too many."""
        with self._guard:
            if self.now + count > self._most:
                raise retry_later(
                    "ingest_capacity_exceeded", "the server holds as much as it may: send it again", after=RETRY_SECONDS
                )
            self.now += count

    def give(self, count: int) -> None:
        """Count bytes out."""
        with self._guard:
            self.now -= count


class Holding:
    """One request's share of `Held`, given back at the end of the `with` block."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self.count = 0

    def take(self, count: int) -> None:
        self._held.take(count)
        self.count += count

    def __enter__(self) -> Holding:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.give(self.count)
        self.count = 0


def declared_length(request: Request) -> int | None:
    """What the client says it will send."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


async def chunks(request: Request, limit: int, patience: float, fault: ServerFault) -> AsyncIterator[bytes]:
    """The body piece by piece, unpacked when the request says that it is packed; `fault` beyond `limit` bytes, packed
    or unpacked."""
    if (declared_length(request) or 0) > limit:
        raise fault
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    unpacker = None if encoding == "identity" else Unpacker(encoding)
    stream = request.stream()
    packed = size = 0
    while True:
        piece = b""
        with anyio.move_on_after(patience) as waiting:
            piece = await anext(stream, b"")
        if waiting.cancelled_caught:
            raise ServerFault(408, "request_timeout", f"nothing came for {patience:g} seconds: send it again")
        packed += len(piece)
        if packed > limit:
            raise fault
        if piece and unpacker is None:
            yield piece
        elif piece and unpacker is not None:
            for part in unpacker.feed(piece):
                size += len(part)
                if size > limit:
                    raise fault
                yield part
                await anyio.lowlevel.checkpoint()
        elif not piece:
            break
    if unpacker is not None:
        unpacker.close()


async def read_body(request: Request, limit: int, patience: float, holding: Holding) -> bytes:
    """The whole body. 413 `request_too_large`."""
    fault = ServerFault(413, "request_too_large", f"a body has at most {limit} bytes here")
    parts = []
    async for part in chunks(request, limit, patience, fault):
        holding.take(len(part))
        parts.append(part)
    return b"".join(parts)


def read_json(data: bytes, kind: str) -> dict[str, Any]:
    """A JSON body of the type of that name, as plain members. 400 `invalid_request`."""
    try:
        if any(fault.kind == "depth" for fault in parse(data)[1]):
            raise refused("invalid_request", f"the body is nested over {NOTED_DEPTH} levels deep")
        record: Any = decode_strict(data, getattr(models, kind))
    except ServerFault:
        raise
    except EvhError as error:
        raise refused("invalid_request", str(error)[:SHOWN]) from None
    return dict(record)


async def drain(request: Request) -> None:
    """Read on for a moment what a refused client is still sending, so that it gets to hear the answer."""
    left = DRAINED
    try:
        with anyio.move_on_after(DRAIN_SECONDS):
            async for piece in request.stream():
                left -= len(piece)
                if left < 0:
                    break
    except Exception:  # it went away, or its body was read already
        return
