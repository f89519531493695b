"""The historical shapes of an episode, and of a row that is one bare trace.

Promise: the result has today's members in the order in which 0.4.0 writes them; a row that shows no historical shape
is returned as it came. An identity that is missing is made from the content, so that two upgrades of one row agree.
Policy: a wrapped trace's episode is identified by a hash of the trace's id.
"""

from __future__ import annotations

import hashlib
from typing import Any

from evh.protocol.upgrade.detect import items, members
from evh.protocol.upgrade.messages import json_text
from evh.protocol.upgrade.runs import keep_run, lift_runs
from evh.protocol.upgrade.step import Record, Step, clone
from evh.protocol.upgrade.trace_rows import TRACE_RULES, drop_token_counts, error_list, flat_task

__all__ = ["finished_episode", "identity", "trace_row", "upgrade_bare", "upgrade_episode", "upgrade_trace"]

EPISODE_ORDER = ("schema", "id", "env", "task", "group", "run", "ok", "is_timeout", "errors", "traces", "info")
TRACE_ORDER = (
    "version",
    "id",
    "verifiers",
    "task",
    "agent",
    "tools",
    "nodes",
    "calls",
    "mm_token_type_id_map",
    "request_rewrites",
    "response_rewrites",
    "rewards",
    "metrics",
    "info",
    "root_reply",
    "extra_usage",
    "is_completed",
    "ok",
    "stop_condition",
    "is_timeout",
    "errors",
    "timing",
)
INNER_ORDER = {
    "task": ("type", "data", "key", "hash"),
    "agent": ("config", "runtime", "name", "trainable"),
    "timing": ("start", "boot", "setup", "agent", "finalize", "scoring"),
}
CONFIG_ORDER = ("harness", "runtime", "model", "client", "sampling")
CALL_ORDER = ("node", "model", "sampling", "endpoint", "finish_reason", "usage", "time", "error", "policy", "acp")


def upgrade_episode(doc: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """An episode row in today's shape, and what was done."""
    steps: list[Step] = []
    episode = Record(doc, "", "", steps)
    _fill_id(episode, doc)
    traces = [
        trace_row(Record(trace, f"/traces/{index}", f"/traces/{index}", steps), f"/traces/{index}")
        for index, trace in enumerate(items(doc.get("traces")))
        if isinstance(trace, dict)
    ]
    error_list(episode)
    flat_task(episode)
    text_env(episode)
    task_of_first(episode)
    lift_runs(episode, traces)
    drop_token_counts(episode)
    return _sealed(episode, traces), steps


def upgrade_bare(rows: list[dict[str, Any]], places: list[str]) -> tuple[dict[str, Any], list[Step]]:
    """S1 (10 Jun to 21 Jul, by trainers to 20 Aug): bare traces, wrapped in one episode.

    `places` are the pointers of the rows in what the steps call the source: `[""]` for a single row.
    """
    steps: list[Step] = []
    doc: dict[str, Any] = {"id": "", "env": {"id": ""}, "traces": rows}
    episode = Record(doc, "", "", steps)
    numbered = enumerate(zip(rows, places, strict=True))
    records = [Record(row, place, f"/traces/{index}", steps) for index, (row, place) in numbered]
    for trace in records:
        steps.append(Step("S1", "moved", trace.src, trace.dst, "a bare trace, wrapped in an episode"))
    traces = [trace_row(trace, trace.src) for trace in records]
    doc["id"] = identity("episode", *(str(row.get("id")) for row in rows))
    doc["ok"] = all(row.get("ok") is True for row in rows)
    doc["errors"] = []
    for name in ("id", "env", "ok", "errors"):
        episode.added("S1", "/" + name, doc[name], "an episode was made for the trace")
    task_of_first(episode, "S1")
    lift_runs(episode, traces)
    trainer_info(episode, traces)
    return _sealed(episode, traces), steps


def upgrade_trace(doc: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """A bare trace that stays one, in today's shape, and what was done."""
    steps: list[Step] = []
    trace = trace_row(Record(doc, "", "", steps), "")
    keep_run(trace)
    trace.seal()
    return _ordered_trace(trace.doc) if _reshaped(steps) else trace.doc, steps


def trace_row(trace: Record, place: str) -> Record:
    """One trace with every rule of the table applied; `place` keeps identities apart that are made from equal rows."""
    _fill_id(trace, [place, trace.doc])
    for rule in TRACE_RULES:
        rule.apply(trace)
    if trace.doc.get("task") is None:
        _no_task(trace, "S5")
    return trace


def identity(*parts: str) -> str:
    """32 hexadecimal digits that depend on the parts alone."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _fill_id(rec: Record, content: Any) -> None:
    """What today's shape requires: an identity, made from the content of the row."""
    if rec.doc.get("id") is not None:
        return
    made = identity("row", json_text(content))
    if "id" in rec.doc:
        rec.repaired("required", "/id", "/id", None, "made from the content of the row")
    else:
        rec.added("required", "/id", made, "made from the content of the row")
    rec.doc["id"] = made


def text_env(episode: Record) -> None:
    """S12 (21 to 30 Jul): `env` is the environment's id."""
    env = episode.doc.get("env")
    if isinstance(env, str):
        episode.doc["env"] = {"id": env}
        episode.moved("S12", "/env", "/env/id")


def task_of_first(episode: Record, rule: str = "S15") -> None:
    """S15 (21 Jul to 20 Aug): episodes did not say their task: it is that of the first trace, or an empty one."""
    if episode.doc.get("task") is not None:
        return
    first = next((trace.get("task") for trace in items(episode.doc.get("traces")) if isinstance(trace, dict)), None)
    if not isinstance(first, dict):
        _no_task(episode, rule)
        return
    if "task" in episode.doc:
        episode.dropped(rule, "/task", None, "a null says nothing")
    episode.doc["task"] = clone(first)
    episode.added(rule, "/task", None, "the task of the first trace")


def _no_task(rec: Record, rule: str) -> None:
    if "task" in rec.doc:
        rec.dropped(rule, "/task", None, "a null says nothing")
    rec.doc["task"] = {"type": "", "data": {}}
    rec.added(rule, "/task", rec.doc["task"], "nothing says which task it was")


def trainer_info(episode: Record, traces: list[Record]) -> None:
    """S18 (23 Jun to 20 Aug): a trainer's rows note in `info` what stands on the episode today: `env_name`,
    `group_id`, `episode_id` and, for a training run, `policy_version`. Notes that differ between the traces of one
    episode stay where they are."""
    for name, to in (("env_name", "/env/name"), ("group_id", "/group/id"), ("episode_id", "/id")):
        value = _agreed(traces, name)
        if not isinstance(value, str):
            continue
        if name == "env_name":
            episode.doc["env"]["name"] = value
        elif name == "group_id":
            episode.doc["group"] = {"id": value}
        else:
            episode.doc["id"] = value
        _lifted(episode, traces, name, to)
    work = members(episode.doc.get("run")).get("work")
    policy = _agreed(traces, "policy_version")
    if not isinstance(work, dict) or work.get("policy") is not None:
        return
    if isinstance(policy, int) and not isinstance(policy, bool):
        work["policy"] = {"start": policy, "end": policy}
        _lifted(episode, traces, "policy_version", "/run/work/policy/start")
        episode.added("S18", "/run/work/policy/end", policy, "one policy version sampled the whole episode")
    elif isinstance(policy, dict) and policy.keys() == {"start", "end"}:
        work["policy"] = policy
        _lifted(episode, traces, "policy_version", "/run/work/policy")


def _agreed(traces: list[Record], name: str) -> Any:
    """What every trace's `info` says under a name, when all say the same."""
    told = [members(trace.doc.get("info")).get(name) for trace in traces]
    return told[0] if told and all(repr(value) == repr(told[0]) for value in told) else None


def _lifted(episode: Record, traces: list[Record], name: str, to: str) -> None:
    for trace in traces:
        del trace.doc["info"][name]
        episode.steps.append(Step("S18", "moved", f"{trace.src}/info/{name}", episode.dst + to))


def finished_episode(doc: dict[str, Any], traces: list[Record]) -> dict[str, Any]:
    """An episode that was made from other rows, with what its traces keep aside put in place and members in order."""
    return _sealed(Record(doc, "", "", traces[0].steps), traces)


def _sealed(episode: Record, traces: list[Record]) -> dict[str, Any]:
    for trace in traces:
        trace.seal()
    episode.seal()
    if not _reshaped(episode.steps):
        return episode.doc
    doc = ordered(episode.doc, EPISODE_ORDER)
    if isinstance(doc.get("traces"), list):
        doc["traces"] = [_ordered_trace(trace) if isinstance(trace, dict) else trace for trace in doc["traces"]]
    if isinstance(doc.get("task"), dict):
        doc["task"] = ordered(doc["task"], INNER_ORDER["task"])
    return doc


def _reshaped(steps: list[Step]) -> bool:
    """Whether anything but dropping was done: a row that only lost computed members keeps its order."""
    return any(step.action != "dropped" for step in steps)


def _ordered_trace(trace: dict[str, Any]) -> dict[str, Any]:
    trace = ordered(trace, TRACE_ORDER)
    for name, order in INNER_ORDER.items():
        if isinstance(trace.get(name), dict):
            trace[name] = ordered(trace[name], order)
    config = members(trace.get("agent")).get("config")
    if isinstance(config, dict):
        trace["agent"]["config"] = ordered(config, CONFIG_ORDER)
    if isinstance(trace.get("calls"), list):
        trace["calls"] = [ordered(call, CALL_ORDER) if isinstance(call, dict) else call for call in trace["calls"]]
    return trace


def ordered(value: dict[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """The members of an object in a declared order; others follow, in the order they have."""
    return {name: value[name] for name in order if name in value} | value
