"""Several processes in one run, and every way out of one."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_support import Told, Uploader, episode, ids, opened

import evh
from evh.live import exits, join_run

SOURCES = str(Path(evh.__file__).parents[1])
TEMPLATE = """
import json, os, signal, sys, threading, time
import evh
from evh import AgentInfo, Trace, TraceTask
import evh.live.run, evh.live.ending, evh.live.opening

def episode(index):
    return evh.Episode.of(Trace(task=TraceTask(type="t", data={"idx": index}), agent=AgentInfo(name="a", config={})))

for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if not pid:
        break  # the child goes on below, and ends as any program does
    print(json.dumps(pid), flush=True)
    _, status = os.waitpid(pid, 0)
    print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)
else:
    sys.exit()
os.chdir(asked["folder"])
os.dup2(os.open(asked["folder"] + "/stderr", os.O_CREAT | os.O_WRONLY), 2)
run = evh.open_run(name="child", mode="offline", dir="runs", run_id="child")
run.log_episodes([episode(0)])
exec(asked["code"])
"""


@pytest.fixture(scope="module")
def template() -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded everything and forks a program of its own for each code it is given."""
    with subprocess.Popen(
        [sys.executable, "-c", TEMPLATE],
        env={**os.environ, "PYTHONPATH": SOURCES, "EVAL_BUILD_REF": "a-build"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def ended(
    template: subprocess.Popen[str], code: str, sign: signal.Signals | None = None
) -> tuple[int, evh.RunDir, str]:
    """The exit code of a program, its run, and what it said on standard error; `sign` is sent once it says `ready`."""
    assert template.stdin is not None and template.stdout is not None
    template.stdin.write(json.dumps({"code": textwrap.dedent(code), "folder": str(Path.cwd())}) + "\n")
    template.stdin.flush()
    lines = (
        [template.stdout.readline(), template.stdout.readline()] if sign is not None else [template.stdout.readline()]
    )
    if sign is not None:
        lines.remove("ready\n")
        os.kill(json.loads(lines[0]), sign)
    return json.loads(template.stdout.readline()), evh.open_run_dir("runs/child"), Path("stderr").read_text()


READY = 'print("ready", flush=True)\n'


@pytest.mark.parametrize(
    ("code", "sign", "exit_code", "status"),
    [
        ("", None, 0, "crashed"),
        ("sys.exit(3)", None, 3, "crashed"),
        ("raise ValueError('boo')", None, 1, "crashed"),
        ("with run:\n    raise ValueError('boo')", None, 1, "failed"),
        ("with run:\n    pass", None, 0, "completed"),
        (f"with run:\n    {READY}    time.sleep(30)", signal.SIGINT, -2, "cancelled"),
        (f"with run:\n    {READY}    time.sleep(30)", signal.SIGTERM, 143, "cancelled"),
        (f"{READY}time.sleep(30)", signal.SIGTERM, 143, "cancelled"),
        (f"{READY}time.sleep(30)", signal.SIGKILL, -9, None),
        ("os._exit(5)", None, 5, None),
        ("os.environ.clear()\ndel run", None, 0, "crashed"),
    ],
)
def test_b044_every_way_out_of_a_process_closes_the_run(
    template: subprocess.Popen[str], code: str, sign: signal.Signals | None, exit_code: int, status: str | None
) -> None:
    found_code, run, said = ended(template, code, sign)
    assert found_code == exit_code
    assert len(list(run.episodes())) == 1
    if status is None:
        assert run.state == "unfinished"
        assert run.holder is None or run.holder.state == "gone"
        return
    assert run.end is not None
    assert run.end.status == status
    assert run.holder is None
    if status == "crashed":
        assert run.end.error == "the process ended without closing the run"
    if sign is signal.SIGTERM:
        assert run.end.error == "the process was told to end (SIGTERM)"
        assert "Traceback" not in said


def test_a_handler_of_the_program_is_left_alone(template: subprocess.Popen[str]) -> None:
    code = f"""
    run.finish()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    mine = lambda *_: os._exit(7)
    signal.signal(signal.SIGTERM, mine)
    run = evh.open_run(name="child", mode="offline", dir="runs", run_id="second")
    assert signal.getsignal(signal.SIGTERM) is mine
    {READY.strip()}
    time.sleep(30)
    """
    assert ended(template, code, signal.SIGTERM)[0] == 7


def test_a_run_that_is_opened_in_a_thread_installs_nothing(template: subprocess.Popen[str]) -> None:
    code = """
    run.finish()
    def work():
        evh.open_run(name="child", mode="offline", dir="runs", run_id="second").finish()
    thread = threading.Thread(target=work)
    before = signal.getsignal(signal.SIGTERM)
    thread.start(); thread.join()
    assert signal.getsignal(signal.SIGTERM) is before is signal.SIG_DFL
    """
    assert ended(template, code)[0] == 0


def test_nothing_is_registered_before_a_run_is_opened() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import evh.live.run, evh.live.exits as e; assert not e._exits.cache_info().currsize"],
        env={**os.environ, "PYTHONPATH": SOURCES},
        check=False,
    )
    assert done.returncode == 0


# --- several processes -----------------------------------------------------------------------------------------------


def forked(action: Any) -> Any:
    """What an action gives in a forked child."""
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        try:
            os.write(writing, json.dumps(action()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(number, 0)
    return json.loads(told)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_writes_a_segment_of_its_own_and_leaves_the_run_open() -> None:
    run = opened(config={"headers": {"k": "canary-secret"}})
    run.log_episodes([episode(0)])
    handler = signal.getsignal(signal.SIGTERM)
    made = episode(1)
    made.task.data["prompt"] = "canary-secret"

    def work() -> Any:
        (written,) = run.log_episodes([made])
        run.log_metrics({"a": 1}, step=4)
        told = [run.id, run.pending, signal.getsignal(signal.SIGTERM) is signal.SIG_DFL]
        run.finish(status="failed")  # only its own files
        return [*told, written.id]

    assert forked(work) == [run.id, 1, True, made.id]
    assert not (run.dir / "end.json").exists()  # type: ignore[operator]
    assert signal.getsignal(signal.SIGTERM) == handler
    assert run.log_episodes([episode(2)])
    assert run.status == "running"
    run.finish()
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert sorted(each.task.data["idx"] for each in found.episodes()) == [0, 1, 2]
    assert found.end is not None and sorted(found.end.counts.segments.values()) == [1, 2]
    assert [each.step for each in found.steps()] == [4]
    assert not [path for path in found.path.rglob("*.jsonl") if b"canary" in path.read_bytes()]


def _work(run: Any, number: int) -> None:
    run.log_episodes(episode(number * 100 + index) for index in range(5))


@pytest.mark.parametrize(("method", "count"), [("fork", 3), ("spawn", 1)])
def test_a_run_can_be_given_to_workers(method: str, count: int) -> None:
    run = opened(config={"headers": {"k": "canary-secret"}})
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=_work, args=(run, number)) for number in range(count)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
        assert each.exitcode == 0
    run.finish()
    found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
    assert len({each.id for each in found.episodes()}) == 5 * count
    assert found.end is not None and list(found.end.counts.segments.values()) == [5] * count
    assert found.record is not None and found.record.n_items == 5 * count


def test_a_run_that_was_sent_keeps_its_secrets_and_its_identity() -> None:
    run = opened(config={"headers": {"k": "canary-secret"}}, kind="train")
    there = pickle.loads(pickle.dumps(run))
    made = episode(1)
    made.task.data["prompt"] = "canary-secret"
    (written,) = there.log_episodes([made], work=evh.TrainWorkInfo(step=1))
    assert (there.id, there.kind, written.run.id) == (run.id, "train", run.id)
    there.finish()
    run.finish()
    assert b"canary" not in b"".join(path.read_bytes() for path in run.dir.rglob("*.jsonl"))  # type: ignore[union-attr]
    nowhere = pickle.loads(pickle.dumps(opened(mode="disabled")))
    assert nowhere.log_episodes([episode()]) and nowhere.dir is None


def test_a_worker_is_refused_once_the_owner_closed_the_run() -> None:
    run = opened()
    told = Told()
    worker = join_run(run.dir, notify=told)  # type: ignore[arg-type]
    worker.log_episodes([episode(0)])
    run.finish()
    assert "is still being written" in run.errors[0]
    with pytest.raises(evh.RunFinishedError, match="was closed by its owner"):
        worker.log_episodes([episode(1)])
    with pytest.raises(evh.RunFinishedError):
        worker.log_metrics({"a": 1})
    worker.finish()
    assert (worker.lost, ids(run)) == (0, [each.id for each in evh.open_run_dir(run.dir).episodes()])  # type: ignore[arg-type]
    assert evh.open_run_dir(run.dir).end.counts.episodes == 1  # type: ignore[arg-type, union-attr]


def test_a_worker_waits_for_no_uploader() -> None:
    uploader = Uploader(pending=5)
    run = opened(mode="online", api_key="k-123456789", uploads=uploader)
    with join_run(run.dir) as worker:  # type: ignore[arg-type]
        worker.log_episodes([episode(0)])
        assert (worker.mode, worker.reason) == ("offline", "its owner uploads it")
    assert uploader.waited == []
    run.finish(timeout=0)


def test_a_run_left_open_is_taken_up_when_its_process_is_gone(template: subprocess.Popen[str]) -> None:
    code, left, _ = ended(template, f"{READY}time.sleep(30)", signal.SIGKILL)
    assert code == -9
    with (left.path / "traces.jsonl").open("ab") as file:
        file.write(b'{"id":"torn')
    told = Told()
    run = opened(dir=left.path, resume=True, name=None, notify=told)
    assert "the lease of the process" in told[0] and "was taken over" in told[0]
    assert "a torn last line" in told[1]
    run.log_episodes([episode(1)])
    run.finish()
    found = evh.open_run_dir(left.path)
    assert found.end is not None and found.end.counts.episodes == 2
    assert found.state == "finished"


def test_a_silent_writer_elsewhere_is_never_presumed_dead(alone: Path) -> None:
    run = opened()
    directory = run.dir
    assert directory is not None
    run.finish(status="failed")
    (directory / "end.json").unlink()
    times = {"acquired_at": "2026-10-04T08:15:30Z", "beat_at": "2026-10-04T08:15:30Z"}
    (directory / "lease.json").write_text(json.dumps({"token": "t", "host": "elsewhere", "pid": 7} | times))
    with pytest.raises(evh.LockedError, match="silent for"):
        opened(dir=directory, resume=True, name=None)
    again = opened(dir=directory, resume=True, take_over=True, name=None)
    again.finish()
    assert evh.open_run_dir(directory).state == "finished"


def test_an_owner_that_was_replaced_writes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    run = opened()
    run.log_episodes([episode(0)])
    assert run._disk is not None and run._disk._lease is not None
    monkeypatch.setattr(run._disk._lease, "lost", "the process 7 on 'elsewhere'")
    assert run.log_episodes([episode(1)]) == []
    assert "was taken over by the process 7" in str(run.lost)
    run.finish()
    assert not run.finished
    assert not (run.dir / "end.json").exists()  # type: ignore[operator]
    monkeypatch.undo()
    run.finish(timeout=0)
    exits.forget(run)
