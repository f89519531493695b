"""What a run measures becomes rows and a record, whatever adapters return and however items are called."""

from __future__ import annotations

import base64
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import pytest

from evh.errors import EvhError
from evh.harness.launch import Finished, Options, measure, resume
from evh.harness.project import Project
from evh.store import open_run_dir
from tests.support.run_project import RunProject, listing

RETURNS = """
import numpy
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from evh.harness.result import Result

CASES = {{}}


def call_system(text, params):
    return {call}


def score(output, reference):
    return {score}
"""


def returning(call: str = "text", score: str = "{}") -> str:
    """An adapter of two expressions."""
    return RETURNS.format(call=call, score=score)


def measured(project: RunProject, **options: Any) -> Finished:
    """Measure in this process; the adapter's environment is the project's."""
    (finished,) = measure(Project(project.root), project.config, options=Options(**options), environ=project.environ)
    return finished


def gone_on(project: RunProject, **options: Any) -> Finished:
    (finished,) = resume(Project(project.root), options=Options(**options), environ=project.environ)
    return finished


def row_of(project: RunProject, item_id: str = "i0") -> dict[str, Any]:
    found = [json.loads(line) for line in (project.run.path / "predictions.jsonl").read_bytes().split(b"\n")[:-1]]
    (row,) = [row for row in found if row["item_id"] == item_id]
    return dict(row)


HOSTILE = [
    "../../../pwn", "/abs", "a/../../b", "a\\b", ".", "..", "~", "-rf", "con", "CON", "aux.txt", "q:1", "x.", "x ",
    " x", "Logo", "logo", "é", "e\u0301", "n" * 300, "ж" * 128, "🙂", "\u202eabc", "a\u2028b", "a\x85b", "*?", "a\nb",
    "%2e%2e", "run.json", "../metrics.json", ".x.tmp", "a" * 100,
]  # fmt: skip


def test_e5_e38_e39_e40_b026_b064_b112_b113_hostile_ids_stay_below_outputs(tmp_path: Path) -> None:
    items = {item_id: f"text {number}" for number, item_id in enumerate(HOSTILE)}
    project = RunProject(tmp_path / "deep" / "down" / "p", items, adapter=returning("text.upper()"))
    before = listing(tmp_path)
    project_before = set(before)
    finished = measured(project, concurrency=4)
    assert finished.record is not None
    assert finished.record.n_items == len(HOSTILE)
    run = project.run
    here = run.path.relative_to(tmp_path).as_posix()
    made = {name for name in set(listing(tmp_path)) - project_before if "__pycache__" not in name}
    assert {name for name in made if not name.startswith(here + "/")} == {Path(here).parent.as_posix(), here}
    names = sorted(os.listdir(run.path / "outputs"))  # noqa: PTH208
    assert len({name.casefold() for name in names}) == len(HOSTILE)
    assert all(len(name) <= 104 and name.isascii() and not set(name) & set('/\\:*?"<>| ') for name in names)
    assert {stored.row.item_id for stored in run.rows()} == set(items)
    assert all(run.output(item_id) == text.upper() for item_id, text in items.items())
    assert (run.path / "predictions.jsonl").read_bytes().count(b"\n") == len(HOSTILE)
    (run.path / "metrics.json").unlink()
    assert gone_on(project).record is not None


@pytest.mark.parametrize("item_id", ["", "nul\x00", "lone\ud835"])
def test_e38_e39_an_id_that_is_empty_or_no_text_is_refused(tmp_path: Path, item_id: str) -> None:
    project = RunProject(tmp_path / "p", {item_id: "text"})
    with pytest.raises(EvhError):
        measured(project)
    assert not project.runs.exists()


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "numpy.float32('-inf')", "'0.5'", "None", "10**400"])
def test_e9_e48_b058_b059_what_is_no_finite_number_stops_the_run_at_its_item(tmp_path: Path, value: str) -> None:
    for place in ("score", "extra"):
        bad = f'{{"quality": {value} if output == "text 1" else 1}}'
        adapter = (
            returning(score=bad)
            if place == "score"
            else returning(f"Result(text, extra={bad.replace('output', 'text')})")
        )
        project = RunProject(tmp_path / place, 3, adapter=adapter)
        finished = measured(project)
        assert finished.record is None
        assert finished.stop == "item-failed"
        (error,) = project.run.errors()
        assert error.item_id == "i1"
        assert "'i1'" in error.message
        assert "'quality'" in error.message
        assert [stored.row.item_id for stored in project.run.rows()] == ["i0"]
        assert not any(bad in (project.run.path / "predictions.jsonl").read_text() for bad in ("NaN", "Infinity"))


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("True", 1.0),
        ("numpy.bool_(False)", 0.0),
        ("numpy.int64(3)", 3.0),
        ("numpy.float32(0.5)", 0.5),
        ("Decimal('0.25')", 0.25),
        ("Fraction(1, 4)", 0.25),
        ("2**60 + 1", 2**60 + 1),
        ("1e-12", 1e-12),
    ],
)
def test_e48_b034_numbers_of_any_kind_are_stored_as_they_are(tmp_path: Path, value: str, stored: float) -> None:
    project = RunProject(tmp_path / "p", 1, adapter=returning(score=f'{{"quality": {value}}}'))
    record = measured(project).record
    assert record is not None
    found = row_of(project)["quality"]
    assert (found, type(found)) == (stored, type(stored))  # an int is kept whole, however large
    assert record.scores["quality"] == float(stored)


def test_e47_huge_and_tiny_numbers_are_summed_exactly(tmp_path: Path) -> None:
    call = "Result(text, tokens_in=2**52 + 1, tokens_out=1, cost_usd=1e-12)"
    project = RunProject(tmp_path / "p", 3, adapter=returning(call))
    record = measured(project).record
    assert record is not None
    assert record.scores["total_tokens_in"] == 3 * (2**52 + 1)
    assert record.scores["total_cost_usd"] == pytest.approx(3e-12, rel=1e-15)
    assert record.scores["total_cost_usd"] > 0
    text = (project.run.path / "predictions.jsonl").read_text()
    assert text.count(f'"tokens_in":{2**52 + 1},') == 3


@pytest.mark.parametrize("name", ["item_id", "_x", "latency_ms", "cost_usd", "tokens_in", "total_cost_usd", ""])
def test_e49_reserved_names_stop_the_run_at_its_first_item(tmp_path: Path, name: str) -> None:
    project = RunProject(tmp_path / "p", 3, adapter=returning(score=f"{{{name!r}: 1}}"))
    assert measured(project).stop == "item-failed"
    assert list(project.run.rows()) == []


def test_e50_a_metric_and_an_extra_of_one_name_are_refused(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 3, adapter=returning("Result(text, extra={'size': 1})", "{'size': 2}"))
    assert measured(project).stop == "item-failed"
    (error,) = project.run.errors()
    assert "the scorer's metric 'size' and the adapter's extra 'size'" in error.message


def test_e11_b013_b056_b082_a_metric_is_averaged_over_the_items_that_have_it(tmp_path: Path) -> None:
    score = '{"some": 1.0} if output != "text 0" else {}'
    project = RunProject(tmp_path / "p", 4, adapter=returning(score=score))
    finished = measured(project)
    assert finished.record is not None
    assert finished.record.n_items == 4
    assert finished.record.scores["some"] == 1.0
    assert finished.counts["some"] == 3
    assert finished.counts["latency_ms"] == 4


@pytest.mark.parametrize("covered", [0, 2, 3])
def test_e13_coverage_is_recorded_when_some_items_have_a_reference(tmp_path: Path, covered: int) -> None:
    score = "{} if reference is None else {'same': float(output == reference)}"
    references = {f"i{number}": f"text {number}" for number in range(covered)}
    project = RunProject(tmp_path / "p", 3, adapter=returning(score=score), references=references or None)
    finished = measured(project)
    assert finished.record is not None
    found = finished.record.reference_coverage
    assert (found is None) == (covered in (0, 3))
    if found is not None:
        assert (found.items_with_reference, found.items) == (2, 3)
    assert finished.record.scores.get("same") == (1.0 if covered else None)
    assert finished.counts.get("same", 0) == covered
    assert finished.record.reference_tier == ("gold" if covered else None)


@pytest.mark.parametrize("output", ["ok \udc00 tail", "\ud835", "a\u2028b\x85c\x1cd\r\ne", "", "x" * 100_000])
def test_b005_b037_b097_any_text_is_kept_as_it_was_written(tmp_path: Path, output: str) -> None:
    call = f"Result({output!r} if text == 'text 1' else text, meta={{'raw': {output!r}}})"
    project = RunProject(tmp_path / "p", 3, adapter=returning(call))
    assert measured(project, concurrency=3).record is not None
    assert project.run.output("i1") == output
    assert project.run.output("i2") == "text 2"
    assert [stored.row.meta is not None for stored in project.run.rows()] == [True] * 3
    assert row_of(project)["_meta"] == {"raw": output}
    data = (project.run.path / "predictions.jsonl").read_bytes()
    assert data.count(b"\n") == 3 == len(data.decode().splitlines())
    (project.run.path / "metrics.json").unlink()
    assert gone_on(project).record is not None


def test_b053_rows_come_in_the_order_of_measurement_and_none_is_dropped(tmp_path: Path) -> None:
    items = {f"i{number}": f"{number}" for number in range(30)}
    call = '__import__("time").sleep((int(text) * 7 % 5) / 1000) or text'
    project = RunProject(tmp_path / "p", items, adapter=returning(call, '{"n": int(output)}'))
    finished = measured(project, concurrency=8)
    assert finished.record is not None
    assert finished.record.scores["n"] == 14.5
    found = [stored.row.item_id for stored in project.run.rows()]
    assert sorted(found) == sorted(items)
    assert found != list(items)


def test_e42_what_is_too_large_is_refused_or_cut_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evh.store.run_writer.OUTPUT_LIMIT", 1000)
    call = "Result('x' * (2000 if text == 'text 1' else 10), meta={'raw': 'm' * 2_000_000, 'provider': 'p'})"
    project = RunProject(tmp_path / "p", 3, adapter=returning(call))
    finished = measured(project, keep_going=True)
    assert finished.failed == 1
    (error,) = project.run.errors()
    assert "at most 1,000 are kept" in error.message
    assert row_of(project)["_meta"]["provider"] == "p"
    assert "at most 1048576 are kept" in row_of(project)["_meta"]["evh_cut"]
    assert not (project.run.path / "outputs" / "i1.txt").exists()


def test_e68_without_git_the_build_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = RunProject(tmp_path / "p", 1, adapter=returning())
    del project.environ["EVAL_BUILD_REF"]
    monkeypatch.setenv("PATH", str(tmp_path))
    record = measured(project).record
    assert record is not None
    assert record.build.ref == "unknown"
    assert record.fingerprint is not None


def test_b073_a_large_value_is_masked_in_linear_time(tmp_path: Path) -> None:
    large = base64.b64encode(os.urandom(15 << 20)).decode()
    (tmp_path / "large").write_text(large)
    meta = f"{{'headers': {{'key': 'sk-canary-0123456789'}}, 'raw': Path({str(tmp_path / 'large')!r}).read_text()}}"
    call = f"Result(text, meta={meta})"
    project = RunProject(tmp_path / "p", 1, adapter=returning(call))
    began = time.process_time()
    assert measured(project).record is not None
    assert time.process_time() - began < 5
    assert math.isfinite(row_of(project)["latency_ms"])
    assert b"canary" not in (project.run.path / "predictions.jsonl").read_bytes()


def test_a_warm_up_is_timed_apart(tmp_path: Path) -> None:
    adapter = returning() + "\n\ndef warmup(params):\n    __import__('time').sleep(0.03)\n"
    project = RunProject(tmp_path / "p", 2, adapter=adapter)
    record = measured(project).record
    assert record is not None
    assert record.warmup_ms is not None
    assert record.warmup_ms >= 30
    assert record.scores["latency_ms"] < 30
    assert open_run_dir(project.run.path).run_id == record.run_id


def test_a_coroutine_that_never_ends_takes_no_result_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = """
import asyncio, time


async def call_system(text, params):
    asyncio.get_running_loop().call_later(0.02, time.sleep, 0.5)
    return text
"""
    monkeypatch.setattr("evh.harness.adapters.background.CLOSING_SECONDS", 0.1)
    finished = measured(RunProject(tmp_path / "p", 1, adapter=adapter))
    assert finished.record is not None
