"""What a judge is shown of a source run, and what a judged row keeps of the source's.

Promise: sources are only read, rows and episodes streamed. A judged row carries what was measured (time, tokens, money,
words, `_extra`, `_meta`, the output's digest, an accepted failure) untouched, and no metric of an earlier scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from evh.errors import SourceError, cut
from evh.harness.item import ITEM_KEY
from evh.harness.judging.asking import Task
from evh.harness.result import row_metrics
from evh.protocol import models
from evh.store.projection import item_id_of
from evh.store.run_dir import RunDir

__all__ = ["Beside", "carried", "episode_tasks", "judged_rows", "output_tasks", "refuse_episodes"]

CARRIED = ("latency_ms", "cost_usd", "tokens_in", "tokens_out", "output_words")
KEPT = ("_extra", "_meta", "_error", "_output_sha256")

Beside = Callable[[str], tuple[str | None, str | None]]
"""The reference and the source text of an item, as far as the judge wants them."""


def output_tasks(run: RunDir, there: set[str], beside: Beside) -> Iterator[Task]:
    """The rows to judge by their outputs, but for those that are there already."""
    for stored in run.rows():
        row = stored.value
        if row.error is None and row.item_id not in there:
            yield Task(row.item_id, partial(_output, run, row.item_id, beside))


def _output(run: RunDir, item_id: str, beside: Beside) -> tuple[str, str | None, str | None]:
    return run.output(item_id), *beside(item_id)


def episode_tasks(run: RunDir, there: set[str], beside: Beside) -> Iterator[Task]:
    """The rows to judge by their episodes, but for those that are there already."""
    for item_id, episode in _episodes(run, _items(run)):
        if item_id not in there:
            yield Task(item_id, partial(_episode, episode, item_id, beside))


def refuse_episodes(run: RunDir) -> None:
    """Raise `SourceError` unless every row to judge has one episode, and no more: a verdict is for one row."""
    items = _items(run)
    found = sum(1 for _ in _episodes(run, items))
    if found < len(items):
        raise SourceError(f"{len(items) - found} rows have no episode to judge", source=str(run.path))


def _items(run: RunDir) -> set[str]:
    return {stored.value.item_id for stored in run.rows() if stored.value.error is None}


def _episodes(run: RunDir, items: set[str]) -> Iterator[tuple[str, models.Episode]]:
    seen: set[str] = set()
    for episode in run.episodes():
        named = episode.info.get(ITEM_KEY)
        item_id = named if isinstance(named, str) else item_id_of(episode)
        if item_id not in items:
            continue  # of an attempt that failed
        if item_id in seen:
            raise SourceError(
                f"the item {cut(item_id)} has several episodes, and a row has one verdict: judge runs of one rollout "
                "an item, or outputs (prompt instead of prompt_episode)",
                source=str(run.path),
            )
        seen.add(item_id)
        yield item_id, episode


def _episode(episode: models.Episode, item_id: str, beside: Beside) -> tuple[models.Episode, str | None, str | None]:
    return episode, *beside(item_id)


def judged_rows(run: RunDir, found: Mapping[str, Mapping[str, int | float]]) -> Iterator[dict[str, Any]]:
    """The rows of the judged run, in the order of the source's; `found` are the judge's metrics by item."""
    for stored in run.rows():
        row = stored.value.plain()
        yield carried(row, found.get(row["item_id"], {}))


def carried(
    row: Mapping[str, Any], metrics: Mapping[str, Any], keep: Iterable[str] = (*CARRIED, *KEPT)
) -> dict[str, Any]:
    """A derived row: what was measured, and new metrics. Raises `RecordError` for a metric named like an extra."""
    made: dict[str, Any] = {"item_id": row["item_id"]}
    made |= row_metrics(metrics, row.get("_extra") or {}, row["item_id"])
    made |= {name: row[name] for name in keep if name in row and row[name] is not None}
    return made
