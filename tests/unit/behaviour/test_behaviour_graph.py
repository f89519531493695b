"""Branches and token counts: known answers from small graphs, and agreement with their definitions on any forest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.errors import RecordError
from evh.protocol.models import ParentLink, Trace

COUNTS = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
WALKS = ("branches", "num_branches", "messages", "transcript", *COUNTS)


def test_a_fork_makes_a_branch_per_leaf_with_a_shared_prefix(make: Any) -> None:
    trace = make.forked()
    first, second = trace.branches
    assert trace.num_branches == 2
    assert (first.index, first.path, second.index, second.path) == (0, [0, 1, 2, 3, 4], 1, [0, 1, 2, 5, 6])
    assert first.nodes[2] is second.nodes[2] is trace.nodes[2]
    assert [call.node for call in first.calls] == [2, 4]
    assert [call.node for call in second.calls] == [2, 6]
    assert [message.content for message in second.messages] == ["rules", "first", "one", "third", " three "]


def test_tokens_of_a_fork(make: Any) -> None:
    trace = make.forked()
    first, second = trace.branches
    # first call 10 in; then 20 − 15 on the first branch and 30 − 15 on the second
    assert (first.num_input_tokens, second.num_input_tokens, trace.num_input_tokens) == (15, 25, 30)
    # the shared call's 5 count on both branches, once in the usage
    assert (first.num_output_tokens, second.num_output_tokens, trace.num_output_tokens) == (12, 8, 20)
    assert trace.usage is not None and trace.usage.completion_tokens == 15
    assert (first.num_total_tokens, second.num_total_tokens, trace.num_total_tokens) == (27, 33, 45)
    assert trace.num_turns == 3


def test_the_last_of_several_calls_on_a_node_counts_for_branches_and_all_for_usage(make: Any) -> None:
    trace = make.trace([make.node(), make.reply(0)], [make.call(1, 100, 50), make.call(1, 7, 3), make.call(None, 1, 1)])
    (branch,) = trace.branches
    assert branch.calls == [trace.calls[1]]
    assert (trace.num_input_tokens, trace.num_output_tokens) == (7, 3)
    assert trace.usage is not None
    assert (trace.usage.prompt_tokens, trace.usage.completion_tokens) == (108, 54)
    assert trace.num_total_tokens == 7 + 54


def test_a_call_that_names_no_node_of_the_trace_is_on_no_branch(make: Any) -> None:
    trace = make.trace([make.reply(None)], [make.call(9, 4, 2)])
    assert trace.branches[0].calls == []
    assert (trace.num_input_tokens, trace.num_output_tokens, trace.num_total_tokens) == (0, 0, 2)


def test_input_is_never_negative_and_includes_what_came_from_the_cache(make: Any) -> None:
    nodes = [make.node(), make.reply(0), make.node(1), make.reply(2)]
    trace = make.trace(nodes, [make.call(1, 10, 90, cached=40), make.call(3, 20, 5, cached=30)])
    assert trace.num_input_tokens == 50  # the second call's 50 are fewer than the 140 before it
    assert trace.branches[0].num_input_tokens == 50
    assert trace.branches[0].num_total_tokens == 55


def test_calls_without_usage_are_passed_over(make: Any) -> None:
    nodes = [make.reply(None), make.reply(0), make.reply(1)]
    trace = make.trace(nodes, [make.call(0, 10, 5), make.call(2, 20, 1)])
    trace.calls.insert(1, type(trace.calls[0])(node=1))
    assert trace.num_input_tokens == 15
    assert trace.branches[0].last_usage == trace.calls[2].usage


def test_an_empty_trace_has_no_branches(make: Any) -> None:
    trace = make.trace()
    assert trace.branches == [] and trace.messages == [] and trace.usage is None
    assert (trace.num_branches, trace.num_turns, trace.num_total_tokens, trace.transcript) == (0, 0, 0, "")
    assert (trace.last_reply, trace.last_error, trace.is_truncated) == ("", None, False)
    with pytest.raises(RecordError) as caught:
        _ = trace.last_message
    assert caught.value.pointer == "/nodes"


def test_roots_stand_beside_each_other(make: Any) -> None:
    trace = make.trace([make.node(), make.node(), make.reply(0)])
    assert [branch.path for branch in trace.branches] == [[1], [0, 2]]


def test_a_compaction_attempt_trains_only_when_a_node_resumed_from_it(make: Any) -> None:
    attempt = [ParentLink(node=0, type="compaction_attempt")]
    nodes = [
        make.node(),
        make.reply(0, semantic_parents=attempt),
        make.reply(0, semantic_parents=attempt),
        make.reply(0),
    ]
    nodes[3].semantic_parents = [ParentLink(node=2, type="compaction"), ParentLink(node=77, type="compaction")]
    assert [branch.trainable for branch in make.trace(nodes).branches] == [False, True, True]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(
    ("parents", "at"),
    [([None, 5], 1), ([None, 1], 1), ([1, 0], 0), ([None, 2, 1], 1), ([None, -1], 1), ([0], 0), ([None, True], 1)],
    ids=["dangling", "itself", "cycle", "cycle-beside-a-root", "negative", "itself-alone", "boolean"],
)
def test_a_bad_parent_is_an_error_with_its_pointer(make: Any, walk: str, parents: list[Any], at: int) -> None:
    trace = make.trace([make.node(parent) for parent in parents])
    with pytest.raises(RecordError) as caught:
        getattr(trace, walk)
    assert caught.value.pointer == f"/nodes/{at}/parent"
    episode = make.episode(make.trace(), trace)
    if walk in COUNTS:
        with pytest.raises(RecordError) as caught:
            getattr(episode, walk)
        assert caught.value.pointer == f"/traces/1/nodes/{at}/parent"


def test_a_long_chain_with_many_leaves_costs_no_more_than_its_nodes(make: Any) -> None:
    depth = 20_000
    chain = [make.node(index - 1 if index else None) for index in range(depth)]
    leaves = [make.reply(depth - 1) for _ in range(depth)]
    trace = make.trace(chain + leaves, [make.call(0, 10, 1)])
    branches = trace.branches
    assert len(branches) == trace.num_branches == depth
    assert trace.num_output_tokens == depth
    assert trace.num_input_tokens == 10
    assert len(branches[-1].path) == depth + 1


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int | None], list[tuple[int | None, int, int]]]:
    count = draw(st.integers(0, 12))
    parents = [draw(st.none() | st.integers(0, index - 1)) if index else None for index in range(count)]
    small = st.integers(0, 50)
    calls = draw(st.lists(st.tuples(st.none() | st.integers(0, 14), small, small), max_size=12))
    return parents, calls


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(forest=forests())
def test_linear_counts_equal_their_definitions_over_branches(make: Any, forest: Any) -> None:
    parents, calls = forest
    trace: Trace = make.trace([make.node(parent) for parent in parents], [make.call(*call) for call in calls])
    branches = trace.branches
    assert [branch.path[-1] for branch in branches] == [index for index in range(len(parents)) if index not in parents]
    assert trace.num_output_tokens == sum(branch.num_output_tokens for branch in branches)
    first_seen: dict[int, int] = {}
    for branch in branches:
        before = 0
        for call in branch.calls:
            assert call.usage is not None
            first_seen.setdefault(id(call), max(0, call.usage.input_tokens - before))
            before = call.usage.total_tokens
    assert trace.num_input_tokens == sum(first_seen.values())
    assert all(
        parent == child_parent
        for branch in branches
        for parent, child_parent in zip(
            [None, *branch.path[:-1]], [parents[index] for index in branch.path], strict=True
        )
    )
