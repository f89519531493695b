"""Messages as other APIs and older rows write them, in the form of today's message nodes.

Promise: what today's message has no member for is reported as left over, piece by piece, and never replaced by a
placeholder. A role that says nothing today makes the whole message a leftover. Policy: several text parts of an
assistant become one text (its content is a string today) and the parts are left over as well; arguments of a tool
call that are not a string are written as JSON text.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from evh.protocol.upgrade.detect import is_number, members
from evh.protocol.upgrade.step import Record, token

__all__ = ["Draft", "draft_message", "draft_tool", "draft_usage", "json_text"]

ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
OTHER_ROLES = {"developer": "system", "function": "tool"}
TEXT_PARTS = ("text", "input_text", "output_text")
MESSAGE_MEMBERS = {
    "system": ("content",),
    "user": ("content",),
    "assistant": ("content", "reasoning_content", "tool_calls", "provider_state"),
    "tool": ("tool_call_id", "content", "name"),
}
TOOL_MEMBERS = ("type", "name", "namespace", "description", "parameters", "strict")
USAGE_COUNTS = ("prompt_tokens", "completion_tokens", "cached_input_tokens", "reasoning_tokens")


class Edit(NamedTuple):
    """One change inside a drafted value; `tail` and `to` are relative to the value's old and new place."""

    action: str
    tail: str
    to: str | None
    value: Any
    note: str


class Draft:
    """A value in today's form, with what was changed inside it; reported once its place in the result is known."""

    __slots__ = ("edits", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.edits: list[Edit] = []

    def edit(self, action: str, tail: str, to: str | None, value: Any, note: str) -> None:
        """Note a change; `action` is one of a step's."""
        self.edits.append(Edit(action, tail, to, value, note))

    def left(self, tail: str, value: Any, note: str) -> None:
        """The value at `tail` has no place: dropped when it is null, else kept aside."""
        if value is None:
            self.edit("dropped", tail, None, None, "a null says nothing")
        else:
            self.edit("kept", tail, None, value, note)

    def report(self, rec: Record, rule: str, tail: str, to: str) -> None:
        """Report the value's move from `tail` to `to` and every change inside it."""
        rec.moved(rule, tail, to)
        for edit in self.edits:
            target = None if edit.to is None else to + edit.to
            if edit.action == "kept":
                rec.keep(rule, tail + edit.tail, edit.value, edit.note)
            elif edit.action == "dropped":
                rec.dropped(rule, tail + edit.tail, edit.value, edit.note, target)
            elif edit.action == "moved":
                rec.moved(rule, tail + edit.tail, target or to, edit.note)
            elif edit.action == "added":
                rec.added(rule, target or to, edit.value, edit.note)
            else:
                rec.repaired(rule, tail + edit.tail, target or to, edit.value, edit.note)


def json_text(value: Any) -> str:
    """A value as JSON text, keys sorted; what JSON cannot say (a non-finite token, bytes) by its text form."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=_foreign)


def _foreign(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return str(getattr(value, "token", type(value).__name__))


def draft_message(value: Any) -> Draft | None:
    """A message in today's form, or None when it is none that today's roles can hold."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return None
    role = ROLES.get(value["role"]) or OTHER_ROLES.get(value["role"])
    if role is None:
        return None
    message: dict[str, Any] = {"role": role}
    draft = Draft(message)
    if role != value["role"]:
        draft.edit("repaired", "/role", "/role", value["role"], f"the role is called {role} today")
    for name in MESSAGE_MEMBERS[role]:
        if name in value:
            _MEMBERS[name](draft, role, name, value[name])
    for name in value:
        if name != "role" and name not in MESSAGE_MEMBERS[role]:
            draft.left(token(name), value[name], "messages have no such member today")
    if role == "tool" and "tool_call_id" not in message:
        message["tool_call_id"] = ""
        draft.edit("added", "", "/tool_call_id", "", "not known")
    if role != "assistant" and "content" not in message:
        message["content"] = ""
        draft.edit("added", "", "/content", "", "the message has no content")
    return draft


def _text_member(draft: Draft, _role: str, name: str, value: Any) -> None:
    if isinstance(value, str):
        draft.value[name] = value
    else:
        draft.left(token(name), value, "not a text")


def _provider_state(draft: Draft, _role: str, name: str, value: Any) -> None:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        draft.value[name] = value
    else:
        draft.left(token(name), value, "not a list of a provider's items")


def _content(draft: Draft, role: str, name: str, value: Any) -> None:
    if isinstance(value, str):
        draft.value[name] = value
    elif isinstance(value, list):
        if role == "assistant":
            _assistant_parts(draft, value)
        else:
            _parts(draft, value)
    else:
        draft.left("/content", value, "neither a text nor a list of parts")


def _assistant_parts(draft: Draft, parts: list[Any]) -> None:
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in TEXT_PARTS]
    if texts and all(isinstance(text, str) for text in texts):
        draft.value["content"] = "".join(text for text in texts if isinstance(text, str))
    if len(texts) == len(parts) == 1 and "content" in draft.value and parts[0].keys() == {"type", "text"}:
        draft.edit("repaired", "/content", "/content", parts, "an assistant's content is a string today")
    elif parts:
        draft.left("/content", parts, "an assistant's content is a string today: its texts were joined")
    else:
        draft.edit("dropped", "/content", None, parts, "a list without parts says nothing")


def _parts(draft: Draft, parts: list[Any]) -> None:
    content: list[dict[str, Any]] = []
    for index, part in enumerate(parts):
        at, to = f"/content/{index}", f"/content/{len(content)}"
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
            draft.edit("moved", at, to + "/text", None, "a bare text became a part")
            continue
        made = _part(draft, at, to, part)
        if made is None:
            draft.left(at, part, "today's messages have no part of this type")
            continue
        content.append(made)
        if at != to:
            draft.edit("moved", at, to, None, "a part before it was kept aside")
    draft.value["content"] = content
    if parts and not content:
        draft.edit("added", "", "/content", [], "every part was kept aside")


def _part(draft: Draft, at: str, to: str, part: Any) -> dict[str, Any] | None:
    kind = members(part).get("type")
    if not isinstance(kind, str):
        return None
    if kind in TEXT_PARTS and isinstance(part.get("text"), str):
        if kind != "text":
            draft.edit("repaired", at + "/type", to + "/type", kind, "the type is called text today")
        _extras(draft, at, part, ("type", "text"))
        return {"type": "text", "text": part["text"]}
    source = part.get("image_url")
    if kind != "image_url":
        return None
    if isinstance(source, str):
        draft.edit("moved", at + "/image_url", to + "/image_url/url", None, "the address stands in an object today")
    elif isinstance(source, dict) and isinstance(source.get("url"), str):
        _extras(draft, at + "/image_url", source, ("url",))
        source = source["url"]
    else:
        return None
    _extras(draft, at, part, ("type", "image_url"))
    return {"type": "image_url", "image_url": {"url": source}}


def _extras(draft: Draft, at: str, value: dict[str, Any], known: tuple[str, ...]) -> None:
    for name, extra in value.items():
        if name not in known:
            draft.left(at + token(name), extra, "no such member today")


def _tool_calls(draft: Draft, _role: str, name: str, value: Any) -> None:
    if not isinstance(value, list):
        draft.left("/tool_calls", value, "not a list of tool calls")
        return
    calls: list[dict[str, Any]] = []
    for index, call in enumerate(value):
        at, to = f"/tool_calls/{index}", f"/tool_calls/{len(calls)}"
        made = _tool_call(draft, at, to, call, index)
        if made is None:
            draft.left(at, call, "not a tool call")
            continue
        calls.append(made)
        if at != to:
            draft.edit("moved", at, to, None, "a call before it was kept aside")
    draft.value[name] = calls
    if value and not calls:
        draft.edit("added", "", "/tool_calls", [], "every call was kept aside")


def _tool_call(draft: Draft, at: str, to: str, call: Any, index: int) -> dict[str, Any] | None:
    if isinstance(call, str):
        # Some releases wrote each call as JSON text.
        try:
            parsed = json.loads(call)
        except (ValueError, RecursionError):
            return None
        inner = Draft(None)
        made = _tool_call(inner, "", "", parsed, index) if isinstance(parsed, dict) else None
        if made is None or any(edit.action == "kept" for edit in inner.edits):
            return None
        draft.edit("repaired", at, to, call, "the call was JSON text")
        return made
    function = members(members(call).get("function"))
    source, prefix = (function, at + "/function") if function else (members(call), at)
    name, arguments = source.get("name"), source.get("arguments")
    if not isinstance(name, str):
        return None
    identity = call.get("id")
    made = {"id": identity if isinstance(identity, str) else f"call_{index}"}
    if not isinstance(identity, str):
        draft.edit("added", "", to + "/id", made["id"], "the call has no id: made from its place")
        if "id" in call:
            draft.left(at + "/id", identity, "not a text")
    for member in ("type", "namespace"):
        if isinstance(call.get(member), str):
            made[member] = call[member]
        elif member in call:
            draft.left(at + token(member), call[member], "not a text")
    made["name"] = name
    made["arguments"] = arguments if isinstance(arguments, str) else "" if arguments is None else json_text(arguments)
    if function:
        draft.edit("moved", prefix + "/name", to + "/name", None, "")
        if isinstance(arguments, str):
            draft.edit("moved", prefix + "/arguments", to + "/arguments", None, "")
        _extras(draft, prefix, source, ("name", "arguments"))
    if "arguments" in source and not isinstance(arguments, str):
        note = "arguments are JSON text today"
        draft.edit("repaired", prefix + "/arguments", to + "/arguments", arguments, note)
    elif "arguments" not in source:
        draft.edit("added", "", to + "/arguments", "", "the call has no arguments")
    known = ("id", "type", "namespace", "function") if function else ("id", "type", "namespace", "name", "arguments")
    _extras(draft, at, call, known)
    return {key: made[key] for key in ("id", "type", "name", "namespace", "arguments") if key in made}


_MEMBERS = {
    "content": _content,
    "reasoning_content": _text_member,
    "tool_call_id": _text_member,
    "name": _text_member,
    "tool_calls": _tool_calls,
    "provider_state": _provider_state,
}


def draft_tool(value: Any) -> Draft | None:
    """A tool definition in today's form, from its own or from OpenAI's nesting; None when it names no tool."""
    function = members(members(value).get("function"))
    source, prefix = (function, "/function") if function else (members(value), "")
    if not isinstance(source.get("name"), str):
        return None
    known = tuple(name for name in TOOL_MEMBERS if name != "type" or not function)
    tool = {name: source[name] for name in known if name in source}
    draft = Draft(tool)
    if not function:
        tool.update((name, extra) for name, extra in source.items() if name not in tool)
        return draft
    for name in tool:
        draft.edit("moved", prefix + token(name), token(name), None, "")
    _extras(draft, prefix, source, known)
    typed = isinstance(value.get("type"), str)
    if typed:
        draft.value = {"type": value["type"], **tool}
    _extras(draft, "", value, ("type", "function") if typed else ("function",))
    return draft


def draft_usage(value: Any) -> Draft | None:
    """Token usage in today's form; None when it does not say both how many tokens went in and came out."""
    if not isinstance(value, dict):
        return None
    usage: dict[str, Any] = {}
    draft = Draft(usage)
    for name, count in value.items():
        whole = count
        if isinstance(count, float) and count.is_integer():
            whole = int(count)
            if name in USAGE_COUNTS:
                draft.edit("repaired", token(name), token(name), count, "tokens are counted in integers")
        if name in USAGE_COUNTS and isinstance(whole, int) and not isinstance(whole, bool):
            usage[name] = whole
        elif name == "cost" and is_number(count):
            usage[name] = count
        elif name != "total_tokens":
            draft.left(token(name), count, "usage has no such member today")
    if not {"prompt_tokens", "completion_tokens"} <= usage.keys():
        return None
    if "total_tokens" in value:
        total = usage["prompt_tokens"] + usage["completion_tokens"] + usage.get("cached_input_tokens", 0)
        if is_number(value["total_tokens"]) and value["total_tokens"] == total:
            draft.edit("dropped", "/total_tokens", None, value["total_tokens"], "the sum of the others")
        else:
            draft.left("/total_tokens", value["total_tokens"], "not the sum of the others")
    order = ("prompt_tokens", "completion_tokens", "cached_input_tokens", "reasoning_tokens", "cost")
    draft.value = {name: usage[name] for name in order if name in usage}
    return draft
