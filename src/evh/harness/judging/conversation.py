"""A question of several messages, checked.

Promise: what a prompt function returned is messages that can be sent, or a `SourceError` that names the file.
Policy: a message is an object with a `role` and `content`; what else it holds goes out with it.
When it breaks: nothing is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from evh.errors import EvhError, SourceError, cut
from evh.protocol.jsontext import dumps

__all__ = ["Messages", "checked_messages"]

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
