"""An upload's request taken apart while it arrives: its metadata, its lines (still packed), its key and its format.

Promise: every limit counts while the bytes come in, so that no request makes the server hold more than an upload may
have. The parts are `metadata` (JSON) and `traces`, each once; other parts are counted and passed over. What the lines
unpack to is read by the ingest, step by step.
When it breaks: 400 with `malformed_encoding` for what is no multipart body, `invalid_metadata`, `upload_too_large`,
`unsupported_schema_version`, `line_format_mismatch`, `invalid_idempotency_key`.
"""

from __future__ import annotations

import io
from typing import IO, Any

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from evh.errors import EvhError, cut
from evh.protocol.codec import decode_strict
from evh.protocol.models import UploadMetadata
from evh.server.bodies import Holding, chunks
from evh.server.faults import refused
from evh.server.profiles import Settings
from evh.server.records import LineFormat
from evh.server.unpacking import unpacked

__all__ = ["FORMATS", "Arrived", "arrive", "line_format"]

SLACK = 1 << 20
"""Bytes that the parts' frames, headers and metadata may have over the lines themselves."""
MAX_PARTS = 8
SCHEMA_VERSION = 1
FORMATS: dict[str, LineFormat] = {"trace": "trace", "episode": "episode"}
IDENTITY = "identity"


class Arrived(Struct):
    """What came: the lines as they were sent, how they are packed, and the context of them all."""

    lines: IO[bytes]
    encoding: str
    context: dict[str, str]

    def unpacked(self) -> IO[bytes]:
        """The lines, unpacked as they are read."""
        return unpacked(self.lines, self.encoding)


def line_format(request: Request) -> LineFormat:
    """What a line is said to be. 400 `line_format_mismatch`."""
    said = request.headers.get("x-prime-line-format", "trace").strip().lower()
    if said not in FORMATS:
        raise refused("line_format_mismatch", f"X-Prime-Line-Format is `episode` or left out, not {cut(said)}")
    return FORMATS[said]


async def arrive(request: Request, settings: Settings, holding: Holding) -> Arrived:
    """The request's parts, once all of it is here."""
    most = settings.profile.max_upload_bytes
    parts = _Parts(_boundary(request), most, settings.metadata_bytes, holding)
    fault = refused("upload_too_large", f"over {most} bytes: send it in several")
    try:
        async for piece in chunks(request, most + SLACK, settings.silence_seconds, fault):
            parts.write(piece)
        parts.close()
    except FormParserError:
        raise refused("malformed_encoding", "the body is no multipart/form-data that ends where it should") from None
    return parts.arrived()


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 200:
        raise refused("malformed_encoding", "an upload is multipart/form-data with the parts metadata and traces")
    return boundary


class _Parts:
    """Takes the pieces of a multipart body."""

    def __init__(self, boundary: bytes, most: int, most_metadata: int, holding: Holding) -> None:
        self._most = most
        self._most_metadata = most_metadata
        self._holding = holding
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._into: io.BytesIO | None = None
        self._count = 0
        self._ended = False
        self._metadata: io.BytesIO | None = None
        self._lines: io.BytesIO | None = None
        self._encoding = IDENTITY
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._part_begins, "on_header_field": self._field, "on_header_value": self._values,
                "on_header_end": self._header_ends, "on_headers_finished": self._part_is_named,
                "on_part_data": self._data, "on_end": self._end,
            },
        )  # fmt: skip

    def write(self, piece: bytes) -> None:
        self._holding.take(len(piece))
        self._parser.write(piece)

    def close(self) -> None:
        """The body is over: so must its last part be."""
        self._parser.finalize()
        if not self._ended:
            raise FormParserError("the closing boundary is missing")

    def arrived(self) -> Arrived:
        """What came. 400 for what is missing."""
        if self._metadata is None:
            raise refused("invalid_metadata", "the part `metadata` is missing")
        if self._lines is None:
            raise refused("malformed_encoding", "the part `traces` is missing")
        context = _context(self._metadata.getvalue())
        self._lines.seek(0)
        return Arrived(self._lines, self._encoding, context)

    def _part_begins(self) -> None:
        self._headers = {}
        self._name = self._value = b""
        self._into = None
        self._count += 1
        if self._count > MAX_PARTS:
            raise refused("malformed_encoding", f"an upload has at most {MAX_PARTS} parts")

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _values(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ends(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _part_is_named(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name", b"")
        if name == b"metadata":
            if self._metadata is not None:
                raise refused("invalid_metadata", "the part `metadata` comes twice")
            self._into = self._metadata = io.BytesIO()
        elif name == b"traces":
            if self._lines is not None:
                raise refused("malformed_encoding", "the part `traces` comes twice")
            self._into = self._lines = io.BytesIO()
            said = self._headers.get(b"content-encoding", IDENTITY.encode())
            self._encoding = said.decode("latin-1").strip().lower() or IDENTITY
            unpacked(io.BytesIO(), self._encoding)  # an encoding that is none is refused before its bytes come

    def _data(self, data: bytes, start: int, end: int) -> None:
        into = self._into
        if into is None:
            return
        into.write(memoryview(data)[start:end])
        if into is self._metadata and into.tell() > self._most_metadata:
            raise refused("invalid_metadata", f"the part `metadata` has over {self._most_metadata} bytes")
        if into is self._lines and into.tell() > self._most:
            raise refused("upload_too_large", f"over {self._most} bytes: send it in several")

    def _end(self) -> None:
        self._ended = True


def _context(data: bytes) -> dict[str, str]:
    """The upload's context, from the part `metadata`."""
    try:
        metadata: Any = decode_strict(data, UploadMetadata)
    except EvhError as error:
        raise refused("invalid_metadata", str(error)[:1000]) from None
    if metadata["schema_version"] != SCHEMA_VERSION:
        raise refused(
            "unsupported_schema_version",
            f"schema_version is {cut(metadata['schema_version'])}: this server takes {SCHEMA_VERSION}",
        )
    return dict(metadata.get("context") or {})
