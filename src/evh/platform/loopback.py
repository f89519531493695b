"""Staying on this machine: what keeps a program's tests from pushing to a platform that people use.

Promise: with the variable `EVH_ONLY_LOOPBACK` set to anything, no client of this package sends a request to an address
that is not loopback, redirects and storage addresses included; processes that are started inherit it. The pytest
plugin (`evh.testing.live.plugin`) sets it.
When it breaks: `UsageError`, before anything is sent.
"""

from __future__ import annotations

import ipaddress
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evh.errors import UsageError, cut

if TYPE_CHECKING:
    import httpx

__all__ = ["ONLY_LOOPBACK", "check_place", "checked", "checked_async", "is_loopback"]

ONLY_LOOPBACK = "EVH_ONLY_LOOPBACK"


def is_loopback(host: str) -> bool:
    """Whether only this machine answers there."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_place(url: str) -> None:
    """Raise `UsageError` for an address that may not be sent to."""
    if not os.environ.get(ONLY_LOOPBACK):
        return
    host = urlsplit(url).hostname or ""
    if not is_loopback(host):
        raise UsageError(
            f"{ONLY_LOOPBACK} is set (tests do that), and {cut(host)} is not this machine: nothing is sent there. Give "
            "a base_url on 127.0.0.1, such as that of the fixture evh_server"
        )


def checked(request: httpx.Request) -> None:
    """`check_place`, for a client that asks before each request, the one after a redirect too."""
    check_place(str(request.url))


async def checked_async(request: httpx.Request) -> None:
    """The same for a client of coroutines."""
    check_place(str(request.url))
