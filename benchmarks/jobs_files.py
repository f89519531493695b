"""Jobs about whole files: reading episodes, holding them, memory, summaries."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from benchmarks import handwritten
from benchmarks.data import Data
from benchmarks.report import Figure, Report, at_least, at_most
from benchmarks.timing import ROOT, Work, interleave, whole

__all__ = ["episodes", "hold", "memory", "summaries"]


def episodes(data: Data, report: Report, rounds: int) -> None:
    """`read_episodes`, one episode after the other, against the body of verifiers' function of that name."""
    from pydantic import TypeAdapter
    from verifiers.v1.episode import WireEpisode
    from verifiers.v1.trace import WireTrace

    import evh

    adapter = TypeAdapter(WireTrace)
    lazy = msgspec.json.Decoder(handwritten.LazyEpisode).decode

    def ours(path: Path) -> None:
        for _ in evh.read_episodes(path):
            pass

    def theirs(path: Path) -> None:
        with path.open(encoding="utf-8") as file:
            for line in file:
                document = json.loads(line)
                made = WireEpisode.model_validate({**document, "traces": []})
                made.traces = [adapter.validate_python(trace) for trace in document["traces"]]

    def bare(path: Path) -> None:
        with path.open("rb") as file:
            for line in file:
                lazy(line)

    for name in ("e5", "e50", "e50t"):
        for kind, path in (("clean", data.clean_path(name)), ("raw", data.path(name))):
            count = len(data.raw(name))
            timings = interleave(
                {
                    "evh.read_episodes": _on(ours, path, count),
                    "verifiers read_episodes body": _on(theirs, path, count),
                    "msgspec, hand-written, line by line": _on(bare, path, count),
                },
                rounds,
            )
            report.table("episodes", f"read a file of {name}, {kind} rows", timings, path.stat().st_size / count)
            bar = at_least(6) if name == "e50" else None
            what = f"read_episodes {name}, {kind} rows: speed against"
            us, them, hand = timings.seconds
            report.speed("episodes", f"{what} verifiers' body", timings, us, them, bar)
            report.speed("episodes", f"{what} bare msgspec", timings, us, hand)


def _on(function: Callable[[Path], object], path: Path, count: int) -> Work:
    return whole(lambda: function(path), count)


def hold(data: Data, report: Report, rounds: int) -> None:
    """A whole file in a list. verifiers loads as it is, collector and all; its own heap is part of what it costs."""
    from verifiers.v1.trace import WireTrace
    from verifiers.v1.utils.trace_store import read_episodes

    import evh

    lazy = msgspec.json.Decoder(handwritten.LazyEpisode).decode

    def bare(path: Path) -> list[Any]:
        with path.open("rb") as file:
            return [lazy(line) for line in file]

    def bare_paused(path: Path) -> list[Any]:
        gc.disable()
        try:
            return bare(path)
        finally:
            gc.enable()

    for name in ("list5", "list50"):
        path = data.path(name)
        count = path.read_bytes().count(b"\n")
        candidates = {
            "evh.read_episodes(...).to_list()": _on(lambda path: evh.read_episodes(path).to_list(), path, count),
            "list(evh.read_episodes(...))": _on(lambda path: list(evh.read_episodes(path)), path, count),
            "verifiers read_episodes": _on(lambda path: read_episodes(path.parent, WireTrace), path, count),
            "msgspec, hand-written": _on(bare, path, count),
            "msgspec, hand-written, collector paused": _on(bare_paused, path, count),
        }
        timings = interleave(candidates, max(3, rounds // 8), freeze=False)
        size = path.stat().st_size
        report.table("hold", f"a file of {size / 1e6:.0f} MB into a list ({name})", timings, size / count)
        ours = "evh.read_episodes(...).to_list()"
        for theirs in list(candidates)[2:]:
            report.speed("hold", f"{name}, to_list(): speed against {theirs}", timings, ours, theirs)


def memory(data: Data, report: Report, rounds: int) -> None:
    """The peak memory of a process that reads a large file with `read_episodes`."""
    path = data.path("big")
    size = path.stat().st_size
    report.say(f"\n## peak memory of a process that reads {size / 1e6:.0f} MB")
    for mode in ("upgrade", "strict"):
        command = [sys.executable, "-m", "benchmarks.child", mode, str(path)]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"benchmarks: {' '.join(command)} failed: {ran.stderr.strip()[-500:]}")
        said = json.loads(ran.stdout)
        if said["skipped"] or not said["read"]:
            raise SystemExit(f"benchmarks: rows were skipped: {said}")
        bar = at_most(200) if mode == "upgrade" else None
        what = f"read_episodes(mode={mode!r}) over {size / 1e6:.0f} MB: peak memory"
        report.add(Figure("memory", what, said["peak_bytes"] / 1e6, "MB", bar))


def summaries(data: Data, report: Report, rounds: int) -> None:
    """id, ok, reward, run and errors of each episode of a large file, without an index, against duckdb."""
    import duckdb

    import evh

    path = data.path("big")
    scores = "STRUCT(score DOUBLE, weight DOUBLE)"
    named = f"STRUCT(correct {scores}, format {scores})"
    reward_of_named = (
        "t.rewards.correct.score * t.rewards.correct.weight + t.rewards.format.score * t.rewards.format.weight"
    )
    reward_of_map = "list_sum([r.score * r.weight for r in map_values(t.rewards)])"

    def ours() -> list[tuple[Any, ...]]:
        return [(row.id, row.ok, row.reward, row.run, row.errors) for row in evh.read_summaries(path)]

    def query(rewards: str, reward: str) -> Callable[[], list[tuple[Any, ...]]]:
        columns = (
            "{id: 'VARCHAR', ok: 'BOOLEAN', run: 'STRUCT(id VARCHAR)', errors: 'STRUCT(\"type\" VARCHAR)[]', "
            f"traces: 'STRUCT(rewards {rewards}, errors STRUCT(\"type\" VARCHAR)[])[]'}}"
        )
        text = (
            f"SELECT id, ok, list_avg([{reward} for t in traces]), run.id, "
            "len(errors) + list_sum([len(t.errors) for t in traces]) "
            f"FROM read_json(?, format='newline_delimited', maximum_object_size=67108864, columns={columns})"
        )
        return lambda: duckdb.execute(text, [str(path)]).fetchall()

    def bare() -> list[tuple[Any, ...]]:
        decode = msgspec.json.Decoder(_Head).decode
        found = []
        with path.open("rb", buffering=1 << 18) as file:
            for line in file:
                row = decode(line)
                rewards = [sum(r.score * r.weight for r in t.rewards.values() if r is not None) for t in row.traces]
                errors = len(row.errors) + sum(len(t.errors) for t in row.traces)
                found.append((row.id, row.ok, fmean(rewards), row.run.id if row.run else None, errors))
        return found

    jobs: dict[str, Callable[[], list[tuple[Any, ...]]]] = {
        "evh.read_summaries": ours,
        "duckdb read_json, columns given": query(named, reward_of_named),
        "duckdb read_json, rewards as a map": query(f"MAP(VARCHAR, {scores})", reward_of_map),
        "msgspec, the same members": bare,
    }
    expected = sorted(ours())
    for name, job in jobs.items():
        _same_rows(name, sorted(job()), expected)
    count, size = len(expected), path.stat().st_size
    timings = interleave({name: whole(job, count) for name, job in jobs.items()}, max(3, rounds // 6))
    report.table("summaries", f"summaries of {size / 1e6:.0f} MB, {count} episodes", timings, size / count)
    us, given, as_map, hand = jobs
    what = f"summaries of {size / 1e6:.0f} MB: speed against"
    report.speed("summaries", f"{what} {given}", timings, us, given, at_least(1.3))
    report.speed("summaries", f"{what} {as_map}", timings, us, as_map)
    report.speed("summaries", f"{what} {hand}", timings, us, hand)


def _same_rows(name: str, rows: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> None:
    """Whoever is compared must have found the same."""
    for row, want in zip(rows, expected, strict=True):
        same = row[:2] == want[:2] and abs(row[2] - want[2]) < 1e-9 and row[3:] == want[3:]
        if not same:
            raise SystemExit(f"benchmarks: {name} found {row}, not {want}")


class _Reward(msgspec.Struct, gc=False):
    score: float
    weight: float = 1.0


class _Run(msgspec.Struct, gc=False):
    id: str


class _Trace(msgspec.Struct, gc=False):
    rewards: dict[str, _Reward | None] = {}
    errors: list[msgspec.Raw] = []


class _Head(msgspec.Struct, gc=False):
    id: str
    ok: bool = False
    run: _Run | None = None
    errors: list[msgspec.Raw] = []
    traces: list[_Trace] = []
