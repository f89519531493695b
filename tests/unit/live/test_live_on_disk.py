"""A live run as readers and commands see it: all segments, running, torn, ended, finished."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from live_support import episode, opened

import evh
from evh.cli import main
from evh.live import join_run
from evh.rules import validate
from evh.store import Lease


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(list(arguments))
    return code, capsys.readouterr().out


def test_readers_see_the_segments_of_all_writers_and_whole_rows_only() -> None:
    run = opened()
    run.log_episodes([episode(0)])
    worker = join_run(run.dir)  # type: ignore[arg-type]
    worker.log_episodes([episode(1)])
    worker.log_metrics({"a": 1}, step=2)
    run.log_metrics({"a": 0}, step=1)
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    (_, theirs) = found.segments()
    assert theirs.parent.name == "traces"
    with theirs.open("ab") as file:
        file.write(b'{"id":"half')
    assert [each.task.data["idx"] for each in found.episodes()] == [0, 1]
    assert [notice.kind for notice in found.notices] == ["torn"]
    assert [each.step for each in found.steps()] == [1, 2]
    worker.finish()
    run.finish()
    assert len(list(evh.open_run_dir(run.dir).rows())) == 2  # type: ignore[arg-type]


def test_commands_see_a_live_run(alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = opened()
    run.log_episodes([episode(0), episode(0)])
    code, out = said(capsys, "runs")
    assert code == 0
    assert "running" in out and "2 episodes" in out and "held by the process" in out
    with (run.dir / "traces.jsonl").open("ab") as file:  # type: ignore[operator]
        file.write(b'{"id":"half')
    code, out = said(capsys, "show", str(run.dir))
    assert (code, out.count(run.id)) == (0, 3)
    with (run.dir / "traces.jsonl").open("r+b") as file:  # type: ignore[operator]
        file.truncate(file.seek(0, 2) - len(b'{"id":"half'))
    run.finish()
    (about,) = json.loads(said(capsys, "runs", "--json")[1])["runs"]
    assert (about["state"], about["kind"], about["items"], about["primary"]) == ("finished", "eval", 1, 1.0)
    code, out = said(capsys, "check", str(run.dir))
    assert code == 0, out
    assert main(["check", str(run.dir / "end.json"), str(run.dir / "run.json")]) == 0  # type: ignore[operator]


def test_commands_say_how_a_run_ended_and_how_one_goes_on(alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = opened(kind="train", name="failed")
    failed.finish(status="failed", error=ValueError("boo"))
    left = opened(kind="train", name="left")
    left.log_metrics({"a": 1}, step=1)
    left_dir = left.dir
    assert left_dir is not None
    left.finish(status="failed")
    (left_dir / "end.json").unlink()
    _, out = said(capsys, "runs")
    assert f"{failed.id}: ended as failed: ValueError: boo" in out
    assert f"{left.id}: a live run: evh.open_run(dir=" in out
    again = opened(dir=left_dir, resume=True, name=None, kind="train")
    assert (again.id, again.kind) == (left.id, "train")
    again.log_metrics({"a": 2}, step=2)
    again.finish()
    found = evh.open_run_dir(left_dir)
    assert [each.step for each in found.steps()] == [1, 2]
    assert found.end is not None and found.end.counts.steps == 2


def outcomes(folder: Path) -> dict[str, Any]:
    return {each.rule: each for each in validate([folder], {})}


def test_validate_holds_live_runs_against_their_rules(alone: Path) -> None:
    (alone / "data" / "datasets").mkdir(parents=True)
    run = opened(rollouts_per_example=2)
    run.log_episodes([episode(0), episode(0), episode(1)])
    run.log_metrics({"a": 1}, step=1)
    with join_run(run.dir) as worker:  # type: ignore[arg-type]
        worker.log_episodes([episode(2)])
        worker.log_metrics({"a": 1}, step=1)
    running = outcomes(alone)
    assert not [each.findings for each in running.values() if each.findings]
    run.finish()
    with opened(kind="train", name="t") as training:
        training.log_metrics({"a": 1})
    training.finish()
    found = outcomes(alone)
    assert not [(each.rule, each.findings) for each in found.values() if each.findings]
    assert run.dir is not None
    end = json.loads((run.dir / "end.json").read_text())
    end["counts"]["episodes"] = 9
    end["counts"]["segments"]["traces.jsonl"] = 8
    (run.dir / "end.json").write_text(json.dumps(end))
    with (run.dir / "steps.jsonl").open("ab") as file:
        file.write(b'{"step":1,"metrics":{"a":null},"at":"now"}\n')
    found = outcomes(alone)
    assert sorted(each.pointer for each in found["R2"].findings) == [
        "/counts/episodes", "/counts/segments/traces.jsonl", "/counts/steps",
    ]  # fmt: skip
    assert {each.pointer for each in found["V1"].findings} == {"/metrics/a", "/at"}


def test_a_record_without_an_end_is_not_finished(alone: Path) -> None:
    with opened() as run:
        run.log_episodes([episode()])
    assert run.dir is not None
    (run.dir / "end.json").unlink()
    assert evh.open_run_dir(run.dir).state == "unfinished"
    lease = Lease(run.dir)
    assert evh.open_run_dir(run.dir).state == "running"
    lease.release()
    again = opened(dir=run.dir, resume=True, name=None)
    assert not (run.dir / "metrics.json").exists()
    again.log_episodes([episode(1)])
    again.finish()
    found = evh.open_run_dir(run.dir)
    assert found.record is not None and (found.state, found.record.n_items) == ("finished", 2)


def test_only_live_runs_that_are_open_are_taken_up(alone: Path) -> None:
    with opened() as run:
        pass
    with pytest.raises(evh.UsageError, match="has ended"):
        opened(dir=run.dir, resume=True, name=None)
    with pytest.raises(evh.RunFinishedError):
        join_run(run.dir)  # type: ignore[arg-type]
    with pytest.raises(evh.SourceError):
        join_run(alone / "nowhere")
    left = opened()
    with pytest.raises(evh.UsageError, match="has the name 'a-run', not 'other'"):
        opened(dir=left.dir, resume=True, name="other")
    left.finish()
