"""Scores for what is imported: the adapter's where it has any, else the source's own.

Promise: one import has one scorer. When the adapter's scorer gives metrics for any item, its metrics are those of all
rows, and the source's own are named as left out; a failed item gets none. When it gives none at all (there are no
references, say), the source's metrics stand. The answer does not depend on the order of the rows.
When it breaks: the scorer's fault comes out with the adapter's file; nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evh.harness.adapters import Adapter
from evh.harness.dataset import Frozen, source_text
from evh.harness.importing.found import Found
from evh.harness.project import Project
from evh.harness.projection import REWARD, Projected
from evh.harness.references import References, load_references
from evh.harness.result import row_metrics
from evh.store.masking import Masker
from evh.store.record import Declared

__all__ = ["Scorer"]


class Scorer:
    """The adapter's scorer, if there is one that scores."""

    def __init__(self, project: Project, frozen: Frozen, adapter: Adapter | None) -> None:
        self._project = project
        self._frozen = frozen
        self.adapter = adapter
        self.references: References | None = None
        self.counts = False
        """Whether its metrics are those of the run: true as soon as it gave any (see `look`)."""
        self.replaced: set[str] = set()
        """The source's own metrics, which are left out when the scorer's count."""
        if adapter is not None and (adapter.has_score or adapter.has_score_episode):
            self.references = load_references(project, frozen)

    def look(self, found: Found) -> None:
        """Learn in the first reading whether the scorer gives metrics at all, and what they would replace."""
        self.replaced.update(found.row.metrics)
        if not self.counts and self._scores(found, found.row.output):
            self.counts = True

    def scored(self, found: Found, masker: Masker) -> Projected:
        """The row with the metrics that count. What is scored is the output as it is stored."""
        row = found.row
        if not self.counts:
            return row
        scores = self._scores(found, masker.text(row.output)) or {}
        numbers = row_metrics(scores, row.extra, row.item_id)
        row.metrics = {name: numbers[name] for name in scores}
        return row

    def declared(self, own: Declared) -> Declared:
        """What is declared of the metrics: by the adapter when it scores, else by the source."""
        adapter = self.adapter
        if adapter is None or not self.counts:
            return own
        return Declared(
            adapter.primary_metric, adapter.metric_kinds, adapter.metric_directions, adapter.metric_descriptions
        )

    @property
    def used(self) -> References | None:
        """The references that the outputs were scored against."""
        return self.references if self.counts else None

    def covered(self, indexes: Iterable[int]) -> tuple[int, int] | None:
        """How many of the items (given by their places in the dataset) have a reference, of how many."""
        if self.used is None:
            return None
        found = [self.used.has(index) for index in indexes]
        return sum(found), len(found)

    def _scores(self, found: Found, output: str) -> Mapping[str, Any] | None:
        adapter, row = self.adapter, found.row
        if adapter is None or (row.error is not None and REWARD not in row.metrics):
            return None
        reference = None if self.references is None else self.references.text(row.item_id)
        if found.episode is not None and adapter.has_score_episode:
            scores = adapter.score_episode(found.episode, reference)
            if scores is not None:
                return scores
        if not adapter.has_score:
            return None
        text = None
        if adapter.wants_source:
            text = source_text(self._project, self._frozen, self._frozen.position[row.item_id])
        return adapter.score(output, reference, text)
