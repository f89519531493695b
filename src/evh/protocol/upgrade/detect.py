"""What a row is and which historical shapes it shows, told by its members.

Promise: the answer depends on shape alone. `version` is never looked at: writers reset it from 4 to 1, so that a row
with `version: 4` is older than one with `version: 1`. Nothing here changes or copies the row. Policy: a row that is
an episode and a trace at once is an episode when it has `traces`; what is none of them is `unknown`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["detect", "shapes"]

TRACE_ONLY = frozenset({"nodes", "trajectory", "agent", "timing", "rewards", "calls", "runtime", "stop_condition"})
EPISODE_MEMBERS = frozenset({"schema", "id", "env", "group", "run", "ok", "errors"})
FLAT_TASK = frozenset({"idx", "prompt", "instruction"})
AGENT_PARTS = ("harness", "model", "sampling")
TOKEN_COUNTS = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
EARLY_COUNTS = ("reward", "branches", "num_turns", "num_branches", "is_truncated", "has_error")
SPANS = ("boot", "setup", "generation", "agent", "finalize", "scoring")
TRAINER_INFO = ("env_name", "group_id", "episode_id")


def detect(doc: dict[str, Any]) -> str:
    """The kind of a row: `episode`, `trace`, `v0` (a row of the first generation's `results.jsonl`) or `unknown`."""
    if isinstance(doc.get("traces"), list):
        return "episode"
    if "nodes" not in doc and ("example_id" in doc or ("prompt" in doc and "completion" in doc)):
        return "v0"
    if not doc.keys().isdisjoint(TRACE_ONLY):
        return "trace"
    return "episode" if isinstance(doc.get("task"), dict) and not doc.keys().isdisjoint(EPISODE_MEMBERS) else "unknown"


def shapes(doc: dict[str, Any]) -> list[str]:
    """The rules whose shape a row shows, in the order of their numbers; `v0` alone for a row of that generation.

    The shapes that need no change (a null reward, today's own) are not named.
    """
    kind = detect(doc)
    if kind in ("v0", "unknown"):
        return ["v0"] if kind == "v0" else []
    if kind == "trace":
        found = {"S1"} | ({"S18"} if has_trainer_info(doc) else set()) | ({"S16"} if "run" in doc else set())
        traces = [doc]
    else:
        found = {rule for rule, shown in EPISODE_SHAPES if shown(doc)}
        traces = [trace for trace in items(doc.get("traces")) if isinstance(trace, dict)]
    for trace in traces:
        found.update(rule for rule, shown in TRACE_SHAPES if shown(trace))
    return sorted(found, key=lambda rule: int(rule[1:]))


def members(value: Any) -> dict[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value when it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def is_number(value: Any) -> bool:
    """Whether a parsed value is a JSON number (true and false are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def has_turns(trace: dict[str, Any]) -> bool:
    """S0: a list of turns instead of a message graph."""
    return isinstance(trace.get("trajectory"), list) and not trace.get("nodes")


def has_early_counts(trace: dict[str, Any]) -> bool:
    """S3: members that are computed from the rest."""
    if any(name in trace for name in EARLY_COUNTS):
        return True
    timing = members(trace.get("timing"))
    return "duration" in timing or any("duration" in members(timing.get(name)) for name in SPANS)


def has_node_usage(trace: dict[str, Any]) -> bool:
    """S4: why a call ended and what it used stand on its node."""
    return any(
        isinstance(node, dict) and ("finish_reason" in node or "usage" in node) for node in items(trace.get("nodes"))
    )


def has_flat_task(record: dict[str, Any]) -> bool:
    """S5: the task's data stand in the task itself."""
    task = record.get("task")
    if not isinstance(task, dict):
        return False
    if "data" not in task:
        return True
    return "type" not in task and not task.keys().isdisjoint(FLAT_TASK)


def lacks_agent(trace: dict[str, Any]) -> bool:
    """S7: no agent, or one that says nothing of how it was configured."""
    agent = trace.get("agent")
    if agent is None:
        return True
    return isinstance(agent, dict) and agent.get("config") is None and not any(part in agent for part in AGENT_PARTS)


def has_loose_agent(trace: dict[str, Any]) -> bool:
    """S8: model, sampling and harness stand in the agent itself."""
    agent = trace.get("agent")
    return isinstance(agent, dict) and agent.get("config") is None and any(part in agent for part in AGENT_PARTS)


def lacks_build(trace: dict[str, Any]) -> bool:
    """S9: no word on the build that wrote it, or a null list of tools."""
    return trace.get("verifiers") is None or ("tools" in trace and trace["tools"] is None)


def has_bare_rewards(trace: dict[str, Any]) -> bool:
    """S10: rewards are numbers."""
    return any(is_number(reward) for reward in members(trace.get("rewards")).values())


def has_generation(trace: dict[str, Any]) -> bool:
    """S13: the agent's span is called `generation`."""
    return "generation" in members(trace.get("timing"))


def lacks_boot(trace: dict[str, Any]) -> bool:
    """S14: no span for booting. Only rows that call the agent's span `generation` were written without one."""
    return has_generation(trace) and "boot" not in trace["timing"]


def has_kept_tokens(trace: dict[str, Any]) -> bool:
    """S21: `kept_tokens`, which 0.4.0 calls `sampling_mask`."""
    return any(isinstance(node, dict) and "kept_tokens" in node for node in items(trace.get("nodes")))


def has_token_counts(record: dict[str, Any]) -> bool:
    """S21: token counts that 0.4.0 computes and writes."""
    return any(name in record for name in TOKEN_COUNTS)


def has_trainer_info(trace: dict[str, Any]) -> bool:
    """S18: a trainer's notes on environment, group, episode and, for a training run, policy in `info`."""
    info = members(trace.get("info"))
    noted = any(isinstance(info.get(name), str) for name in TRAINER_INFO)
    return noted or ("policy_version" in info and members(trace.get("run")).get("type") == "train")


def is_old_run(run: Any) -> bool:
    """S16, S17: a run without `type` or `id`, with a `step` of its own, or a training run without `work`."""
    if not isinstance(run, dict) or run.get("type") not in (None, "eval", "train"):
        return False
    if "step" in run or run.get("type") is None or run.get("id") is None:
        return True
    return run["type"] == "train" and run.get("work") is None


def _has_member_runs(episode: dict[str, Any]) -> bool:
    return any(isinstance(trace, dict) and "run" in trace for trace in items(episode.get("traces")))


TRACE_SHAPES: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("S0", has_turns),
    ("S2", lambda trace: "error" in trace),
    ("S3", has_early_counts),
    ("S4", has_node_usage),
    ("S5", has_flat_task),
    ("S6", lambda trace: "runtime" in trace),
    ("S7", lacks_agent),
    ("S8", has_loose_agent),
    ("S9", lacks_build),
    ("S10", has_bare_rewards),
    ("S13", has_generation),
    ("S14", lacks_boot),
    ("S21", lambda trace: has_kept_tokens(trace) or has_token_counts(trace)),
)

EPISODE_SHAPES: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("S2", lambda episode: "error" in episode),
    ("S5", has_flat_task),
    ("S12", lambda episode: isinstance(episode.get("env"), str)),
    ("S15", lambda episode: episode.get("task") is None),
    ("S16", lambda episode: _has_member_runs(episode) and episode.get("run") is None),
    ("S17", lambda episode: is_old_run(episode.get("run"))),
    ("S21", has_token_counts),
    ("S24", lambda episode: _has_member_runs(episode) and episode.get("run") is not None),
)
