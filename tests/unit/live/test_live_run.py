"""The run object: what it is given is on disk when the call returns, and it ends once."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from live_support import Told, Uploader, episode, ids, opened, trace

import evh
from evh import EvalRunInfo, LockedError, RunFinishedError, TrainRunInfo, TrainWorkInfo, UsageError
from evh.errors import EvhError, NotWritable, RecordError, TransportFault, WriteError
from evh.store import _os


def test_an_episode_is_on_disk_when_the_call_returns_and_is_the_object_that_was_given() -> None:
    with opened() as run:
        made = episode()
        assert run.log_episodes([made]) == [made]
        assert made.run == EvalRunInfo(id=run.id, name="a-run")
        assert ids(run) == [made.id]
        assert run.dir is not None
        assert (run.dir / "traces.jsonl").read_bytes() == evh.encode(made) + b"\n"
        assert (run.pending, run.refused, run.lost, run.errors, run.url) == (1, 0, 0, [], None)
        assert (run.status, run.finished, run.mode, run.kind) == ("running", False, "offline", "eval")
        assert evh.open_run_dir(run.dir).state == "running"
    assert (run.status, run.finished) == ("completed", True)


def test_a_run_is_named_and_lies_where_runs_lie(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as first, opened() as second, opened(run_id="mine", dir="elsewhere") as third:
        assert first.id != second.id
        assert first.id.startswith("a-run_")
        assert (first.dir, third.dir) == (alone / "data" / "runs" / first.id, alone / "elsewhere" / "mine")
        assert evh.open_run_dir(first.dir).run_id == first.id  # type: ignore[arg-type]
    monkeypatch.setenv("EVAL_RUNS_DIR", "shared")
    with opened() as fourth:
        monkeypatch.chdir("/")
        fourth.log_episodes([episode()])
        assert fourth.dir == alone / "shared" / fourth.id
    with pytest.raises(WriteError, match="is there already"):
        opened(run_id="mine", dir=alone / "elsewhere")


def test_its_manifest_says_what_it_set_out_to_do() -> None:
    with opened(
        model="Qwen/Qwen3-8B", framework="verifiers", description="first", tags=["x"], rollouts_per_example=4,
        config={"lr": 0.1},
    ) as run:  # fmt: skip
        assert run.dir is not None
        manifest = evh.decode_strict((run.dir / "run.json").read_bytes(), evh.RunManifest)
    assert (manifest.kind, manifest.dataset_id, manifest.config_id) == ("eval", "gsm8k", "a-run")
    assert (manifest.model, manifest.framework, manifest.description) == ("Qwen/Qwen3-8B", "verifiers", "first")
    assert (manifest.tags, manifest.environments, manifest.num_examples) == (["x"], ["gsm8k"], -1)
    assert manifest.config == {"lr": 0.1, "model": "Qwen/Qwen3-8B", "num_examples": -1, "rollouts_per_example": 4}
    assert manifest.build is not None and manifest.build.ref == "a-build"


def test_everything_that_is_a_record_is_taken() -> None:
    class Foreign:
        def to_record(self) -> Any:
            return episode(3).to_record()

    with opened() as run:
        bare = trace(1)
        given = [episode(0), bare, episode(2).to_record(), Foreign(), trace(4).to_record()]
        written = run.log_episodes(each for each in given)
        assert [each.task.data["idx"] for each in written] == [0, 1, 2, 3, 4]
        assert written[1].traces[0] is bare
        assert ids(run) == [each.id for each in written]
        assert all(each.run == EvalRunInfo(id=run.id, name="a-run") for each in written)
        assert [each.id for each in run.log_traces([trace(5)])] == ids(run)[5:]
        assert [each.id for each in asyncio.run(run.alog_episodes([episode(6)]))] == ids(run)[6:]


def test_what_is_no_record_or_belongs_elsewhere_is_refused_always() -> None:
    with opened() as run, opened(kind="train", name="t") as training:
        for wrong in (episode(), {}, "text", 5):
            with pytest.raises(UsageError, match="takes several episodes"):
                run.log_episodes(wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="expected an Episode, a Trace, a mapping"):
            run.log_episodes([7])
        (mine,) = run.log_episodes([episode()])
        with pytest.raises(UsageError, match=f"belongs to the eval run '{run.id}'"):
            training.log_episodes([mine])
        other = episode()
        other.record_run(EvalRunInfo(id="another"))
        with pytest.raises(UsageError, match="open this one with run_id='another'"):
            run.log_episodes([other])
        assert (run.lost, ids(run)) == (0, [mine.id])


def test_episodes_of_a_training_run_say_what_they_are_for() -> None:
    with opened(kind="train") as run:
        with pytest.raises(UsageError, match="give work=TrainWorkInfo"):
            run.log_episodes([episode()])
        work = TrainWorkInfo(step=3)
        (made,) = run.log_episodes([episode()], work=work)
        assert made.run == TrainRunInfo(id=run.id, name="a-run", work=work) == run.info(work)
        stamped = episode()
        stamped.record_run(TrainRunInfo(id=run.id, name="said before", work=work))
        assert run.log_episodes([stamped])[0].run.name == "said before"  # type: ignore[union-attr]
    with opened() as evaluation, pytest.raises(UsageError, match="this run is an evaluation"):
        evaluation.log_episodes([episode()], work=work)


@pytest.mark.parametrize("literal", [float("nan"), float("inf"), -float("inf")])
def test_b116_a_number_that_is_not_finite_costs_its_record_alone_and_is_named(literal: float) -> None:
    told = Told()
    with opened(notify=told) as run:
        bad, worse = episode(1), episode(2).to_record()
        bad.traces[0].metrics["score"] = literal
        worse["info"] = {"deep": [literal]}
        good = [episode(3), episode(4)]
        assert run.log_episodes([good[0], bad, worse, good[1]]) == good
        assert run.lost == 2
        assert f"2: the episode '{bad.id}' was not written: " in str(run.lost)
        assert "/info/deep/0" in str(run.lost)
        assert "/traces/0/metrics/score" in told[0]
        assert ids(run) == [each.id for each in good]
    end = evh.open_run_dir(run.dir).end  # type: ignore[arg-type]
    assert end is not None and end.lost == 2 and bad.id in end.losses[0]


def test_with_raise_what_keeps_a_record_out_is_raised() -> None:
    with opened(on_error="raise") as run:
        bad = episode()
        bad.traces[0].metrics["score"] = float("nan")
        with pytest.raises(NotWritable):
            run.log_episodes([episode(), bad, episode()])
        with pytest.raises(RecordError, match="metric 'loss'"):
            run.log_metrics({"loss": float("nan"), "acc": 1})
        assert (run.lost, len(ids(run))) == (2, 1)


def test_many_losses_are_counted_and_not_all_told() -> None:
    told = Told()
    with opened(notify=told) as run:
        for _ in range(40):
            run.log_metrics({"loss": float("nan")})
        assert run.lost == 40
        assert len(run.lost.reasons) == 20
        assert str(run.lost).endswith("; and 20 more")
        assert len(told) == 6


def test_metrics_are_rows_by_step(alone: Path) -> None:
    with opened() as run:
        run.log_metrics({"loss": 0.3, "tokens": 5, "flag": True}, step=10)
        run.log_metrics({"loss": float("inf"), "acc": 1.0}, step=11)
        run.log_metrics({"wall": 2.5})
        assert run.dir is not None
        steps = list(evh.open_run_dir(run.dir).steps())
    assert [(each.step, each.metrics) for each in steps] == [
        (10, {"loss": 0.3, "tokens": 5, "flag": 1.0}), (11, {"acc": 1.0}), (None, {"wall": 2.5}),
    ]  # fmt: skip
    assert run.lost == 1
    for wrong, step in (({"a": 1}, 1.5), ({"a": 1}, True), ([1], 1)):
        with pytest.raises(UsageError), opened() as other:
            other.log_metrics(wrong, step=step)  # type: ignore[arg-type]


def test_after_the_end_nothing_is_taken() -> None:
    run = opened()
    run.finish({"avg_reward": 0.5})
    for call in (
        lambda: run.log_episodes([episode()]),
        lambda: run.log_traces([trace()]),
        lambda: run.log_metrics({"a": 1}),
        lambda: asyncio.run(run.alog_episodes([episode()])),
    ):
        with pytest.raises(RunFinishedError, match="is closed"):
            call()
    before = (run.dir / "end.json").read_bytes()  # type: ignore[operator]
    run.finish(status="failed", error="too late")
    assert (run.dir / "end.json").read_bytes() == before  # type: ignore[operator]
    assert json.loads(before)["summary"] == {"avg_reward": 0.5}
    assert run.flush() is True


def test_an_end_that_makes_no_sense_is_refused_and_the_run_goes_on() -> None:
    with opened() as run:
        for how in (
            {"status": "done"},
            {"summary": {"x": float("nan")}},
            {"summary": [1]},
            {"summary": {"x": object()}},
        ):
            with pytest.raises(UsageError):
                run.finish(**how)  # type: ignore[arg-type]
        assert run.log_episodes([episode()])


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError("boo"), "failed"), (KeyboardInterrupt(), "cancelled"), (asyncio.CancelledError(), "cancelled"),
     (SystemExit(3), "failed")],
)  # fmt: skip
def test_the_block_closes_the_run_by_how_it_is_left(error: BaseException, status: str) -> None:
    with pytest.raises(type(error)), opened(config={"headers": {"k": "canary-secret"}}) as run:
        run.log_episodes([episode()])
        if isinstance(error, ValueError):
            error.add_note("kept")
            raise ValueError(f"boo {'x' * 5000} canary-secret")
        raise error
    assert run.status == status
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert found.end is not None
    assert (found.state, found.end.status, found.record) == ("ended", status, None)
    assert found.end.error is not None
    assert found.end.error.startswith(type(error).__name__)
    assert len(found.end.error) <= 4096
    assert "canary" not in found.end.error


def test_finish_from_many_threads_ends_the_run_once_and_all_wait() -> None:
    run = opened()
    run.log_episodes(episode(index) for index in range(20))
    states: list[bool] = []
    barrier = threading.Barrier(8)

    def end(number: int) -> None:
        barrier.wait()
        run.finish(status="completed" if number % 2 else "failed", error=None)
        states.append((run.dir / "end.json").exists())  # type: ignore[operator]

    threads = [threading.Thread(target=end, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert states == [True] * 8
    end_of = evh.open_run_dir(run.dir).end  # type: ignore[arg-type]
    assert end_of is not None and end_of.status == run.status


def test_many_threads_log_at_once_and_nothing_is_mixed() -> None:
    with opened() as run:
        threads = [
            threading.Thread(target=lambda: run.log_episodes(episode(index) for index in range(30))) for _ in range(6)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(set(ids(run))) == 180
    assert evh.open_run_dir(run.dir).end.counts.episodes == 180  # type: ignore[arg-type, union-attr]


def test_a_run_that_is_held_cannot_be_opened_again() -> None:
    with opened() as run, pytest.raises(LockedError, match="is being written by"):
        opened(dir=run.dir, resume=True, name=None)


# --- what the disk refuses -------------------------------------------------------------------------------------------


def test_a_full_disk_is_counted_told_and_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    with opened(notify=told) as run:
        run.log_episodes([episode(1)])
        real = _os.write
        with monkeypatch.context() as patch:
            patch.setattr(_os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            assert run.log_episodes([episode(2)]) == []
        assert _os.write is real
        assert run.lost == 1
        assert "No space left on device" in str(run.lost)
        assert "No space left on device" in told[0]
        run.log_episodes([episode(3)])
    assert [each.task.data["idx"] for each in evh.open_run_dir(run.dir).episodes()] == [1, 3]  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["always", "group", "never"])
def test_a_fault_that_ends_a_file_is_gone_on_from_with_every_row_once(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(fsync=policy) as run:
        run.log_episodes([episode(0)])
        real, left = _os.fsync, [2]

        def broken(descriptor: int) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(5, "Input/output error")
            real(descriptor)

        monkeypatch.setattr(_os, "fsync", broken)
        written = run.log_episodes(episode(index) for index in range(1, 30))
        monkeypatch.setattr(_os, "fsync", real)
        written += run.log_episodes([episode(30)])
        assert len(written) + run.lost == 30
        found = ids(run)
        assert len(found) == len(set(found))
        assert {each.id for each in written} <= set(found)


def test_an_end_that_the_disk_refuses_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    run = opened(notify=told)
    run.log_episodes([episode()])
    with monkeypatch.context() as patch:
        patch.setattr(_os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        run.finish({"a": 1})
    assert (run.finished, run.status) == (False, "running")
    assert "No space left" in run.errors[0]
    assert not (run.dir / "end.json").exists()  # type: ignore[operator]
    with pytest.raises(RunFinishedError):
        run.log_episodes([episode()])
    run.finish(status="failed")
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert found.end is not None
    assert (found.end.status, found.end.summary, found.state) == ("completed", {"a": 1}, "finished")
    assert not list(run.dir.rglob(".*"))  # type: ignore[union-attr]


def test_a_folder_that_cannot_be_written_is_an_error_at_opening(alone: Path) -> None:
    (alone / "data").write_text("a file")
    with pytest.raises(WriteError, match="no run can be made here"):
        opened()


def test_a_link_in_the_place_of_a_file_is_never_written_through(alone: Path) -> None:
    run = opened()
    (alone / "target").write_text("")
    (run.dir / "traces.jsonl").symlink_to(alone / "target")  # type: ignore[operator]
    assert run.log_episodes([episode()]) == []
    assert "is a link" in str(run.lost)
    run.finish(status="failed")
    assert (alone / "target").read_bytes() == b""


# --- the half that uploads -------------------------------------------------------------------------------------------


def test_an_online_run_reads_what_its_uploader_leaves() -> None:
    uploader = Uploader(pending=3, refused=1, url="http://127.0.0.1/run/7", evaluation_id="7")
    told = Told()
    with opened(mode="online", api_key="k-123456789", uploads=uploader, notify=told, finish_timeout=5) as run:
        assert uploader.started == [run.dir]
        assert uploader.settings.api_key == "k-123456789"
        assert (run.mode, run.reason, run.pending, run.refused, run.url) == ("online", None, 3, 1, run.url)
        assert run.url == "http://127.0.0.1/run/7"
        run.log_episodes([episode()])
        assert uploader.waited == []
        assert run.flush(0.5) is False
    assert uploader.waited == [0.5, 5]
    assert "3 records are not sent yet" in told[-1]
    assert run.status == "completed"


def test_an_upload_that_stands_still_is_told_or_raised() -> None:
    uploader = Uploader(pending=1, error="401: the key is not taken")
    run = opened(mode="online", api_key="k-123456789", uploads=uploader)
    run.finish()
    assert run.reason == "401: the key is not taken"
    assert "the upload stands still: 401" in run.errors[0]
    run = opened(mode="online", api_key="k-123456789", uploads=uploader, on_error="raise")
    with pytest.raises(EvhError, match="the upload stands still"):
        run.finish()
    assert run.finished


def test_a_run_that_cannot_go_online_is_offline_with_the_reason() -> None:
    told = Told()
    fault = Uploader(fault=TransportFault("cannot be reached: connection refused"))
    with opened(mode="online", api_key="k-123456789", uploads=fault, notify=told) as run:
        assert (run.mode, run.reason) == ("offline", "cannot be reached: connection refused")
        run.log_episodes([episode()])
        assert (run.pending, run.url, run.refused) == (1, None, 0)
    assert "stays on this disk: cannot be reached" in told[0]
    assert "evh sync" in told[0]
    assert run.status == "completed"


def test_who_listens_cannot_break_the_run() -> None:
    def broken(text: str) -> None:
        raise RuntimeError(text)

    with opened(notify=broken) as run:
        run.log_metrics({"a": float("nan")})
        assert run.log_episodes([episode()])
