"""What a program that uses evh writes; both type checkers must take every line at their strictest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, assert_type

import evh
from evh import (
    AgentConfig,
    AgentInfo,
    AssistantMessage,
    Branch,
    EnvInfo,
    Episode,
    EpisodeWriter,
    Error,
    EvalRunInfo,
    EvhError,
    MessageNode,
    ModelCall,
    Notice,
    PolicySpan,
    PredictionRow,
    Reward,
    RunRecord,
    Step,
    SystemMessage,
    TaskData,
    Trace,
    TraceTask,
    TrainRunInfo,
    TrainWorkInfo,
    Usage,
    UserMessage,
    Violation,
)


def reading(line: bytes) -> None:
    notices: list[Notice] = []
    assert_type(evh.decode(line), Episode)
    assert_type(evh.decode(line, Trace, notices=notices), Trace)
    assert_type(evh.decode(line, RunRecord), RunRecord)
    assert_type(evh.decode(bytearray(line), format="msgpack"), Episode)
    assert_type(evh.decode_strict(line), Episode)
    assert_type(evh.decode_strict(line.decode(), PredictionRow), PredictionRow)
    up = evh.upgrade(line)
    assert_type(up.record, Episode)
    assert_type(up.steps, tuple[Step, ...])
    assert_type(evh.upgrade(line, Trace).record, Trace)
    for step in up.steps:
        print(step.rule, step.action, step.pointer, step.to, step.note)
    converted = evh.convert(up.record, "verifiers-0.4")
    assert_type(converted.data, bytes)
    assert_type(evh.verify(up.record), list[Violation])
    assert_type(evh.encode(up.record), bytes)
    assert_type(evh.encode(up.record, format="msgpack", strict=True), bytes)
    assert_type(evh.json_schema("episode"), dict[str, Any])


def records(episode: Episode) -> Iterator[float | None]:
    assert_type(episode.id, str)
    assert_type(episode.ok, bool)
    assert_type(episode.errors, list[Error])
    assert_type(episode.info, dict[str, Any])
    assert_type(episode.env, EnvInfo)
    assert_type(episode.by_agent, dict[str, list[Trace]])
    run = episode.run
    if isinstance(run, TrainRunInfo):
        assert_type(run.type, Literal["train"])
        work = run.work
        if isinstance(work, TrainWorkInfo) and work.policy is not None:
            assert_type(work.policy.start, int)
    elif isinstance(run, EvalRunInfo):
        assert_type(run.name, str | None)
    for trace in episode.traces:
        assert_type(trace.agent, AgentInfo)
        assert_type(trace.rewards, dict[str, Reward | None])
        assert_type(trace.metrics, dict[str, int | float | None])
        assert_type(trace.timing.start, int | float)
        assert_type(trace.branches, list[Branch])
        assert_type(trace.usage, Usage | None)
        assert_type(trace.num_turns, int)
        assert_type(trace.is_truncated, bool)
        assert_type(trace.last_reply, str)
        for node in trace.nodes:
            streams(node)
        for call in trace.calls:
            assert_type(call.node, int | None)
        yield trace.reward


def streams(node: MessageNode) -> int:
    assert_type(node.token_ids, list[int])
    assert_type(node.mask, list[bool])
    assert_type(node.is_content, list[bool])
    assert_type(node.logprobs, list[int | float])
    assert_type(node.advantages, list[int | float] | None)
    assert_type(node.loss_weights, dict[str, list[int | float]] | None)
    assert_type(node.parent, int | None)
    node.token_ids = [1, 2, 3]
    node.advantages = None
    message = node.message
    if isinstance(message, AssistantMessage):
        assert_type(message.content, str | None)
        for call in message.tool_calls or []:
            assert_type(call.arguments, str)
    elif isinstance(message, UserMessage) and not isinstance(message.content, str):
        for part in message.content:
            if isinstance(part, evh.TextPart):
                assert_type(part.text, str)
    return sum(node.token_ids)


def open_objects(task: TraceTask, agent: AgentInfo) -> None:
    assert_type(task.data.prompt, str | list[Any] | None)
    assert_type(task.data.get("column"), Any | None)
    assert_type(agent.config.model, str | None)
    assert_type(agent.trainable, bool)
    task.data["column"] = 1
    assert_type(task.data["column"], Any)


def making() -> Episode:
    task = TraceTask(type="Arithmetic", data=TaskData({"question": "2 + 2"}))
    trace = Trace(
        task=task,
        agent=AgentInfo(config=AgentConfig({"model": "some-model"})),
        nodes=[
            MessageNode(message=SystemMessage(content="Add.")),
            MessageNode(message=UserMessage(content="2 + 2"), parent=0),
            MessageNode(message=AssistantMessage(content="4"), parent=1, sampled=True, token_ids=[4], mask=[True]),
        ],
        calls=[ModelCall(node=2, usage=Usage(prompt_tokens=9, completion_tokens=1))],
        rewards={"exact": Reward(score=1.0), "judged": None},
        ok=True,
    )
    trace.record_reward("style", 0.5, weight=2.0)
    episode = Episode(task=task, env=EnvInfo(id="arithmetic"), traces=[trace], ok=True)
    episode.record_run(EvalRunInfo(id="r1", name="nightly"), split="test")
    policy = PolicySpan(start=3, end=4)
    Episode.of(trace).record_run(TrainRunInfo(id="r2", work=TrainWorkInfo(step=7, policy=policy)))
    return episode


def files(path: Path) -> list[str]:
    with EpisodeWriter(path, fsync="always") as writer:
        writer.write(making())
    try:
        reader = evh.read_episodes(path, mode="upgrade", on_error="skip")
        ids = [episode.id for episode in reader]
        assert_type(reader.skipped, int)
        for row in evh.read_rows(path):
            assert_type(row.line, int)
        for summary in evh.read_summaries(path):
            assert_type(summary.reward, float | None)
    except EvhError as error:
        assert_type(error.line, int | None)
        raise
    return ids
