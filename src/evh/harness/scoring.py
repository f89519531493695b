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
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError, RecordError, SourceError, cut
from evh.harness.adapters import Adapter, load_adapter
from evh.harness.dataset import Frozen, source_text
from evh.harness.derived_dir import DerivedDir
from evh.harness.item import ITEM_KEY
from evh.harness.project import Project
from evh.harness.projection import item_id_of, project_episode, words_of
from evh.harness.references import References
from evh.harness.result import row_metrics
from evh.harness.shards import line_number, lines_of
from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.protocol.reader import read_episodes
from evh.store import layout
from evh.store.aggregate import exact_sum
from evh.store.atomic import why, write_file
from evh.store.outputs import read_regular
from evh.store.run_dir import RunDir

__all__ = ["CARRIED", "EpisodeScores", "Plan", "RowsDone", "ScoreEpisodes", "ScoreRows"]

CARRIED = ("latency_ms", "cost_usd", "tokens_in", "tokens_out")
OF_EPISODES = frozenset({"ok", "truncated"})
"""Extras that tell a row made from an episode."""


class Plan(NamedTuple):
    """What is scored, with what: plain enough to be sent to a process."""

    project: Project
    frozen: Frozen
    references: References | None
    adapter: str
    adapter_dir: Path
    adapter_sha256: str
    run: Path
    outputs: Path
    shards: Path


class RowsDone(NamedTuple):
    """A shard of rows: its file, and how many of its rows there are, have a reference, and are failures."""

    path: Path
    rows: int
    covered: int
    failed: int


class EpisodeScore(msgspec.Struct):
    """What one episode gave: the scorer's metrics, the episode's own, and the words of its output."""

    id: str
    item_id: str
    own: dict[str, int | float] = {}
    base: dict[str, int | float] = {}
    words: int | float | None = None
    failed: bool = False
    """The episode failed and says no number of its own."""
    fault: str | None = None
    """Why it could not be scored: raised when a row needs it, for an attempt that failed has no row."""


class _Scoring:
    """A scorer in whichever process it finds itself; each loads the adapter for itself."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._held: tuple[int, Adapter] | None = None

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
        index = self.plan.frozen.position.get(item_id)
        if index is None:
            raise SourceError(
                f"has no item {cut(item_id)}, whose source text the scorer wants", source=str(self.plan.frozen.path)
            )
        return source_text(self.plan.project, self.plan.frozen, index)

    def _commit(self, name: str, start: int, lines: Iterable[bytes]) -> Path:
        path = self.plan.shards / f"{name}-{start:020}.jsonl"
        write_file(path, b"".join(lines))
        return path


class ScoreEpisodes(_Scoring):
    """Scores the episodes of a range; gives the file with a line for each."""

    def __call__(self, path: Path, start: int, end: int) -> Path:
        try:
            with path.open("rb") as file:
                file.seek(start)
                data = file.read(end - start)
            found = [msgspec.json.encode(self._scored(each)) + b"\n" for each in read_episodes(data, on_error="raise")]
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
        except EvhError as error:
            error.line = line_number(path, start) - 1 + (error.line or 1)
            error.source = str(path)
            raise
        return self._commit("episodes", start, found)

    def _scored(self, episode: models.Episode) -> EpisodeScore:
        named = episode.info.get(ITEM_KEY)
        item_id = named if isinstance(named, str) and named else item_id_of(episode)
        projected = project_episode(episode, item_id)
        failed = projected.error is not None and not projected.metrics
        found = EpisodeScore(episode.id, item_id, base=projected.metrics, failed=failed)
        found.words = words_of(projected.output, projected.error)
        try:
            own = self.adapter.score_episode(episode, self._reference(item_id))
            if own is None and not failed:
                own = self._score(projected.output, item_id)
            found.own = row_metrics(own or {}, {}, item_id)
        except EvhError as error:
            found.fault = str(error)
        return found


class EpisodeScores:
    """The scores of a run's episodes on disk, found by the ids of episodes or items; an id costs its place."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._places: dict[str, tuple[Path, int]] = {}
        self._of_item: dict[str, list[str]] = {}
        for path in files:
            for offset, line in lines_of(path, 0, path.stat().st_size):
                score = msgspec.json.decode(line, type=EpisodeScore)
                if self._places.setdefault(score.id, (path, offset)) == (path, offset):
                    self._of_item.setdefault(score.item_id, []).append(score.id)

    def of_row(self, row: Mapping[str, Any]) -> list[EpisodeScore]:
        """The scores of the episodes that a row was made from; none when it was made from a text."""
        meta = row.get("_meta") or {}
        named = meta.get("episode_ids") or [meta.get("episode_id")]
        ids = [each for each in named if isinstance(each, str) and each in self._places]
        if len(ids) < len(named):
            ids = self._of_item.get(row["item_id"], [])
        return [self._read(*self._places[each]) for each in ids]

    @staticmethod
    def _read(path: Path, offset: int) -> EpisodeScore:
        with path.open("rb") as file:
            file.seek(offset)
            return msgspec.json.decode(file.readline(), type=EpisodeScore)


class ScoreRows(_Scoring):
    """Derives the rows of a range, and copies their outputs."""

    def __init__(self, plan: Plan, episodes: EpisodeScores | None) -> None:
        super().__init__(plan)
        self._episodes = episodes
        self._run = RunDir(plan.run)

    def __call__(self, path: Path, start: int, end: int) -> RowsDone:
        lines = []
        covered = failed = 0
        for offset, line in lines_of(path, start, end):
            try:
                row = self._derived(decode(line, models.PredictionRow).plain())
                lines.append(encode(models.PredictionRow.over(row)) + b"\n")
            except EvhError as error:
                raise error.at(str(path), line_number(path, offset)) from None
            failed += row.get("_error") is not None
            covered += self._has_reference(row["item_id"])
        return RowsDone(self._commit("rows", start, lines), len(lines), covered, failed)

    def _has_reference(self, item_id: str) -> bool:
        references, index = self.plan.references, self.plan.frozen.position.get(item_id)
        return references is not None and index is not None and references.has(index)

    def _derived(self, row: dict[str, Any]) -> dict[str, Any]:
        item_id, extra = row["item_id"], row.get("_extra")
        if not isinstance(extra, dict):
            raise RecordError(
                f"item {cut(item_id)}: the row has no _extra, so which of its numbers were measured is not known "
                "(it was written before 0.4.0): measure again"
            )
        kept = {name: value for name, value in row.items() if name[:1] == "_"}
        if row.get("_error") is not None:
            if row.get("_output_sha256") is not None:
                self._output(row)
            return row
        output = self._output(row)
        found = [] if self._episodes is None else self._episodes.of_row(row)
        if found:
            metrics, words = _of_episodes(item_id, row, found)
        elif extra.keys() >= OF_EPISODES and (self._episodes is not None or self.adapter.has_score_episode):
            raise SourceError(f"item {cut(item_id)}: its episode is missing from {layout.TRACES}: restore that file")
        else:
            metrics, words = dict(self._score(output, item_id)), len(output.split())
        if not found or metrics.keys() & extra.keys():  # those of episodes are plain numbers already
            metrics = row_metrics(metrics, extra, item_id)
        members: dict[str, Any] = {"item_id": item_id, **metrics, **extra}
        members |= {name: row[name] for name in CARRIED if row.get(name) is not None}
        if row.get("output_words") is not None and words is not None:
            members.setdefault("output_words", words)
        return members | kept

    def _output(self, row: Mapping[str, Any]) -> str:
        """What the arm wrote, copied on the way; refused when it is not what was measured."""
        item_id = row["item_id"]
        path = self._run.output_path(item_id)
        data = read_regular(path)
        said = row.get("_output_sha256")
        if said is not None and hashlib.sha256(data).hexdigest() != said:
            raise SourceError("is not what was measured (its row has another digest): restore it", source=str(path))
        DerivedDir.write(self.plan.outputs / layout.output_name(item_id), data)
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise SourceError(f"is no UTF-8 (byte {error.start})", source=str(path)) from None


def _of_episodes(
    item_id: str, row: Mapping[str, Any], found: list[EpisodeScore]
) -> tuple[dict[str, int | float], int | float | None]:
    """The metrics of a row from those of its episodes, as means, and the words of their outputs. Of what the episodes
    say themselves only what the row had before counts: an import with a scorer left it out. Of several rollouts those
    that failed have no score."""
    scored = [each for each in found if not each.failed or len(found) == 1]
    for each in scored:
        if each.fault is not None:
            raise RecordError(f"item {cut(item_id)}: {each.fault}")
    own = dict(_means(item_id, [each.own for each in scored]))
    base = dict(_means(item_id, [each.base for each in found]))
    metrics = {name: value for name, value in base.items() if row.get(name) is not None} | own
    words = [each.words for each in found if each.words is not None]
    return metrics, _mean(item_id, "output_words", words) if words else None


def _means(item_id: str, maps: list[dict[str, int | float]]) -> Iterator[tuple[str, int | float]]:
    for name in dict.fromkeys(name for each in maps for name in each):  # in the order of the rows measured
        yield name, _mean(item_id, name, [each[name] for each in maps if name in each])


def _mean(item_id: str, name: str, values: list[int | float]) -> int | float:
    if len(values) == 1:
        return values[0]
    try:
        return exact_sum(values) / len(values)
    except OverflowError:
        raise RecordError(f"item {cut(item_id)}: the sum of {cut(name)} is beyond what a double can hold") from None
