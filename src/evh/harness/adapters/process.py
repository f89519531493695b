"""One run of a program: text in, text out, and nothing left behind.

Promise: however large input and output are, nothing deadlocks, and memory is bounded by `LARGEST_OUTPUT`. The program
runs in a process group of its own. Whatever of the group is left when the program ends, runs out of time or is given
up is killed, so that no call goes on that nobody records.
Policy: the sizes; the end of standard error is kept, its beginning is not.
When it breaks: a process that left the group on purpose lives on; it is waited for no longer than a second.

POSIX only: process groups have no counterpart elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import IO, NamedTuple

from evh.errors import UsageError, cut
from evh.harness.adapters.errors import AdapterError, Stopped
from evh.harness.adapters.workplace import Workplace

__all__ = ["LARGEST_OUTPUT", "Ended", "Process"]

LARGEST_OUTPUT = 64 << 20
KEPT_ERRORS = 8 << 10
PIECE = 1 << 16
LOOK_SECONDS = 0.05
DRAIN_SECONDS = 1.0
SHORT_OF = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


class Ended(NamedTuple):
    """What is left of a process: its standard output, the end of its standard error, its exit code."""

    output: bytes
    errors: bytes
    code: int


class Process:
    """One process from its start to its end. `kill` may come from any thread."""

    def __init__(
        self, words: list[str], environment: Mapping[str, str], timeout_s: float | None, here: Workplace
    ) -> None:
        self._words = words
        self._environment = environment
        self._timeout = timeout_s
        self._here = here
        self._guard = threading.Lock()
        self._killed = False
        self._buffers: dict[int, bytearray] = {}

    def run(self, data: bytes) -> Ended:
        """Start it, give it its input, and return when it is over; once.

        Raises UsageError when it can't start, AdapterError when time or room ran out, Stopped when it was given up.
        """
        words = self._words
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            told = f"the command {cut(words[0], 200)} can't be started: {why}"
            if getattr(error, "errno", None) in SHORT_OF:
                raise AdapterError(told, transient=True) from None
            raise UsageError(told) from None
        with self._process as process:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            try:
                with self._here.running(self.kill):
                    self._exchange(data, process.stdin, process.stdout, process.stderr)
            finally:
                self.kill()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            code = process.wait()
            if code and self._here.stopping:  # a call that ended well is kept, however late
                raise Stopped("the run is stopping: the command was killed")
            output, errors = self._buffers[process.stdout.fileno()], self._buffers[process.stderr.fileno()]
            return Ended(bytes(output), bytes(errors), code)

    def kill(self) -> None:
        """End the process and everything it started, once."""
        with self._guard:
            if not self._killed:
                self._killed = True
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def _exchange(self, data: bytes, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        """Feed the input and collect the output until the process is over."""
        limit = self._timeout
        deadline = math.inf if limit is None else time.monotonic() + limit
        rest = memoryview(data)
        self._buffers = {stdout.fileno(): bytearray(), stderr.fileno(): bytearray()}
        with selectors.DefaultSelector() as ready:
            for pipe in (stdin, stdout, stderr):
                os.set_blocking(pipe.fileno(), False)
                ready.register(pipe, selectors.EVENT_WRITE if pipe is stdin else selectors.EVENT_READ)
            over = False
            while not over or ready.get_map():
                now = time.monotonic()
                if now >= deadline:
                    if over:  # a process that left the group holds the pipes: its words are nobody's answer
                        return
                    raise AdapterError(f"the command timed out after {limit:g} s and was killed", transient=True)
                pause = min(LOOK_SECONDS, deadline - now)
                if not ready.get_map():
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._process.wait(pause)
                for key, _ in ready.select(pause) if ready.get_map() else ():
                    if key.fileobj is stdin:
                        rest = _feed(stdin, rest)
                        if not rest:
                            ready.unregister(stdin)
                            with contextlib.suppress(BrokenPipeError):
                                stdin.close()
                    elif not self._collect(key.fd, key.fd == stderr.fileno()):
                        ready.unregister(key.fileobj)
                if not over and self._process.poll() is not None:
                    over = True
                    self.kill()
                    deadline = time.monotonic() + DRAIN_SECONDS
                    if not stdin.closed:
                        with contextlib.suppress(KeyError):
                            ready.unregister(stdin)

    def _collect(self, descriptor: int, is_errors: bool) -> bool:
        """Take what a pipe holds; False at its end."""
        try:
            piece = os.read(descriptor, PIECE)
        except BlockingIOError:
            return True
        buffer = self._buffers[descriptor]
        buffer += piece
        if is_errors:
            del buffer[:-KEPT_ERRORS]
        elif len(buffer) > LARGEST_OUTPUT:
            raise AdapterError(
                f"the command wrote more than {LARGEST_OUTPUT >> 20} MiB and was killed: an output is a text to score, "
                "write larger things to a file of your own",
                transient=False,
            )
        return bool(piece)


def _feed(stdin: IO[bytes], rest: memoryview) -> memoryview:
    """Write what fits; what is left. Nothing is left when the program reads no more, which is its right."""
    try:
        return rest[os.write(stdin.fileno(), rest[:PIECE]) :] if rest else rest
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]
