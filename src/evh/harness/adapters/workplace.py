"""Where an adapter works: the folders its settings speak of, and what its calls hold open.

Promise: `cancel` ends every call that runs through here (a command's process group is killed, a connection is shut),
each of which then raises `Stopped`; calls after it are refused alike. `close` leaves no connection open. All of it may
be called from any thread.
Policy: relative paths are looked up in the config's folder first, then in the project's root. A prompt file is read
once, so that all items of a launch get the same prompt.
When it breaks: calls go on until their own time limits after a stop.

`current` is how `call_chat` and `call_command`, plain functions of a text and its params, find the place they were
called from. Outside an adapter's call it is a place of its own for that one call, in the current folder.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from evh.errors import SourceError, UsageError, cut
from evh.harness.adapters.errors import Stopped

if TYPE_CHECKING:
    import httpx

__all__ = ["Workplace", "current", "entered"]


class Workplace:
    """The folders that relative paths start from, one HTTP client, and the calls that are running."""

    def __init__(self, config_dir: Path, root: Path) -> None:
        self.config_dir = config_dir
        self.root = root
        self._guard = threading.Lock()
        self._stopping = False
        self._client: httpx.Client | None = None
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._running: set[Callable[[], None]] = set()
        self._texts: dict[str, str] = {}

    @property
    def stopping(self) -> bool:
        return self._stopping

    def find(self, name: str) -> Path | None:
        """The file of that name: as it is when absolute, else below the config's folder or the root; None if absent."""
        try:
            found = (path for folder in (self.config_dir, self.root) if (path := folder / name).is_file())
            return next(found, None)
        except (OSError, ValueError):  # a name too long for a path, or with a NUL
            return None

    def text(self, name: str, what: str) -> str:
        """The text of a file that the settings name, as it was when it was first asked for."""
        with self._guard:
            if name not in self._texts:
                path = self.find(name)
                if path is None:
                    raise UsageError(f"{what}: no file {cut(name)} in the config's folder or the project's root")
                try:
                    self._texts[name] = path.read_bytes().decode("utf-8")
                except OSError as error:
                    raise SourceError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
                except UnicodeDecodeError as error:
                    raise SourceError(f"is not UTF-8 at byte {error.start}", source=str(path)) from None
            return self._texts[name]

    def client(self) -> httpx.Client:
        """The client that all threads share, made on first use."""
        with self._guard:
            self._check()
            if self._client is None:
                try:
                    import httpx
                except ImportError:
                    raise UsageError("chat endpoints need httpx: install evh[run]") from None
                # The number of calls at a time is the runner's business, and a redirect would carry the key elsewhere.
                limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
                self._client = httpx.Client(limits=limits, follow_redirects=False)
            return self._client

    def connected(self, event: str, about: dict[str, Any]) -> None:
        """Told by the client of what its connections do; remembers the sockets, so that `cancel` can shut them."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            found = about["return_value"].get_extra_info("socket")
            if isinstance(found, socket.socket):
                with self._guard:
                    self._sockets.add(found)
                    if self._stopping:
                        _shut(found)

    @contextlib.contextmanager
    def running(self, kill: Callable[[], None]) -> Iterator[None]:
        """While this lasts, `cancel` calls `kill`. Raises Stopped when it has been called before."""
        with self._guard:
            self._check()
            self._running.add(kill)
        try:
            yield
        finally:
            with self._guard:
                self._running.discard(kill)

    def cancel(self) -> None:
        """Give up every call that is running, and refuse those to come."""
        with self._guard:
            self._stopping = True
            running, sockets = list(self._running), list(self._sockets)
        for kill in running:
            kill()
        for each in sockets:
            _shut(each)

    def close(self) -> None:
        """Cancel, and close the connections. Call it when no call is running any more."""
        self.cancel()
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _check(self) -> None:
        if self._stopping:
            raise Stopped("the run is stopping: the call was given up")


_entered: ContextVar[Workplace | None] = ContextVar("evh_workplace", default=None)


@contextlib.contextmanager
def entered(workplace: Workplace) -> Iterator[None]:
    """Make it the current one of this thread, and of the coroutines started from it, while this lasts."""
    token = _entered.set(workplace)
    try:
        yield
    finally:
        _entered.reset(token)


@contextlib.contextmanager
def current() -> Iterator[Workplace]:
    """The place of the adapter that is being called; outside a call one of its own, closed afterwards."""
    found = _entered.get()
    if found is not None:
        yield found
        return
    here = Workplace(Path(), Path())
    try:
        yield here
    finally:
        here.close()


def _shut(each: socket.socket) -> None:
    """Wake the thread that reads from a socket; the socket stays its owner's to close."""
    with contextlib.suppress(OSError):
        # The plain method: that of TLS sockets would take the session away beneath the thread that uses it.
        socket.socket.shutdown(each, socket.SHUT_RDWR)
