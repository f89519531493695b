"""What a trace says of itself: reward, verdicts, replies, usage and time."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import RecordError, UsageError
from evh.protocol.models import (
    AgentSpan,
    AssistantMessage,
    Error,
    ImageSource,
    ImageUrlPart,
    ModelCall,
    Reward,
    TextPart,
    TimeSpan,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)


def test_an_unscored_trace_has_no_reward_and_a_compatible_zero(make: Any) -> None:
    for rewards in ({}, {"a": None}):
        trace = make.trace(rewards=rewards)
        assert trace.reward is None
        assert trace.reward_or_zero == 0.0
    assert make.trace(rewards={"a": Reward(score=0)}).reward == 0.0


def test_the_reward_is_the_weighted_sum_of_what_was_scored(make: Any) -> None:
    rewards = {"a": Reward(score=1, weight=0.5), "b": None, "c": Reward(score=-2.0)}
    reward = make.trace(rewards=rewards).reward
    assert reward == -1.5 and type(reward) is float


@pytest.mark.parametrize(
    ("rewards", "at"),
    [
        ({"a/b": Reward(score=10**400)}, "/rewards/a~1b/score"),
        ({"a": Reward(score=1, weight=10**400)}, "/rewards/a/weight"),
        ({"a": Reward(score=1e300, weight=1e300)}, "/rewards/a"),
        ({"a": Reward(score=1.7e308), "b": Reward(score=1.7e308)}, "/rewards"),
    ],
)
def test_a_reward_beyond_a_double_is_an_error_with_its_pointer(make: Any, rewards: Any, at: str) -> None:
    with pytest.raises(RecordError) as caught:
        _ = make.trace(rewards=rewards).reward
    assert caught.value.pointer == at


def test_recording_rewards_and_metrics(make: Any) -> None:
    trace = make.trace()
    trace.record_reward("judge", 1, 0.5)
    trace.record_metric("length", 12)
    trace.record_metrics({"a": 1.5, "b": True})
    assert trace.rewards == {"judge": Reward(score=1.0, weight=0.5)}
    assert trace.metrics == {"length": 12.0, "a": 1.5, "b": 1.0}
    assert trace.reward == 0.5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, 10**400, [1], object()])
def test_only_finite_numbers_are_recorded(make: Any, value: Any) -> None:
    trace = make.trace(metrics={"kept": 1.0})
    with pytest.raises(UsageError):
        trace.record_reward("judge", value)
    with pytest.raises(UsageError):
        trace.record_metrics({"good": 2.0, "bad": value})
    assert (trace.rewards, trace.metrics) == ({}, {"kept": 1.0})


def test_stopping_keeps_the_first_condition_unless_told_otherwise(make: Any) -> None:
    trace = make.trace()
    trace.stop("max_turns")
    trace.stop("agent_completed")
    assert (trace.is_completed, trace.stop_condition) == (True, "max_turns")
    trace.stop("scoring_timeout", override=True)
    assert trace.stop_condition == "scoring_timeout"


def test_the_run_of_a_trace_says_where_it_went(make: Any) -> None:
    trace = make.trace()
    with pytest.raises(AttributeError, match=r"read Episode\.run"):
        _ = trace.run
    assert not hasattr(trace, "run")


def test_failure_is_the_verdict_not_the_list_of_errors(make: Any) -> None:
    errors = [Error(type="ProviderError", message="429"), Error(type="TaskError", message="late")]
    trace = make.trace(ok=True, errors=errors)
    assert trace.has_error is False
    assert trace.last_error is not None and trace.last_error.message == "late"
    assert make.trace().has_error is True


@pytest.mark.parametrize(
    ("condition", "truncated"),
    [
        ("max_turns", True), ("max_input_tokens", True), ("max_output_tokens", True), ("max_total_tokens", True),
        ("compaction_failed", True), ("context_length", False), ("agent_completed", False), (None, False),
    ],
)  # fmt: skip
def test_limits_truncate(make: Any, condition: str | None, truncated: bool) -> None:
    assert make.trace(stop_condition=condition).is_truncated is truncated


def test_the_last_call_without_an_error_decides_whether_a_reply_was_cut(make: Any) -> None:
    cut = ModelCall(finish_reason="length")
    failed = ModelCall(finish_reason="stop", error=Error(type="ProviderError", message="500"))
    assert make.trace(calls=[ModelCall(finish_reason="stop"), cut, failed]).is_truncated
    assert not make.trace(calls=[cut, ModelCall(finish_reason="stop")]).is_truncated
    assert not make.trace(calls=[failed]).is_truncated


def test_replies_are_what_models_produced(make: Any) -> None:
    trace = make.forked()
    trace.nodes.append(make.node(6, "assistant", "fabricated"))
    assert [message.content for message in trace.assistant_messages] == ["one", "two", " three "]
    assert [message.content for message in trace.tool_messages] == ["third"]
    assert trace.last_message.content == "fabricated"
    assert trace.last_reply == "three"
    trace.root_reply = " root "
    assert trace.last_reply == "root"


def test_the_transcript_heads_each_message_and_leaves_images_out(make: Any) -> None:
    parts = [TextPart(text="see"), ImageUrlPart(image_url=ImageSource(url="data:,")), TextPart(text="this")]
    calls = [
        ToolCall(id="1", name="add", arguments="{}"),
        ToolCall(id="2", name="sub", namespace="math", arguments="!"),
    ]
    nodes = [make.node(), make.reply(0), make.node(1, "tool"), make.reply(2)]
    nodes[0].message = UserMessage(content=parts)
    nodes[1].message = AssistantMessage(content=None, tool_calls=calls)
    nodes[2].message = ToolMessage(content="3", tool_call_id="1", name="add")
    nodes[3].message = AssistantMessage(content="done")
    assert make.trace(nodes).transcript == (
        "[user]\nsee\nthis\n\n[assistant]\n[tool_call add({})]\n[tool_call math.sub(!)]\n\n"
        "[tool add]\n3\n\n[assistant]\ndone"
    )


def test_messages_and_parts_of_unknown_kinds_are_read_for_what_they_have(read: Any) -> None:
    row = (
        b'{"id":"e","task":{"type":"T","data":{}},"traces":[{"id":"t","task":{"type":"T","data":{}},'
        b'"agent":{"config":{}},"timing":{"start":1},"nodes":[{"message":{"role":"user","content":"hi"}}]}]}'
    )
    trace = read(row).traces[0]
    from evh.protocol._base import ArmValue
    from evh.protocol.models import UnknownContentPart, UnknownMessage

    odd = ArmValue(
        {"role": "developer", "content": [{"type": "text", "text": "x"}, {"type": "audio"}], "tool_calls": 5}
    )
    trace.nodes[0].message = UnknownMessage(value=odd)
    assert trace.transcript == "[developer]\nx"
    assert trace.assistant_messages == [] and trace.last_reply == ""
    assert trace.nodes[0].message.model_dump(mode="json") == dict(odd)
    trace.nodes[0].message = UserMessage(content=[UnknownContentPart(value=ArmValue({"type": "audio"}))])
    assert trace.transcript == "[user]"
    trace.nodes[0].message = UnknownMessage(value=ArmValue({"role": 7}))
    assert trace.transcript == "[unknown]"


def test_usages_add_up_member_by_member() -> None:
    assert Usage.aggregate([]) is None
    some = Usage(prompt_tokens=1, completion_tokens=2, cached_input_tokens=3, cost=0.5)
    other = Usage(prompt_tokens=10, completion_tokens=20, reasoning_tokens=4)
    assert Usage.aggregate([some, other]) == Usage(
        prompt_tokens=11, completion_tokens=22, cached_input_tokens=3, reasoning_tokens=4, cost=0.5
    )
    assert (some.input_tokens, some.total_tokens, other.total_tokens) == (4, 6, 30)
    whole = Usage.aggregate([other, other])
    assert whole is not None and type(whole.prompt_tokens) is int and whole.cost is None


@pytest.mark.parametrize("costs", [(10**400, 0.5), (1.7e308, 1.7e308)])
def test_a_cost_beyond_a_double_is_an_error(make: Any, costs: Any) -> None:
    with pytest.raises(RecordError) as caught:
        _ = make.trace(calls=[make.call(None, cost=cost) for cost in costs]).usage
    assert caught.value.pointer == "/calls"


@pytest.mark.parametrize(
    ("start", "end", "duration"), [(1.0, 3.5, 2.5), (5, 0, 0.0), (5, 3, 0.0), (0, 0, 0.0), (1, 4, 3.0)]
)
def test_a_duration_is_never_negative_and_zero_without_an_end(start: float, end: float, duration: float) -> None:
    for span in (TimeSpan(start=start, end=end), AgentSpan(start=start, end=end)):
        assert span.duration == duration and type(span.duration) is float


def test_an_instant_beyond_a_double_is_an_error() -> None:
    with pytest.raises(RecordError) as caught:
        _ = TimeSpan(start=1, end=10**400).duration
    assert caught.value.pointer == "/end"
