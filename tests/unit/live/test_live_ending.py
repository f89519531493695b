"""The end of a live run: rows, outputs and record of the episodes on disk, and `end.json` last of all."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from live_support import Told, episode, opened, trace

import evh
from evh import AssistantMessage, Episode, Error, MessageNode, TraceTask
from evh.live import ending
from evh.live.ending import Asked, end_run
from evh.live.losses import Lost
from evh.store import Masker, _os
from evh.store.segments import count_run


def rows_of(run: evh.LiveRun) -> dict[str, dict[str, Any]]:
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    return {row.item_id: row.value.plain() for row in found.rows()}


def test_an_item_has_one_row_with_the_means_of_its_rollouts() -> None:
    with opened(rollouts_per_example=2) as run:
        run.log_episodes([episode(0, 1.0), episode(1, 0.0), episode(0, 0.5)])
    rows = rows_of(run)
    assert list(rows) == ["0", "1"]
    assert (rows["0"]["reward"], rows["0"]["n_rollouts"], rows["1"]["n_rollouts"]) == (0.75, 2, 1)
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert found.record is not None
    assert (found.record.n_items, found.record.scores["reward"], found.record.primary_metric) == (2, 0.375, "reward")
    assert (found.record.dataset_id, found.record.config_id) == ("gsm8k", "a-run")
    assert found.count().scores() == found.record.scores
    assert found.end is not None
    assert found.end.counts == evh.decode(
        b'{"episodes":3,"steps":0,"segments":{"traces.jsonl":3}}', type(found.end.counts)
    )
    assert (found.state, found.end.status, found.end.lost) == ("finished", "completed", 0)


def test_what_the_arm_wrote_is_in_its_file() -> None:
    node = MessageNode(message=AssistantMessage(content="the answer"), sampled=True)
    answered = trace(5)
    answered.nodes = [node]
    with opened() as run:
        run.log_traces([answered])
    assert evh.open_run_dir(run.dir).output("5") == "the answer"  # type: ignore[arg-type]
    assert (run.dir / "outputs" / "5.txt").read_text() == "the answer"  # type: ignore[operator]


def test_an_item_is_the_key_the_hash_the_index_or_the_content_of_its_task() -> None:
    def of(**task: Any) -> Episode:
        return Episode(task=TraceTask(**{"type": "t", "data": {}, **task}), ok=True)

    alone = of(type="", data={})
    with opened() as run:
        run.log_episodes([
            of(key="k", hash="h"), of(hash="h"), of(data={"idx": 3}), of(data={"q": "same"}), of(data={"q": "same"}),
            of(data={"q": "other"}), alone,
        ])  # fmt: skip
    rows = rows_of(run)
    assert list(rows)[:3] == ["k", "h", "3"]
    by_content = [name for name in rows if name.startswith("task~")]
    assert [rows[name]["n_rollouts"] for name in by_content] == [2, 1]
    assert alone.id in rows


def test_of_an_episode_that_was_logged_twice_the_last_one_counts() -> None:
    with opened() as run:
        first, again = episode(0, 0.0), episode(0, 1.0)
        again.id = first.id
        moved = episode(2, 1.0)
        run.log_episodes([first, episode(1), again, moved])
        elsewhere = episode(1, 0.0)
        elsewhere.id = moved.id
        run.log_episodes([elsewhere])
    rows = rows_of(run)
    assert {name: (row["reward"], row["n_rollouts"]) for name, row in rows.items()} == {"0": (1.0, 1), "1": (0.5, 2)}
    assert evh.open_run_dir(run.dir).end.counts.episodes == 5  # type: ignore[arg-type, union-attr]


def test_an_episode_that_failed_is_a_row_that_says_so() -> None:
    broken = Episode(task=TraceTask(type="t", data={"idx": 0}), errors=[Error(type="Timeout", message="slow")])
    with opened() as run:
        run.log_episodes([broken, episode(1)])
    rows = rows_of(run)
    assert rows["0"]["_error"] == "Timeout: slow"
    assert evh.open_run_dir(run.dir).record.n_errors == 1  # type: ignore[arg-type, union-attr]


@pytest.mark.parametrize(("kind", "status"), [("train", "completed"), ("eval", "failed"), ("eval", "cancelled")])
def test_any_other_run_ends_without_a_record(kind: Any, status: str) -> None:
    run = opened(kind=kind)
    run.log_episodes([episode()], work=evh.TrainWorkInfo(step=1) if kind == "train" else None)
    run.log_metrics({"a": 1}, step=1)
    run.finish(status=status)
    assert sorted(path.name for path in run.dir.iterdir()) == [  # type: ignore[union-attr]
        "end.json", "outputs", "run.json", "steps.jsonl", "traces.jsonl",
    ]  # fmt: skip
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert (found.state, found.record) == ("ended", None)
    assert found.end is not None and (found.end.status, found.end.counts.steps) == (status, 1)


def test_an_evaluation_without_an_episode_ends_all_the_same() -> None:
    with opened() as run:
        pass
    record = evh.open_run_dir(run.dir).record  # type: ignore[arg-type]
    assert record is not None and (record.n_items, record.scores) == (0, {})


def test_a_damaged_segment_costs_the_row_and_is_told(alone: Path) -> None:
    told = Told()
    run = opened(notify=told)
    run.log_episodes([episode(0)])
    folder = run.dir / "traces"  # type: ignore[operator]
    folder.mkdir()
    (folder / "host-1-abcd.jsonl").write_bytes(b'{"id":"x"}\n' + evh.encode(episode(1)) + b'\n{"id":"torn')
    run.finish()
    assert list(rows_of(run)) == ["0", "1"]
    assert "host-1-abcd.jsonl:1" in "".join(run.errors)
    assert "a torn last line" in "".join(run.errors)
    assert (folder / "host-1-abcd.jsonl.torn-1").read_bytes() == b'{"id":"torn'
    end = evh.open_run_dir(run.dir).end  # type: ignore[arg-type]
    assert end is not None
    assert end.counts.segments == {"traces.jsonl": 1, "traces/host-1-abcd.jsonl": 2}


def test_a_record_that_cannot_be_made_costs_the_record_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise evh.RecordError("a sum beyond a double")

    monkeypatch.setattr(ending, "run_record", broken)
    with opened() as run:
        run.log_episodes([episode()])
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert (found.state, found.record) == ("ended", None)
    assert "the run has no record: a sum beyond a double" in run.errors[0]


def test_the_end_comes_last_and_done_again_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    run = opened()
    run.log_episodes([episode(0), episode(1)])
    order: list[str] = []
    real = _os.replace

    def noted(source: Any, target: Any) -> None:
        order.append(Path(target).name)
        real(source, target)

    monkeypatch.setattr(_os, "replace", noted)
    run.finish()
    kept = [name for name in order if not name.endswith(".txt")]
    assert kept == ["predictions.jsonl", "metrics.json", "end.json"]
    before = {path: path.read_bytes() for path in run.dir.rglob("*") if path.is_file()}  # type: ignore[union-attr]
    manifest = evh.open_run_dir(run.dir).manifest  # type: ignore[arg-type]
    assert manifest is not None
    end_run(run.dir, manifest, Asked("completed"), lost=Lost(), masker=Masker(), fsync="group", known={})  # type: ignore[arg-type]
    after = {path: path.read_bytes() for path in before}
    changed = [path.name for path in before if before[path] != after[path]]
    assert sorted(changed) in ([], ["end.json"], ["end.json", "metrics.json"])  # their own times


def test_a_line_that_came_while_the_end_was_written_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    run = opened(kind="train")
    run.log_episodes([episode(0)], work=evh.TrainWorkInfo(step=1))
    late = run.dir / "traces" / "host-2-abcd.jsonl"  # type: ignore[operator]
    real = ending.write_file

    def slow(path: Path, data: bytes) -> None:
        real(path, data)
        if not late.exists():
            late.parent.mkdir()
            late.write_bytes(evh.encode(episode(1)) + b"\n")

    monkeypatch.setattr(ending, "write_file", slow)
    run.finish()
    end = evh.open_run_dir(run.dir).end  # type: ignore[arg-type]
    assert end is not None
    assert end.counts.episodes == 2 == count_run(run.dir).episodes  # type: ignore[arg-type]


def test_memory_does_not_grow_with_the_episodes(alone: Path) -> None:
    def peak(count: int) -> int:
        run = opened(dir=alone / f"{count}", fsync="never")
        for index in range(count):
            run.log_episodes([episode(index, config={"note": "x" * 2000})])
        tracemalloc.start()
        run.finish()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(20), peak(420)
    assert many - few < 400 * 1000, (few, many)  # an episode has 2.9 KB as a line, and several times that as objects


def test_the_end_is_a_document_of_the_schema() -> None:
    run = opened()
    run.log_metrics({"a": float("nan")})
    run.finish({"x": 1}, status="failed", error=ValueError("v"))
    data = (run.dir / "end.json").read_bytes()  # type: ignore[operator]
    end = evh.decode_strict(data, evh.protocol.models.RunEnd)  # type: ignore[attr-defined]
    assert (end.status, end.error, end.summary, end.lost) == ("failed", "ValueError: v", {"x": 1}, 1)
    assert json.loads(data)["counts"] == {"episodes": 0, "steps": 0}
