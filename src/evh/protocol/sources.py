"""Where rows come from: files, standard input, file objects, bytes, `.gz`, `.zst` and folders, as one stream of lines.

Promise
    Rows are split at LF bytes and nowhere else. Rows are never read further ahead than a buffer, so memory is bounded
    by the longest row. `line`, `offset` and `source` of a row are exact: `offset` counts bytes of the uncompressed
    file (its chunk, in a folder), and the row's `data` is what stands there. Nothing is dropped in silence: a byte
    order mark, a CR before the LF and blank lines are told by notices. What the first bytes say about compression
    counts, not the name. A fault never hides rows that stand before it: they come first, then the `SourceError`.

Policy
    Blank lines in a row are told by one notice, on the next row (`value` is their number); those after the last row
    go to `on_rest`. A last line without LF is handed out with `torn=True`: the caller decides whether it is whole.
    The piece of a row that a broken compressed stream leaves behind is handed out the same way.

When it breaks
    `SourceError` names the file and says what to do; `UsageError` for something that is no source at all.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from evh.errors import DecodeError, Notice, SourceError, UsageError
from evh.protocol._compressed import unpack
from evh.protocol._folders import find_files, row_files, twin_of
from evh.protocol._msgpack import split_msgpack

__all__ = ["Line", "Source", "find_files", "iter_lines", "packed_lines", "split_msgpack"]

BLOCK = 1 << 18
BOM = b"\xef\xbb\xbf"
LF = b"\n"
CR = 13
LAST_BLANK = 32

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | IO[str]

_CRLF = Notice("crlf", "", "the line ends in CR LF; the CR was dropped")
BOM_NOTICE = Notice("bom", "", "the file begins with a byte order mark; it was dropped")


class Line(NamedTuple):
    """One row as it stands in its source.

    `data` are its bytes without the LF (and CR) that ends it, never blank. `line` counts from 1, blank lines included.
    `offset` is where `data` begins in the uncompressed file, in bytes (for a file object: from where reading began).
    `source` names the file. `notices` tells what was dropped before or at the end of this row. `torn` is true of a
    last line that has no LF.
    """

    data: bytes
    line: int
    offset: int
    source: str
    notices: tuple[Notice, ...] = ()
    torn: bool = False


def iter_lines(
    src: Source, *, label: str | None = None, on_rest: Callable[[Line], None] | None = None
) -> Iterator[Line]:
    """The rows of a source, one by one.

    `src` is a path (`str` or path object), `"-"` for standard input, a file object (binary, or text that was already
    decoded), or the rows themselves as bytes. A folder stands for a run's `traces.jsonl` (early runs:
    `results.jsonl`), its `traces/` segments, or numbered chunk files. Gzip and Zstandard data are unpacked, by their
    first bytes. `label` replaces the name that rows and errors carry. `on_rest` is called with a `Line` without data
    when a file ends in something that has a notice but no row after it: trailing blank lines, or only a BOM.

    Raises `UsageError` at once if `src` is no source, `SourceError` while reading.
    """
    if isinstance(src, bytes | bytearray | memoryview):
        name = label or "<bytes>"
        return _lines(unpack(_memory_blocks(src), name), name, on_rest)
    if src == "":
        raise UsageError("an empty path names nothing: give a path, '-' for standard input, a file object or bytes")
    if isinstance(src, str) and src == "-":
        stdin: Any = sys.stdin
        if stdin is None:
            raise SourceError("this process has no standard input: name a file", source=label or "<stdin>")
        return iter_lines(getattr(stdin, "buffer", stdin), label=label or "<stdin>", on_rest=on_rest)
    if isinstance(src, str | os.PathLike):
        raw = os.fspath(src)
        if not isinstance(raw, str):
            raise UsageError("a path of bytes is not taken: decode it with os.fsdecode")
        return _path_lines(Path(raw), label, on_rest)
    if callable(getattr(src, "read", None)):
        own = getattr(src, "name", None)
        name = label or (own if isinstance(own, str) and own else "<stream>")
        return _lines(unpack(_object_blocks(src, name), name), name, on_rest)
    raise UsageError(
        f"{type(src).__name__} is no source of rows: give a path, '-' for standard input, a file object or bytes"
    )


def _lines(blocks: Iterator[bytes], label: str, on_rest: Callable[[Line], None] | None) -> Iterator[Line]:
    # This loop runs for every row: find and a slice beat split (which looks at each byte), and the tuple's own
    # constructor costs half of a NamedTuple's.
    new = tuple.__new__
    nothing: tuple[Notice, ...] = ()
    pending: list[Notice] = []
    carry: list[bytes] = []
    line = offset = 0
    failure: SourceError | None = None
    while True:
        try:
            block = next(blocks, None)
        except SourceError as error:
            failure, block = error, None
        if block is None:
            break
        end = block.find(LF)
        if end < 0:
            carry.append(block)
            continue
        carry.append(block[:end])
        data = b"".join(carry)
        carry.clear()
        if line == 0 and data.startswith(BOM):
            data, offset = data[len(BOM) :], len(BOM)
            pending.append(BOM_NOTICE)
        while True:
            line += 1
            if data and data[-1] > LAST_BLANK and not pending:
                yield new(Line, (data, line, offset, label, nothing, False))
            elif row := odd_row(data, line, offset, label, pending):
                yield row
            offset += len(data) + 1
            start = end + 1
            end = block.find(LF, start)
            if end < 0:
                break
            data = block[start:end]
        carry.append(block[start:])
    if data := b"".join(carry):
        if line == 0 and data.startswith(BOM):
            data, offset = data[len(BOM) :], len(BOM)
            pending.append(BOM_NOTICE)
        line += 1
        if data and (row := odd_row(data, line, offset, label, pending, torn=True)):
            yield row
        offset += len(data)
    if pending and on_rest is not None:
        on_rest(Line(b"", line, offset, label, tuple(pending)))
    if failure is not None:
        raise failure


def odd_row(
    data: bytes, line: int, offset: int, label: str, pending: list[Notice], *, torn: bool = False
) -> Line | None:
    """A row that has notices or no LF; None for a blank line, which is counted in `pending`.

    A stretch of blank lines is one notice, so that a file of nothing else takes no memory.
    """
    if not data or data.isspace():
        count = pending.pop().value + 1 if pending and pending[-1].kind == "blank" else 1
        which = (
            f"{count} blank lines ({line - count + 1} to {line}) were" if count > 1 else f"a blank line ({line}) was"
        )
        pending.append(Notice("blank", "", f"{which} skipped", count))
        return None
    if data[-1] == CR:
        data = data[:-1]
        pending.append(_CRLF)
    notices = tuple(pending)
    pending.clear()
    return Line(data, line, offset, label, notices, torn)


def _path_lines(path: Path, label: str | None, on_rest: Callable[[Line], None] | None) -> Iterator[Line]:
    name = label or str(path)
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):
        is_folder = False  # opening it says what is wrong
    if not is_folder:
        yield from _lines(unpack(_file_blocks(path, name), name, suffix=path.suffix), name, on_rest)
        return
    for file in row_files(path):
        name = f"{label}/{file.relative_to(path).as_posix()}" if label else str(file)
        # A live chunk may be sealed (renamed and compressed) between the listing and its turn.
        chunk = twin_of(file) or file
        yield from _lines(unpack(_file_blocks(chunk, name), name, suffix=chunk.suffix), name, on_rest)


def _file_blocks(path: Path, label: str) -> Iterator[bytes]:
    file = open_plain(path, label)
    done = 0
    with file:
        while True:
            try:
                block = file.read(BLOCK)
            except OSError as error:
                raise read_failed(error, done, label) from None
            if not block:
                return
            done += len(block)
            yield block


def read_failed(error: OSError, done: int, label: str) -> SourceError:
    """What to say when a file stops being readable in the middle."""
    return SourceError(f"cannot be read from byte {done} on: {_why(error)}", source=label)


def open_plain(path: Path, label: str) -> FileIO:
    """A file to read from, without buffers of Python's own; SourceError when it cannot be opened."""
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise SourceError("no such file (text is taken for a path; give rows as bytes)", source=label) from None
    except PermissionError:
        raise SourceError("permission denied: make the file readable for this user", source=label) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot be opened: {_why(error)}", source=label[:200]) from None


def _memory_blocks(data: bytes | bytearray | memoryview) -> Iterator[bytes]:
    if isinstance(data, bytes):
        for start in range(0, len(data), BLOCK):
            yield data[start : start + BLOCK]
        return
    try:
        view = memoryview(data).cast("B")
    except TypeError:
        view = memoryview(memoryview(data).tobytes())  # a strided view cannot be cast in place
    for start in range(0, len(view), BLOCK):
        yield bytes(view[start : start + BLOCK])


def _object_blocks(file: Any, label: str) -> Iterator[bytes]:
    # read1 hands over what a pipe has; read would wait until the block is full. Text is taken line by line for that.
    prompt = "readline" if isinstance(file, io.TextIOBase) else "read1"
    read = getattr(file, prompt, file.read)
    keeps_bytes = getattr(file, "errors", None) == "surrogateescape"
    done = 0
    while True:
        try:
            block = read(BLOCK)
        except UnicodeDecodeError as error:
            raise SourceError(
                f"is not {error.encoding} text after byte {done}: open it in binary mode", source=label
            ) from None
        except Exception as error:  # a file object of anyone may raise anything; it must not cross as it is
            raise SourceError(f"cannot be read from byte {done} on: {_why(error)}", source=label) from error
        if block is None:
            raise SourceError("has no data yet and does not wait: give a blocking stream", source=label)
        if isinstance(block, str):
            block = _encode(block, keeps_bytes=keeps_bytes)
        elif not isinstance(block, bytes):
            try:
                block = bytes(memoryview(block))
            except TypeError:
                raise SourceError(f"read() gave {type(block).__name__}, not bytes or text", source=label) from None
        if not block:
            return
        done += len(block)
        yield block


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _encode(text: str, *, keeps_bytes: bool) -> bytes:
    """Text as UTF-8. A lone surrogate becomes the JSON escape of itself, unless it is a byte that the file object
    smuggled through (`errors="surrogateescape"`): then it becomes that byte again."""

    def escape(found: re.Match[str]) -> str:
        code = ord(found[0])
        return found[0] if keeps_bytes and 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"

    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(escape, text).encode("utf-8", "surrogateescape")


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__


def packed_lines(data: bytes, source: str) -> Iterator[Line]:
    """The documents of concatenated MessagePack; what is cut off at the end comes last, as a torn row."""
    number = end = 0
    try:
        for number, (offset, document) in enumerate(split_msgpack(data), 1):
            end = offset + len(document)
            yield Line(bytes(document), number, offset, source)
    except DecodeError:
        yield Line(data[end:], number + 1, end, source, torn=True)
