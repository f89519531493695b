"""The rows that the jobs read: which sets there are, and the variants of a row that the bars speak of.

A *raw* row is as verifiers 0.4.0 writes it. A *clean* row is as evh writes the same episode after an upgrade: without
the token counts that others store and we recompute.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.timing import ROOT

__all__ = [
    "BIG",
    "Data",
    "Shape",
    "as_030",
    "sets",
    "size_of",
    "stamp",
    "stamp_file",
    "with_retired_run",
    "with_unknown",
]

VERSION = 2
"""Raise it when the builder makes other rows, so that old ones are not taken for them."""


class Shape(NamedTuple):
    """A set of episodes: how many, their turns, how long a tool's answer and a reply are, whether there are tokens."""

    name: str
    rows: int
    turns: int
    tool_chars: int
    reply_chars: int
    tokens: bool


SETS = (
    Shape("e5", 500, 1, 0, 350, False),
    Shape("e50", 100, 12, 2300, 500, False),
    Shape("e500", 12, 60, 6200, 900, False),
    Shape("e50t", 100, 4, 800, 500, True),
    Shape("e500t", 12, 18, 3000, 900, True),
)
QUICK = 3
"""A quick run has this many times fewer rows."""

BIG = {
    False: {"big": ("e50", 500_000_000), "list5": ("e5", 16_000_000), "list50": ("e50", 32_000_000)},
    True: {"big": ("e50", 100_000_000), "list5": ("e5", 4_000_000), "list50": ("e50", 8_000_000)},
}
"""Files made by repeating the rows of a set: by whether the run is quick, the file's name, its set and its bytes."""


def sets(*, quick: bool) -> tuple[Shape, ...]:
    return tuple(shape._replace(rows=max(4, shape.rows // QUICK)) for shape in SETS) if quick else SETS


def stamp(*, quick: bool) -> str:
    """What a data folder says about the rows in it."""
    return f"version {VERSION}\n{sets(quick=quick)}\n{BIG[quick]}\n"


def stamp_file(folder: Path) -> Path:
    return folder / "made-from.txt"


def size_of(rows: list[bytes]) -> float:
    """Mean bytes of a row."""
    return sum(map(len, rows)) / len(rows)


class Data:
    """A folder with the sets, built on first use."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self.folder = folder / ("quick" if quick else "full")
        self.quick = quick
        self.clean = cache(self._clean)
        self.raw = cache(self._raw)

    def make(self) -> None:
        """Build the sets, unless they are there as this version of the builder makes them."""
        mark = stamp_file(self.folder)
        if mark.is_file() and mark.read_text(encoding="utf-8") == stamp(quick=self.quick):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        print(f"building the rows in {self.folder} (once)", file=sys.stderr)
        command = [sys.executable, "-m", "benchmarks.builder", str(self.folder), *(["--quick"] if self.quick else [])]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise SystemExit("benchmarks: the rows could not be built; the message above says why")

    def path(self, name: str) -> Path:
        return self.folder / name / "traces.jsonl"

    def clean_path(self, name: str) -> Path:
        """The clean rows of a set as a file; written anew in each run, because our own writer makes them."""
        path = self.folder / f"{name}-clean" / "traces.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(row + b"\n" for row in self.clean(name)))
        return path

    def _raw(self, name: str) -> list[bytes]:
        return self.path(name).read_bytes().splitlines()

    def _clean(self, name: str) -> list[bytes]:
        import evh

        return [evh.encode(evh.upgrade(row).record) for row in self.raw(name)]


def _changed(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    def of(row: bytes) -> bytes:
        document = msgspec.json.decode(row)
        change(document)
        return msgspec.json.encode(document)

    return of


@_changed
def with_retired_run(episode: dict[str, Any]) -> None:
    """The row with the run repeated on each trace, where it stood before August."""
    for trace in episode["traces"]:
        trace["run"] = {"type": "eval", "id": "run-0001", "name": "bench-env--model-32b"}


def with_unknown(place: str) -> Callable[[bytes], bytes]:
    """The row with one member that no schema knows, on its `episode`, `trace` or last `node`."""

    def change(episode: dict[str, Any]) -> None:
        trace = episode["traces"][-1]
        target = {"episode": episode, "trace": trace, "node": trace["nodes"][-1]}[place]
        target["added_later"] = {"by": "a newer writer", "values": [1, 2, 3]}

    return _changed(change)


@_changed
def as_030(episode: dict[str, Any]) -> None:
    """The row as release 0.3.0 wrote it: no task on the episode, the run on each trace, none of the later members."""
    run = episode.pop("run")
    for name in ("schema", "task", "is_timeout", "info", *_COMPUTED):
        episode.pop(name, None)
    for trace in episode["traces"]:
        trace["run"] = run
        trace["verifiers"] = {"version": "0.3.0"}
        for name in ("mm_token_type_id_map", "request_rewrites", "response_rewrites", "is_timeout", *_COMPUTED):
            trace.pop(name, None)
        for name in ("key", "hash"):
            trace["task"].pop(name, None)
        for name in ("skills", "artifact_max_bytes"):
            trace["task"]["data"].pop(name, None)
        config = trace["agent"]["config"]
        config.pop("network_notice", None)
        config["retries"] = {"max_retries": 0, "include": [], "exclude": []}
        for node in trace["nodes"]:
            node.pop("semantic_parents", None)


_COMPUTED = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
