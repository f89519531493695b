"""The settings of a chat endpoint, checked.

Promise: settings that make no sense are a `UsageError` before anything is sent. The key is read from the environment
only, and stands in no message and no `repr`.
Policy: the defaults. A key may be absent where the endpoint is on this machine.
When it breaks: no chat call is made.
"""

from __future__ import annotations

import ipaddress
import math
import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from evh.errors import UsageError, cut
from evh.harness.adapters.workplace import Workplace

__all__ = ["ChatSettings", "prompt_of"]

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
DEFAULT_TIMEOUT = 120.0
PLACE = "{text}"
SENT_AS_IS = ("temperature", "max_tokens", "seed")
LABELS = ("family", "provider", "usd_per_mtok_in", "usd_per_mtok_out")
"""Recorded, and read by others; nothing of them is sent."""
KNOWN = (
    "model", "base_url", "api_key_env", "prompt", "prompt_file", "system", *SENT_AS_IS, "reasoning", "timeout_s",
    "headers", "extra_body", *LABELS,
)  # fmt: skip


class ChatSettings:
    """Where a chat call goes and what is in it, but for the item's text."""

    url: str
    host: str
    timeout_s: float
    headers: dict[str, str]
    secrets: tuple[str, ...]
    """Texts that no message may show: the key and the values of the headers."""

    def __init__(self, params: Mapping[str, Any], here: Workplace) -> None:
        for name in params:
            if name not in KNOWN:
                close = get_close_matches(str(name), KNOWN, 1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(KNOWN)}"
                raise UsageError(f"evh:chat has no setting {cut(name)}: {hint}")
        given = {name: value for name, value in params.items() if value is not None}
        self._body: dict[str, Any] = {"model": _text(given, "model")}
        self._system = _text(given, "system") if "system" in given else None
        self._prompt = prompt_of(given, here)
        for name, whole in (("temperature", False), ("max_tokens", True), ("seed", True)):
            if name in given:
                self._body[name] = _number(given[name], name, whole=whole)
        if self._body.get("max_tokens", 1) < 1:
            raise UsageError(f"max_tokens is 1 or more, not {cut(given['max_tokens'])}")
        self._take_reasoning(given.get("reasoning"))
        self._take_extra_body(given.get("extra_body"))
        self.timeout_s = float(_number(given.get("timeout_s", DEFAULT_TIMEOUT), "timeout_s"))
        if self.timeout_s <= 0:
            raise UsageError(f"timeout_s is over 0, not {cut(given['timeout_s'])}")
        base = _text(given, "base_url") if "base_url" in given else DEFAULT_URL
        self.url, self.host, local = _endpoint(base)
        self._take_headers(given.get("headers"))
        self._take_key(given.get("api_key_env"), local)

    def __repr__(self) -> str:
        return f"ChatSettings({self._body['model']!r} at {self.host})"

    def body(self, text: str) -> dict[str, Any]:
        """The request for one item."""
        content = text if self._prompt is None else self._prompt.replace(PLACE, text)
        messages = [{"role": "user", "content": content}]
        if self._system is not None:
            messages.insert(0, {"role": "system", "content": self._system})
        return {**self._body, "messages": messages}

    def hide(self, text: str) -> str:
        """A text of the endpoint's without the secrets it may repeat."""
        for secret in self.secrets:
            text = text.replace(secret, "[hidden]")
        return text

    def _take_reasoning(self, value: Any) -> None:
        if isinstance(value, str):
            self._body["reasoning_effort"] = value
        elif isinstance(value, Mapping):
            self._body["reasoning"] = dict(value)
        elif value is not None:
            raise UsageError(f"reasoning is an effort such as low, or a table, not {cut(value)}")

    def _take_extra_body(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            raise UsageError(f"extra_body is a table of members of the request, not {cut(value)}")
        for name, member in value.items():
            if name in self._body or name == "messages":
                raise UsageError(f"extra_body: {cut(name)} is set by a setting of its own")
            if (name == "stream" and member) or (name == "n" and member != 1):
                raise UsageError(f"extra_body: {name} would give something else than one whole reply")
            self._body[str(name)] = member

    def _take_headers(self, value: Any) -> None:
        self.headers = {}
        if value is None:
            return
        if not isinstance(value, Mapping):
            raise UsageError("headers is a table of names and texts")
        for name, text in value.items():
            if not isinstance(name, str) or not name or not name.replace("-", "").replace("_", "").isalnum():
                raise UsageError(f"headers: {cut(name)} is no name of a header")
            if not isinstance(text, str) or not _fits_a_header(text):
                raise UsageError(f"headers: the value of {cut(name)} is to be a text of plain characters")
            self.headers[name] = text

    def _take_key(self, name: Any, local: bool) -> None:
        if name is not None and (not isinstance(name, str) or not name.replace("_", "").isalnum()):
            # It may be the key itself, so it is not shown.
            raise UsageError("api_key_env is the name of a variable that holds the key, not the key")
        key = os.environ.get(name or DEFAULT_KEY, "").strip()
        # Someone may have written the key where its variable's name belongs: only what looks like a name is shown.
        variable = "the variable that api_key_env names"
        if not name or name.isupper():
            variable = f"the variable {name or DEFAULT_KEY}"
        own = any(header.lower() in ("authorization", "api-key", "x-api-key") for header in self.headers)
        if not key and not local and not own:
            raise UsageError(f"no key for {self.host}: set {variable}, or name another one in api_key_env")
        if not _fits_a_header(key):
            raise UsageError(f"{variable} holds characters that no key has")
        # A local server gets a key only when one was named for it: the default one is another service's.
        if key and not own and (name is not None or not local):
            self.headers["Authorization"] = f"Bearer {key}"
        hidden = {key, *self.headers.values()} - {""}
        self.secrets = tuple(sorted((each for each in hidden if len(each) >= 4), key=len, reverse=True))


def prompt_of(params: Mapping[str, Any], here: Workplace) -> str | None:
    """The template of the prompt; None when the item's text is the whole prompt."""
    prompt, file = params.get("prompt"), params.get("prompt_file")
    if prompt is not None and file is not None:
        raise UsageError("prompt and prompt_file are both given: leave one of them out")
    if prompt is None and file is None:
        return None
    name = "prompt" if file is None else "prompt_file"
    template = _text(params, "prompt") if file is None else here.text(_text(params, "prompt_file"), "prompt_file")
    if PLACE not in template:
        raise UsageError(f"{name}: the prompt has no {PLACE}, so that every item would be asked the same")
    return template


def _endpoint(base: str) -> tuple[str, str, bool]:
    """The address that calls go to, its host, and whether that is this machine."""
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"base_url: {cut(base)} is no address") from None
    if "@" in parts.netloc:
        raise UsageError("base_url holds a user or password, which the record would publish: use api_key_env")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise UsageError(f"base_url is an http or https address such as {DEFAULT_URL}, not {cut(base)}")
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    return base.rstrip("/") + "/chat/completions", host, local


def _fits_a_header(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"evh:chat: {name} is a text that is not empty, not {cut(value)}")
    return value


def _number(value: Any, name: str, *, whole: bool = False) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not math.isfinite(value):
        raise UsageError(f"evh:chat: {name} is a {'whole ' if whole else ''}number, not {cut(value)}")
    return value
