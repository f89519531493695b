"""Rows for readers that are done with one before they take the next: views of a buffer that is used again.

Promise: the same rows, lines, offsets and notices as `iter_lines`; the bytes of a row are good until the next one is
asked for. Policy: only plain files are read this way; everything else comes from `iter_lines`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from evh.errors import Notice, SourceError
from evh.protocol._compressed import GZIP, MAGIC_SIZE, ZSTD, is_skippable
from evh.protocol.sources import (
    BOM,
    BOM_NOTICE,
    LAST_BLANK,
    LF,
    Line,
    Source,
    iter_lines,
    odd_row,
    open_plain,
    read_failed,
)

__all__ = ["iter_views"]

FIRST_BUFFER = 1 << 20


def iter_views(src: Source) -> Iterator[Line]:
    """The rows of a source, whose `data` may be a memoryview that the next row overwrites."""
    if isinstance(src, str | os.PathLike) and src not in ("-", "") and isinstance(os.fspath(src), str):
        path = Path(src)
        try:
            plain = path.suffix not in (".gz", ".zst") and path.is_file() and not _is_packed(path)
        except (OSError, ValueError, SourceError):
            plain = False  # `iter_lines` says what is wrong
        if plain:
            return _views(path)
    return iter_lines(src)


def _is_packed(path: Path) -> bool:
    with open_plain(path, str(path)) as file:
        head = file.read(MAGIC_SIZE)
    return head.startswith((GZIP, ZSTD)) or is_skippable(head)


def _views(path: Path) -> Iterator[Line]:
    new, label, nothing = tuple.__new__, str(path), ()
    pending: list[Notice] = []
    buffer = bytearray(FIRST_BUFFER)
    view = memoryview(buffer)
    line = offset = held = 0
    with open_plain(path, label) as file:
        while True:
            try:
                count = file.readinto(view[held:])
            except OSError as error:
                raise read_failed(error, offset + held, label) from None
            if not count:
                break
            filled, start = held + count, 0
            if line == 0 and offset == 0 and filled >= len(BOM) and buffer.startswith(BOM):
                start = offset = len(BOM)
                pending.append(BOM_NOTICE)
            end = buffer.find(LF, max(start, held), filled)
            while end >= 0:
                line += 1
                if end > start and buffer[end - 1] > LAST_BLANK and not pending:
                    yield new(Line, (view[start:end], line, offset, label, nothing, False))
                elif row := odd_row(bytes(view[start:end]), line, offset, label, pending):
                    yield row
                offset += end - start + 1
                start = end + 1
                end = buffer.find(LF, start, filled)
            held = filled - start
            if held == len(buffer):
                larger = bytearray(2 * held)
                larger[:held] = buffer
                buffer, view = larger, memoryview(larger)
            elif start:
                view[:held] = bytes(view[start:filled])
    if held and (row := odd_row(bytes(view[:held]), line + 1, offset, label, pending, torn=True)):
        yield row
