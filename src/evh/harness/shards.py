"""Work over the rows of large files: byte ranges, spread over processes. The one interface behind which it is spread.

Promise: `map_ranges` gives the results in the order of the ranges, whatever order they were made in, and holds a few
ranges at a time. `ranges_of` cuts a file behind ends of lines, so every row lies in exactly one range. What a worker
raises as an `EvhError` is raised here as it was; a worker that dies is told as such. Workers end with this process,
however it dies. What a shard leaves is one file, written by `write_shard`: whole or not there.
Policy: a range is `LEAST` bytes or more and at most `LARGEST`; a single range is worked on here, without a process.
Files of shards are not synced: they are read by the pass that made them, and a power cut takes the whole pass.
When it breaks: the first fault, in the order of the ranges, is the one that is told; ranges behind it are given up.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from evh.errors import EvhError, SourceError, WriteError
from evh.store import _os
from evh.store.atomic import why, write_all

__all__ = ["LARGEST", "LEAST", "Range", "cores", "line_number", "lines_of", "map_ranges", "ranges_of", "write_shard"]

R = TypeVar("R")
LEAST = 1 << 16
LARGEST = 1 << 22
AHEAD = 2
"""Ranges in work for each worker."""


class Range(NamedTuple):
    """Some whole rows of a file: the bytes from `start` up to `end`."""

    path: Path
    start: int
    end: int


def cores() -> int:
    """The processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # no such call on this system
        return os.cpu_count() or 1


def ranges_of(path: Path, workers: int | None = None) -> list[Range]:
    """A file cut into ranges of whole rows; none for an empty one. Raises `SourceError` when it cannot be read."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            step = min(LARGEST, max(LEAST, size // (4 * (workers or cores())) + 1))
            found: list[Range] = []
            start = 0
            while start < size:
                end = min(size, start + step)
                if end < size:
                    file.seek(end - 1)
                    end += len(file.readline()) - 1
                found.append(Range(path, start, end))
                start = end
            return found
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None


def lines_of(path: Path, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The rows of a range with their byte offsets, without their ends; blank ones are left out."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            while start < end and (line := file.readline()):
                if line.strip():
                    yield start, line.removesuffix(b"\n")
                start += len(line)
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None


def line_number(path: Path, offset: int) -> int:
    """The number, from 1, of the line that begins at a byte: for messages."""
    number = 1
    with path.open("rb") as file:
        while offset > 0 and (piece := file.read(min(offset, 1 << 20))):
            number += piece.count(b"\n")
            offset -= len(piece)
    return number


def write_shard(path: Path, data: bytes) -> None:
    """Leave what a shard gave under a name of its own, whole or not at all. Raises `WriteError`."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        descriptor = _os.create(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)
        _os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            _os.unlink(temporary)
        raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None


def map_ranges(
    fn: Callable[[Path, int, int], R], ranges: Sequence[tuple[Path, int, int]], workers: int | None = None
) -> Iterator[R]:
    """What `fn(path, start, end)` gives for each range, in their order, from as many processes as there are cores.

    `fn` reaches the workers once; where it can't be inherited (no fork, or other threads are running) it is pickled.
    Raises the `EvhError` that `fn` raised, `SourceError` when a worker died.
    """
    count = min(workers or cores(), len(ranges))
    if count <= 1:
        for each in ranges:
            yield fn(*each)
        return
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if forks else "spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(fn,))
    running: deque[Future[Any]] = deque()
    left = iter(ranges)
    try:
        for each in left:
            running.append(pool.submit(_work, *each))
            if len(running) >= AHEAD * count:
                break
        while running:
            result, fault = running.popleft().result()
            if fault is not None:
                raise _rebuilt(*fault)
            if (following := next(left, None)) is not None:
                running.append(pool.submit(_work, *following))
            yield result
    except BrokenProcessPool:
        raise SourceError(
            "a worker process died (out of memory, or the scorer ended it): nothing was kept; see what the scorer does"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# --- in a worker -----------------------------------------------------------------------------------------------------

_job: list[Callable[[Path, int, int], Any]] = []
"""What this worker does; empty everywhere but in a worker."""


def _begin(fn: Callable[[Path, int, int], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends its workers
    gc.freeze()  # what is inherited is not looked through again
    _job[:] = [fn]
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _work(path: Path, start: int, end: int) -> tuple[Any, tuple[Any, ...] | None]:
    """The result, or the fault in parts: exceptions with arguments of their own do not all survive being pickled."""
    try:
        return _job[0](path, start, end), None
    except EvhError as error:
        return None, (type(error), error.args, error.__dict__)


def _rebuilt(kind: type[EvhError], arguments: tuple[Any, ...], members: dict[str, Any]) -> EvhError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(members)
    return error
