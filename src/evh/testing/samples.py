"""Episodes and run directories made on the spot: small, whole, the same each time.

Promise: what is made here is strictly valid and `verify` finds nothing against it; ids and times are counted, not
drawn, so that a test's output can be compared. A run directory is read by `evh.open_run_dir` and by every command.
Policy: what the records say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import UsageError

if TYPE_CHECKING:
    from evh.protocol.models import Episode

__all__ = ["EpisodeMaker", "make_run_directory"]

START = 1_767_225_600.0
"""2026-01-01T00:00:00Z: when the first episode begins."""
CREATED = "2026-01-01T00:00:00Z"


class EpisodeMaker:
    """Makes episodes, one after the other: `make = EpisodeMaker(); make(reward=1.0)`."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(
        self, *, turns: int = 1, traces: int = 1, reward: float | None = 1.0, streams: bool = False, **members: Any
    ) -> Episode:
        """An episode of `traces` agents, each with `turns` questions and answers; with `streams` the answers carry
        tokens. `reward` is what each trace scored (None: not scored). Other members are set as given (`ok=False`,
        `run=TrainRunInfo(…)`). Raises `UsageError` for a member that there is not."""
        from evh.protocol.codec import decode
        from evh.protocol.models import Episode

        number, self.made = self.made, self.made + 1
        begin = START + 10.0 * number
        task = {"type": "ArithmeticTask", "data": {"idx": number, "prompt": f"What is {number} + 1?"}}
        document = {
            "schema": "evh:1.0:episode",
            "id": f"{number:032x}",
            "env": {"id": "arithmetic"},
            "task": task,
            "ok": True,
            "traces": [_trace(number, seat, task, begin, turns, reward, streams) for seat in range(traces)],
        }
        episode = decode(json.dumps(document, separators=(",", ":")), Episode)
        for name, value in members.items():
            if name not in Episode.__struct_fields__:
                raise UsageError(f"Episode has no member {name!r}: it has {', '.join(Episode.__struct_fields__[:-1])}")
            setattr(episode, name, value)
        return episode


def _trace(
    number: int, seat: int, task: dict[str, Any], begin: float, turns: int, reward: float | None, streams: bool
) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for turn in range(turns):
        texts = (("user", f"What is {number} + {turn + 1}?"), ("assistant", str(number + turn + 1)))
        for role, content in texts:
            sampled = role == "assistant"
            node: dict[str, Any] = {
                "parent": len(nodes) - 1 if nodes else None,
                "message": {"role": role, "content": content},
                "sampled": sampled,
                "timestamp": begin + len(nodes),
            }
            if streams:
                count = len(content)
                node |= {"token_ids": list(range(count)), "mask": [sampled] * count}
                node |= {"logprobs": [-0.5] * count} if sampled else {}
            nodes.append(node)
    return {
        "id": f"{number:024x}{seat:08x}",
        "task": task,
        "agent": {"name": f"seat-{seat}", "config": {"model": "model-a"}},
        "nodes": nodes,
        "rewards": {} if reward is None else {"correct": {"score": reward, "weight": 1.0}},
        "timing": {"start": begin},
        "ok": True,
        "is_completed": True,
    }


def make_run_directory(
    folder: Path, rows: Iterable[dict[str, Any]] | int = 3, *, episodes: Iterable[Episode] = (), finished: bool = True
) -> Path:
    """Write the directory of a run into `folder`: `run.json`, `predictions.jsonl`, `traces.jsonl` when there are
    episodes, and `metrics.json` when it is finished. `rows` are prediction rows, or how many to make
    up. Returns `folder`."""
    from evh.protocol.codec import encode

    made = (
        [{"item_id": f"item-{n}", "exact": float(n % 2), "_extra": {}} for n in range(rows)]
        if isinstance(rows, int)
        else rows
    )
    listed = [dict(each) for each in made]
    written = list(episodes)
    folder.mkdir(parents=True, exist_ok=True)
    name = folder.name or "run"
    manifest = {"run_id": name, "started_at": CREATED, "harness_version": "0.4.0", "config": {}}
    _write(folder / "run.json", [manifest])
    _write(folder / "predictions.jsonl", listed)
    if written:
        (folder / "traces.jsonl").write_bytes(b"".join(encode(each) + b"\n" for each in written))
    if finished:
        _write(folder / "metrics.json", [_record(name, listed)])
    return folder


def _record(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    failed = sum("_error" in row for row in rows)
    metrics = sorted({key for row in rows for key in row if not key.startswith("_") and key != "item_id"})
    scores = {}
    for metric in metrics:
        values = [row[metric] for row in rows if metric in row]
        scores[metric] = sum(values) / len(values)
    return {
        "run_id": name,
        "dataset_id": "samples_v1",
        "config_id": "sample",
        "build": {"ref": "v1"},
        "created_at": CREATED,
        "scores": scores,
        "n_items": len(rows) - failed,
        **({"n_errors": failed} if failed else {}),
    }


def _write(path: Path, documents: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")
