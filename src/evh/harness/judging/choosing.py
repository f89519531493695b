"""A source run, looked through before anything is asked: what is missing is refused here.

Promise: every row is whole, of one item, written by 0.4.0 or later; every output, reference and source text that the
judge will be shown is there, and outputs are what their rows say. What the judge writes itself has no name that rows
have, and its run would not be derived too often.
When it breaks: nothing was paid.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from evh.errors import RecordError, SourceError, cut
from evh.harness.dataset import Frozen, load_dataset, refuse_changed
from evh.harness.judging.scorer import JudgeScorer
from evh.harness.judging.sources import refuse_episodes
from evh.harness.judging.stated import OURS
from evh.harness.lineage import rows_digest
from evh.harness.project import Project, file_digest
from evh.harness.references import References, load_references
from evh.protocol import models
from evh.protocol.jsontext import canonical
from evh.store import layout
from evh.store.derived import MOST, chain
from evh.store.run_dir import RunDir

__all__ = ["Chosen", "choose"]


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
    """Of all rows, those with a reference."""
    extras: frozenset[str]
    """The names that rows have in `_extra`."""
    rows_sha256: str
    beside_sha256: str
    """Digest of what the judge is shown that the rows carry no digest of: references, source texts, episodes."""


def choose(project: Project, scorer: JudgeScorer, run: RunDir) -> Chosen:
    """A source with all that its judging needs. Raises `SourceError` for what is missing."""
    record = run.record
    assert record is not None
    if len(chain(record)) >= MOST:
        raise RecordError(
            f"is derived {MOST} times over, which is the most: judge an earlier run", source=str(run.path)
        )
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
        if frozen is not None:
            index = frozen.position.get(row.item_id)
            if index is None:
                raise RecordError(
                    f"the item {cut(row.item_id)} is not in the dataset {frozen.dataset_id}",
                    source=place,
                    line=stored.line,
                )
            covered += references is not None and references.has(index)
            if row.error is None:
                indexes.append(index)
        if row.error is not None:
            failed += 1
            continue
        rows += 1
        extras.update(row["_extra"])
        _check_output(run, row.item_id, row.output_sha256, asked=not scorer.judges_episodes)
    if clash := sorted(extras & OURS.keys()):
        raise SourceError(f"its rows have {clash[0]} in `_extra`, which is what a judge writes", source=str(run.path))
    if scorer.judges_episodes:
        if not run.has_episodes:
            raise SourceError(
                "has no episodes for prompt_episode: this judge is for runs of agents", source=str(run.path)
            )
        refuse_episodes(run)
    if scorer.wants_source and frozen is not None:
        refuse_changed(project, frozen, indexes)
    digest = rows_digest(run.path)
    if digest is None:
        raise SourceError(f"has no {layout.PREDICTIONS}", source=str(run.path))
    sources = [frozen.digests[each] for each in indexes] if frozen is not None and scorer.wants_source else None
    beside = {
        "references": None if references is None else [references.reference_id, references.sha256],
        "sources": sources,
        "episodes": _episodes_digest(run) if scorer.judges_episodes else None,
    }
    return Chosen(
        run, record, frozen, references, rows, failed, covered, frozenset(extras), digest,
        hashlib.sha256(canonical(beside)).hexdigest(),
    )  # fmt: skip


def _check_output(run: RunDir, item_id: str, digest: str | None, *, asked: bool) -> None:
    """An output is what its row says; where episodes are asked about, a row that names none may have none."""
    path = run.output_path(item_id)
    try:
        found = file_digest(path.parent, path.name)
    except FileNotFoundError:
        if not asked and digest is None:
            return
        raise SourceError(f"the output of item {cut(item_id)} is missing", source=str(run.path)) from None
    except SourceError as error:
        raise SourceError(error.message, source=str(path)) from None
    if digest is not None and found != digest:
        raise SourceError(f"the output of item {cut(item_id)} was changed since it was written", source=str(path))


def _episodes_digest(run: RunDir) -> str | None:
    """The digest of the run's episodes; None where they are packed or in parts."""
    try:
        with (run.path / layout.TRACES).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
