"""What a crash may leave at the end of a file of rows, and its repair.

Promise: nothing is deleted. A last line without LF that is whole JSON gets its LF; anything else is copied to
`<name>.torn-<n>` and made durable there before the file is cut back to its last LF. Only the tail is read, in
buffers, however long file and tail are; of a line that might be whole, at most 64 MiB are held.
Policy: a bare number is never taken for whole (12 may be what is left of 123), nor is a line beyond 64 MiB: they are
set aside. A kill in the middle of the repair may leave the same bytes aside twice.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from evh.store import _os
from evh.store.atomic import sync_folder, write_all

__all__ = ["Repair", "repair_tail"]

BUFFER = 1 << 18
WHOLE_LIMIT = 1 << 26
BOM = b"\xef\xbb\xbf"
BLANKS = b" \t\r"
ENDS_OF_VALUES = b'}]"el' + BLANKS  # of an object, array, string, true or false, null
NUMBER_STARTS = b"-0123456789"


class Repair(NamedTuple):
    """What was done to the last line of a file: `kind` is `completed` (it was whole and got its LF) or `set-aside`
    (its bytes were moved to the file `kept`). It began at byte `offset` and had `length` bytes."""

    kind: Literal["completed", "set-aside"]
    offset: int
    length: int
    kept: Path | None = None

    def __str__(self) -> str:
        if self.kept is None:
            return f"the last line (byte {self.offset}) was whole and got its line end"
        return f"a torn last line ({self.length} bytes from byte {self.offset}) was moved to {self.kept.name}"


def repair_tail(descriptor: int, path: Path) -> Repair | None:
    """Make the file end in LF (or be empty). Raises OSError; the file then has all its bytes still."""
    size = os.fstat(descriptor).st_size
    start = _after_last_lf(descriptor, size)
    length = size - start
    if not length:
        return None
    if _is_whole(descriptor, start, length):
        try:
            write_all(descriptor, b"\n")
        except OSError:
            _os.truncate(descriptor, size)
            raise
        _os.fsync(descriptor)
        return Repair("completed", start, length)
    kept = _set_aside(descriptor, start, length, path)
    _os.truncate(descriptor, start)
    _os.fsync(descriptor)
    return Repair("set-aside", start, length, kept)


def _read(descriptor: int, start: int, length: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    pieces = []
    while length > 0 and (piece := os.read(descriptor, length)):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _after_last_lf(descriptor: int, size: int) -> int:
    end = size
    step = 1  # a file in order ends in LF: one byte tells
    while end > 0:
        start = max(0, end - step)
        found = _read(descriptor, start, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end, step = start, BUFFER
    return 0


def _is_whole(descriptor: int, start: int, length: int) -> bool:
    if length > WHOLE_LIMIT or _read(descriptor, start + length - 1, 1) not in ENDS_OF_VALUES:
        return False
    line = _read(descriptor, start, length)
    if start == 0:
        line = line.removeprefix(BOM)
    line = line.strip(BLANKS)
    if line[:1] in NUMBER_STARTS:
        return False
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return False
    try:
        msgspec.json.decode(line, type=msgspec.Raw)  # skips over the value; what it does not look at is the text
    except (msgspec.DecodeError, RecursionError):
        return _is_whole_loosely(text)
    return True


def _is_whole_loosely(text: str) -> bool:
    """Whole for a reader that takes what other tools write: NaN, lone surrogates. Objects are dropped as they close."""
    try:
        json.loads(text, object_pairs_hook=lambda _: None, parse_int=len)
    except (ValueError, RecursionError):
        return False
    return True


def _set_aside(descriptor: int, start: int, length: int, path: Path) -> Path:
    number = 1
    while True:
        kept = path.with_name(f"{path.name}.torn-{number}")
        try:
            copy = _os.create(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            break
        except FileExistsError:
            number += 1
    try:
        try:
            while length > 0:
                piece = _read(descriptor, start, min(length, BUFFER))
                if not piece:
                    raise OSError("the file became shorter while it was repaired")
                write_all(copy, piece)
                start += len(piece)
                length -= len(piece)
            _os.fsync(copy)
        finally:
            os.close(copy)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            _os.unlink(kept)
        raise
    sync_folder(path.parent)
    return kept
