"""The Parquet table of a training step's samples, as the training viewer reads it.

Promise: one row per row of `build_samples` that has messages, in its order, with the viewer's columns and types.
Policy: what is nested is JSON text. `sample_id` counts from `first_id`, so that several tables of one step do not
collide. Written with snappy.
When it breaks: `UsageError` without pyarrow (`pip install 'evh[live]'`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from evh.errors import UsageError
from evh.platform.samples import build_samples, summary_trace
from evh.protocol.jsontext import dumps

__all__ = ["COLUMNS", "sample_table"]

COLUMNS = {
    "run_id": "string",
    "step": "int64",
    "tag": "string",
    "problem_id": "int64",
    "sample_id": "int64",
    "prompt": "string",
    "completion": "string",
    "trajectory": "string",
    "answer": "string",
    "env_name": "string",
    "task": "string",
    "info": "string",
    "reward": "float64",
    "advantage": "float64",
    "metrics": "string",
    "timing": "string",
    "num_input_tokens": "int64",
    "num_output_tokens": "int64",
    "created_at": "timestamp",
}
"""The columns in their order; the time is in microseconds of UTC."""
MOST = 2**53 - 1
"""The largest id that the viewer tells apart."""


def sample_table(
    episodes: Iterable[Any], run_id: str, step: int, *, first_id: int = 0, created_at: datetime | None = None
) -> bytes | None:
    """The bytes of the table of one step; None when no episode has messages. `created_at` is now unless given."""
    rows = list(_rows(list(episodes), run_id, step, first_id, created_at or datetime.now(UTC)))
    if not rows:
        return None
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("the sample table needs the library pyarrow: pip install 'evh[live]'") from error
    types = {name: getattr(pyarrow, name) for name in ("string", "int64", "float64")}
    schema = pyarrow.schema(
        [
            (name, pyarrow.timestamp("us", tz="UTC") if kind == "timestamp" else types[kind]())
            for name, kind in COLUMNS.items()
        ]
    )
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), buffer, compression="snappy")
    return buffer.getvalue()


def _rows(episodes: list[Any], run_id: str, step: int, first_id: int, created_at: datetime) -> Iterable[dict[str, Any]]:
    by_id = {episode.id: episode for episode in episodes}
    for number, sample in enumerate(build_samples(episodes), start=first_id):
        if not sample["trajectory"]:
            continue
        if number > MOST:
            raise UsageError(f"sample ids end at {MOST}: begin lower than {first_id}")
        episode = by_id[sample["episode_id"]]
        advantage = _number((summary_trace(episode).info or {}).get("advantage"))
        trajectory = [{**branch, "advantage": advantage} for branch in sample["trajectory"]]
        yield {
            "run_id": run_id,
            "step": step,
            "tag": "",
            "problem_id": _position(sample["example_id"], number),
            "sample_id": number,
            "prompt": "",
            "completion": _text(sample["completion"]),
            "trajectory": _text(trajectory),
            "answer": "",
            "env_name": episode.env.id or "",
            "task": _text(sample["task"]),
            "info": _text(sample["info"]),
            "reward": _number(sample["reward"]),
            "advantage": advantage,
            "metrics": _text(sample["metrics"]),
            "timing": _text(sample["timing"]),
            "num_input_tokens": trajectory[-1]["num_input_tokens"],
            "num_output_tokens": trajectory[-1]["num_output_tokens"],
            "created_at": created_at,
        }


def _position(value: Any, otherwise: int) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return otherwise


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return dumps(value).decode()
