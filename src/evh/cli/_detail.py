"""One episode for people: what it was, how it ended, and per trace who acted, what it cost, and the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evh.cli._listing import run_of, task_name
from evh.cli._terminal import Part, Screen, cells, clip, number, plural, printable, text_of, wrapped
from evh.errors import EvhError

__all__ = ["print_episode"]

LABEL = 11
ROLE = 10
SHOWN_SECONDS = 0.0005
PHASES = ("boot", "setup", "agent", "finalize", "scoring")
ROLE_STYLES = {"system": "magenta", "user": "blue", "assistant": "green", "tool": "yellow"}


def print_episode(
    episode: Any, position: int, *, full: bool, trace_id: str | None = None, file: str | None = None
) -> None:
    """Print an episode; `full` shows messages whole, `trace_id` marks the trace that was asked for, `file` is where it
    stands when there are several."""
    screen = Screen()
    verdict: Part = ("ok", "green") if episode.ok else ("failed", "red")
    name: Part = (printable(episode.id), "bold")
    screen.line(screen.sign(episode.ok), " ", ("episode ", "dim"), name, f"  #{position}  ", verdict)
    if file is not None:
        _fact(screen, "file", printable(file))
    for label, parts in _header(episode):
        _fact(screen, label, *parts)
    _errors(screen, episode.errors)
    for index, trace in enumerate(episode.traces):
        screen.line()
        asked = trace_id is not None and trace.id == trace_id
        _trace(screen, trace, index, len(episode.traces), full=full, asked=asked)
    if not episode.traces:
        screen.line()
        screen.line(("no traces: nothing ran, or nothing was kept", "dim"))
    screen.flush()


def _header(episode: Any) -> Iterator[tuple[str, list[Part]]]:
    task = episode.task
    kind = f"  ({printable(task.type)})" if task.type and task.type != task_name(task) else ""
    yield "task", [printable(task_name(task)), (kind, "dim")]
    if episode.env.id or episode.env.name:
        called = f"  ({printable(episode.env.name)})" if episode.env.name else ""
        yield "env", [printable(episode.env.id or "–"), (called, "dim")]
    run, name = run_of(episode.run)
    if run is not None:
        yield "run", [printable(run), (f"  ({printable(name)})" if name else "", "dim"), _work(episode.run)]
    if episode.group is not None:
        yield "group", [printable(episode.group.id)]
    from evh.protocol.summaries import summary_of

    yield "reward", [number(summary_of(episode).reward) if episode.traces else "–"]
    tokens = _tokens(episode)
    if tokens:
        yield "tokens", [tokens]
    if episode.is_timeout:
        yield "timeout", [("ran past its deadline", "red")]
    noted = [printable(key) for key in episode.info]
    if noted:
        yield "info", [", ".join(noted)]


def _work(run: Any) -> str:
    work = getattr(run, "work", None)
    step = getattr(work, "step", None)
    return "" if step is None else f"  step {step:,}"


def _tokens(record: Any) -> str:
    try:
        return f"{record.num_input_tokens:,} in, {record.num_output_tokens:,} out, {plural(record.num_turns, 'turn')}"
    except EvhError as error:
        return f"cannot be counted: {printable(error.message)}"


def _fact(screen: Screen, label: str, *parts: Part) -> None:
    """A labelled line; on a terminal that is too narrow for it, several."""
    head: Part = (f"  {label:<{LABEL}}", "dim")
    room = screen.width - LABEL - 2
    text = "".join(map(text_of, parts))
    if not screen.terminal or cells(text) <= room:
        screen.line(head, *parts)
        return
    for line in wrapped(text, room):
        screen.line(head, line)
        head = " " * (LABEL + 2)


def _errors(screen: Screen, errors: Iterable[Any]) -> None:
    for error in errors:
        status = f" ({error.status_code})" if error.status_code is not None else ""
        text = f"{printable(error.type)}{status}: {printable(error.message)}"
        _fact(screen, "error", (_fitted(screen, text, LABEL + 2), "red"))


def _fitted(screen: Screen, text: str, taken: int) -> str:
    return clip(text, screen.width - taken)


def _trace(screen: Screen, trace: Any, index: int, count: int, *, full: bool, asked: bool) -> None:
    which = f"trace {index + 1} of {count} " if count > 1 else "trace "
    mark: Part = ("  (the one you asked for)", "yellow") if asked and count > 1 else ""
    screen.line(screen.sign(trace.ok), " ", (which, "dim"), (printable(trace.id), "bold"), mark)
    for label, parts in _facts(trace):
        _fact(screen, label, *parts)
    _errors(screen, trace.errors)
    try:
        branches = trace.branches
        messages = branches[-1].messages if branches else []
    except EvhError as error:
        screen.line()
        screen.line(("  the conversation cannot be followed: ", "red"), printable(error.message))
        return
    if messages:
        screen.line()
        for message in messages:
            _message(screen, message, full)
    others = branches[:-1]
    if others:
        screen.line()
        screen.line((f"  {plural(len(others), 'other branch', 'other branches')}", "dim"))
        for branch in others:
            ends = _said(branch.messages[-1])
            label = f"  {branch.index + 1:>{4}}  {plural(len(branch.messages), 'message')}, ends: "
            screen.line(label, (_fitted(screen, f"{ends[0]}: {printable(ends[1])}", cells(label)), "dim"))


def _facts(trace: Any) -> Iterator[tuple[str, list[Part]]]:
    agent = trace.agent
    model = agent.config.get("model")
    named: list[Part] = [printable(agent.name)]
    if isinstance(model, str) and model:
        named.append(f", model {printable(model)}")
    if not agent.trainable:
        named.append((", not trained on", "dim"))
    yield "agent", named
    ended = printable(trace.stop_condition or ("completed" if trace.is_completed else "not completed"))
    notes = [text for text, true in (("truncated", trace.is_truncated), ("timed out", trace.is_timeout)) if true]
    yield "ended", [ended, ("".join(f", {note}" for note in notes), "yellow")]
    rewards = [_reward(printable(name), reward) for name, reward in trace.rewards.items()]
    if rewards:
        yield "rewards", [", ".join(rewards), (f"  = {_total(trace)}" if len(rewards) > 1 else "", "bold")]
    if trace.metrics:
        yield "metrics", [", ".join(f"{printable(name)} {number(value)}" for name, value in trace.metrics.items())]
    usage = _usage(trace)
    if usage:
        yield "usage", [usage]
    spent = [
        f"{phase} {_seconds(span.duration)}"
        for phase in PHASES
        if (span := getattr(trace.timing, phase)).duration >= SHOWN_SECONDS
    ]
    if spent:
        yield "timing", [", ".join(spent)]
        if shares := _split(trace.timing.agent):
            yield "", [(shares, "dim")]


def _reward(name: str, reward: Any) -> str:
    if reward is None:
        return f"{name} –"
    weight = "" if reward.weight == 1 else f" × {number(reward.weight)}"
    return f"{name} {number(reward.score)}{weight}"


def _total(trace: Any) -> str:
    try:
        return number(trace.reward)
    except EvhError:
        return "–"


def _usage(trace: Any) -> str:
    try:
        usage = trace.usage
    except EvhError as error:
        return printable(error.message)
    if usage is None:
        return ""
    cached = f" (+ {usage.cached_input_tokens:,} cached)" if usage.cached_input_tokens else ""
    reasoning = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
    cost = f", cost {number(usage.cost, digits=4)}" if usage.cost is not None else ""
    calls = plural(len(trace.calls), "call")
    return f"{usage.prompt_tokens:,} prompt{cached}, {usage.completion_tokens:,} completion{reasoning}{cost}, {calls}"


def _split(span: Any) -> str:
    shares = [(name, getattr(span, name).duration) for name in ("model", "harness")]
    told = [f"{name} {_seconds(duration)}" for name, duration in shares if duration]
    return f"of the agent's: {', '.join(told)}" if told else ""


def _seconds(value: float) -> str:
    if value >= 60:
        minutes, seconds = divmod(round(value), 60)
        return f"{minutes:,} min {seconds} s" if seconds else f"{minutes:,} min"
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1000:.0f} ms"


# --- messages --------------------------------------------------------------------------------------------------------


def _message(screen: Screen, message: Any, full: bool) -> None:
    for role, text in _spoken(message):
        style = ROLE_STYLES.get(role.strip(), "")
        label = f"  {clip(role, ROLE):<{ROLE}} "
        if not full:
            screen.line((label, style), _fitted(screen, printable(text), cells(label)))
            continue
        lines = printable(text, lines=True).split("\n")
        screen.line((label, style), lines[0])
        for line in lines[1:]:
            screen.line(" " * cells(label), line)


def _spoken(message: Any) -> Iterator[tuple[str, str]]:
    """Role and text of what a message says: its content, its reasoning, the calls it asks for."""
    role, text = _said(message)
    reasoning = getattr(message, "reasoning_content", None)
    if reasoning:
        yield role, f"(thinks) {reasoning}"
        role = ""
    calls = getattr(message, "tool_calls", None) or []
    if text or not (calls or reasoning):
        yield role, text or "(empty)"
        role = ""
    for call in calls:
        yield role, f"→ {call.name}({call.arguments})"
        role = ""


def _said(message: Any) -> tuple[str, str]:
    from evh.protocol.behaviour.messages import content_of, tag_of, text_of

    content = content_of(message)
    text = text_of(content)
    others = [] if not isinstance(content, list) else [tag_of(part) or "part" for part in content]
    marks = " ".join(f"[{kind.removesuffix('_url')}]" for kind in others if kind != "text")
    return printable(tag_of(message) or "message"), f"{text} {marks}".strip() if marks else text
