"""What can be said of a message or content part of any kind, those of unknown kinds (generic arms) included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["content_of", "tag_of", "text_of", "unknown_object"]


def unknown_object(record: Any) -> Mapping[str, Any] | None:
    """The whole object that a generic arm keeps in `value`; None for a variant that is known."""
    if "value" not in getattr(type(record), "__struct_fields__", ()):
        return None
    value = record.value
    return value if isinstance(value, Mapping) else None


def tag_of(record: Any) -> str | None:
    """The tag of a variant of a union (`role`, `type` or `kind`), None for what has none."""
    value = unknown_object(record)
    if value is not None:
        tag = next((value[name] for name in ("role", "type", "kind") if name in value), None)
    else:
        config = getattr(type(record), "__struct_config__", None)
        tag = None if config is None else config.tag
    return tag if isinstance(tag, str) else None


def content_of(message: Any) -> Any:
    """A message's content: text, a list of parts, or None."""
    value = unknown_object(message)
    return getattr(message, "content", None) if value is None else value.get("content")


def text_of(content: Any) -> str:
    """The text of a message's content: its text parts joined by newlines; images and unknown parts are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts: list[str] = []
    for part in content:
        if isinstance(part, Mapping):
            text = part.get("text") if part.get("type") == "text" else None
        else:
            text = getattr(part, "text", None) if tag_of(part) == "text" else None
        if isinstance(text, str):
            texts.append(text)
    return "\n".join(texts)
