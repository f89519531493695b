"""Jobs about runs: what the harness costs beside the work itself, appending, and a run of 200,000 rows."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.data import Data
from benchmarks.report import Figure, Report, at_least, at_most
from benchmarks.timing import ROOT, interleave, whole

__all__ = ["append", "big_run", "measure"]

ITEMS = 1000
APPENDED = 200
BIG_ROWS = {False: 200_000, True: 20_000}
OUTPUT = "an answer of some words " * 10
ADAPTER = """\
from evh import Result

def call_system(text, params):
    return Result({output!r}, tokens_in=3, tokens_out=2)

def score(output, reference):
    return {{"exact": 1.0}}
"""


def measure(data: Data, report: Report, rounds: int) -> None:
    """A pass with an adapter that returns at once, against a loop that does nothing but the work on disk: the same rows
    encoded, written and synced, the same output files written, synced and renamed."""
    from evh.harness import Options, Project, measure

    with project() as root:
        here = Project(root)
        config = root / "data" / "configs" / "noop.yaml"
        candidates = {
            "bare loop": whole(lambda: bare_loop(root / "bare"), ITEMS),
            "evh, one call at a time": whole(lambda: measure(here, config), ITEMS),
            "evh, eight calls at a time": whole(lambda: measure(here, config, options=Options(concurrency=8)), ITEMS),
        }
        timings = interleave(candidates, max(5, rounds // 2))
    bare, one, eight = timings.seconds
    report.table("measure", f"a pass over {ITEMS} items, an adapter that returns at once", timings, None)
    report.cost("measure", "CPU per item, one call at a time, against the bare loop", timings, one, bare, at_most(3))
    report.cost(
        "measure", "CPU per item, eight calls at a time, against the bare loop", timings, eight, bare, at_most(3)
    )


@contextmanager
def project() -> Iterator[Path]:
    """A project with one dataset and one config, in a folder that goes away."""
    from evh.harness import Project
    from evh.harness.dataset import create_dataset

    folder = Path(tempfile.mkdtemp(prefix="evh-bench-"))
    try:
        sources = folder / "sources"
        sources.mkdir()
        for index in range(ITEMS):
            (sources / f"q{index:04}.txt").write_text(f"question {index} " + "x" * 200)
        create_dataset(Project(folder), sources, "noop")
        configs = folder / "data" / "configs"
        configs.mkdir()
        (configs / "noop.py").write_text(ADAPTER.format(output=OUTPUT))
        (configs / "noop.yaml").write_text("config_id: noop\ndataset_id: noop\nadapter: noop.py\n")
        yield folder
    finally:
        shutil.rmtree(folder)


def bare_loop(folder: Path) -> None:
    """The least that keeps the same promise: outputs synced and renamed one by one, rows synced in groups."""
    shutil.rmtree(folder, ignore_errors=True)
    outputs = folder / "outputs"
    outputs.mkdir(parents=True)
    rows = os.open(folder / "predictions.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    names = os.open(outputs, os.O_RDONLY)
    for index in range(ITEMS):
        text = OUTPUT.encode()
        row = {
            "item_id": f"q{index:04}",
            "exact": 1.0,
            "latency_ms": 0.01,
            "tokens_in": 3,
            "tokens_out": 2,
            "output_words": 50,
            "_extra": {},
            "_output_sha256": hashlib.sha256(text).hexdigest(),
        }
        temporary, target = outputs / f".q{index:04}.txt.tmp", outputs / f"q{index:04}.txt"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(file, text)
        os.fsync(file)
        os.close(file)
        temporary.replace(target)
        os.write(rows, msgspec.json.encode(row) + b"\n")
        if index % 40 == 39:
            os.fsync(names)
            os.fsync(rows)
    os.close(rows)
    os.close(names)


def append(data: Data, report: Report, rounds: int) -> None:
    """Appending episodes: a sync for each against writing and syncing the same bytes, by the clock on the wall, since
    waiting for the disk is what counts; buffered against verifiers' `append_episode`."""
    import verifiers.v1 as vf
    from verifiers.v1.utils.trace_store import TRACES_FILE, append_episode

    import evh

    folder = Path(tempfile.mkdtemp(prefix="evh-bench-"))
    try:
        for name in ("e5", "e50"):
            raws = data.clean(name)[:APPENDED]
            ours = [evh.decode(raw) for raw in raws]
            theirs = [
                vf.WireEpisode.model_validate_json(evh.convert(evh.decode(raw), "verifiers-0.4").data) for raw in raws
            ]

            def written(policy: str, episodes: list[evh.Episode] = ours) -> None:
                path = folder / "ours.jsonl"
                path.unlink(missing_ok=True)
                with evh.EpisodeWriter(path, fsync=policy) as writer:  # type: ignore[arg-type]
                    for episode in episodes:
                        writer.write(episode)

            def raw(rows: list[bytes] = raws) -> None:
                path = folder / "raw.jsonl"
                path.unlink(missing_ok=True)
                file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                for row in rows:
                    os.write(file, row + b"\n")
                    os.fsync(file)
                os.close(file)

            async def appended(episodes: list[object] = theirs) -> None:
                lock = asyncio.Lock()
                for episode in episodes:
                    await append_episode(folder, episode, lock)

            def verifiers_append() -> None:
                (folder / TRACES_FILE).unlink(missing_ok=True)
                asyncio.run(appended())

            count = len(raws)
            candidates = {
                "raw write + fsync of ready bytes": whole(raw, count),
                "EpisodeWriter, fsync always": whole(lambda: written("always"), count),
                "EpisodeWriter, buffered": whole(lambda: written("never"), count),
                "EpisodeWriter, group": whole(lambda: written("group"), count),
                "verifiers append_episode": whole(verifiers_append, count),
            }
            timings = interleave(candidates, max(5, rounds // 2), clock=time.perf_counter)
            bare, always, never, group, peer = timings.seconds
            report.table("append", f"append {count} rows of {name}, wall time", timings, data_size(raws))
            report.speed("append", f"{name}: fsync always, of raw write + fsync", timings, always, bare, at_least(0.8))
            report.speed("append", f"{name}: buffered against append_episode", timings, never, peer, at_least(5))
            report.speed("append", f"{name}: group against append_episode", timings, group, peer)
    finally:
        shutil.rmtree(folder)


def data_size(rows: list[bytes]) -> float:
    """Mean bytes of a row."""
    return sum(map(len, rows)) / len(rows)


def big_run(data: Data, report: Report, rounds: int) -> None:
    """A run of 200,000 rows: how long a resume takes to know what it owes, how long a check of the tree takes, and how
    much memory. Each in a process of its own, once: these are seconds, not ratios."""
    rows = BIG_ROWS[data.quick]
    share = rows / BIG_ROWS[False]
    root = data.folder / "big-run"
    make_big_run(root, rows)
    for name, limit in (("plan", 5 * share), ("validate", 60 * share)):
        command = [sys.executable, "-m", "benchmarks.run_child", name, str(root)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"benchmarks: {name} failed: {done.stderr.strip()[-500:]}")
        seconds, megabytes = map(float, done.stdout.split())
        report.add(Figure("big-run", f"{name} over {rows:,} rows", seconds, "s", at_most(limit)))
        report.add(Figure("big-run", f"{name} over {rows:,} rows: memory", megabytes, "MB", at_most(150)))


def make_big_run(root: Path, rows: int) -> None:
    """A project with one finished run of that many rows, 1.9 kB each, unless it is there."""
    mark = root / "made"
    if mark.exists() and mark.read_text() == str(rows):
        return
    shutil.rmtree(root, ignore_errors=True)
    run = root / "data" / "runs" / "big"
    for folder in (run / "outputs", root / "data" / "datasets"):
        folder.mkdir(parents=True)
    items = []
    with (run / "predictions.jsonl").open("wb") as file:
        for index in range(rows):
            text = f"output {index} {'w' * 80}".encode()
            digest = hashlib.sha256(text).hexdigest()
            (run / "outputs" / f"q{index:06}.txt").write_bytes(text)
            row = {
                "item_id": f"q{index:06}", "score": 1.0, "latency_ms": 12.5, "tokens_in": 10, "tokens_out": 20,
                "_extra": {"truncated": 0.0}, "_meta": {"text": "x" * 1700}, "_output_sha256": digest,
            }  # fmt: skip
            file.write(msgspec.json.encode(row) + b"\n")
            items.append({"item_id": f"q{index:06}", "source_sha256": digest, "source_path": f"q{index:06}.txt"})
    at = "2026-01-01T00:00:00Z"
    dataset = {"dataset_id": "big", "version": "1.0", "created_at": at, "items": items}
    (root / "data" / "datasets" / "big.json").write_bytes(msgspec.json.encode(dataset))
    scores = {
        "latency_ms": 12.5, "score": 1.0, "tokens_in": 10.0, "tokens_out": 20.0, "total_tokens_in": 10 * rows,
        "total_tokens_out": 20 * rows, "truncated": 0.0,
    }  # fmt: skip
    common = {"run_id": "big", "dataset_id": "big", "config_id": "big"}
    record = {**common, "build": {"ref": "v1"}, "created_at": at, "scores": scores, "n_items": rows}
    manifest = {**common, "started_at": at, "harness_version": "0.2.0", "config": {}, "n_items_planned": rows}
    (run / "metrics.json").write_bytes(msgspec.json.encode(record))
    (run / "run.json").write_bytes(msgspec.json.encode(manifest))
    mark.write_text(str(rows))
