"""Rescoring: stored outputs scored by today's scorer, into runs of their own. No system and no model is called.

Promise: sources are opened for reading alone and are byte for byte what they were. A derived run is there whole or not
at all. References that the source was scored against and that are missing here refuse the run: no output is scored
against nothing without a word. The source's adapter is not loaded when another is named. What was measured is carried,
every other number is the new scorer's, and those that are gone are named.
Policy: the references are those that the source was scored against, unless others are named; the adapter is the
record's, below the project's root or beside it.
When it breaks: an `EvhError`; the other runs of a command are not touched by it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from evh._version import __version__
from evh.errors import RecordError, SourceError, UsageError, cut
from evh.harness.adapters import Adapter, load_adapter
from evh.harness.dataset import Frozen, load_dataset
from evh.harness.derived_dir import DerivedDir, source_path
from evh.harness.episode_scores import EpisodeScores
from evh.harness.lineage import earlier_references, rows_digest
from evh.harness.project import Project, make_folders, remove_folder
from evh.harness.references import TIERS, References, load_references
from evh.harness.scoring import Plan, ScoreEpisodes, ScoreRows, refuse_repeated
from evh.harness.shards import map_ranges, ranges_of
from evh.protocol import models
from evh.store import layout
from evh.store.aggregate import Aggregate
from evh.store.clock import now
from evh.store.derived import MOST, chain, derived_fingerprint, derived_record
from evh.store.record import Declared
from evh.store.run_dir import RunDir
from evh.store.runs import list_runs

__all__ = ["Chosen", "Rescored", "choose_runs", "rescore_run"]

SHARDS = ".shards"


class Chosen(NamedTuple):
    """The runs of a command, and those passed over, each with the reason."""

    runs: list[RunDir]
    passed_over: list[tuple[str, str]]


class Rescored(NamedTuple):
    """A derived run that was made: `counts` says over how many rows each metric is, `dropped` which scores of the
    source are gone, `notices` what a reader of the numbers should know."""

    source: Path
    directory: Path
    record: models.RunRecord
    counts: dict[str, int]
    dropped: list[str]
    notices: list[str]


def choose_runs(project: Project, dataset_id: str, match: str | None = None, *, needs_adapter: bool = True) -> Chosen:
    """The finished runs of a dataset, of those whose name or config holds `match`. Raises `UsageError` for none."""
    listing = list_runs(project.runs)
    passed_over = [(each.path.name, each.why) for each in listing.skipped]
    runs = []
    for run in listing.finished:
        record = run.record
        if record is None or record.dataset_id != dataset_id:
            continue
        if match is not None and match not in run.path.name and match not in record.config_id:
            continue
        if needs_adapter and record.adapter is None:
            passed_over.append((run.path.name, "its record names no adapter: name one with --adapter"))
            continue
        runs.append(run)
    if not runs and not passed_over:
        which = "" if match is None else f" that match {cut(match)}"
        raise SourceError(
            f"holds no finished run of {cut(dataset_id)}{which} "
            f"({len(listing.finished)} finished, {len(listing.unfinished)} unfinished)",
            source=str(project.runs),
        )
    return Chosen(runs, passed_over)


def rescore_run(
    project: Project,
    run: RunDir,
    out: Path,
    *,
    reference: str | None = None,
    adapter: Path | None = None,
    sources: Iterable[Path] = (),
    force: bool = False,
    workers: int | None = None,
) -> Rescored:
    """Score a run's stored outputs anew into `out / <its name>`.

    `reference` is a tier, or a tier and the dataset's id (`silver/questions_v1`); `adapter` a file that scores in the
    place of the record's adapter. `sources` are the other runs that the command reads. Raises an `EvhError`; nothing is
    left then.
    """
    source = run.record
    if source is None:
        raise SourceError("has no record: a run is derived from when it is finished", source=str(run.path))
    if len(chain(source)) >= MOST:
        raise RecordError(f"is derived {MOST} times over, which is the most: rescore an earlier run of its chain")
    frozen, references, notices = _references(project, source, reference)
    with (
        _scorer(project, source, adapter) as scorer,
        DerivedDir(out, run.path.name, runs_dir=project.runs, sources=[run.path, *sources], force=force) as made,
    ):
        digest = rows_digest(run.path)
        if digest is None:
            raise SourceError(f"has no {layout.PREDICTIONS} to score", source=str(run.path))
        shards = make_folders(made.path, [SHARDS])
        named = scorer.id if scorer.path is None else str(scorer.path)
        plan = Plan(
            project,
            source.dataset_id,
            frozen,
            references,
            named,
            project.root,
            scorer.sha256,
            run.path,
            made.outputs,
            shards,
        )
        counted, covered = _score(plan, run, made, workers)
        remove_folder(shards)
        if rows_digest(run.path) != digest:
            raise SourceError("its rows were changed while they were read", source=str(run.path))
        rows = counted.n_items
        fingerprint = derived_fingerprint(
            source.fingerprint,
            scorer.id,
            scorer.sha256,
            references,
            known_sha256=None if references is None else earlier_references(run, references.reference_id),
        )
        record = derived_record(
            source,
            counted,
            models.RescoreDerived(
                from_=source_path(run.path, out),
                at=now(),
                with_=models.RescoreWith(
                    adapter=scorer.id,
                    sha256=scorer.sha256,
                    scorer=scorer.scorer_id(),
                    rows_sha256=digest,
                    harness_version=__version__,
                ),
            ),
            run_id=source.run_id,
            adapter=scorer.id,
            declared=Declared(
                scorer.primary_metric, scorer.metric_kinds, scorer.metric_directions, scorer.metric_descriptions
            ),
            reference_tier=None if references is None else references.tier,
            coverage=None if references is None else (covered, rows),
            fingerprint=fingerprint,
        )
        notices += _told(source, record, references, covered, rows)
        directory = made.finish(record)
    dropped = sorted(source.scores.keys() - record.scores.keys())
    return Rescored(run.path, directory, record, counted.counts, dropped, notices)


def _score(plan: Plan, run: RunDir, made: DerivedDir, workers: int | None) -> tuple[Aggregate, int]:
    """Score episodes, then rows, and write them: the numbers counted, and how many rows have a reference."""
    scores = _score_episodes(plan, run, made, workers) if run.has_episodes else None
    scoring = ScoreRows(plan, scores)
    counted = Aggregate()
    covered: list[int] = []
    without_output: list[str] = []

    def joined() -> Iterator[bytes]:
        for each in map_ranges(scoring, ranges_of(run.path / layout.PREDICTIONS, workers), workers):
            counted.merge(each.counted)
            covered.append(each.covered)
            without_output.extend(each.without_output)
            yield each.path.read_bytes()

    try:
        made.write_rows(joined())
    finally:
        scoring.close()
    # Two rows of an item with an output meet at its file.
    if len(set(without_output)) < len(without_output) or any(
        os.path.lexists(plan.outputs / layout.output_name(each)) for each in without_output
    ):
        refuse_repeated(run.path)
    if scores is not None:
        made.sync_traces(run)
    return counted, sum(covered)


def _score_episodes(plan: Plan, run: RunDir, made: DerivedDir, workers: int | None) -> EpisodeScores:
    traces = run.path / layout.TRACES
    if not traces.exists():
        raise SourceError(
            f"its episodes are packed or in parts; rows are scored from a plain {layout.TRACES}: unpack them",
            source=str(run.path),
        )
    scores = EpisodeScores()
    scoring = ScoreEpisodes(plan._replace(traces=made.start_traces(run)))
    try:
        for each in map_ranges(scoring, ranges_of(traces, workers), workers):
            scores.add(each)
    finally:
        scoring.close()
    scores.settle()
    return scores


def _scorer(project: Project, source: models.RunRecord, adapter: Path | None) -> Adapter:
    """The adapter that scores: the file that is named, else the record's, below the root or its parent."""
    if adapter is not None:
        found = load_adapter(str(adapter), config_dir=Path.cwd(), root=project.root)
    elif source.adapter is None:
        raise UsageError("the record names no adapter: name one with --adapter")
    else:
        beside = project.root.parent / source.adapter
        there = source.adapter.startswith("evh:") or (project.root / source.adapter).is_file() or not beside.is_file()
        try:
            found = load_adapter(source.adapter if there else str(beside), config_dir=project.root, root=project.root)
        except SourceError as error:
            error.message += "; --adapter FILE names another scorer"
            raise
    if not found.has_score and not found.has_score_episode:
        found.close()
        raise SourceError(
            "has neither score(output, reference) nor score_episode(episode, reference): name a scorer with --adapter",
            source=found.id,
        )
    return found


def _references(
    project: Project, source: models.RunRecord, named: str | None
) -> tuple[Frozen | None, References | None, list[str]]:
    """The references that count, what is to be told of them, and the dataset that they are of. Where there are none and
    none are asked for, the dataset says nothing to a score and is not read: it may be large."""
    dataset_id = source.dataset_id
    data = None if source.fingerprint is None else source.fingerprint.data
    used = data.reference_id if data is not None else source.reference_tier
    wanted = named or used
    if wanted is None and not _has_references(project, dataset_id):
        return None, None, []
    frozen = load_dataset(project, dataset_id)
    if wanted is None:
        found = load_references(project, frozen)
        if found is None:
            return frozen, None, []
        if data is None:  # written before 0.4.0: what it was scored against is not known
            return frozen, found, []
        told = f"scored without references, as the source was; there is {found.reference_id} (--reference {found.tier})"
        return frozen, None, [told]
    tier = wanted.removesuffix(f"/{dataset_id}")
    if tier not in TIERS:
        known = ", ".join(f"{each}/{dataset_id}" for each in TIERS)
        raise UsageError(f"there is no reference set {cut(wanted)} of {dataset_id}: there may be {known}")
    found = load_references(project, frozen, tier)
    if found is None:
        raise SourceError(
            f"the reference set {tier}/{dataset_id} is missing here"
            + ("" if named else ", and the run was scored against it")
            + ": every output would be scored against nothing; bring it here",
            source=str(project.references / tier / dataset_id),
        )
    return frozen, found, []


def _has_references(project: Project, dataset_id: str) -> bool:
    """Whether there is a set of the dataset, or what is left of one."""
    return any(any((project.references / tier).glob(f"{dataset_id}*")) for tier in TIERS)


def _told(
    source: models.RunRecord, record: models.RunRecord, references: References | None, covered: int, rows: int
) -> list[str]:
    found = []
    if record.n_errors:
        found.append(f"{record.n_errors:,} of {record.n_items:,} failed in the source: no metric is over them")
    if references is not None and covered < rows:
        found.append(f"{covered:,} of {rows:,} items have a reference in {references.reference_id}")
    if record.fingerprint is not None and record.fingerprint.data.references_sha256_at_measurement is not None:
        found.append(f"references changed: {record.fingerprint.data.reference_id} has other files than at measurement")
    if source.n_items != record.n_items:
        found.append(f"the source's record says {source.n_items:,} items, it has {record.n_items:,} rows")
    return found
