"""Stored outputs, scored again: what a worker does with a range of rows or of episodes.

Promise: a row is scored from what is stored and carries what was measured: time, tokens, money, `_extra` and `_meta`
are the source row's; metrics are the scorer's alone, those that its old scorer gave are gone. An episode is scored as a
whole (`score_episode`), with all its traces; its own rewards, which no scorer made, are projected from it again. A row
of a failure is carried as it is and never scored. The same scorer and references give the same numbers.
When it breaks: an output that is missing or not the one that was measured, a row without `_extra`, a scorer's metric
that is also an extra, a source text that is missing: an `EvhError` with file and line, and nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import EvhError, RecordError, SourceError, WriteError, cut
from evh.harness.adapters import Adapter, load_adapter
from evh.harness.copying import write_at
from evh.harness.dataset import Frozen, load_dataset, source_text
from evh.harness.derived_dir import DerivedDir
from evh.harness.derived_row import read_row, row_line
from evh.harness.episode_scores import EpisodeScore, EpisodeScores, encode_scores, means_of_episodes
from evh.harness.item import ITEM_KEY
from evh.harness.project import Project
from evh.harness.references import References
from evh.harness.result import row_metrics
from evh.harness.shards import line_number, lines_of, write_shard
from evh.protocol import models
from evh.protocol.reader import read_episodes
from evh.store import layout
from evh.store.aggregate import Aggregate
from evh.store.atomic import why
from evh.store.outputs import read_regular
from evh.store.projection import item_id_of, said_by, words_of
from evh.store.rows import MetricRow, read_metric_rows
from evh.store.run_dir import RunDir

__all__ = ["CARRIED", "Plan", "RowsDone", "ScoreEpisodes", "ScoreRows", "refuse_repeated"]

CARRIED = ("latency_ms", "cost_usd", "tokens_in", "tokens_out")
OF_EPISODES = frozenset({"ok", "truncated"})
"""Extras that tell a row made from an episode."""


WHOLE = 1 << 53


class Plan(NamedTuple):
    """What is scored, with what: plain enough to be sent to a process."""

    project: Project
    dataset_id: str
    frozen: Frozen | None
    """The dataset; None where it was not needed so far."""
    references: References | None
    adapter: str
    adapter_dir: Path
    adapter_sha256: str
    run: Path
    outputs: Path
    shards: Path
    traces: Path | None = None
    """Where the episodes are copied to by those who read them; None when they are copied otherwise."""


class RowsDone(NamedTuple):
    """A shard of rows: its file, its rows counted, how many have a reference, and the items without an output."""

    path: Path
    counted: Aggregate
    covered: int
    without_output: list[str]


class _Scoring:
    """A scorer in whichever process it finds itself; each loads the adapter for itself."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._held: tuple[int, Adapter] | None = None
        self._frozen = plan.frozen
        self._names: set[str] = set()
        """Names of metrics and extras that were looked at."""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_held": None}

    @property
    def adapter(self) -> Adapter:
        if self._held is None or self._held[0] != os.getpid():
            plan = self.plan
            adapter = load_adapter(plan.adapter, config_dir=plan.adapter_dir, root=plan.project.root)
            if adapter.sha256 != plan.adapter_sha256:
                adapter.close()
                raise SourceError("was changed while it scored: score again", source=adapter.id)
            self._held = os.getpid(), adapter
        return self._held[1]

    def close(self) -> None:
        """Close the adapter of this process."""
        held, self._held = self._held, None
        if held is not None and held[0] == os.getpid():
            held[1].close()

    def _score(self, output: str, item_id: str) -> Mapping[str, Any]:
        adapter = self.adapter
        if not adapter.has_score:
            return {}
        text = self._source_text(item_id) if adapter.wants_source else None
        return adapter.score(output, self._reference(item_id), text) or {}

    def _reference(self, item_id: str) -> str | None:
        references = self.plan.references
        return None if references is None else references.text(item_id)

    def _source_text(self, item_id: str) -> str:
        if self._frozen is None:
            self._frozen = load_dataset(self.plan.project, self.plan.dataset_id)
        index = self._frozen.position.get(item_id)
        if index is None:
            raise SourceError(
                f"has no item {cut(item_id)}, whose source text the scorer wants", source=str(self._frozen.path)
            )
        return source_text(self.plan.project, self._frozen, index)

    def _numbers(self, metrics: Mapping[str, Any], item_id: str) -> dict[str, int | float]:
        """A scorer's metrics as plain numbers, by `row_metrics` unless they are known to be such."""
        if metrics.keys() <= self._names and all(
            isfinite(value) if type(value) is float else type(value) is int and abs(value) < WHOLE
            for value in metrics.values()
        ):
            return dict(metrics)
        found = row_metrics(metrics, {}, item_id)
        self._names.update(found)
        return found

    def _commit(self, name: str, start: int, data: bytes) -> Path:
        path = self.plan.shards / f"{name}-{start:020}.jsonl"
        write_shard(path, data)
        return path


class ScoreEpisodes(_Scoring):
    """Scores the episodes of a range, and copies them; gives the file with a line for each."""

    def __call__(self, path: Path, start: int, end: int) -> Path:
        try:
            with path.open("rb") as file:
                file.seek(start)
                data = file.read(end - start)
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
        if self.plan.traces is not None:
            write_at(self.plan.traces, start, data)
        try:
            found = encode_scores([self._scored(each) for each in read_episodes(data, on_error="raise")])
        except EvhError as error:
            error.line = line_number(path, start) - 1 + (error.line or 1)
            error.source = str(path)
            raise
        return self._commit("episodes", start, found)

    def _scored(self, episode: models.Episode) -> EpisodeScore:
        named = episode.info.get(ITEM_KEY)
        item_id = named if isinstance(named, str) and named else item_id_of(episode)
        said = said_by(episode)
        failed = said.error is not None and not said.metrics
        found = EpisodeScore(episode.id, item_id, {}, said.metrics, words_of(said.output, said.error), failed)
        try:
            own = self.adapter.score_episode(episode, self._reference(item_id))
            if own is None and not failed:
                own = self._score(said.output, item_id)
            if own:
                found.own = self._numbers(own, item_id)
        except EvhError as error:
            found.fault = str(error)
        return found


class ScoreRows(_Scoring):
    """Derives the rows of a range, and copies their outputs."""

    def __init__(self, plan: Plan, episodes: EpisodeScores | None) -> None:
        super().__init__(plan)
        self._episodes = episodes
        self._run = RunDir(plan.run)
        self._from = str(plan.run / layout.OUTPUTS) + os.sep
        self._to = str(plan.outputs) + os.sep

    def __call__(self, path: Path, start: int, end: int) -> RowsDone:
        lines = []
        counted = Aggregate()
        covered = 0
        without_output = []
        for offset, line in lines_of(path, start, end):
            try:
                row, numbers, copied = self._derived(read_row(line))
                lines.append(row_line(row))
            except EvhError as error:
                raise error.at(str(path), line_number(path, offset)) from None
            item_id = row["item_id"]
            provider = (row.get("_meta") or {}).get("provider")
            known = provider if type(provider) is str else None
            counted.add(MetricRow(item_id, numbers, row.get("_error") is not None, known, 0))
            covered += self._has_reference(item_id)
            if not copied:
                without_output.append(item_id)
        return RowsDone(self._commit("rows", start, b"".join(lines)), counted, covered, without_output)

    def _has_reference(self, item_id: str) -> bool:
        references, frozen = self.plan.references, self.plan.frozen
        if references is None or frozen is None:
            return False
        index = frozen.position.get(item_id)
        return index is not None and references.has(index)

    def _derived(self, row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, int | float], bool]:
        """The row with today's scores, the numbers in it that are counted, and whether its output was copied."""
        item_id, extra = row["item_id"], row.get("_extra")
        if not isinstance(extra, dict):
            raise RecordError(
                f"item {cut(item_id)}: the row has no _extra, so which of its numbers were measured is not known "
                "(it was written before 0.4.0): measure again"
            )
        if row.get("_error") is not None:
            copied = row.get("_output_sha256") is not None
            if copied:
                self._output(row)
            return row, extra | {k: v for k, v in row.items() if k[:1] != "_" and k != "item_id"}, copied
        output = self._output(row)
        found = [] if self._episodes is None else self._episodes.of_row(row)
        if found:
            metrics, words = means_of_episodes(item_id, row, found)
        elif extra.keys() >= OF_EPISODES and (self._episodes is not None or self.adapter.has_score_episode):
            raise SourceError(f"item {cut(item_id)}: its episode is missing from {layout.TRACES}: restore that file")
        else:
            metrics, words = self._numbers(self._score(output, item_id), item_id), len(output.split())
        if not (extra.keys() <= self._names and extra.keys().isdisjoint(metrics)):
            row_metrics(metrics, extra, item_id)  # says which name cannot be
            self._names.update(extra)
        numbers = {**metrics, **extra}
        numbers |= {name: row[name] for name in CARRIED if row.get(name) is not None}
        if row.get("output_words") is not None and words is not None:
            numbers.setdefault("output_words", words)
        kept = {name: value for name, value in row.items() if name[:1] == "_"}
        return {"item_id": item_id, **numbers, **kept}, numbers, True

    def _output(self, row: Mapping[str, Any]) -> str:
        """What the arm wrote, copied on the way; refused when it is not what was measured."""
        item_id = row["item_id"]
        name = layout.output_name(item_id)
        path = self._from + name
        try:
            data = read_regular(path)
        except SourceError:
            path = str(self._run.output_path(item_id))  # as older harnesses named it
            data = read_regular(path)
        said = row.get("_output_sha256")
        if said is not None and hashlib.sha256(data).hexdigest() != said:
            raise SourceError("is not what was measured (its row has another digest): restore it", source=path)
        try:
            DerivedDir.write(self._to + name, data)
        except WriteError:
            refuse_repeated(self.plan.run)  # two rows, one file
            raise
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise SourceError(f"is no UTF-8 (byte {error.start})", source=path) from None


def refuse_repeated(run: Path) -> None:
    """Raise `RecordError`, with both lines, when an item has two rows in a run."""
    for _ in read_metric_rows(run / layout.PREDICTIONS):
        pass
