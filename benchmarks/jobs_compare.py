"""Jobs about comparison: a table of many arms, a paired bootstrap."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.data import Data
from benchmarks.report import Figure, Report, at_most
from benchmarks.timing import interleave, whole

__all__ = ["compare"]

ARMS = {False: 5_000, True: 500}
ROWS = 20
AT = "2026-01-01T00:00:00Z"


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
    stream = Stream.of(1, "d", ("a", "b"), "m")
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
