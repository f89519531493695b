"""Bytes for the way: the content encodings of an upload.

Promise: the same bytes give the same bytes (no time, no name in them), so that an upload can be sent again as it was.
Policy: zstd where the service takes it, gzip level 1 otherwise. Both are many times
cheaper than gzip's default level, which spends most of an upload's time on a few percent.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Literal

from evh.errors import UsageError, cut

__all__ = ["Encoding", "choose", "compress"]

Encoding = Literal["zstd", "gzip", "identity"]
ZSTD_LEVEL, GZIP_LEVEL = 3, 1
GZIP_WINDOW = zlib.MAX_WBITS | 16


def choose(taken: Sequence[str] | None) -> Encoding:
    """The encoding for a service that takes these."""
    return "zstd" if "zstd" in (taken or ()) else "gzip"


def compress(body: bytes, encoding: Encoding) -> bytes:
    """A body in an encoding."""
    if encoding == "zstd":
        import zstandard

        return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_content_size=True).compress(body)
    if encoding == "gzip":
        packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_WINDOW)
        return packer.compress(body) + packer.flush()
    if encoding == "identity":
        return body
    raise UsageError(f"there is no encoding {cut(encoding)}: zstd, gzip or identity")
