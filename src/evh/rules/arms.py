"""V3, V5 and V8: what runs claim about their build and their arm.

Promise: V3, every record names its build; V5, no two configs that were run with different params gave the same results
on every item of a dataset, which is how a knob that is not connected shows; V8, an arm is one set of repeats, and a
folder has the name of its run. Rows are reduced to a digest; none is held.
Policy, V5: results are the metrics that speak of the output. Latency, money and tokens are left out, by name and by the
kinds that the record gives, and so are runs without params, without such a metric, and with a row that cannot be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError, Notice, cut
from evh.protocol import models
from evh.protocol.jsontext import canonical
from evh.rules.outcome import Outcome
from evh.rules.tree import FoundRun, Tree
from evh.store import layout
from evh.store.arm import group_runs, not_repeats
from evh.store.rows import read_metric_rows

__all__ = ["is_measurement", "v3", "v5", "v8"]

WHOLE = 1 << 256


def v3(tree: Tree, outcome: Outcome) -> None:
    """Every record names the build that it measured."""
    for _, run in tree.runs():
        if run.record is None:
            continue
        outcome.looked("records")
        if run.record.build.ref == "unknown":
            outcome.found(
                tree.shown(run.path / layout.RECORD),
                "the build is 'unknown': nobody can say which version was measured",
                "measure again in a git tree, or with EVAL_BUILD_REF set to the version",
                pointer="/build/ref",
            )


# --- V5 --------------------------------------------------------------------------------------------------------------


class _Results(NamedTuple):
    """What a run must have in common with another to be suspicious."""

    dataset_id: str
    scores: bytes
    rows: str


def v5(tree: Tree, outcome: Outcome) -> None:
    """No two configs with different params have identical results."""
    alike: dict[_Results, list[tuple[FoundRun, str, bytes]]] = {}
    for _, run in tree.runs():
        record = run.record
        if record is None or not record.params or not run.rows_path.exists():
            continue
        results = _results(tree, run, record)
        if results is None:
            continue
        outcome.looked("runs")
        alike.setdefault(results, []).append((run, record.config_id, canonical(record.params)))
    for runs in alike.values():
        kept: dict[str, tuple[FoundRun, bytes]] = {}
        for run, config_id, params in runs:
            kept.setdefault(config_id, (run, params))
        (one, (first, its_params)), *others = kept.items()
        for other, (run, params) in others:
            if params != its_params:
                outcome.found(
                    tree.shown(run.path / layout.RECORD),
                    f"the configs {cut(one)} and {cut(other)} differ in their params and have the same result on every "
                    f"item; the other run is {tree.shown(first.path)}",
                    "look whether the adapter uses the param that differs; if so, add a metric that shows it",
                    pointer="/scores",
                )


def is_measurement(name: str, kinds: Mapping[str, Any]) -> bool:
    """Whether a metric tells of time, money or tokens, not of the output."""
    return kinds.get(name) in ("cost", "speed") or name.endswith(("_ms", "_usd", "_seconds")) or "token" in name


def _results(tree: Tree, run: FoundRun, record: models.RunRecord) -> _Results | None:
    """The results of a run as digests; None when a row cannot be read or none says anything of an output."""
    total = rows = 0
    kinds = record.metric_kinds
    told: dict[str, bool] = {}
    file = tree.shown(run.rows_path)
    notices: list[Notice] = []
    encode = msgspec.json.encode
    try:
        for row in read_metric_rows(run.rows_path, notices):
            if notices:
                return None  # a NaN literal, or a torn end
            quality = []
            for name, value in row.metrics.items():
                if name not in told:
                    told[name] = is_measurement(name, kinds)
                if not told[name]:
                    quality.append((name, float(value)))
            rows += 1
            if rows % 1000 == 0:
                tree.progress(file, rows)
            quality.sort()
            digest = hashlib.sha256(encode((row.item_id, row.failed, quality))).digest()
            total = (total + int.from_bytes(digest)) % WHOLE  # a sum: rows stand in the order they were measured
    except (EvhError, OverflowError, msgspec.MsgspecError, UnicodeEncodeError):
        return None
    if notices or not rows or all(told.values()):
        return None
    scores = {name: value for name, value in record.scores.items() if not is_measurement(name, kinds)}
    return _Results(record.dataset_id, canonical(scores), f"{rows} {total:x}")


# --- V8 --------------------------------------------------------------------------------------------------------------


def v8(tree: Tree, outcome: Outcome) -> None:
    """An arm is one run or one set of repeats, and each folder has the name of its run."""
    for folder in tree.folders:
        try:
            runs = folder.runs
        except EvhError:
            continue
        finished = []
        for run in runs:
            said = run.manifest or run.record
            if said is None:
                continue
            outcome.looked("runs")
            if said.run_id != run.path.name:
                name = layout.MANIFEST if run.manifest is not None else layout.RECORD
                outcome.found(
                    tree.shown(run.path / name),
                    f"the run is called {cut(said.run_id)}, its folder {cut(run.path.name)}",
                    "give the folder its run's name back; a copy belongs in a runs directory of its own",
                    pointer="/run_id",
                )
            if run.record is not None:
                finished.append(run.run)
        for _, arm in group_runs(finished):
            if why := not_repeats(arm):
                message, _, advice = why.partition("; ")
                outcome.found(tree.shown(folder.path), message, advice)
