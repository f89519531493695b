"""One item: called, scored, made into a row.

Promise: the clock runs only while the system is called, the last attempt of several alone, and is monotonic. What is
scored is what will be stored: the output, or the episode, with secrets masked. What the call cost is told before it is
scored, so that no cap forgets it. Numbers are checked before anything is written; a fault of the scorer is a failure of
the item, never a 0. An episode that failed and that nothing scored is a failure of the item as well.

By what a cost is known (`evh.harness.cost`) is counted, so that a sum of several kinds can be told as one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from evh.harness.adapters import AdapterError
from evh.harness.cost import cost_of
from evh.harness.dataset import source_text
from evh.harness.result import Result, row_metrics
from evh.harness.setup import Setup
from evh.protocol import models
from evh.store.episode_masking import mask_episode
from evh.store.masking import Masker
from evh.store.projection import Projected, project_episode

__all__ = ["ITEM_KEY", "Measured", "Paid", "measure_item", "row_of_episode"]

ITEM_KEY = "item_id"
"""Where a measured episode says, in its `info`, which item it answers."""

Paid = Callable[[float | None, str | None], None]
"""Told what a call cost, and by what that is known: `bill`, `adapter`, `prices`; None and None when it is not."""


class Measured(NamedTuple):
    """An item as it will be written, and the masker that knows its own secret tables."""

    output: str
    members: dict[str, Any]
    episode: models.Episode | None
    masker: Masker


def measure_item(
    setup: Setup,
    index: int,
    params: Mapping[str, Any],
    run: models.EvalRunInfo,
    wait: Callable[[float], bool],
    paid: Paid,
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

    found = setup.retries.run(call, wait=wait, on_retry=on_retry)
    took = max(0.0, (ended - started) * 1000)
    if isinstance(found, models.Episode):
        found.record_run(run, **{ITEM_KEY: item_id})
        return row_of_episode(setup, found, item_id, text, took, paid)
    cost, source = cost_of(found, setup.params)
    paid(cost, source)
    masker = setup.masker.knowing(found.meta)
    output = masker.text(found.output)
    scores = _scored(setup, output, item_id, text)
    latency = took if found.latency_ms is None else found.latency_ms
    members = _members(output, scores, found, latency, cost, item_id)
    return Measured(output, members, None, masker)


def row_of_episode(
    setup: Setup, episode: models.Episode, item_id: str, text: str | None, took: float | None, paid: Paid | None = None
) -> Measured:
    """The row that an episode makes, projected from the episode as it is stored (`took` where it does not say how long
    it ran)."""
    episode, _, masker = mask_episode(episode, setup.masker)
    projected = project_episode(episode, item_id)
    cost, source = cost_of(projected, setup.params)
    if paid is not None:
        paid(cost, source)
    output = masker.text(projected.output)
    scores = dict(projected.metrics)
    own = None
    if setup.adapter.has_score_episode:
        reference = None if setup.references is None else setup.references.text(item_id)
        own = setup.adapter.score_episode(episode, reference)
    if own is not None:
        scores |= own
    elif projected.error is None or scores:
        scores |= _scored(setup, output, item_id, text)
    if projected.error is not None and not scores:
        raise AdapterError(f"the episode failed: {projected.error}", transient=False)
    latency = projected.latency_ms if projected.latency_ms is not None else took
    return Measured(output, _members(output, scores, projected, latency, cost, item_id), episode, masker)


def _scored(setup: Setup, output: str, item_id: str, text: str | None) -> Mapping[str, Any]:
    if not setup.adapter.has_score:
        return {}
    reference = None if setup.references is None else setup.references.text(item_id)
    return setup.adapter.score(output, reference, text if setup.adapter.wants_source else None) or {}


def _members(
    output: str,
    scores: Mapping[str, Any],
    found: Result | Projected,
    latency: float | None,
    cost: float | None,
    item_id: str,
) -> dict[str, Any]:
    """The members of the row; the numbers of `_extra` are metrics of the row as well."""
    members: dict[str, Any] = dict(row_metrics(scores, found.extra, item_id))
    measured = {
        "latency_ms": latency,
        "cost_usd": cost,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
    }
    members |= {name: value for name, value in measured.items() if value is not None}
    members.setdefault("output_words", len(output.split()))
    members["_extra"] = {name: members[name] for name in found.extra}
    meta = dict(found.meta)
    if isinstance(found, Projected) and found.error is not None:
        meta.setdefault("error", found.error)
    if meta:
        members["_meta"] = meta
    return members
