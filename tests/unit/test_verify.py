"""`verify`: each rule finds what breaks it, with the pointer, and says nothing of sound records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.errors import UsageError, Violation
from evh.protocol.codec import decode
from evh.protocol.models import (
    AgentInfo,
    Derived,
    Episode,
    EvalRunInfo,
    MessageNode,
    ModelCall,
    ParentLink,
    PolicySpan,
    RescoreDerived,
    RescoreWith,
    Reward,
    RunRecord,
    SamplingMask,
    TaskData,
    Tensor,
    TimeSpan,
    Trace,
    TraceTask,
    TrainRunInfo,
    TrainWorkInfo,
    UserMessage,
)
from evh.protocol.verify import MAX_DERIVATIONS, verify

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "verifiers"
EXAMPLES = ROOT / "schema" / "v1" / "examples" / "valid"
CURRENT = ("v0.4.0-eval", "v0.4.0-branches", "v0.4.0-best-of-n", "v0.4.0-two-seat", "v0.3.1-eval")


def task() -> TraceTask:
    return TraceTask(type="Sum", data=TaskData())


def node(parent: int | None = None, **members: Any) -> MessageNode:
    return MessageNode(parent=parent, message=UserMessage(content=""), **members)


def trace(*nodes: MessageNode, **members: Any) -> Trace:
    return Trace(task=task(), agent=AgentInfo(config={}), nodes=list(nodes), **members)


def episode(*traces: Trace, **members: Any) -> Episode:
    return Episode(task=task(), traces=list(traces), **members)


def found(record: Any) -> list[tuple[str, str]]:
    findings = verify(record)
    assert all(isinstance(finding, Violation) and finding.message for finding in findings)
    return [(finding.pointer, finding.keyword) for finding in findings]


def tensor(*shape: int, dtype: str = "uint8") -> Tensor:
    return Tensor.of(np.zeros(shape, dtype=dtype))


def counts(*values: int) -> Tensor:
    return Tensor.of(np.array(values, dtype="int32"))


SAMPLED = {"token_ids": [1, 2, 3], "mask": [False, True, True], "logprobs": [-0.5, -1]}


@pytest.mark.parametrize("name", CURRENT)
def test_real_rows_are_sound(name: str) -> None:
    for row in (DATA / name / "traces.jsonl").read_bytes().split(b"\n"):
        if row:
            assert verify(decode(row)) == []


@pytest.mark.parametrize("name", ["RunRecord", "Derived"])
def test_valid_examples_are_sound(name: str) -> None:
    kind: Any = {"RunRecord": RunRecord, "Derived": Derived}[name]
    paths = sorted((EXAMPLES / name).glob("*.json"))
    assert paths
    for path in paths:
        assert verify(decode(path.read_bytes(), kind)) == [], path.name


def test_a_made_record_is_sound() -> None:
    sound = trace(node(**SAMPLED, sampled=True), node(0, is_content=[]), calls=[ModelCall(node=0), ModelCall()])
    assert found(episode(sound, ok=True)) == []
    assert found(EvalRunInfo(id="r")) == []


@pytest.mark.parametrize("other", [None, {}, "row", 3, [1]])
def test_what_is_no_record_is_refused(other: Any) -> None:
    with pytest.raises(UsageError):
        verify(other)


@pytest.mark.parametrize(
    ("parents", "findings"),
    [
        ([None, 7], [(1, "parent-range")]),
        ([None, -1], [(1, "parent-range")]),
        ([0], [(0, "parent-cycle")]),
        ([1, 0], [(0, "parent-cycle"), (1, "parent-cycle")]),
        ([1, None], [(0, "parent-order")]),
        ([1, 2, 1, 0], [(0, "parent-order"), (1, "parent-cycle"), (2, "parent-cycle")]),
        (
            [None, 0, 5, 2, 3, 4, 0],
            [(2, "parent-cycle"), (3, "parent-cycle"), (4, "parent-cycle"), (5, "parent-cycle")],
        ),
        ([2, 0, 9], [(0, "parent-order"), (2, "parent-range")]),
    ],
)
def test_parents(parents: list[int | None], findings: list[tuple[int, str]]) -> None:
    expected = [(f"/nodes/{index}/parent", keyword) for index, keyword in findings]
    assert found(trace(*(node(parent) for parent in parents))) == expected


@settings(max_examples=100, deadline=None)
@given(parents=st.lists(st.none() | st.integers(-1, 9), max_size=9))
def test_a_node_is_on_a_cycle_exactly_when_its_path_comes_back(parents: list[int | None]) -> None:
    def comes_back(index: int) -> bool:
        at: int | None = parents[index]
        for _ in parents:
            if at is None or not 0 <= at < len(parents):
                return False
            if at == index:
                return True
            at = parents[at]
        return False

    cycles = {pointer for pointer, keyword in found(trace(*map(node, parents))) if keyword == "parent-cycle"}
    assert cycles == {f"/nodes/{index}/parent" for index in range(len(parents)) if comes_back(index)}


def test_a_long_cycle_and_a_long_chain_are_walked_once() -> None:
    count = 30_000
    chain = trace(*(node(index - 1 if index else None) for index in range(count)))
    assert verify(chain) == []
    chain.nodes[0].parent = count - 1
    assert len(verify(chain)) == count


def test_semantic_parents_may_loop_but_must_be_nodes() -> None:
    links = [ParentLink(node=0, type="subagent_return"), ParentLink(node=2, type="compaction")]
    assert found(trace(node(semantic_parents=links), node(0))) == [
        ("/nodes/0/semantic_parents/1/node", "semantic-range")
    ]


def test_calls_name_sampled_nodes() -> None:
    calls = [ModelCall(node=0), ModelCall(node=1), ModelCall(node=5), ModelCall()]
    assert found(episode(trace(node(), node(0, sampled=True), calls=calls))) == [
        ("/traces/0/calls/0/node", "call-sampled"),
        ("/traces/0/calls/2/node", "call-node"),
    ]


@pytest.mark.parametrize(
    ("members", "at"),
    [
        ({"mask": [True]}, ["mask", "logprobs"]),
        ({"is_content": [True]}, ["is_content"]),
        ({"logprobs": []}, ["logprobs"]),
        ({"advantages": [1.0]}, ["advantages"]),
        ({"reference_logprobs": []}, ["reference_logprobs"]),
        ({"trainer_logprobs": [1, 2, 3]}, ["trainer_logprobs"]),
        ({"entropies": [0.1]}, ["entropies"]),
        ({"loss_weights": {"a/b": [1.0, 2.0]}}, ["loss_weights/a~1b"]),
        ({"loss_weights": {"a": [1, 2, 3]}, "is_content": [True] * 3, "entropies": [1, 2], "advantages": [0.5, 1]}, []),
    ],
)
def test_stream_lengths(members: dict[str, Any], at: list[str]) -> None:
    expected = [(f"/nodes/0/{name}", "stream-length") for name in at]
    assert sorted(found(trace(node(**{**SAMPLED, **members})))) == sorted(expected)


@pytest.mark.parametrize(
    ("members", "at"),
    [
        ({"token_ids": [1, True, 3]}, "token_ids"),
        ({"token_ids": "123"}, "token_ids"),
        ({"mask": [0, 1, 1]}, "mask"),
        ({"logprobs": [0.5, None]}, "logprobs"),
        ({"logprobs": [0.5, float("nan")]}, "logprobs"),
        ({"entropies": [float("inf"), 1]}, "entropies"),
        ({"loss_weights": {"w": [1, 2, "3"]}}, "loss_weights/w"),
        ({"loss_weights": {"w": None}}, "loss_weights/w"),
        ({"loss_weights": [1]}, "loss_weights"),
    ],
)
def test_streams_that_hold_something_else(members: dict[str, Any], at: str) -> None:
    assert found(trace(node(**{**SAMPLED, **members}))) == [(f"/nodes/0/{at}", "stream")]


def test_a_stream_whose_text_does_not_parse_is_a_finding() -> None:
    row = (
        b'{"id":"t","task":{"type":"T","data":{}},"agent":{"config":{}},"timing":{"start":1},"nodes":['
        b'{"message":{"role":"user","content":""},"token_ids":[1,"x"],"mask":"text","loss_weights":7}]}'
    )
    assert found(decode(row, Trace)) == [("/nodes/0/token_ids", "stream"), ("/nodes/0/mask", "stream")]
    row = row.replace(b'[1,"x"]', b"[]").replace(b'"text"', b"[]")
    assert found(decode(row, Trace)) == [("/nodes/0/loss_weights", "stream")]


@pytest.mark.parametrize(
    ("members", "at", "keyword"),
    [
        ({"routed_experts": tensor(3, 2, 1)}, None, ""),
        ({"routed_experts": tensor(2, 2, 1)}, "routed_experts", "tensor-rows"),
        ({"routed_experts": Tensor(dtype="uint8", shape=[3, 2], data=b"1")}, "routed_experts", "tensor"),
        ({"routed_experts": Tensor(dtype="uint8", shape=[-3], data=b"123")}, "routed_experts", "tensor"),
        ({"sampling_mask": SamplingMask(ids=counts(5, 6), counts=counts(1, 1))}, None, ""),
        ({"sampling_mask": SamplingMask(ids=counts(), counts=counts())}, None, ""),
        ({"sampling_mask": SamplingMask(ids=counts(5), counts=counts(1))}, "sampling_mask/counts", "tensor-rows"),
        ({"sampling_mask": SamplingMask(ids=counts(5), counts=counts(1, 1))}, "sampling_mask/ids", "tensor-rows"),
        (
            {"sampling_mask": SamplingMask(ids=tensor(2, dtype="float32"), counts=counts(1, 1))},
            "sampling_mask/ids",
            "tensor",
        ),
    ],
)
def test_tensors(members: dict[str, Any], at: str | None, keyword: str) -> None:
    expected = [] if at is None else [(f"/nodes/0/{at}", keyword)]
    assert found(trace(node(**{**SAMPLED, **members}))) == expected


def test_spans_end_after_they_start_unless_they_have_no_end() -> None:
    record = trace(calls=[ModelCall(time=TimeSpan(start=5, end=4.5)), ModelCall(time=TimeSpan(start=5, end=0))])
    record.timing.boot = TimeSpan(start=2, end=1)
    record.timing.agent.start, record.timing.agent.end = 10**400, 1.5
    record.timing.scoring = TimeSpan(start=7, end=7)
    assert found(record) == [
        ("/calls/0/time/end", "span-order"),
        ("/timing/boot/end", "span-order"),
        ("/timing/agent/end", "span-order"),
    ]


def test_a_policy_span_does_not_run_backwards() -> None:
    run = TrainRunInfo(id="r", work=TrainWorkInfo(step=1, policy=PolicySpan(start=3, end=2)))
    assert found(episode(run=run)) == [("/run/work/policy/end", "span-order")]
    run.work.policy = PolicySpan(start=3, end=3)
    assert found(episode(run=run)) == []


def test_an_episode_without_traces_is_no_success() -> None:
    assert found(episode(ok=True)) == [("/ok", "ok-without-traces")]
    assert found(episode(ok=False)) == []


def test_traces_have_ids_of_their_own() -> None:
    record = episode(trace(id="a"), trace(id="b"), trace(id="a"))
    assert found(record) == [("/traces/2/id", "trace-id")]


def test_numbers_are_finite_wherever_they_stand() -> None:
    record = episode(trace(metrics={"m/n": float("nan")}, rewards={"r": Reward(score=float("inf"))}))
    record.info["deep"] = [1.0, {"x": float("-inf")}]
    record.traces[0].timing.start = float("nan")
    assert sorted(found(record)) == [
        ("/info/deep/1/x", "finite"),
        ("/traces/0/metrics/m~1n", "finite"),
        ("/traces/0/rewards/r/score", "finite"),
        ("/traces/0/timing/start", "finite"),
    ]


def chain(depth: int, same: bool = False) -> RescoreDerived:
    """A chain of derivations, the newest outside."""
    derived: RescoreDerived | None = None
    for index in range(depth):
        seconds = 0 if same else index
        at = f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
        used = RescoreWith(adapter="a.py", sha256="0" * 64)
        derived = RescoreDerived(from_=f"runs/{seconds}", at=at, with_=used, source=derived)
    assert derived is not None
    return derived


def run_record(derived: Any) -> RunRecord:
    record = decode((EXAMPLES / "RunRecord" / "minimal.json").read_bytes(), RunRecord)
    record.derived = derived
    assert isinstance(record, RunRecord)
    return record


def test_a_chain_of_derivations_has_a_depth() -> None:
    assert found(chain(MAX_DERIVATIONS)) == []
    assert found(chain(MAX_DERIVATIONS + 1)) == [("/source" * MAX_DERIVATIONS, "derived-depth")]
    deep = run_record(chain(5_000))
    assert found(deep) == [("/derived" + "/source" * MAX_DERIVATIONS, "derived-depth")]


def test_a_derivation_stands_once_in_its_chain() -> None:
    assert found(run_record(chain(2, same=True))) == [("/derived/source", "derived-repeated")]


@pytest.mark.parametrize(
    ("newer", "older", "sound"),
    [
        ("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z", True),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", False),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z", True),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.49Z", True),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", True),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z", False),
    ],
)
def test_a_source_is_no_newer_than_what_was_derived_from_it(newer: str, older: str, sound: bool) -> None:
    derived = chain(2)
    assert derived.source is not None
    derived.at, derived.source.at = newer, older
    assert found(derived) == ([] if sound else [("/source/at", "derived-order")])


def test_findings_are_json() -> None:
    json.dumps(verify(trace(node(5))))
