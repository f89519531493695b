"""Rows that released libraries wrote upgrade to today's shape, and nothing of them is lost."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evh.protocol.upgrade import shapes, upgrade_document, upgrade_trace_document
from tests.support.leaves import leaves_accounted
from tests.unit.upgrade.conftest import DATA, rows, upgraded

CORPUS = DATA / "verifiers"
FILES = sorted([*CORPUS.glob("*/*.jsonl"), *CORPUS.glob("*/*.record.json")])


class Token:
    """A non-finite number as a permissive parser leaves it: an opaque scalar."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return self.token


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_whole_row_becomes_a_valid_episode(path: Path, violations: Callable[[Any], list[str]]) -> None:
    for source in rows(path):
        result, steps = upgraded(source)
        if path.name != "nan.jsonl":
            assert violations(result) == []
        assert {step.rule for step in steps} == set(shapes(source))


def test_the_corpus_is_whole() -> None:
    assert sum(len(rows(path)) for path in FILES) == 171


@pytest.mark.parametrize("directory", ["a60a606e-eval", "v0.3.1-eval"])
def test_rows_of_today_come_back_as_they_were(directory: str) -> None:
    for source in rows(CORPUS / directory / "traces.jsonl"):
        result, steps = upgraded(source)
        assert steps == []
        assert json.dumps(result) == json.dumps(source)


def test_rows_of_0_4_0_lose_their_computed_counts_alone() -> None:
    for source in rows(CORPUS / "v0.4.0-eval" / "traces.jsonl"):
        result, steps = upgraded(source)
        assert {step.action for step in steps} == {"dropped"}
        counts = {name: source[name] for name in source if name.startswith("num_")}
        assert len(counts) == 3
        for before, after in zip(source["traces"], result["traces"], strict=True):
            assert [name for name in before if not name.startswith("num_")] == list(after)


def test_an_episode_without_traces_keeps_its_run() -> None:
    found = [row for path in FILES for row in rows(path) if row.get("traces") == [] and "run" in row]
    assert found
    for source in found:
        assert upgraded(source)[0]["run"] == source["run"]


def test_a_real_trace_that_stays_one_keeps_its_run_aside(violations: Callable[[Any], list[str]]) -> None:
    for episode in rows(CORPUS / "v0.3.0-eval-trace-run" / "traces.jsonl"):
        for source in episode["traces"]:
            before = json.loads(json.dumps(source))
            result, steps = upgrade_trace_document(source)
            leaves_accounted(before, result, steps)
            assert violations(result) == []
            assert result["info"]["evh"]["kept"] == {"/run": before["run"]}
            assert upgrade_trace_document(json.loads(json.dumps(result)))[1] == []


@pytest.mark.parametrize("name", ["a60a606e-built", "v0.4.0-built"])
def test_a_row_of_the_wire_keeps_its_tensors(name: str) -> None:
    source = msgspec.msgpack.decode((CORPUS / name / "tensors.msgpack").read_bytes())
    result, steps = upgrade_document(copy.deepcopy(source))
    leaves_accounted(source, result, steps)
    assert upgrade_document(copy.deepcopy(result)) == (result, [])
    nodes = [node for trace in result["traces"] for node in trace["nodes"]]
    assert not any("kept_tokens" in node for node in nodes)
    assert any(node.get("sampling_mask") for node in nodes)


def test_a_non_finite_number_is_left_to_the_reader() -> None:
    line = (CORPUS / "hazards" / "nan.jsonl").read_text("utf-8")
    source = json.loads(line, parse_constant=Token)
    result, steps = upgrade_document(copy.deepcopy(source))
    found = [value for value in result["traces"][0]["metrics"].values() if isinstance(value, Token)]
    assert {value.token for value in found} == {"NaN", "Infinity", "-Infinity"}
    leaves_accounted(source, result, steps)
