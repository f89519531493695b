"""From a line to the columns of its heads: one decode, nothing kept of the record.

Promise: a line is taken when it is strict JSON (no NaN, no BOM, UTF-8) that a lenient read takes as an episode or as a
trace; what that read sets apart stays in the line, which is stored as it came. Each line is decoded natively once; only
what that refuses is looked at again, to say why.
Policy: the run is the episode's; where that has none, the one that uploaders repeat in each trace. A trace's reward is
its weighted sum, null when unscored; the episode's is that of its first trainable trace, or of its first. What cannot
be counted (tokens of a broken graph) is 0.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from evh.errors import EvhError, Notice, RecordError, SchemaError, cut
from evh.protocol._base import seen_retired
from evh.protocol._native import NATIVE_ERRORS, json_reader
from evh.protocol.codec import decode
from evh.protocol.jsontext import dumps, parse
from evh.protocol.models import Episode, EvalRunInfo, Trace, TrainRunInfo
from evh.server.catalog.uploads import Line
from evh.server.faults import ServerFault, refused
from evh.server.limits import Profile
from evh.server.records import LineFormat
from evh.server.text import head_text, to_bytes

__all__ = ["read_line"]

R = TypeVar("R", Episode, Trace)
Columns = dict[str, Any]
MOST = 2**63 - 1
LATEST_US = 253_402_300_800 * 1_000_000
"""The end of the year 9999."""
NOT_STRICT = frozenset({"non-finite", "bom"})


def read_line(data: bytes, number: int, line_format: LineFormat, profile: Profile, now: int) -> Line:
    """What the catalog needs of a line. Raises a 400 `ServerFault` with the line's number."""
    try:
        if line_format == "episode":
            episode, runs = _read(data, Episode)
            return _episode_line(data, episode, runs, profile, now)
        trace, runs = _read(data, Trace)
        run_id, _, step = _run_of_any(runs)
        columns = _trace(trace, run_id, step, None, profile, now) | {"position": -1, "size_bytes": len(data)}
        return Line(hashlib.sha256(data).hexdigest(), None, [columns])
    except ServerFault as fault:
        raise refused(fault.code, fault.message, line=number) from None
    except EvhError as error:
        raise _explained(data, number, line_format, error) from None


def _read(data: bytes, kind: type[R]) -> tuple[R, list[Any]]:
    """The record, and the runs that its traces name (a member that is retired: no record holds it any more)."""
    seen_retired.retired = []
    try:
        record: R = json_reader(kind).decode(data)
    except NATIVE_ERRORS:
        notices: list[Notice] = []
        named: list[Any] = []
        try:
            record = decode(data, kind, notices=notices)
        except SchemaError as error:
            data, named = _without_run(data, error)
            record = decode(data, kind, notices=notices)
        for notice in notices:
            if notice.kind in NOT_STRICT:
                raise refused("invalid_trace", f"no strict JSON: {notice}") from None
        return record, named + [notice.value for notice in notices if notice.kind == "retired"]
    runs = seen_retired.retired
    seen_retired.retired = []
    return record, runs


def _without_run(data: bytes, error: SchemaError) -> tuple[bytes, list[Any]]:
    """The line without its run, and the run, when nothing else is wrong with it: a training run without its work, say,
    as prime-runs stamps them. What a run is called is all that is asked of it."""
    if not all(each.pointer == "/run" or each.pointer.startswith("/run/") for each in error.violations):
        raise error
    document = parse(data)[0]
    run = document.pop("run")
    return dumps(document), [run]


def _explained(data: bytes, number: int, line_format: LineFormat, error: EvhError) -> ServerFault:
    other = Trace if line_format == "episode" else Episode
    if isinstance(error, SchemaError):
        try:
            decode(data, other)
        except EvhError:
            pass
        else:
            found = "a bare trace" if line_format == "episode" else "an episode"
            return refused("line_format_mismatch", f"the lines are said to be {line_format}s, this one is {found}",
                           line=number)  # fmt: skip
    return refused("invalid_trace", str(error)[:2000], line=number)


def _episode_line(data: bytes, episode: Episode, runs: list[Any], profile: Profile, now: int) -> Line:
    if len(episode.traces) > profile.max_traces_in_episode:
        raise refused(
            "too_many_traces_in_episode", f"{len(episode.traces)} traces, at most {profile.max_traces_in_episode} fit"
        )
    _id(episode.id, "episode_id_too_long", "the episode's id", profile)
    environment = episode.env.id or None
    _id(environment, "environment_id_too_long", "the environment's id", profile)
    run_id, work, step = _run_of(episode.run) if episode.run is not None else _run_of_any(runs)
    _id(run_id, "invalid_trace", "the run's id", profile)
    traces = []
    for position, trace in enumerate(episode.traces):
        columns = _trace(trace, run_id, step, environment, profile, now)
        traces.append(columns | {"position": position, "episode_id": episode.id, "size_bytes": 0})
    if len(traces) == 1:
        traces[0]["size_bytes"] = len(data)
    elif traces:
        _measure(data, traces)
    summary = next((each for each, trace in zip(traces, episode.traces, strict=True) if trace.agent.trainable), None)
    summary = summary if summary is not None or not traces else traces[0]
    error = episode.last_error
    return Line(
        hashlib.sha256(data).hexdigest(),
        {
            "episode_id": episode.id, "run_id": run_id, "environment_id": environment,
            "environment_name": _cut(episode.env.name), "task_id": _task_id(episode.task),
            "group_id": None if episode.group is None else _cut(episode.group.id), "step": step, "work": work,
            "created_us": min((each["created_us"] for each in traces), default=now),
            "ok": episode.ok, "has_error": not episode.ok, "is_timeout": episode.is_timeout,
            "outcome": "success" if episode.ok else "error",
            "error_type": None if error is None else _cut(error.type),
            "error_message": None if error is None else _cut(error.message),
            "n_traces": len(traces), "reward": None if summary is None else summary["reward"], "schema_version": 1,
        },
        traces,
    )  # fmt: skip


def _trace(
    trace: Trace, run_id: str | None, step: int | None, environment: str | None, profile: Profile, now: int
) -> Columns:
    _id(trace.id, "invalid_trace", "the trace's id", profile)
    _id(run_id, "invalid_trace", "the run's id", profile)
    truncated = trace.is_truncated
    config = trace.agent.config
    client = config.get("client")
    model = config.get("model") or next((call.model for call in trace.calls if call.model), None)
    started, ended = _times(trace)
    return {
        "trace_id": trace.id, "episode_id": None, "run_id": run_id, "step": step, "environment_id": environment,
        "created_us": _created(started, now),
        "model_provider": _cut(client.get("type")) if isinstance(client, dict) else None,
        "model_id": _cut(model), "task_id": _task_id(trace.task), "agent_name": _cut(trace.agent.name),
        "reward": _reward(trace), "outcome": "error" if not trace.ok else "truncated" if truncated else "success",
        "has_error": not trace.ok, "is_truncated": truncated,
        "duration_ms": int(min(max(0.0, ended - started) * 1000, MOST // 2)) if started and ended else 0,
        "total_tokens": _tokens(trace),
    }  # fmt: skip


def _times(trace: Trace) -> tuple[float, float]:
    timing = trace.timing
    spans = (timing.boot, timing.setup, timing.agent, timing.finalize, timing.scoring)
    try:
        return float(timing.start), float(max(span.end for span in spans))
    except OverflowError:
        return 0.0, 0.0


def _created(started: float, now: int) -> int:
    """When a trace was begun: when it came, where it does not say."""
    if not started:
        return now
    if not 0 < started * 1_000_000 < LATEST_US:
        raise refused("created_at_out_of_window", f"timing.start is {started!r}: no instant between 1970 and 9999")
    return round(started * 1_000_000)


def _reward(trace: Trace) -> float | None:
    try:
        return trace.reward
    except RecordError:
        return None


def _tokens(trace: Trace) -> int:
    try:
        return max(0, min(trace.num_total_tokens, MOST))
    except RecordError:
        return 0


def _task_id(task: Any) -> str | None:
    """What a task is known by: the id its data set gives it, its position there, or its key."""
    data = task.data
    for value in (data.get("id"), data.get("idx"), task.key, data.get("name")):
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return head_text(str(value))
    return None


def _run_of(run: Any) -> tuple[str | None, str | None, int | None]:
    """Id, kind of work and training step of an episode's run."""
    if isinstance(run, EvalRunInfo):
        return run.id or None, "eval", None
    if isinstance(run, TrainRunInfo):
        step = getattr(run.work, "step", None)
        return run.id or None, _work(getattr(run.work, "type", None)), step
    return _run_of_any([run.value])


def _run_of_any(runs: list[Any]) -> tuple[str | None, str | None, int | None]:
    """The same of the first plain object that is a run."""
    for run in runs:
        if isinstance(run, dict) and isinstance(run.get("id"), str) and run["id"]:
            work = run.get("work")
            held = work if isinstance(work, dict) else {}
            step = held.get("step")
            sound = type(step) is int and -(2**53) < step < 2**53
            return run["id"], _work(held.get("type") or run.get("type")), step if sound else None
    return None, None, None


def _work(kind: Any) -> str | None:
    return kind if kind in ("eval", "train") else None


def _measure(data: bytes, traces: list[Columns]) -> None:
    """The bytes of each member trace, as they stand in the line."""
    from evh.server.documents import member_documents

    for columns, document in zip(traces, member_documents(data), strict=True):
        columns["size_bytes"] = len(document)


def _id(text: str | None, code: str, what: str, profile: Profile) -> None:
    if text is not None and len(text) * 4 > profile.max_id_bytes and len(to_bytes(text)) > profile.max_id_bytes:
        raise refused(code, f"{what} is longer than {profile.max_id_bytes} bytes: {cut(text)}")
    if text == "" and code != "environment_id_too_long":
        raise refused("invalid_trace", f"{what} is empty")


def _cut(value: Any) -> str | None:
    return head_text(value) if isinstance(value, str) and value else None
