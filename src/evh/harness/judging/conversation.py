"""A question of several messages, sent through the chat adapter.

Promise: the messages go out as they are, in their order; everything else of the call (settings, key, time limits, what
is kept of the reply, what errors say) is that of `call_chat`.
Policy: a message is an object with a `role` and `content`; a `system` of the settings goes before the messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from evh.errors import EvhError, SourceError, cut
from evh.harness.adapters import chat
from evh.harness.adapters.chat_settings import ChatSettings
from evh.harness.adapters.errors import AdapterError, retry_after_seconds
from evh.harness.adapters.workplace import current
from evh.harness.result import Result
from evh.protocol.jsontext import dumps

__all__ = ["Messages", "call_conversation", "checked_messages"]

Messages: TypeAlias = list[dict[str, Any]]


def checked_messages(found: Any, name: str, source: str) -> Messages:
    """What a prompt function returned, as messages. Raises `SourceError` when it is none."""
    good = isinstance(found, list | tuple) and found
    if not good or not all(
        isinstance(each, Mapping) and isinstance(each.get("role"), str) and "content" in each for each in found
    ):
        raise SourceError(
            f"{name} returns a text, or a list of messages with role and content, not {cut(found)}", source=source
        )
    messages = [dict(each) for each in found]
    try:
        dumps(messages)
    except EvhError as error:
        raise SourceError(f"{name} returned messages that are not JSON: {error.message}", source=source) from None
    return messages


def call_conversation(messages: Messages, params: Mapping[str, Any]) -> Result:
    """`call_chat` for messages instead of one text; raises the same."""
    with current() as here:
        settings = ChatSettings(params, here)
        body = settings.body("")
        body["messages"] = [*body["messages"][:-1], *messages]
        status, headers, data = chat._post(settings, dumps(body), here)
    if not 200 <= status < 300:
        said = chat._error_text(data, settings)
        raise AdapterError(
            f"{settings.host} answered {status}" + (f": {said}" if said else ""),
            status=status,
            retry_after=retry_after_seconds(headers.get("retry-after")),
        )
    return chat._result(chat._reply(data, settings), settings)
