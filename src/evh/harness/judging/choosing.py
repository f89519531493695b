"""A source run, looked through before anything is asked: what is missing is refused here.

Promise: every row is whole, of one item, written by 0.4.0 or later; every output, reference and source text that the
judge will be shown is there. Nothing is read again to decide it.
When it breaks: nothing was paid.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from evh.errors import RecordError, SourceError, cut
from evh.harness.dataset import Frozen, load_dataset, refuse_changed
from evh.harness.judging.scorer import JudgeScorer
from evh.harness.project import Project
from evh.harness.references import References, load_references
from evh.protocol import models
from evh.store import layout
from evh.store.run_dir import RunDir

__all__ = ["Chosen", "choose", "rows_digest"]


class Chosen(NamedTuple):
    """A source run that can be judged."""

    run: RunDir
    record: models.RunRecord
    frozen: Frozen | None
    references: References | None
    rows: int
    failed: int
    """Rows that failed when they were measured."""
    covered: int
    """Of `rows`, those with a reference."""
    extras: frozenset[str]
    """The names that rows have in `_extra`."""
    rows_sha256: str


def choose(project: Project, scorer: JudgeScorer, run: RunDir) -> Chosen:
    """A source with all that its judging needs. Raises `SourceError` for what is missing."""
    record = run.record
    assert record is not None
    frozen: Frozen | None = None
    references: References | None = None
    if scorer.wants_source or scorer.wants_reference:
        frozen = load_dataset(project, record.dataset_id)
    if scorer.wants_reference:
        assert frozen is not None
        references = load_references(project, frozen)
        if references is None and (scorer.needs_reference or record.reference_tier is not None):
            raise SourceError(
                f"the judge wants references, and there are none of {cut(record.dataset_id)} here: every output would "
                "be judged against nothing",
                source=str(project.references),
            )
    rows = failed = covered = 0
    indexes: list[int] = []
    extras: set[str] = set()
    seen: set[str] = set()
    for stored in run.rows():
        row = stored.value
        place = str(run.path / layout.PREDICTIONS)
        if "_extra" not in row:
            raise RecordError(
                "the row has no `_extra`: it was written before 0.4.0; measure the arm anew",
                source=place,
                line=stored.line,
            )
        if row.item_id in seen:
            raise RecordError(f"the item {cut(row.item_id)} has a second row", source=place, line=stored.line)
        seen.add(row.item_id)
        if row.error is not None:
            failed += 1
            continue
        rows += 1
        extras.update(row["_extra"])
        if frozen is not None:
            index = frozen.position.get(row.item_id)
            if index is None:
                raise RecordError(
                    f"the item {cut(row.item_id)} is not in the dataset {frozen.dataset_id}",
                    source=place,
                    line=stored.line,
                )
            indexes.append(index)
            covered += references is not None and references.has(index)
        if not scorer.judges_episodes and not run.output_path(row.item_id).is_file():
            raise SourceError(f"the output of item {cut(row.item_id)} is missing", source=str(run.path))
    if scorer.judges_episodes and not run.has_episodes:
        raise SourceError("has no episodes for prompt_episode: this judge is for runs of agents", source=str(run.path))
    if scorer.wants_source and frozen is not None:
        refuse_changed(project, frozen, indexes)
    digest = rows_digest(run.path / layout.PREDICTIONS)
    return Chosen(run, record, frozen, references, rows, failed, covered, frozenset(extras), digest)


def rows_digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
