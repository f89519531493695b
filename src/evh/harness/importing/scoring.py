"""Scores for what is imported: the adapter's where it has any, else the source's own.

Promise: one import has one scorer. When the adapter's scorer gives metrics for any item, its metrics are those of all
rows, and the source's own are named as left out; a failed item gets none. When it gives none at all (there are no
references, say), the source's metrics stand. The `bundled` scorer, which nobody asked for, never replaces a metric of
the source: it counts when the source has none and there are references. The answer does not depend on the order of the
rows.
When it breaks: the scorer's fault comes out with the adapter's file; nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evh.harness.adapters import Adapter
from evh.harness.dataset import Frozen, source_text
from evh.harness.importing.found import Found
from evh.harness.project import Project
from evh.harness.references import References, load_references
from evh.harness.result import row_metrics
from evh.store.projection import Projected
from evh.store.record import Declared

__all__ = ["Scorer"]


class Scorer:
    """An adapter as the scorer of one import: `look` at every item, `settle`, then have each `scored`."""

    def __init__(self, project: Project, frozen: Frozen, adapter: Adapter, *, bundled: bool = False) -> None:
        self._project = project
        self._frozen = frozen
        self._adapter = adapter
        self._bundled = bundled
        self._references: References | None = None
        self._own: set[str] = set()
        self._answered = bytearray(len(frozen))
        self.counts = False
        """Whether its metrics are those of the run; known when it is settled."""
        if not bundled and (adapter.has_score or adapter.has_score_episode):
            self._references = load_references(project, frozen)

    @property
    def adapter(self) -> Adapter | None:
        """The adapter that the run names: one that was asked for, or the bundled one when it counts."""
        return self._adapter if self.counts or not self._bundled else None

    @property
    def replaced(self) -> set[str]:
        """The source's own metrics that are left out."""
        return self._own if self.counts else set()

    @property
    def used(self) -> References | None:
        """The references that the outputs were scored against."""
        return self._references if self.counts else None

    def look(self, found: Found) -> None:
        """Learn in the first reading whether the scorer gives metrics at all, and what they would replace."""
        self._own.update(found.row.metrics)
        if self._bundled:
            if found.row.error is None:
                self._answered[self._frozen.position[found.row.item_id]] = 1
        elif not self.counts and self._scores(found):
            self.counts = True

    def settle(self) -> None:
        """Decide, after the first reading, whether the bundled scorer counts."""
        if self._bundled and not self._own and any(self._answered):
            self._references = references = load_references(self._project, self._frozen)
            self.counts = references is not None and any(
                references.has(index) for index, answered in enumerate(self._answered) if answered
            )

    def scored(self, found: Found) -> Projected:
        """The row with the metrics that count; what is scored is the output of the row as it is stored."""
        row = found.row
        if not self.counts:
            return row
        scores = self._scores(found) or {}
        numbers = row_metrics(scores, row.extra, row.item_id)
        row.metrics = {name: numbers[name] for name in scores}
        return row

    def declared(self, own: Declared) -> Declared:
        """What is declared of the metrics: by the adapter when it scores, else by the source."""
        adapter = self._adapter
        if not self.counts:
            return own
        return Declared(
            adapter.primary_metric, adapter.metric_kinds, adapter.metric_directions, adapter.metric_descriptions
        )

    def covered(self, indexes: Iterable[int]) -> tuple[int, int] | None:
        """How many of the items (given by their places in the dataset) have a reference, of how many."""
        if self.used is None:
            return None
        found = [self.used.has(index) for index in indexes]
        return sum(found), len(found)

    def _scores(self, found: Found) -> Mapping[str, Any] | None:
        adapter, row = self._adapter, found.row
        if row.error is not None and not row.metrics:
            return None
        reference = None if self._references is None else self._references.text(row.item_id)
        if found.episode is not None and adapter.has_score_episode:
            scores = adapter.score_episode(found.episode, reference)
            if scores is not None:
                return scores
        if not adapter.has_score:
            return None
        text = None
        if adapter.wants_source:
            text = source_text(self._project, self._frozen, self._frozen.position[row.item_id])
        return adapter.score(row.output, reference, text)
