"""Parts of a document: `Range: bytes=…` answered from where the bytes are, in pieces of bounded size.

Promise: one range is honoured (206, or 416 beyond the end); several, and what is no range, are answered with the whole.
`If-Range` with another entity tag gives the whole. No more than a piece is held at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evh.server.envelopes import answer

__all__ = ["Open", "ranged"]

Open = Callable[[int, int], Iterator[bytes]]
"""The bytes from a start to before a stop, in pieces."""
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def ranged(request: Request, size: int, tag: str, kind: str, open_range: Open) -> Response:
    """The document of that size, or the part that was asked for."""
    etag = f'"{tag}"'
    headers = {"Accept-Ranges": "bytes", "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    start, stop, status = 0, size, 200
    if request.headers.get("if-range", etag) == etag:
        asked = _asked(request.headers.get("range"), size)
        if asked is not None and asked[0] >= asked[1]:
            body = {"error": {"code": "range_not_satisfiable", "message": f"the document has {size} bytes"}}
            return answer(body, 416, {"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
        if asked is not None:
            start, stop, status = *asked, 206
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    headers["Content-Length"] = str(stop - start)
    pieces: Iterator[bytes] = iter(()) if request.method == "HEAD" or start == stop else open_range(start, stop)
    return StreamingResponse(pieces, status, headers, kind)


def _asked(text: str | None, size: int) -> tuple[int, int] | None:
    """From where to before where; None when there is no range that is honoured, an empty one when it is outside."""
    parts = RANGE.fullmatch(text.strip()) if text else None
    if parts is None or not (parts[1] or parts[2]):
        return None
    if not parts[1]:
        return (max(0, size - int(parts[2])), size) if int(parts[2]) else (size, size)
    start = int(parts[1])
    stop = min(size, int(parts[2]) + 1) if parts[2] else size
    if parts[2] and int(parts[2]) < start:
        return None
    return (start, stop) if start < size else (size, size)
