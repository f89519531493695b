"""What the tables cannot say about a record, above all about the agent's configuration.

Promised: retries say in the target what they said in the source as nearly as the target can; the original is always in
the stash. A value that a release would refuse for how it goes with another one (network rules, a policy span, a
renderer's settings) is moved away; one that it would rewrite stays, with a copy in the stash.
Policy: which of two values that exclude each other is moved.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from evh.protocol.convert import egress
from evh.protocol.convert.scalars import normal_path
from evh.protocol.upgrade.step import token

if TYPE_CHECKING:
    from evh.protocol.convert.shape import Rule, Shaper

__all__ = ["AFTER", "BEFORE", "NEAREST"]

ALIASES = ("max_completion_tokens", "extra_body")
SAMPLING_SCALARS = {
    "temperature": "num",
    "top_p": "num",
    "reasoning_effort": "text",
    "max_tokens": "int",
    "max_completion_tokens": "int",
}
# A renderer's own setting, and the retention of thinking that its true and its false imply.
RETENTION = {
    "qwen3.6": ("preserve_thinking", "all", "tool_cycle"),
    "qwen3.8": ("preserve_thinking", "all", "tool_cycle"),
    "gemma4": ("preserve_thinking", "all", "tool_cycle"),
    "hy3": ("preserved_thinking", "all", "tool_cycle"),
    "glm-5": ("clear_thinking", "tool_cycle", "all"),
    "glm-5.1": ("clear_thinking", "tool_cycle", "all"),
    "glm-5.3": ("clear_thinking", "tool_cycle", "all"),
    "gpt-oss": ("auto_drop_analysis", "tool_cycle", "all"),
    "nemotron-3": ("truncate_history_thinking", "tool_cycle", "all"),
    "nemotron-3-ultra": ("truncate_history_thinking", "tool_cycle", "all"),
    "nemotron-3.5": ("truncate_history_thinking", "tool_cycle", "all"),
    "deepseek-v4": ("drop_thinking", "tool_cycle", "all"),
}
EARLIER_FLAGS = ("preserve_all_thinking", "preserve_thinking_between_tool_calls")


def retries(shaper: Shaper, config: dict[str, Any], path: str) -> bool:
    """The retry policy in the target's terms; for a row that both releases read there are none, so it goes."""
    source = config.get("retries")
    if source is None:
        return True
    if shaper.common:
        shaper.take(config, "retries", path, "retries", "the two releases have no retry policy in common")
        return True
    if not isinstance(source, dict):
        return True
    made = _as_rules(source) if shaper.target.name == "0.4" else _as_lists(source)
    if made is not None:
        note = "said in the target's terms, as nearly as it can"
        shaper.replace(config, "retries", path + token("retries"), made, "retries", note)
    return True


def _as_rules(source: dict[str, Any]) -> dict[str, Any] | None:
    """`include` and `exclude` of 0.3.1 as ordered rules, of which the first match counts."""
    if "include" not in source and "exclude" not in source:
        return None
    include, exclude = _texts(source.get("include")), _texts(source.get("exclude"))
    budget = _budget(source)
    rules = [{"type": name, "max_retries": 0} for name in exclude]
    rules += [{"type": name, "max_retries": budget} for name in include]
    return {"max_retries": 0 if include else budget, "rules": rules}


def _as_lists(source: dict[str, Any]) -> dict[str, Any] | None:
    """The rules of 0.4.0 as lists: only a rule that forbids retries of one type has a place among them."""
    if "rules" not in source:
        return None
    rules = source["rules"] if isinstance(source["rules"], list) else []
    named = [rule for rule in rules if isinstance(rule, dict) and isinstance(rule.get("type"), str)]
    exclude = [
        rule["type"]
        for rule in named
        if rule.get("max_retries") == 0 and all(rule[other] is None for other in rule.keys() - {"type", "max_retries"})
    ]
    return {"max_retries": _budget(source), "include": [], "exclude": exclude}


def _budget(source: dict[str, Any]) -> int:
    budget = source.get("max_retries", 0)
    return budget if isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0 else 0


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def sampling(shaper: Shaper, values: dict[str, Any], path: str) -> bool:
    """Two members that a release takes apart and writes under other names."""
    for member in ALIASES:
        if member not in values:
            continue
        value = values[member]
        if member == "extra_body" and (shaper.target.name == "0.3.1" or not value):
            fits = True
        elif member == "extra_body":
            fits = isinstance(value, dict) and all(_knob(shaper, name, item) for name, item in value.items())
        else:
            fits = _knob(shaper, member, value)
        if not fits:
            shaper.take(values, member, path, "sampling", "no value that the release reads")
        elif member != "extra_body" or shaper.target.name == "0.4":
            shaper.owner.keep_silently(path, dict(values))
            shaper.copy(values, member, path, "sampling", "the release writes it under another name")
    return True


def _knob(shaper: Shaper, name: str, value: Any) -> bool:
    scalar = SAMPLING_SCALARS.get(name)
    return scalar is None or value is None or shaper.holds(scalar, value)


def masks(shaper: Shaper, node: dict[str, Any], path: str) -> bool:
    """The sampling masks of the wire have another name in each release."""
    if shaper.common:
        return True
    old, new = ("sampling_mask", "kept_tokens") if shaper.target.name == "0.3.1" else ("kept_tokens", "sampling_mask")
    if old in node and new not in node:
        renamed = {new if name == old else name: value for name, value in node.items()}
        node.clear()
        node.update(renamed)
        shaper.note("mask", "moved", path + token(old), path + token(new), "its name in the release")
    return True


def empty_tools(shaper: Shaper, node: dict[str, Any], path: str) -> bool:
    """0.4.0 writes no empty list of tools on a node."""
    if shaper.target.name == "0.4" and node.get("tools") == []:
        shaper.copy(node, "tools", path, "empty", "a re-save drops the empty list")
    return True


def policy_span(shaper: Shaper, span: dict[str, Any], path: str) -> bool:
    """A span may not end before it starts."""
    if span["end"] >= span["start"]:
        return True
    shaper.unfit = path + "/end"
    return False


def network(shaper: Shaper, runtime: dict[str, Any], path: str) -> bool:
    """The egress lists of a runtime that has them."""
    lists = [name for name in ("allow", "block") if name in runtime]
    if not egress.accepted(runtime, shaper.target.name):
        for name in lists:
            shaper.take(runtime, name, path, "egress", f"{shaper.target.name} refuses these network rules")
    elif lists and egress.rewritten(runtime):
        for name in lists:
            shaper.copy(runtime, name, path, "egress", "the release writes both lists in one spelling")
        shaper.owner.added.extend(path + token(name) for name in ("allow", "block") if name not in runtime)
    return True


def modal(shaper: Shaper, runtime: dict[str, Any], path: str) -> bool:
    """0.4.0 has no virtual machine with a GPU at this provider."""
    if runtime.get("vm") is True and runtime.get("gpu"):
        shaper.take(runtime, "vm", path, "runtime", "the release refuses a virtual machine with a GPU here")
    return network(shaper, runtime, path)


def apptainer(shaper: Shaper, runtime: dict[str, Any], path: str) -> bool:
    """The working directory here: absolute, not the root, without `..`, colon or comma."""
    workdir = runtime.get("workdir")
    if workdir is not None:
        parts = PurePosixPath(workdir)
        root = parts == PurePosixPath("/")
        if not workdir.startswith("/") or root or ".." in parts.parts or ":" in workdir or "," in workdir:
            shaper.take(runtime, "workdir", path, "runtime", "a working directory that the release refuses")
    return True


def renderer(shaper: Shaper, values: dict[str, Any], path: str) -> bool:
    """A renderer's own setting and `thinking_retention` may not contradict each other."""
    name = values["name"]
    if name == "default":
        for member in EARLIER_FLAGS:
            if member in values:
                shaper.take(values, member, path, "renderer", "an earlier setting that the release refuses")
    setting, yes, no = RETENTION.get(name, ("", "", ""))
    wanted, own = values.get("thinking_retention"), values.get(setting)
    none_says = name == "hy3" and own is None
    if setting in values and wanted is not None and not none_says and wanted != (no if own is False else yes):
        shaper.take(values, "thinking_retention", path, "renderer", f"contradicts {setting}")
    return True


def skills(shaper: Shaper, values: dict[str, Any], path: str) -> bool:
    """Paths come back in their shortest spelling."""
    folders = [folder for folder in values.get("skills", ()) if isinstance(folder, str)]
    if any(normal_path(folder) != folder for folder in folders):
        shaper.copy(values, "skills", path, "paths", "the release writes these paths in another spelling")
    return True


def task_skills(shaper: Shaper, values: dict[str, Any], path: str) -> bool:
    """A task's skills are paths to 0.4.0; to 0.3.1 they are a member like any other of an open object."""
    return shaper.target.name == "0.3.1" or skills(shaper, values, path)


def _nearest_message(value: Any, _target: Any) -> dict[str, Any]:
    """A message of a role that the release does not know: the developer speaks as the system, all others as users."""
    source = value if isinstance(value, dict) else {}
    role = "system" if source.get("role") == "developer" else "user"
    return {"role": role, "content": copy.deepcopy(source.get("content", ""))}


def _nearest_part(_value: Any, _target: Any) -> dict[str, Any]:
    """A content part of an unknown kind: an empty text keeps the places of the others."""
    return {"type": "text", "text": ""}


def _nearest_runtime(value: Any, target: Any) -> dict[str, Any]:
    """A runtime that the release does not have: podman is docker by another name, the rest ran as something local."""
    source = value if isinstance(value, dict) else {}
    if source.get("type") != "podman":
        return {"type": "subprocess"}
    known = target.shapes["Docker"].members
    return {name: "docker" if name == "type" else item for name, item in source.items() if name in known}


NEAREST: Mapping[str, Callable[[Any, Any], dict[str, Any]]] = {
    "Message": _nearest_message,
    "Part": _nearest_part,
    "RuntimeConfig": _nearest_runtime,
}
BEFORE: Mapping[str, Rule] = {
    "AgentConfig": retries,
    "Sampling": sampling,
    "SamplingOverrides": sampling,
    "Node": masks,
}
AFTER: Mapping[str, Rule] = {
    "Node": empty_tools,
    "PolicySpan": policy_span,
    "Apptainer": apptainer,
    "ApptainerInfo": apptainer,
    "Modal": modal,
    "ModalInfo": modal,
    "Harness": skills,
    "TaskData": task_skills,
    **dict.fromkeys(("Docker", "DockerInfo", "Prime", "PrimeInfo", "E2B", "E2BInfo"), network),
    **{f"Renderer {name}": renderer for name in (*RETENTION, "default")},
}
