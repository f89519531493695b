"""The historical shapes of a trace, each a small rule that brings one of them to today's shape.

Promise: a rule changes a trace only when its shape is there, and reports what it does; a value that no historical
shape explains stays where it is. Rules read the members of older shapes and write those of today, so that
their order matters in four places only, each said at the table's end. Policy: defaults are not written where today's
schema has one, except for what the older shape could not say (`verifiers`, `boot`, an agent's frame).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evh.protocol.upgrade.counts import drop_durations, drop_early_counts
from evh.protocol.upgrade.detect import (
    AGENT_PARTS,
    TOKEN_COUNTS,
    has_bare_rewards,
    has_flat_task,
    has_generation,
    has_loose_agent,
    has_turns,
    is_number,
    items,
    lacks_agent,
    lacks_boot,
    lacks_build,
    members,
)
from evh.protocol.upgrade.step import Record, clone
from evh.protocol.upgrade.turns import Graph, rebuild_turns

__all__ = ["TRACE_RULES", "Rule", "drop_token_counts", "error_list", "flat_task"]


class Rule(NamedTuple):
    """A rule of the table: the shape it brings forward, and the function that does."""

    name: str
    apply: Callable[[Record], None]


def turn_list(rec: Record) -> None:
    """S0 (9 and 10 Jun): `trajectory`, a list of turns with prompt, response and tokens, and no `nodes`. The message
    graph is rebuilt: prompts share their prefixes, each response is a sampled node with its call."""
    if not has_turns(rec.doc):
        return
    turns = rec.doc.pop("trajectory")
    graph = Graph(rec, "S0")
    rebuild_turns(graph, "/trajectory", turns)
    for name, made in (("nodes", graph.nodes), ("calls", graph.calls)):
        if rec.doc.get(name):
            rec.keep("S0", "/" + name, rec.doc[name], "the graph was rebuilt from the turns")
        elif name in rec.doc:
            rec.dropped("S0", "/" + name, rec.doc[name], "says nothing: the graph was rebuilt from the turns")
        rec.doc[name] = made


def error_list(rec: Record) -> None:
    """S2 (to 9 Jun): `error`, a single one, becomes the last of `errors`."""
    if "error" not in rec.doc or not isinstance(rec.doc.get("errors", []), list | None):
        return
    error = rec.doc["error"]
    if error is not None and not isinstance(error, str | dict):
        return
    del rec.doc["error"]
    if error is None:
        rec.dropped("S2", "/error", None, "no error")
        return
    if rec.doc.get("errors") is None:
        if "errors" in rec.doc:
            rec.dropped("S2", "/errors", None, "a null says nothing")
        rec.doc["errors"] = []
    errors: list[Any] = rec.doc["errors"]
    if isinstance(error, str):
        errors.append({"type": "Error", "message": error})
        rec.moved("S2", "/error", f"/errors/{len(errors) - 1}/message", "a bare text: its type was not written")
        return
    told = [repr(known) for known in errors]
    if repr(error) in told:
        rec.dropped("S2", "/error", error, "the list has it", f"/errors/{told.index(repr(error))}")
    else:
        errors.append(error)
        rec.moved("S2", "/error", f"/errors/{len(errors) - 1}")


def node_usage(rec: Record) -> None:
    """S4 (10 Jun to 17 Jul): a node says why its call ended and what it used. Each such sampled node gets a call;
    a call that is there takes what it lacks."""
    nodes = rec.doc.get("nodes")
    calls = rec.doc.get("calls", [])
    if not isinstance(nodes, list) or not isinstance(calls, list):
        return
    by_node = {call["node"]: place for place, call in enumerate(calls) if _has_index(call)}
    for index, node in enumerate(nodes):
        if isinstance(node, dict) and ("finish_reason" in node or "usage" in node):
            _node_call(rec, node, index, calls, by_node)
    if calls and "calls" not in rec.doc:
        rec.doc["calls"] = calls


def _has_index(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("node"), int) and not isinstance(call["node"], bool)


def _node_call(rec: Record, node: dict[str, Any], index: int, calls: list[Any], by_node: dict[Any, int]) -> None:
    for name in ("finish_reason", "usage"):
        if name not in node:
            continue
        value = node[name]
        at = f"/nodes/{index}/{name}"
        if value is None:
            del node[name]
            rec.dropped("S4", at, None, "a null says nothing")
            continue
        if node.get("sampled") is not True:
            continue
        del node[name]
        place = by_node.get(index)
        if place is None:
            place = by_node[index] = len(calls)
            calls.append({"node": index})
            rec.added("S4", f"/calls/{place}/node", index, "the call that gave the node")
        call, to = calls[place], f"/calls/{place}/{name}"
        if call.get(name) is None:
            if name in call:
                rec.dropped("S4", to, None, "a null says nothing")
            call[name] = value
            rec.moved("S4", at, to)
        elif repr(call[name]) == repr(value):
            rec.dropped("S4", at, value, "the call says the same", to)
        else:
            rec.keep("S4", at, value, "the node's call says something else")


def flat_task(rec: Record) -> None:
    """S5 (to 10 Jul): the task's data stand in the task itself, the prompt as `instruction`; its type was not kept."""
    if not has_flat_task(rec.doc):
        return
    task: dict[str, Any] = rec.doc["task"]
    if "data" not in task and task.keys() <= {"type", "key", "hash"}:
        rec.doc["task"] = {**task, "data": {}}
        rec.added("S5", "/task/data", {}, "the task came without data")
    else:
        rec.doc["task"] = {"type": "", "data": task}
        rec.moved("S5", "/task", "/task/data")
        rec.added("S5", "/task/type", "", "the class of the task was not written")
        if "instruction" in task and "prompt" not in task:
            task["prompt"] = task.pop("instruction")
            rec.moved("S5", "/task/instruction", "/task/data/prompt")
    if "type" not in rec.doc["task"]:
        rec.doc["task"]["type"] = ""
        rec.added("S5", "/task/type", "", "the class of the task was not written")


def agent_frame(rec: Record) -> None:
    """S7 (to 30 Jul): `agent` is null, absent or without a config; S8 (17 to 23 Jul): model, sampling and harness
    stand in the agent itself. Both become an agent with a config, a name and a verdict on training it."""
    agent: Any = rec.doc.get("agent")
    rule = "S8" if has_loose_agent(rec.doc) else "S7"
    if rule == "S8":
        config: dict[str, Any] = {}
        for part in AGENT_PARTS:
            if part in agent:
                config[part] = agent.pop(part)
                rec.moved("S8", f"/agent/{part}", f"/agent/config/{part}")
        if "config" in agent:
            rec.dropped("S8", "/agent/config", None, "a null says nothing")
        agent["config"] = config
    elif lacks_agent(rec.doc):
        if "agent" in rec.doc and agent is None:
            rec.dropped("S7", "/agent", None, "a null says nothing")
        elif isinstance(agent, dict) and "config" in agent:
            rec.dropped("S7", "/agent/config", None, "a null says nothing")
        agent = {**(agent or {}), "config": {}}
        rec.doc["agent"] = agent
        rec.added("S7", "/agent/config", {}, "the row does not say how the agent was configured")
    else:
        return
    for name, value in (("name", "agent"), ("trainable", True)):
        if name not in agent:
            agent[name] = value
            rec.added(rule, f"/agent/{name}", value, "the default")


def top_runtime(rec: Record) -> None:
    """S6 (9 to 23 Jul): `runtime` at the top of the trace belongs to its agent. A config that was just made gets the
    runtime too, less what tells one sandbox from another: without it, other readers put in their own default."""
    if "runtime" not in rec.doc:
        return
    runtime = rec.doc["runtime"]
    agent = rec.doc.get("agent")
    if runtime is None:
        del rec.doc["runtime"]
        rec.dropped("S6", "/runtime", None, "a null says nothing")
    elif isinstance(runtime, dict) and isinstance(agent, dict):
        del rec.doc["runtime"]
        if agent.get("runtime") is not None:
            rec.keep("S6", "/runtime", runtime, "the agent says another one")
            return
        if "runtime" in agent:
            rec.dropped("S6", "/agent/runtime", None, "a null says nothing")
        agent["runtime"] = runtime
        rec.moved("S6", "/runtime", "/agent/runtime")
        config = agent.get("config")
        if isinstance(config, dict) and config.get("runtime") is None:
            if "runtime" in config:
                rec.dropped("S6", "/agent/config/runtime", None, "a null says nothing")
            copy = clone({name: value for name, value in runtime.items() if name not in ("id", "borrowed")})
            config["runtime"] = copy
            rec.added("S6", "/agent/config/runtime", copy, "the runtime that ran, without its identity")


def build_and_tools(rec: Record) -> None:
    """S9 (to 30 Jul): `verifiers` null or absent becomes the version `unknown` (readers fill in their own version);
    a null `tools` becomes an empty list."""
    if not lacks_build(rec.doc):
        return
    if rec.doc.get("verifiers") is None:
        if "verifiers" in rec.doc:
            rec.repaired("S9", "/verifiers", "/verifiers", None, "the build was not written")
        else:
            rec.added("S9", "/verifiers", {"version": "unknown"}, "the build was not written")
        rec.doc["verifiers"] = {"version": "unknown"}
    if "tools" in rec.doc and rec.doc["tools"] is None:
        rec.doc["tools"] = []
        rec.repaired("S9", "/tools", "/tools", None, "no tools")


def bare_rewards(rec: Record) -> None:
    """S10 (to 23 Jul): a reward is a number, its weight already applied: a score of weight 1."""
    if not has_bare_rewards(rec.doc):
        return
    rewards: dict[str, Any] = rec.doc["rewards"]
    for name, reward in rewards.items():
        if is_number(reward):
            rewards[name] = {"score": reward, "weight": 1.0}
            at = "/rewards/" + name.replace("~", "~0").replace("/", "~1")
            rec.repaired("S10", at, at + "/score", reward, "the weight was applied already: a score of weight 1")


def boot_span(rec: Record) -> None:
    """S14 (to 13 Jul): no span for booting: it is empty."""
    if lacks_boot(rec.doc):
        rec.doc["timing"]["boot"] = {"start": 0.0, "end": 0.0}
        rec.added("S14", "/timing/boot", {"start": 0.0, "end": 0.0}, "booting was not timed")


def generation_span(rec: Record) -> None:
    """S13 (to 30 Jul): the agent's span is called `generation`."""
    if not has_generation(rec.doc):
        return
    timing: dict[str, Any] = rec.doc["timing"]
    span = timing.pop("generation")
    if timing.get("agent") is not None:
        rec.keep("S13", "/timing/generation", span, "the agent's span says something else")
    elif span is None:
        rec.dropped("S13", "/timing/generation", None, "a null says nothing")
    else:
        if "agent" in timing:
            rec.dropped("S13", "/timing/agent", None, "a null says nothing")
        timing["agent"] = span
        rec.moved("S13", "/timing/generation", "/timing/agent")


def verdict(rec: Record) -> None:
    """S1: rows of one trace a line did not write `ok`: it was true when there were no errors. Only rows of that age
    (a null build, or an older agent or timing) are judged; elsewhere an absent `ok` means false."""
    trace = rec.doc
    null_build = "verifiers" in trace and trace["verifiers"] is None
    old = null_build or lacks_agent(trace) or has_loose_agent(trace) or has_generation(trace)
    if "ok" not in trace and old:
        ok = not items(rec.doc.get("errors"))
        if "error" in rec.doc:
            ok = ok and rec.doc["error"] is None
        rec.doc["ok"] = ok
        rec.added("S1", "/ok", ok, "true when there were no errors")


def kept_tokens(rec: Record) -> None:
    """S21: what a node's sampling could choose from is called `sampling_mask` since 0.4.0, before it `kept_tokens`."""
    for index, node in enumerate(items(rec.doc.get("nodes"))):
        if not isinstance(node, dict) or "kept_tokens" not in node:
            continue
        value, at = node.pop("kept_tokens"), f"/nodes/{index}/kept_tokens"
        if value is None:
            rec.dropped("S21", at, None, "a null says nothing")
        elif node.get("sampling_mask") is None:
            if "sampling_mask" in node:
                rec.dropped("S21", f"/nodes/{index}/sampling_mask", None, "a null says nothing")
            node["sampling_mask"] = value
            rec.moved("S21", at, f"/nodes/{index}/sampling_mask")
        else:
            rec.keep("S21", at, value, "the node has a sampling mask too")


def drop_token_counts(rec: Record) -> None:
    """S21 (0.4.0): `num_input_tokens`, `num_output_tokens` and `num_total_tokens` are computed on reading."""
    for name in TOKEN_COUNTS:
        value = rec.doc.get(name)
        if name in rec.doc and not isinstance(value, dict | list):
            del rec.doc[name]
            rec.dropped("S21", "/" + name, value, "computed on reading")


def start_time(rec: Record) -> None:
    """What today's shape requires and no row of any age left out but by a fault: the time a trace started. The
    earliest span or node that has a time says it, else 0."""
    timing = rec.doc.get("timing")
    if not isinstance(timing, dict):
        if timing is not None:
            return
        if "timing" in rec.doc:
            rec.dropped("required", "/timing", None, "a null says nothing")
        timing = rec.doc["timing"] = {}
    if timing.get("start") is None:
        if "start" in timing:
            rec.dropped("required", "/timing/start", None, "a null says nothing")
        starts = [members(span).get("start") for span in timing.values()]
        starts += [members(node).get("timestamp") for node in items(rec.doc.get("nodes"))]
        timing["start"] = min((start for start in starts if isinstance(start, int | float) and start > 0), default=0.0)
        rec.added("required", "/timing/start", timing["start"], "not written: the earliest time that is known")


# S4 comes after S0, whose nodes have their calls already. S6 comes after S7 and S8, which make the config that it
# fills. Durations go before S13 and S14 (they are looked at under the old name), the other counts after everything
# that they are computed from. The verdict comes before S9, S13 and S2, which take away the signs of age.
TRACE_RULES: tuple[Rule, ...] = (
    Rule("S1", verdict),
    Rule("S0", turn_list),
    Rule("S2", error_list),
    Rule("S3", drop_durations),
    Rule("S4", node_usage),
    Rule("S5", flat_task),
    Rule("S8", agent_frame),
    Rule("S6", top_runtime),
    Rule("S9", build_and_tools),
    Rule("S10", bare_rewards),
    Rule("S14", boot_span),
    Rule("S13", generation_span),
    Rule("S21", kept_tokens),
    Rule("S21", drop_token_counts),
    Rule("S3", drop_early_counts),
    Rule("required", start_time),
)
