"""The server as a process: who may reach it, the socket, the start that others wait for, and the end.

Promise: a server that others than this machine can reach does not start without a token; one on loopback may. It is
told as started when it answers, not before. SIGTERM and Ctrl-C stop it once the requests under way are answered, or
after `grace` seconds; a second signal, or `HARD_SECONDS` more, end it at once. What was acknowledged is safe either
way.
When it breaks: `UsageError` for a server that would be open to everybody; `SourceError` for an address that is taken.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import uvicorn
from msgspec import Struct

from evh.errors import SourceError, UsageError
from evh.server.access import CatalogAccess
from evh.server.app import make_app
from evh.server.profiles import Settings
from evh.server.storage import Storage
from evh.server.text import now_us
from evh.store import _os
from evh.store.atomic import why, write_file

__all__ = ["Started", "has_tokens", "is_loopback", "listen", "run_server", "settings_for"]

GRACE_SECONDS = 20
HARD_SECONDS = 10
CONNECTIONS = 512
BACKLOG = 1024
HEADER_BYTES = 64 << 10


class Started(Struct, frozen=True):
    """What a server says of itself when it answers."""

    url: str
    host: str
    port: int
    pid: int
    data: str
    profile: str
    tokens: bool


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def has_tokens(access: CatalogAccess) -> bool:
    """Whether there is a token that counts."""
    now = now_us()
    return any(row.revoked_us is None and (row.expires_us is None or row.expires_us > now) for row in access.list())


def settings_for(storage: Storage, host: str, settings: Settings, make_one: str) -> Settings:
    """The settings with what the address demands. `make_one` is the command that makes a token.

    Where there is a token, tokens are asked for, on loopback too: there may be a proxy before it.
    """
    tokens = has_tokens(storage.access)
    if not tokens and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached by others, and there is no token yet: anybody could read and write. "
            f"Make one first: {make_one}"
        )
    hosts = settings.hosts if not is_loopback(host) else settings.hosts | {host.lower()}
    return msgspec.structs.replace(settings, tokens=tokens, hosts=hosts)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises `SourceError`."""
    listening: socket.socket | None = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        # The protocol is named because asyncio sends without delay only where it is: else each answer waits 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        if listening is not None:
            listening.close()
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise SourceError(f"cannot be listened at: {reason}", source=f"{host}:{port}") from None
    return listening


class _Server(uvicorn.Server):
    """uvicorn's, which says when it has started, and ends without passing its signal on."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], grace: float) -> None:
        super().__init__(config)
        self._tell = started
        self._grace = grace

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._tell()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            return
        self.should_exit = True
        last = threading.Timer(self._grace + HARD_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()


def run_server(
    storage: Storage, settings: Settings, listening: socket.socket, *, host: str, told: Callable[[Started], None],
    ready_file: Path | None = None, grace: int = GRACE_SECONDS,
) -> None:  # fmt: skip
    """Serve until a signal; `told` is called when the server answers."""
    port: int = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    started = Started(
        f"http://{shown}:{port}", host, port, os.getpid(), str(storage.directory), settings.profile_name,
        settings.tokens,
    )  # fmt: skip

    def tell() -> None:
        if ready_file is not None:
            write_file(ready_file, msgspec.json.encode(started) + b"\n")
        told(started)

    config = uvicorn.Config(
        make_app(settings, storage), log_config=None, access_log=False, server_header=False, lifespan="off", ws="none",
        proxy_headers=False, limit_concurrency=CONNECTIONS, timeout_graceful_shutdown=grace,
        h11_max_incomplete_event_size=HEADER_BYTES, loop="asyncio", http="h11",
    )  # fmt: skip
    server: Any = _Server(config, tell, grace)
    try:
        asyncio.run(server.serve(sockets=[listening]))
    finally:
        listening.close()
        if ready_file is not None:
            _forget(ready_file)


def _forget(path: Path) -> None:
    """The ready file of a server that is gone helps nobody."""
    try:
        _os.unlink(path)
    except OSError:
        return
