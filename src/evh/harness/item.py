"""One item: called, scored, made into a row.

Promise: the clock runs only while the system is called, the last attempt of several alone, and is monotonic. What is
scored is what will be stored: the output with secrets masked. Numbers are checked before anything is written; a fault
of the scorer is a failure of the item, never a 0.

Money: the adapter's own figure, else the provider's bill (`_meta.usage.cost`), else the config's prices per million
tokens; which of them it was is counted, so that a sum of several kinds can be told as one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from evh.harness.dataset import source_text
from evh.harness.numbers import finite
from evh.harness.projection import Projected, project_episode
from evh.harness.result import Result, row_metrics
from evh.harness.retry import RetryPolicy
from evh.harness.setup import Setup
from evh.protocol import models

__all__ = ["ITEM_KEY", "Measured", "measure_item", "row_of_episode"]

ITEM_KEY = "item_id"
"""Where a measured episode says, in its `info`, which item it answers."""


class Measured(NamedTuple):
    """An item as it will be written. `priced` says where its cost comes from: `adapter`, `bill`, `prices` or None."""

    output: str
    members: dict[str, Any]
    episode: models.Episode | None
    cost: float | None
    priced: str | None


def measure_item(
    setup: Setup,
    index: int,
    params: Mapping[str, Any],
    run: models.EvalRunInfo,
    policy: RetryPolicy,
    wait: Callable[[float], bool],
    on_retry: Callable[[BaseException, int, float], None] | None = None,
) -> Measured:
    """Call the system for the item at `index` and score what it wrote.

    Raises `GaveUp` for a call that failed for good, `Stopped` when the run stops first, `EvhError` for a result or
    score that is no row, and whatever the scorer raises.
    """
    item_id = setup.frozen.item_ids[index]
    text = source_text(setup.project, setup.frozen, index)
    adapter = setup.adapter
    started = ended = 0.0

    def call() -> Result | models.Episode:
        nonlocal started, ended
        started = time.perf_counter()
        found = adapter.call(text, params, item_id=item_id)
        ended = time.perf_counter()
        return found

    found = policy.run(call, wait=wait, on_retry=on_retry)
    took = max(0.0, (ended - started) * 1000)
    if isinstance(found, models.Episode):
        found.record_run(run, **{ITEM_KEY: item_id})
        return row_of_episode(setup, found, item_id, text, took)
    return _row_of_result(setup, found, item_id, text, took)


def row_of_episode(
    setup: Setup, episode: models.Episode, item_id: str, text: str | None, took: float | None = None
) -> Measured:
    """The row that an episode makes, projected from the episode (`took` where it does not say how long it ran)."""
    projected = project_episode(episode, item_id)
    output = setup.masker.text(projected.output)
    scores = dict(projected.metrics)
    reference = None if setup.references is None else setup.references.text(item_id)
    by_episode = setup.adapter.score_episode(episode, reference) if setup.adapter.has_score_episode else None
    scores |= by_episode if by_episode is not None else _scored(setup, output, reference, text)
    latency = projected.latency_ms if projected.latency_ms is not None else took
    return _row(setup, output, scores, projected, latency, item_id, episode)


def _row_of_result(setup: Setup, result: Result, item_id: str, text: str, took: float) -> Measured:
    output = setup.masker.text(result.output)
    reference = None if setup.references is None else setup.references.text(item_id)
    scores = _scored(setup, output, reference, text)
    return _row(setup, output, scores, result, took if result.latency_ms is None else result.latency_ms, item_id, None)


def _scored(setup: Setup, output: str, reference: str | None, text: str | None) -> Mapping[str, Any]:
    if not setup.adapter.has_score:
        return {}
    return setup.adapter.score(output, reference, text if setup.adapter.wants_source else None) or {}


def _row(
    setup: Setup,
    output: str,
    scores: Mapping[str, Any],
    found: Result | Projected,
    latency: float | None,
    item_id: str,
    episode: models.Episode | None,
) -> Measured:
    numbers = row_metrics(scores, found.extra, item_id)
    extra = {name: numbers.pop(name) for name in found.extra}
    members: dict[str, Any] = numbers
    cost, priced = _cost(found, setup.params)
    measured = {
        "latency_ms": latency,
        "cost_usd": cost,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
    }
    members |= {name: value for name, value in measured.items() if value is not None}
    members["output_words"] = len(output.split())
    members["_extra"] = extra
    if found.meta:
        members["_meta"] = found.meta
    return Measured(output, members, episode, cost, priced)


def _cost(found: Result | Projected, params: Mapping[str, Any]) -> tuple[float | None, str | None]:
    if found.cost_usd is not None:
        return found.cost_usd, "adapter"
    usage = found.meta.get("usage") if found.meta else None
    bill = usage.get("cost") if isinstance(usage, Mapping) else None
    if isinstance(bill, int | float) and not isinstance(bill, bool) and bill >= 0:
        return finite(bill, "usage.cost"), "bill"
    parts = [
        (tokens, params.get(name))
        for tokens, name in ((found.tokens_in, "usd_per_mtok_in"), (found.tokens_out, "usd_per_mtok_out"))
    ]
    if any(tokens is None or not isinstance(price, int | float) for tokens, price in parts):
        return None, None
    return sum(tokens * price for tokens, price in parts if tokens is not None and price is not None) / 1e6, "prices"
