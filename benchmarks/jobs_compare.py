"""Jobs about derived runs and comparison: a rescore of stored episodes, a table of many arms, a paired bootstrap."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec

from benchmarks.data import Data
from benchmarks.report import Figure, Report, at_most
from benchmarks.timing import interleave, whole

__all__ = ["compare", "rescore"]

EPISODES = {False: 20_000, True: 2_000}
ARMS = {False: 5_000, True: 500}
ROWS = 20
AT = "2026-01-01T00:00:00Z"
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


def rescore(data: Data, report: Report, rounds: int) -> None:
    """Scoring stored episodes anew, by the clock on the wall, against a bare pool over the same byte ranges. The
    rescore also checks each output's digest, copies outputs and episodes, and keeps what a derived run carries over."""
    from evh.harness import Project
    from evh.harness.rescore import rescore_run
    from evh.harness.shards import cores, ranges_of
    from evh.store import open_run_dir

    root = data.folder / "rescore"
    count = EPISODES[data.quick]
    make_episode_run(root, count)
    project, run = Project(root), open_run_dir(root / "data" / "runs" / "arm")
    ranges = ranges_of(run.path / "traces.jsonl")
    out = Path(tempfile.mkdtemp(prefix="evh-bench-"))

    def ours() -> None:
        rescore_run(project, run, out / "ours", force=True)

    def bare() -> None:
        with ProcessPoolExecutor(cores()) as pool:
            waiting = [pool.submit(bare_range, str(each.path), each.start, each.end, str(out)) for each in ranges]
            assert sum(each.result() for each in waiting) == count

    try:
        timings = interleave({"bare pool": whole(bare, 1), "rescore": whole(ours, 1)}, 3, clock=time.perf_counter)
    finally:
        shutil.rmtree(out)
    base, mine = timings.seconds
    report.table("rescore", f"score {count:,} stored episodes anew, wall time", timings)
    report.cost("rescore", "rescore against a bare pool over the same ranges", timings, mine, base, at_most(1.2))


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


def compare(data: Data, report: Report, rounds: int) -> None:
    """A leaderboard over many arms of one run each against opening and decoding the same files, and a paired bootstrap
    of 2,000 items with 10,000 draws."""
    from evh.stats import Stream, leaderboard, paired_bootstrap
    from evh.store.arm import Arm
    from evh.store.runs import list_runs

    count = ARMS[data.quick]
    folder = data.folder / "arms"
    make_arms(folder, count)
    decode_row = msgspec.json.Decoder(dict[str, object]).decode
    decode_record = msgspec.json.Decoder(dict[str, object]).decode

    def bare() -> None:
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                decode_record((path / "metrics.json").read_bytes())
                for line in (path / "predictions.jsonl").read_bytes().splitlines():
                    decode_row(line)

    def ours() -> None:
        leaderboard([Arm([run]) for run in list_runs(folder).finished], significance=False)

    timings = interleave({"bare open + decode": whole(bare, count), "leaderboard": whole(ours, count)}, 5, freeze=False)
    base, mine = timings.seconds
    report.table("compare", f"a leaderboard over {count:,} arms of {ROWS} rows", timings)
    report.cost("compare", "leaderboard against bare open + decode", timings, mine, base, at_most(2.5))
    differences: Sequence[float] = [(index * 7919 % 1000) / 1000 - 0.45 for index in range(2_000)]
    stream = Stream.of(1, "d", ["a", "b"], "m")
    paired_bootstrap(differences, draws=10_000, stream=stream)
    started = time.perf_counter()
    paired_bootstrap(differences, draws=10_000, stream=stream)
    took = (time.perf_counter() - started) * 1000
    report.add(Figure("compare", "paired bootstrap, 2,000 items x 10,000 draws", took, "ms", at_most(200)))


def make_arms(folder: Path, count: int) -> None:
    """That many finished runs of one config each, unless they are there."""
    mark = folder / ".made"
    if mark.exists() and mark.read_text() == str(count):
        return
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(count):
        run = folder / f"arm{number:05}"
        run.mkdir(parents=True)
        rows = [
            {"item_id": f"q{item}", "score": (number * 31 + item * 17) % 100 / 100, "latency_ms": 12.5, "_extra": {}}
            for item in range(ROWS)
        ]
        (run / "predictions.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        mean = sum(float(str(row["score"])) for row in rows) / ROWS
        record = {
            "run_id": run.name, "dataset_id": "d", "config_id": run.name, "build": {"ref": "v1"}, "created_at": AT,
            "scores": {"score": mean, "latency_ms": 12.5}, "n_items": ROWS, "primary_metric": "score",
        }  # fmt: skip
        (run / "metrics.json").write_bytes(msgspec.json.encode(record))
    mark.write_text(str(count))
