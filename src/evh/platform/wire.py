"""A call as an HTTP request: address, headers, body; and what the errors of the HTTP library mean.

Promise: the key goes to the platform and its traces service, never to a storage address. Nothing of an error of the
library gets into a message but its kind and, for a connection that failed, the system's words: such texts repeat
headers and addresses.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from evh._version import __version__
from evh.platform.call import Answer, Call, NoAnswer
from evh.platform.settings import Settings

__all__ = ["CONNECT", "Request", "answer_of", "no_answer", "place", "request", "secrets"]

CONNECT = 10.0
"""Seconds a connection may take."""
PUBLIC, INTERNAL = "/api/v1", "/api/internal"
USER_AGENT = f"evh/{__version__} python/{platform.python_version()}"
NOT_SENT = frozenset(
    {
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "UnsupportedProtocol",
        "ProxyError",
        "LocalProtocolError",
        "InvalidURL",
    }
)
WORDS = {
    "ConnectError": "no connection",
    "ConnectTimeout": f"no connection within {CONNECT:g} s",
    "PoolTimeout": "no free connection",
    "ReadTimeout": "no answer in time",
    "WriteTimeout": "the request was not taken in time",
    "ReadError": "the connection broke while the answer was read",
    "WriteError": "the connection broke while the request was sent",
    "RemoteProtocolError": "the connection was closed without a whole answer",
    "DecodingError": "the answer's content encoding is broken",
    "TooManyRedirects": "redirected in a circle",
    "ProxyError": "the proxy refused",
}


class Request(NamedTuple):
    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    timeout: float


def request(call: Call[object], settings: Settings) -> Request:
    """The request of a call."""
    headers = {"User-Agent": USER_AGENT, "Accept": "application/json", **dict(call.headers)}
    if call.service == "storage":
        del headers["Accept"]
        return Request(call.method, call.url, headers, call.body, call.timeout)
    root, internal = _root(settings, call)
    if settings.api_key:
        headers["Authorization"] = f"Bearer {settings.api_key}"
        if internal:
            headers["x-api-key"] = settings.api_key
    if settings.team_id and call.service == "traces":
        headers["X-Prime-Team-ID"] = settings.team_id
    asked = f"?{urlencode(call.params)}" if call.params else ""
    return Request(call.method, f"{root}{call.path}{asked}", headers, call.body, call.timeout)


def _root(settings: Settings, call: Call[object]) -> tuple[str, bool]:
    """Where paths begin, and whether that is the door for runs that the platform hosts itself."""
    if call.service == "traces":
        return settings.traces_url + PUBLIC, False
    base = settings.base_url.removesuffix("/rft") if urlsplit(settings.base_url).path.endswith("/rft") else ""
    for door in (INTERNAL, PUBLIC):
        for address in (base, settings.base_url):
            if address and urlsplit(address).path.endswith(door):
                return address, door == INTERNAL
    return settings.base_url + PUBLIC, False


def place(call: Call[object], settings: Settings) -> str:
    """Where a call goes, for messages: the host alone of an address that is a secret."""
    if call.service == "storage":
        return urlsplit(call.url).hostname or "a storage"
    return settings.traces_url if call.service == "traces" else settings.base_url


def secrets(call: Call[object], settings: Settings) -> tuple[str, ...]:
    """What must not get into a message."""
    return tuple(each for each in (settings.api_key, call.url) if each)


def answer_of(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    return Answer(status, {name.lower(): value for name, value in headers.items()}, body)


def no_answer(error: Exception) -> NoAnswer:
    """What an error of the HTTP library means."""
    name = type(error).__name__
    why = WORDS.get(name, f"no answer ({name})")
    if name == "ConnectError":
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError) and cause.strerror:
                why = f"{why}: {cause.strerror}"
                break
            cause = cause.__cause__ or cause.__context__
    return NoAnswer(why, name not in NOT_SENT)
