"""The first generation: a row of `results.jsonl` (with what its `metadata.json` says) as an episode of one trace.

Promise: prompt and completion, or the turns of `trajectory`, become the message graph; every other column has a
place in the trace or is kept aside. Two upgrades of one row agree, and all rows of one `metadata.json` get the same
run. Policy: the total `reward` is the one reward of weight 1, as its parts' weights were not written; the columns of
single reward functions are metrics. `stop_condition` keeps its old vocabulary.
"""

from __future__ import annotations

from typing import Any

from evh.errors import RecordError
from evh.protocol.upgrade.counts import is_truncated
from evh.protocol.upgrade.detect import is_number, members
from evh.protocol.upgrade.episode_rows import finished_episode, identity
from evh.protocol.upgrade.messages import draft_tool, json_text
from evh.protocol.upgrade.step import Record, Step, clone, token
from evh.protocol.upgrade.turns import Graph, rebuild_turns
from evh.protocol.upgrade.v0_timing import place_timing

__all__ = ["upgrade_v0"]

RULE = "v0"
AVERAGE = "avg_"
# Members of metadata.json that the episode says in a place of its own.
PLACED_METADATA = frozenset({"env_id", "env", "model", "sampling_args", "name"})


def upgrade_v0(
    row: dict[str, Any], metadata: dict[str, Any] | None = None, *, position: int | None = None
) -> tuple[dict[str, Any], list[Step]]:
    """One row of a first-generation `results.jsonl`, as an episode, and what was done.

    `metadata` is the parsed `metadata.json` beside the file: without it environment, model and run stay unknown.
    `position` (of the row in its file, from 0) keeps two rows with the same content apart. What no member of an
    episode says is kept under `info.evh`: `kept` on the trace for the row, `metadata` on the episode.

    Raises RecordError when the row is nested too deeply to be walked.
    """
    try:
        return _upgrade(row, metadata, position)
    except RecursionError:
        raise RecordError("nested too deeply to be upgraded") from None


def _upgrade(
    row: dict[str, Any], metadata: dict[str, Any] | None, position: int | None
) -> tuple[dict[str, Any], list[Step]]:
    told = members(metadata)
    content = [json_text(row), json_text(told)] + ([] if position is None else [str(position)])
    trace: dict[str, Any] = {"version": 1, "id": identity("v0-trace", *content), "verifiers": _build(told)}
    steps: list[Step] = []
    rec = Record(trace, "", "/traces/0", steps)
    rest = dict(row)
    trace["task"] = {"type": "", "data": _task_data(rec, rest)}
    trace["agent"] = {"config": _config(told), "name": "agent", "trainable": True}
    trace["tools"] = _tools(rec, rest)
    graph = _graph(rec, rest)
    trace["nodes"], trace["calls"] = graph.nodes, graph.calls
    if isinstance(told.get("model"), str):
        for call in graph.calls:
            call.setdefault("model", told["model"])
    _token_usage(rec, rest)
    _scores(rec, rest, metadata)
    _errors(rec, rest)
    _ending(rec, rest)
    trace["timing"] = place_timing(rec, rest)
    _identity_of_row(rec, rest)
    for name, value in rest.items():
        _leave(rec, token(name), value)
    rec.added(RULE, "", None, "an episode with one trace was made from the row")
    episode: dict[str, Any] = {
        "id": identity("v0-episode", *content),
        "env": {"id": _env_id(told, trace)},
        "task": clone(trace["task"]),
        "ok": trace["ok"],
        "errors": [],
        "traces": [trace],
    }
    if told:
        _metadata(rec, episode, told)
    return finished_episode(episode, [rec]), steps


def _leave(rec: Record, tail: str, value: Any) -> None:
    if value is None or value in ({}, []):
        rec.dropped(RULE, tail, value, "says nothing")
    else:
        rec.keep(RULE, tail, value, "a column that episodes have no member for")


def _build(told: dict[str, Any]) -> dict[str, Any]:
    versions = members(told.get("version_info"))
    version = versions.get("vf_version")
    build = {"version": version if isinstance(version, str) else "unknown"}
    return {**build, "commit": versions["vf_commit"]} if isinstance(versions.get("vf_commit"), str) else build


def _config(told: dict[str, Any]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if isinstance(told.get("model"), str):
        config["model"] = told["model"]
    if isinstance(told.get("sampling_args"), dict):
        config["sampling"] = clone(told["sampling_args"])
    return config


def _env_id(told: dict[str, Any], trace: dict[str, Any]) -> str:
    for name in ("env_id", "env"):
        if isinstance(told.get(name), str):
            return str(told[name])
    task = trace["task"]["data"].get("task")
    return task if isinstance(task, str) else ""


def _metadata(rec: Record, episode: dict[str, Any], told: dict[str, Any]) -> None:
    run: dict[str, Any] = {"type": "eval", "id": identity("v0-run", json_text(told))}
    if isinstance(told.get("name"), str):
        run["name"] = told["name"]
    episode["run"] = run
    rec.steps.append(Step(RULE, "added", "/run", "/run", "one run for all rows of one metadata.json", run))
    placed = {name for name in PLACED_METADATA if isinstance(told.get(name), str | dict)}
    if isinstance(told.get("env_id"), str):
        placed.discard("env")
    aside = {name: clone(value) for name, value in told.items() if name not in placed}
    if aside:
        episode["info"] = {"evh": {"metadata": aside}}
        note = "what metadata.json says of the whole run and an episode has no member for"
        rec.steps.append(Step(RULE, "added", "/info/evh/metadata", "/info/evh/metadata", note))


def _task_data(rec: Record, rest: dict[str, Any]) -> dict[str, Any]:
    """The dataset's row: its number as `idx` (or `id`, for a text), and what scoring compared with."""
    data: dict[str, Any] = {}
    column = "example_id" if "example_id" in rest else "id"
    number = rest.get(column)
    place = "idx" if isinstance(number, int) and not isinstance(number, bool) else "id"
    if isinstance(number, int | str) and not isinstance(number, bool):
        data[place] = rest.pop(column)
        rec.moved(RULE, "/" + column, f"/task/data/{place}")
    for name in ("answer", "info", "task"):
        if name in rest:
            data[name] = rest.pop(name)
            rec.moved(RULE, "/" + name, f"/task/data/{name}")
    return data


def _tools(rec: Record, rest: dict[str, Any]) -> list[Any]:
    tools: list[Any] = []
    if not isinstance(rest.get("tool_defs"), list):
        return tools
    written = rest.pop("tool_defs")
    if not written:
        rec.moved(RULE, "/tool_defs", "/tools")
    for index, tool in enumerate(written):
        draft = draft_tool(tool)
        if draft is None:
            _leave(rec, f"/tool_defs/{index}", tool)
            continue
        tools.append(draft.value)
        draft.report(rec, RULE, f"/tool_defs/{index}", f"/tools/{len(tools) - 1}")
    return tools


def _graph(rec: Record, rest: dict[str, Any]) -> Graph:
    """Nodes and calls: from the turns when the row has them; the messages of prompt and completion join them."""
    graph = Graph(rec, RULE)
    if isinstance(rest.get("trajectory"), list):
        rebuild_turns(graph, "/trajectory", rest.pop("trajectory"))
    turns = len(graph.calls)
    last = graph.chain("/prompt", rest.pop("prompt"), None, sampled=False) if "prompt" in rest else None
    if "completion" in rest:
        graph.chain("/completion", rest.pop("completion"), last, sampled=None)
    if not turns:
        for index, node in enumerate(graph.nodes):
            if node["sampled"]:
                rec.added(RULE, f"/calls/{len(graph.calls)}/node", index, "the call that gave the reply")
                graph.calls.append({"node": index})
    return graph


def _token_usage(rec: Record, rest: dict[str, Any]) -> None:
    """Usage of the whole rollout: on its call when there was one; else on a call of its own, which says no node."""
    usage = rest.get("token_usage")
    calls: list[dict[str, Any]] = rec.doc["calls"]
    if not isinstance(usage, dict):
        return
    counts = {name: _count(usage.get(name)) for name in ("input_tokens", "output_tokens")}
    if None in counts.values() or any("usage" in call for call in calls):
        return
    del rest["token_usage"]
    if len(calls) != 1:
        calls.append({})
        rec.added(RULE, f"/calls/{len(calls) - 1}", None, "all calls of the rollout together")
    calls[-1]["usage"] = {"prompt_tokens": counts["input_tokens"], "completion_tokens": counts["output_tokens"]}
    to = f"/calls/{len(calls) - 1}/usage"
    rec.repaired(RULE, "/token_usage/input_tokens", to + "/prompt_tokens", usage["input_tokens"], "counted in integers")
    rec.repaired(
        RULE, "/token_usage/output_tokens", to + "/completion_tokens", usage["output_tokens"], "counted in integers"
    )
    for name, value in usage.items():
        total = counts.get(name.removeprefix("final_"))
        if name in counts:
            continue
        if name.startswith("final_") and len(calls) == 1 and is_number(value) and value == total:
            rec.dropped(RULE, "/token_usage" + token(name), value, "one call: its final counts are its counts")
        else:
            _leave(rec, "/token_usage" + token(name), value)


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _scores(rec: Record, rest: dict[str, Any], metadata: dict[str, Any] | None) -> None:
    """The total reward, the metrics, and the columns that repeat them or stand for reward functions."""
    rec.doc["rewards"] = {}
    if "reward" in rest and (rest["reward"] is None or is_number(rest["reward"])):
        reward = rest.pop("reward")
        rec.doc["rewards"]["reward"] = None if reward is None else {"score": reward, "weight": 1.0}
        rec.moved(RULE, "/reward", "/rewards/reward" + ("" if reward is None else "/score"))
    metrics: dict[str, Any] = {}
    rec.doc["metrics"] = metrics
    written = rest.get("metrics")
    if isinstance(written, dict):
        del rest["metrics"]
        if not written:
            rec.moved(RULE, "/metrics", "/metrics")
        for name, value in written.items():
            at = "/metrics" + token(name)
            if value is None or is_number(value):
                metrics[name] = value
                rec.moved(RULE, at, at)
            else:
                _leave(rec, at, value)
    averages = members(members(metadata).get("avg_metrics"))
    for name in list(rest):
        value = rest[name]
        if not is_number(value):
            continue
        at, to = token(name), "/metrics" + token(name)
        if name in metrics:
            if repr(metrics[name]) == repr(value):
                rec.dropped(RULE, at, rest.pop(name), "a column that repeats a metric", to)
            continue
        named = name in averages or AVERAGE + name in members(metadata)
        # Without either list, a number that is no standard column can only be a reward function's.
        if named or (metadata is None and not isinstance(written, dict)):
            metrics[name] = rest.pop(name)
            rec.moved(RULE, at, to)


def _errors(rec: Record, rest: dict[str, Any]) -> None:
    errors: list[dict[str, Any]] = []
    rec.doc["errors"] = errors
    error = rest.get("error")
    if isinstance(error, str):
        errors.append({"type": "Error", "message": rest.pop("error")})
        rec.moved(RULE, "/error", "/errors/0/message", "a bare text: its type was not written")
    elif isinstance(error, dict) and error:
        del rest["error"]
        made: dict[str, Any] = {}
        for to, names in (
            ("type", ("error", "type")),
            ("message", ("message", "error_chain_str", "error_chain_repr")),
            ("traceback", ("traceback", "error_chain_str")),
        ):
            name = next((name for name in names if isinstance(error.get(name), str)), None)
            if name is not None:
                made[to] = error.pop(name)
                rec.moved(RULE, f"/error/{name}", f"/errors/0/{to}")
        errors.append({"type": "Error", "message": ""} | made)
        for name, value in error.items():
            _leave(rec, "/error" + token(name), value)


def _ending(rec: Record, rest: dict[str, Any]) -> None:
    """How the rollout ended: completed, why, cut short by a limit."""
    trace = rec.doc
    for name in ("is_completed", "stop_condition"):
        if isinstance(rest.get(name), bool if name == "is_completed" else str):
            trace[name] = rest.pop(name)
            rec.moved(RULE, "/" + name, "/" + name)
    trace.setdefault("is_completed", not trace["errors"])
    trace["ok"] = not trace["errors"] and trace["is_completed"]
    cut = rest.get("is_truncated")
    if not isinstance(cut, bool):
        return
    noted = [call for call in trace["calls"] if "node" in call]
    if cut and not is_truncated(trace) and noted and "finish_reason" not in noted[-1]:
        noted[-1]["finish_reason"] = "length"
        del rest["is_truncated"]
        to = f"/calls/{trace['calls'].index(noted[-1])}/finish_reason"
        rec.repaired(RULE, "/is_truncated", to, cut, "said today by the last call: it ended at a length limit")
    elif is_truncated(trace) is cut:
        del rest["is_truncated"]
        rec.dropped(RULE, "/is_truncated", cut, "computed on reading")


def _identity_of_row(rec: Record, rest: dict[str, Any]) -> None:
    """A column `id` beside `example_id` is the row's own: it stays with the trace as a note."""
    if isinstance(rest.get("id"), str | int) and not isinstance(rest["id"], bool):
        rec.keep(RULE, "/id", rest.pop("id"), "episodes and traces get identities of their own")
