"""A program that answers requests, a JSON object a line: started, asked, stopped, whatever it does.

Promise: `ask` returns the program's answer or raises `Fallen` within the time given: for a program that hangs, ends, or
writes what is no answer. Memory is bounded by one line. What was started is ended with all its children.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import IO, Any

from evh.errors import UsageError, cut

__all__ = ["Fallen", "Program"]

LONGEST_LINE = 64 << 20
SHOWN_ERROR = 2000
CHUNK = 1 << 16
GRACE = 2.0
"""Seconds that a program has to end by itself once its input ended."""


class Fallen(Exception):
    """The program gave no answer: `why` in a few words, `said` what it last wrote on standard error."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.said = said


class Program:
    """A running program and its hello. Raises `UsageError` when it cannot be started or does not say hello."""

    def __init__(self, command: Sequence[str], *, timeout: float, hello_timeout: float) -> None:
        self._timeout = timeout
        self._read = b""
        self._error = b""
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"{cut(command[0])} cannot be started: {reason}") from error
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._stream("stdout"), selectors.EVENT_READ, "stdout")
        self._selector.register(self._stream("stderr"), selectors.EVENT_READ, "stderr")
        try:
            self.hello = _object(self._line(b"", hello_timeout))
        except Fallen as fallen:
            self.stop()
            more = f"; it wrote: {fallen.said}" if fallen.said else ""
            raise UsageError(f"{cut(command[0])} says no hello: {fallen.why}{more}") from fallen
        except BaseException:
            self.stop()
            raise

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; `Fallen` when there is none."""
        if self._read:
            raise Fallen(f"wrote more than an answer: {cut(self._shown(self._read))}", self._said())
        found = _object(self._line(json.dumps(request).encode() + b"\n", self._timeout))
        if found.get("id") != request["id"]:
            raise Fallen(f"answered another request: expected the id {request['id']}, found {cut(found.get('id'))}")
        return found

    def stop(self) -> None:
        """End the program: its input first, then by force."""
        process = self._process
        with contextlib.suppress(OSError):
            self._stream("stdin").close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE if process.poll() is None and not self._read else 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._selector.close()
        for name in ("stdout", "stderr"):
            self._stream(name).close()

    def kill(self) -> None:
        """End the program at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.stop()

    def _stream(self, name: str) -> IO[bytes]:
        stream: IO[bytes] | None = getattr(self._process, name)
        assert stream is not None
        return stream

    def _line(self, request: bytes, timeout: float) -> bytes:
        """Write a request and read the line that answers it."""
        deadline = time.monotonic() + timeout
        waiting = memoryview(request)
        if waiting:
            self._selector.register(self._stream("stdin"), selectors.EVENT_WRITE, "stdin")
        try:
            while b"\n" not in self._read:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise Fallen(f"no answer within {timeout:g} s", self._said())
                for key, _ in self._selector.select(left):
                    if key.data == "stdin":
                        waiting = self._write(waiting)
                    else:
                        self._take(key.data)
        finally:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(self._stream("stdin"))
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _write(self, waiting: memoryview) -> memoryview:
        try:
            waiting = waiting[os.write(self._stream("stdin").fileno(), waiting[:CHUNK]) :]
        except BlockingIOError:
            return waiting
        except OSError:  # it reads no more; whether it ended shows on standard output
            waiting = waiting[len(waiting) :]
        if not waiting:
            self._selector.unregister(self._stream("stdin"))
        return waiting

    def _take(self, name: str) -> None:
        try:
            data = os.read(self._stream(name).fileno(), CHUNK)
        except BlockingIOError:
            return
        if name == "stderr":
            self._error = (self._error + data)[-SHOWN_ERROR:]
            if not data:
                self._selector.unregister(self._stream("stderr"))
            return
        if not data:
            raise Fallen(self._ending(), self._said())
        self._read += data
        if len(self._read) > LONGEST_LINE:
            raise Fallen(f"wrote a line of more than {LONGEST_LINE:,} bytes", self._said())

    def _ending(self) -> str:
        try:
            status = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        with contextlib.suppress(OSError):
            self._error = (self._error + (self._stream("stderr").read() or b""))[-SHOWN_ERROR:]
        return f"ended by signal {-status}" if status < 0 else f"ended with exit code {status}"

    def _said(self) -> str:
        return self._shown(self._error).strip()

    @staticmethod
    def _shown(data: bytes) -> str:
        return data.decode("utf-8", "replace")


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Fallen(f"wrote what is no JSON object: {cut(line.decode('utf-8', 'replace'))}")
    return found
