"""Records from files, one at a time: `read_episodes` and `read_rows`.

Promise: memory is bounded by one row (one episode, where a trainer wrote its traces one a line). A bad row never hides
the good ones behind it: it is raised, handed to a function, or skipped, counted and logged, as the caller says. Every
error names file and line. Rows are split at LF bytes only.
Policy: in upgrade mode a row of today's shape takes the lenient native path; any other is upgraded in full.
"""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from evh.errors import DecodeError, EvhError, Notice, SourceError, UsageError, cut
from evh.protocol import models
from evh.protocol._base import seen_retired
from evh.protocol._folders import MSGPACK
from evh.protocol._native import NATIVE_ERRORS, json_reader
from evh.protocol._upgrading import Upgrading
from evh.protocol._views import iter_views
from evh.protocol.codec import decode, decode_strict
from evh.protocol.jsontext import parse
from evh.protocol.sources import Line, Source, iter_lines, packed_lines
from evh.protocol.wire import parse_wire

__all__ = ["EpisodeReader", "Mode", "OnError", "Row", "handle_error", "read_documents", "read_episodes", "read_rows"]

Mode = Literal["upgrade", "lenient", "strict"]
OnError: TypeAlias = Literal["skip", "raise"] | Callable[[EvhError], None]

KEPT_ERRORS = 100
log = logging.getLogger("evh")


class Row(NamedTuple):
    """One row as plain JSON: its value, line (from 1), byte offset in the unpacked file, and what was odd about it."""

    value: Any
    line: int
    offset: int
    notices: tuple[Notice, ...] = ()


def read_rows(src: Source, *, on_error: OnError = "raise") -> Iterator[Row]:
    """The rows of a JSONL (or concatenated MessagePack) source as plain values, oddities as notices.

    NaN literals are null in the value and a notice says where. Raises `SourceError` for a source that cannot be read
    and, unless `on_error` says otherwise, `DecodeError` for a row that is no JSON.
    """
    check_on_error(on_error)
    return _rows(src, on_error)


def _rows(src: Source, on_error: OnError) -> Iterator[Row]:
    for line, wire in read_documents(src):
        try:
            value, notices = _plain_row(line, wire)
        except EvhError as error:
            handle_error(error.at(line.source, line.line), on_error)
            continue
        yield Row(value, line.line, line.offset, (*line.notices, *notices))


def _plain_row(line: Line, wire: bool) -> tuple[Any, list[Notice]]:
    value, faults = parse_wire(line.data) if wire else parse(bytes(line.data))
    notices = [Notice(fault.kind, fault.pointer, fault.message, fault.value) for fault in faults]
    for fault in faults:
        if fault.kind == "non-finite":
            value = _with_null(value, fault.pointer)
    return value, notices


def _with_null(value: Any, pointer: str) -> Any:
    from evh.protocol._fit import split_pointer

    parts = split_pointer(pointer)
    if not parts:
        return None
    container = value
    for part in parts[:-1]:
        container = container[int(part)] if isinstance(container, list) else container[part]
    container[int(parts[-1]) if isinstance(container, list) else parts[-1]] = None
    return value


def read_documents(src: Source) -> Iterator[tuple[Line, bool]]:
    """The rows of a source as bytes, each with whether it is MessagePack, which a file's suffix says.

    A file named `.json` is one document, whatever lines it has, unless only its lines are documents. `data` may be a
    view that the next row overwrites: take `bytes` of it to keep it.
    """
    suffix = Path(src).suffix if isinstance(src, str | os.PathLike) and isinstance(os.fspath(src), str) else ""
    if suffix in MSGPACK:
        return ((line, True) for line in packed_lines(_whole(src), str(src)))
    if suffix == ".json" and is_path(src) and Path(str(src)).is_file():
        return ((line, False) for line in _document_lines(_whole(src), src))
    return ((line, False) for line in iter_views(src))


def _whole(src: Any) -> bytes:
    try:
        return Path(src).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise SourceError(f"cannot be read: {why}", source=str(src)[:200]) from error


def _document_lines(data: bytes, src: Source) -> Iterator[Line]:
    """The one document of a file, else its rows."""
    try:
        parse(data)
    except DecodeError:
        yield from iter_lines(src)
    else:
        yield Line(data, 1, 0, str(src))


def read_episodes(src: Source, mode: Mode = "upgrade", on_error: OnError = "skip") -> EpisodeReader:
    """The episodes of a file, stream, folder or bytes, one at a time.

    `mode` is `upgrade` (any historical shape becomes today's; the default), `lenient` or `strict`. `on_error` says what
    a bad row does: `"skip"` counts it in the reader's `skipped`, keeps its error in `errors` and logs a summary at the
    end; `"raise"` raises it; a function is called with the error. A source that cannot be read always raises
    `SourceError`.
    """
    return EpisodeReader(src, mode, on_error)


class EpisodeReader(Iterator[models.Episode]):
    """An iterator over episodes that counts: `read`, `skipped`, and the first hundred `errors` of skipped rows."""

    def __init__(self, src: Source, mode: Mode = "upgrade", on_error: OnError = "skip") -> None:
        if mode not in ("upgrade", "lenient", "strict"):
            raise UsageError(f"mode must be 'upgrade', 'lenient' or 'strict', not {cut(mode)}")
        check_on_error(on_error)
        self.read = 0
        self.skipped = 0
        self.errors: list[EvhError] = []
        self._on_error: OnError = on_error
        documents = read_documents(src)
        self._told = False
        self._episodes: Iterator[models.Episode]
        if mode == "upgrade":
            upgrading = Upgrading(_today, lambda episode, line: episode, self._failed, beside=is_path(src))
            self._episodes = upgrading.run(documents)
        else:
            self._episodes = self._plain(documents, mode)

    def __iter__(self) -> EpisodeReader:
        return self

    def __next__(self) -> models.Episode:
        try:
            episode = next(self._episodes)
        except StopIteration:
            self._say_skipped()
            raise
        self.read += 1
        return episode

    def to_list(self) -> list[models.Episode]:
        """All episodes that are left, with the cyclic collector paused: it would scan every record again and again."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return list(self)
        finally:
            if was_enabled:
                gc.enable()

    def _plain(self, documents: Iterator[tuple[Line, bool]], mode: str) -> Iterator[models.Episode]:
        read = decode_strict if mode == "strict" else decode
        for line, wire in documents:
            try:
                episode = read(bytes(line.data), format="msgpack" if wire else "json")
            except EvhError as error:
                self._failed(error, line)
                continue
            yield episode

    def _failed(self, error: EvhError, line: Line) -> None:
        if line.torn and isinstance(error, DecodeError):
            why = error.message.removeprefix("torn row: ")
            error = DecodeError(f"torn last row of {len(line.data)} bytes: {why}", offset=error.offset)
        error.at(line.source, line.line)
        handle_error(error, self._on_error)
        self.skipped += 1
        if self._on_error == "skip" and len(self.errors) < KEPT_ERRORS:
            self.errors.append(error)

    def _say_skipped(self) -> None:
        if self.skipped and self._on_error == "skip" and self.errors and not self._told:
            self._told = True
            log.warning(
                "%d of %d rows could not be read; the first: %s", self.skipped, self.read + self.skipped, self.errors[0]
            )


def check_on_error(on_error: OnError) -> None:
    """UsageError for what says nothing about bad rows."""
    if on_error not in ("skip", "raise") and not callable(on_error):
        raise UsageError(f"on_error must be 'skip', 'raise' or a function, not {cut(on_error)}")


def is_path(src: Source) -> bool:
    """Whether a source is a file or folder on disk, rather than a stream or the rows themselves."""
    return isinstance(src, str | os.PathLike) and src != "-"


def _today(line: Line) -> models.Episode | None:
    """The episode of a row of today's shape, read natively; None for any other."""
    seen = seen_retired
    if seen.retired:
        seen.retired = []
    try:
        # Bytes of its own, because streams point into them for as long as the episode lives.
        episode = _decode_episode()(bytes(line.data))
    except NATIVE_ERRORS:
        return None
    return None if seen.retired else episode


@cache
def _decode_episode() -> Callable[[bytes], models.Episode]:
    return json_reader(models.Episode).decode


def handle_error(error: EvhError, on_error: OnError) -> None:
    """Raise an error, hand it to a function, or pass over it, as the caller said."""
    if on_error == "raise":
        raise error
    if callable(on_error):
        on_error(error)
