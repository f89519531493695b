"""The job about rescores: stored episodes scored anew, against two bare jobs; what a rescore costs at least; memory."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count as counting
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks.data import Data
from benchmarks.report import Figure, Report, at_most
from benchmarks.timing import ROOT, interleave, whole

__all__ = ["rescore"]

EPISODES = {False: 20_000, True: 2_000}
FEW = {False: 2_000, True: 200}
SCORER = """\
PRIMARY_METRIC = "said"


def score_episode(episode, reference):
    return {"said": sum(len(trace.last_reply) for trace in episode.traces)}
"""


class Row(msgspec.Struct):
    item_id: str
    said: int


def bare_range(path: str, start: int, end: int, out: str) -> int:
    """What a worker without a contract would do: read its bytes, decode, score, encode rows, write its shard."""
    import evh

    with Path(path).open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    rows = [
        msgspec.json.encode(Row(episode.info["item_id"], sum(len(trace.last_reply) for trace in episode.traces)))
        for episode in evh.read_episodes(data, on_error="raise")
    ]
    Path(out, f"{start}.jsonl").write_bytes(b"\n".join(rows))
    return len(rows)


def copied_range(path: str, start: int, end: int, out: str) -> dict[str, int]:
    """The same worker when the episodes are to be there afterwards: it writes the bytes that it read."""
    import evh

    with Path(path).open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    with Path(out, "traces.jsonl").open("r+b") as file:
        file.seek(start)
        file.write(data)
    return {
        episode.id: sum(len(trace.last_reply) for trace in episode.traces)
        for episode in evh.read_episodes(data, on_error="raise")
    }


_scores: dict[str, int] = {}


def whole_rows(path: str, start: int, end: int, out: str) -> bytes:
    """And when rows are kept whole and outputs are checked and copied."""
    with Path(path).open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    outputs = os.path.join(os.path.dirname(path), "outputs", "")  # noqa: PTH118, PTH120
    lines = []
    for line in data.splitlines():
        row: dict[str, Any] = msgspec.json.decode(line)
        name = row["item_id"] + ".txt"
        with open(outputs + name, "rb", 0) as file:  # noqa: PTH123
            text = file.read()
        assert hashlib.sha256(text).hexdigest() == row["_output_sha256"]
        with open(f"{out}/outputs/{name}", "wb", 0) as file:  # noqa: PTH123
            file.write(text)
        row["said"] = _scores[row["_meta"]["episode_id"]]
        lines.append(msgspec.json.encode(row))
    return b"\n".join([*lines, b""])


def bare_derivation(run: Path, out: Path, workers: int) -> int:
    """All that a derived run holds, by hand: whole rows, outputs and episodes; rows and episodes synced. Returns how
    many rows there are."""
    from evh.harness.shards import ranges_of

    (out / "outputs").mkdir(parents=True)
    (out / "traces.jsonl").touch()
    _scores.clear()
    with ProcessPoolExecutor(workers) as pool:
        ranges = ranges_of(run / "traces.jsonl")
        for part in [pool.submit(copied_range, str(path), start, end, str(out)) for path, start, end in ranges]:
            _scores.update(part.result())
    rows = 0
    with ProcessPoolExecutor(workers) as pool, (out / "predictions.jsonl").open("wb") as file:  # inherits the scores
        ranges = ranges_of(run / "predictions.jsonl")
        for shard in [pool.submit(whole_rows, str(path), start, end, str(out)) for path, start, end in ranges]:
            lines = shard.result()
            rows += lines.count(b"\n")
            file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    with (out / "traces.jsonl").open("r+b") as file:
        os.fsync(file.fileno())
    return rows


def rescore(data: Data, report: Report, rounds: int) -> None:
    """Scoring stored episodes anew, by the clock on the wall: against a bare pool over the same byte ranges, which
    keeps a score an episode; and against a bare pool that leaves what a derived run holds. Every round writes a folder
    of its own, and all are removed at the end: for minutes after many files were removed, some file systems (ext4) are
    several times slower to make new ones."""
    from evh.harness import Project
    from evh.harness.rescore import rescore_run
    from evh.harness.shards import cores, ranges_of
    from evh.store import open_run_dir

    root = data.folder / "rescore"
    count = EPISODES[data.quick]
    make_episode_run(root, count)
    project, run = Project(root), open_run_dir(root / "data" / "runs" / "arm")
    ranges = ranges_of(run.path / "traces.jsonl")
    out = Path(tempfile.mkdtemp(prefix="evh-bench-", dir=data.folder))
    numbers = counting()

    def ours() -> None:
        rescore_run(project, run, out / f"ours-{next(numbers)}")

    def bare() -> None:
        with ProcessPoolExecutor(cores()) as pool:
            waiting = [pool.submit(bare_range, str(each.path), each.start, each.end, str(out)) for each in ranges]
            assert sum(each.result() for each in waiting) == count

    def by_hand() -> None:
        assert bare_derivation(run.path, out / f"by-hand-{next(numbers)}", cores()) == count

    try:
        candidates = {"bare pool": whole(bare, 1), "bare pool, all kept": whole(by_hand, 1), "rescore": whole(ours, 1)}
        timings = interleave(candidates, 5, clock=time.perf_counter)
        report.table("rescore", f"score {count:,} stored episodes anew, wall time", timings)
        base, kept, mine = timings.seconds
        report.cost("rescore", "rescore against a bare pool over the same ranges", timings, mine, base, at_most(1.2))
        what = "rescore against a bare pool that keeps whole rows, outputs and episodes"
        report.cost("rescore", what, timings, mine, kept)
        fixed(root.with_name("rescore-one"), out, report)
        flat(data, out, report)
    finally:
        shutil.rmtree(out)


def fixed(root: Path, out: Path, report: Report) -> None:
    """What a rescore costs at least: the command over a run of one episode, a whole process."""
    make_episode_run(root, 1)

    def once(number: int) -> float:
        command = [sys.executable, "-m", "evh", "rescore", "--root", str(root), "--dataset-id", "episodes"]
        started = time.perf_counter()
        checked([*command, "--out", str(out / f"one-{number}")])
        return time.perf_counter() - started

    seconds = median([once(number) for number in range(7)][2:])
    report.add(Figure("rescore", "evh rescore of one episode, a whole process", seconds, "s", at_most(0.5)))


def flat(data: Data, out: Path, report: Report) -> None:
    """The largest process of a rescore, over ten times as many episodes."""
    peaks = []
    for number in (FEW[data.quick], EPISODES[data.quick]):
        root = data.folder / ("rescore" if number == EPISODES[data.quick] else "rescore-few")
        make_episode_run(root, number)
        found = checked([sys.executable, "-m", "benchmarks.rescore_child", str(root), str(out / f"flat-{number}")])
        peaks.append(float(found))
        report.add(Figure("rescore", f"memory of a rescore's largest process, {number:,} episodes", peaks[-1], "MB"))
    what = "that memory against a tenth of the episodes"
    report.add(Figure("rescore", what, peaks[1] / peaks[0], "x", at_most(1.25)))


def checked(command: list[str]) -> str:
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"benchmarks: {' '.join(command)} failed: {ran.stderr.strip()[-500:]}")
    return ran.stdout


def make_episode_run(root: Path, count: int) -> None:
    """A project with a finished run of that many episodes of two traces, unless it is there."""
    mark = root / "made"
    if mark.exists() and mark.read_text() == str(count):
        return
    from evh.harness import Options, Project, measure
    from evh.harness.dataset import create_dataset

    shutil.rmtree(root, ignore_errors=True)
    sources = root / "sources"
    sources.mkdir(parents=True)
    for index in range(count):
        (sources / f"q{index:05}.txt").write_text(f"question {index}")
    project = Project(root)
    create_dataset(project, sources, "episodes")
    project.configs.mkdir()
    (project.configs / "arm.py").write_text(
        "from evh import *\n\n\ndef call_system(text, params):\n"
        "    def trace(name):\n"
        "        node = MessageNode(message=UserMessage(content=text * 40))\n"
        "        reply = MessageNode(message=AssistantMessage(content='word ' * 200), parent=0, sampled=True)\n"
        "        agent = AgentInfo(config=AgentConfig({'model': name}))\n"
        "        task = TraceTask(type='T', key=text, data={})\n"
        "        return Trace(task=task, agent=agent, nodes=[node, reply], ok=True)\n"
        "    traces = [trace('a'), trace('b')]\n"
        "    return Episode(task=traces[0].task, traces=traces, ok=True)\n\n\n" + SCORER
    )
    (project.configs / "arm.yaml").write_text("config_id: arm\ndataset_id: episodes\nadapter: arm.py\n")
    measure(project, project.configs / "arm.yaml", run_id="arm", options=Options(fsync="never"))
    mark.write_text(str(count))
