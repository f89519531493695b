"""A chat endpoint over HTTP as the system: any that speaks the OpenAI dialect.

Promise: one request a call, never sent twice here (retries are the core's). The reply's usage, bill, finish reason and
provider are kept as they came. What the endpoint refused is told in its own words, cut short, with its status and
`Retry-After`; keys and header values stand in no message. A reply that trickles in is given up after `timeout_s`
seconds in all, one that stalls after as long again at most.
Policy: the defaults of the settings (`chat_settings`); the largest reply taken.
When it breaks: the item fails; a call that timed out may still be billed by the endpoint.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from evh.errors import DecodeError, RecordError, UsageError, cut
from evh.harness.adapters.chat_settings import ChatSettings, prompt_of
from evh.harness.adapters.errors import AdapterError, Stopped, retry_after_seconds
from evh.harness.adapters.exact_match import DESCRIPTION, METRIC, exact_match, scorer_id
from evh.harness.adapters.workplace import Workplace, current
from evh.harness.result import Result, checked_result
from evh.protocol.jsontext import dumps, parse

if TYPE_CHECKING:
    import httpx

__all__ = ["ChatSystem", "call_chat"]

LARGEST_REPLY = 64 << 20
SHOWN_CHARACTERS = 500


class ChatSystem:
    """`evh:chat`, in the form of an adapter's names."""

    PRIMARY_METRIC = METRIC
    METRIC_KINDS: Mapping[str, str] = {METRIC: "quality", "truncated": "descriptive", "reasoning_tokens": "cost"}
    METRIC_DIRECTIONS: Mapping[str, str] = {METRIC: "higher", "truncated": "lower", "reasoning_tokens": "lower"}
    METRIC_DESCRIPTIONS: Mapping[str, str] = {
        METRIC: DESCRIPTION,
        "truncated": "1 when the reply was cut off at the token limit, else 0",
        "reasoning_tokens": "tokens the model spent on thinking, where the endpoint says so",
    }

    def check(self, params: dict[str, Any]) -> None:
        with current() as here:
            here.client()
            ChatSettings(params, here)

    def call_system(self, text: str, params: dict[str, Any]) -> Result:
        return call_chat(text, params)

    def score(self, output: str, reference: str | None) -> dict[str, float] | None:
        return exact_match(output, reference)

    def scorer_id(self) -> dict[str, str]:
        return scorer_id()

    def fingerprint(self, params: dict[str, Any]) -> dict[str, Any]:
        """The model's name and endpoint, and the digest of the prompt. Endpoints tell no revision in advance."""
        with current() as here:
            settings = ChatSettings(params, here)
            prompt = prompt_of(params, here)
        said: dict[str, Any] = {"model": params["model"], "endpoint": settings.url}
        if prompt is not None:
            said["prompt_sha256"] = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        return said


def call_chat(text: str | Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> Result:
    """Send one text to the chat endpoint of `params`; usable as a Python adapter's `call_system`.

    Messages instead of a text go out as they are, in their order, after the `system` of the settings. Raises
    AdapterError when the endpoint refuses, fails or can't be reached, UsageError for settings that make no sense,
    Stopped when the run stops.
    """
    with current() as here:
        settings = ChatSettings(params, here)
        status, headers, data = _post(settings, dumps(_request(settings, text, params)), here)
    if not 200 <= status < 300:
        said = _error_text(data, settings)
        raise AdapterError(
            f"{settings.host} answered {status}: {said}" if said else f"{settings.host} answered {status}",
            status=status,
            retry_after=retry_after_seconds(headers.get("retry-after")),
        )
    return _result(_reply(data, settings), settings)


def _request(
    settings: ChatSettings, asked: str | Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> dict[str, Any]:
    if isinstance(asked, str):
        return settings.body(asked)
    if params.get("prompt") is not None or params.get("prompt_file") is not None:
        raise UsageError("a prompt is a template for one text, messages are sent as they are: leave one of them out")
    body = settings.body("")
    return {**body, "messages": [*body["messages"][:-1], *map(dict, asked)]}


def _post(settings: ChatSettings, body: bytes, here: Workplace) -> tuple[int, httpx.Headers, bytes]:
    """Status, headers and body of the reply."""
    client = here.client()
    import httpx

    late = f"{settings.host} did not answer within {settings.timeout_s:g} s"
    deadline = time.monotonic() + settings.timeout_s
    data = bytearray()
    try:
        with client.stream(
            "POST",
            settings.url,
            content=body,
            headers={**settings.headers, "Content-Type": "application/json"},
            timeout=settings.timeout_s,
            extensions={"trace": here.connected},
        ) as response:
            for piece in response.iter_bytes():
                data += piece
                if time.monotonic() > deadline:
                    raise AdapterError(late, transient=True)
                if len(data) > LARGEST_REPLY:
                    raise AdapterError(
                        f"{settings.host} sent more than {LARGEST_REPLY >> 20} MiB for one reply", transient=False
                    )
            return response.status_code, response.headers, bytes(data)
    except (httpx.HTTPError, httpx.InvalidURL, RuntimeError, OSError) as error:
        # httpx raises RuntimeError when its client was closed beneath the call, which only a stop does.
        if here.stopping:
            raise Stopped("the run is stopping: the call was given up") from None
        if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
            # Their texts may repeat a header.
            raise UsageError(f"{settings.host}: the request can't be sent: {type(error).__name__}") from None
        if isinstance(error, httpx.TimeoutException):
            raise AdapterError(late, transient=True) from None
        said = settings.hide(str(error))[:SHOWN_CHARACTERS] or type(error).__name__
        raise AdapterError(f"{settings.host} can't be reached, or broke off: {said}", transient=True) from None


def _reply(data: bytes, settings: ChatSettings) -> dict[str, Any]:
    """The reply as an object that holds a message. Half a reply may be whole the next time."""
    try:
        value, _ = parse(data)
    except DecodeError as error:
        raise AdapterError(f"{settings.host} sent a reply that is not JSON: {error.message}", transient=True) from None
    if isinstance(value, dict) and isinstance(value.get("error"), dict | str):
        # Some gateways answer 200 and put the failure of the model behind them into the body.
        inner = value["error"]
        code = inner.get("code") if isinstance(inner, dict) else None
        status = code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else None
        raise AdapterError(f"{settings.host} answered with an error: {_error_text(data, settings)}", status=status)
    choices = value.get("choices") if isinstance(value, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise AdapterError(
            f"{settings.host} sent a reply without a message: expected choices[0].message", transient=True
        )
    return dict(value)


def _result(reply: dict[str, Any], settings: ChatSettings) -> Result:
    """What is kept of a reply."""
    choice = reply["choices"][0]
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    finish = choice.get("finish_reason")
    extra: dict[str, Any] = {"truncated": 1.0 if finish == "length" else 0.0}
    if reasoning is not None:
        extra["reasoning_tokens"] = reasoning
    meta = {
        "usage": usage or None,
        "finish_reason": finish,
        "provider": reply.get("provider") or settings.host,
        "model": reply.get("model"),
        "id": reply.get("id"),
        "system_fingerprint": reply.get("system_fingerprint"),
    }
    members = {
        "output": _content(choice["message"].get("content")),
        "tokens_in": usage.get("prompt_tokens"),
        "tokens_out": usage.get("completion_tokens"),
        "cost_usd": usage.get("cost"),
        "extra": extra,
        "meta": {name: value for name, value in meta.items() if value is not None},
    }
    try:
        return checked_result(members)  # type: ignore[return-value]  # a mapping never gives an Episode
    except RecordError as error:
        raise AdapterError(
            f"{settings.host} sent a reply that can't be kept: {error.message}", transient=False
        ) from None


def _content(content: Any) -> Any:
    """The text of a message: none at all is an empty one, text parts are joined."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content


def _error_text(data: bytes, settings: ChatSettings) -> str:
    """The endpoint's own words, from where the usual services put them, without the secrets they may repeat."""
    found: Any = None
    with suppress(DecodeError):
        found, _ = parse(data)
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and name in found:
            inner = found[name]
            if name == "error" and isinstance(inner, dict):
                inner = " ".join(str(inner[key]) for key in ("message", "code", "type") if inner.get(key) is not None)
            found = inner if isinstance(inner, str) else cut(inner, SHOWN_CHARACTERS)
    text = found if isinstance(found, str) else data.decode("utf-8", "replace")
    text = " ".join(settings.hide(text).split())  # hidden before it is cut: half a key is still a secret
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
