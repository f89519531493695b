"""`import_run`: a measured run out of outputs or episodes that were made elsewhere.

Promise
    The source is only read, and looked at as a whole before anything is made: an item that the dataset does not know, a
    second row of an item, items without a row (unless `partial`), an output that is missing or hostile, and any bad
    row are refused, with file and line, and the runs directory is as it was. Then the run appears at once and whole,
    or not at all. Rows in any order give the same record. What no file of a run has a place for stands in
    `imported.lossy`. Secrets of the source are masked. A source that has its own record gives the run its
    `created_at`; when the import was made stands in `imported.at`.

Policy
    Who scores: the adapter that is given, else the one of the project's config of that id, else exact match with the
    references when the source has no metrics of its own. The source is read twice, so memory is bounded by the items'
    ids and the numbers of rollouts that wait for others of their item. Latency and money are there when the source has
    them; there is no warm-up.

When it breaks: `SourceError`, `RecordError`, `DecodeError`, `SchemaError`, `UsageError` or `WriteError`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import SourceError, UsageError, cut
from evh.harness.adapters import Adapter
from evh.harness.dataset import load_dataset
from evh.harness.importing.checking import Progress, check_source
from evh.harness.importing.configured import configured
from evh.harness.importing.draft import Draft, taken
from evh.harness.importing.episodes import Episodes
from evh.harness.importing.found import Reading
from evh.harness.importing.manifest import import_manifest
from evh.harness.importing.rows import JsonRows
from evh.harness.importing.run_folder import Ids, RunRows
from evh.harness.importing.scoring import Scorer
from evh.harness.importing.source import STANDARD, Kind, Source, open_source
from evh.harness.importing.table import CsvRows
from evh.harness.importing.writing import write_source
from evh.harness.project import Project
from evh.protocol import models
from evh.store.build import build_of
from evh.store.clock import now, run_stamp
from evh.store.journal import FsyncPolicy
from evh.store.record import run_record
from evh.store.run_dir import open_run_dir
from evh.store.run_writer import RunWriter
from evh.store.secret_values import masker_for

__all__ = ["Imported", "import_run"]

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,199}")


class Imported(NamedTuple):
    """What was made: the run's directory and record, what it holds, what did not fit and what was odd."""

    directory: Path
    record: models.RunRecord
    kind: Kind
    n_items: int
    n_episodes: int
    missing: int
    """Items of the dataset without a row."""
    unscored: int
    """Items that did not fail and have no score."""
    counts: dict[str, int]
    """Over how many items each metric is."""
    lossy: list[str]
    notices: list[str]


def import_run(
    project: Project,
    source: str | os.PathLike[str],
    dataset_id: str,
    config_id: str,
    *,
    adapter: Adapter | None = None,
    build_ref: str | None = None,
    run_id: str | None = None,
    partial: bool = False,
    params: Mapping[str, Any] | None = None,
    kind: Kind | None = None,
    environ: Mapping[str, str],
    progress: Progress | None = None,
    fsync: FsyncPolicy = "group",
) -> Imported:
    """Import `source` (a path, or `-` for standard input) as a run of `config_id` on `dataset_id`.

    `adapter` scores the outputs; it stays the caller's to close. `params` and `build_ref` beat what the source says.
    `progress` is called with a stage (`checked`, `written`) and the rows done.
    """
    wanted = _run_id(project, config_id, run_id)
    frozen = load_dataset(project, dataset_id)
    arm = configured(project, config_id, dataset_id)
    with ExitStack() as stack:
        opened = stack.enter_context(open_source(project, source, kind))
        scored_by = adapter or stack.enter_context(arm.load(project))
        scorer = Scorer(project, frozen, scored_by, bundled=adapter is None and arm.path is None)
        digest = opened.digest()
        reading = _reading(opened, Ids(wanted, dataset_id, config_id))
        if arm.notice is not None:
            reading.notices.add(arm.notice)
        knobs = arm.knobs(reading, params)
        masker = masker_for(knobs, environ)
        checked = check_source(reading, opened.label, frozen, scorer, partial=partial, progress=progress)
        imported = models.Imported(
            from_=STANDARD if opened.path is None else project.portable(opened.path),
            at=now(),
            sha256=digest,
            tool=reading.tool,
            lossy=sorted(map(masker.text, reading.lossy | scorer.replaced)),
        )
        labels = masker.value(arm.named(reading))
        manifest = import_manifest(frozen, config_id, wanted, labels, scorer, masker.value(knobs))
        manifest.build = _build(project, reading, build_ref, environ)
        manifest.imported = imported
        manifest.n_items_planned = len(frozen) - checked.missing
        draft = Draft(project.runs, manifest)
        try:
            with RunWriter(draft.directory, masker=masker, fsync=fsync) as writer:
                unscored = write_source(reading, checked.counts, frozen, scorer, writer, progress)
                writer.sync()
            if opened.digest() != digest:
                raise SourceError("was changed while it was imported: nothing was made of it", source=opened.label)
            counted = open_run_dir(draft.directory).count()
            record = run_record(
                manifest,
                counted,
                declared=scorer.declared(reading.declared),
                adapter=None if scorer.adapter is None else scorer.adapter.id,
                reference_tier=None if scorer.used is None else scorer.used.tier,
                coverage=scorer.covered(index for index, count in enumerate(checked.counts) if count),
                created_at=reading.created_at,
            )
            directory = draft.publish(record, exact=run_id is not None)
        finally:
            draft.discard()
    return Imported(
        directory=directory,
        record=record,
        kind=opened.kind,
        n_items=record.n_items,
        n_episodes=checked.total if reading.several else 0,
        missing=checked.missing,
        unscored=unscored,
        counts=counted.counts,
        lossy=list(imported.lossy),
        notices=reading.notices.told(),
    )


def _run_id(project: Project, config_id: str, run_id: str | None) -> str:
    if not config_id or "\0" in config_id:
        raise UsageError(f"{cut(config_id)} cannot name a config: a name is not empty and holds no NUL")
    if run_id is None:
        return f"{re.sub(r'[^A-Za-z0-9._-]', '-', config_id)[:100].lstrip('.-') or 'import'}_{run_stamp()}"
    if not _RUN_ID.fullmatch(run_id) or run_id.endswith("."):
        raise UsageError(
            f"{cut(run_id)} cannot name a run: use letters, digits, `.`, `_` and `-`, a letter or digit first"
        )
    if os.path.lexists(project.runs / run_id):
        raise taken(project.runs / run_id)
    return run_id


def _build(project: Project, reading: Reading, build_ref: str | None, environ: Mapping[str, str]) -> models.Build:
    """The build that was declared, else the source's own; never this project's, which did not make the outputs."""
    if build_ref or environ.get("EVAL_BUILD_REF", "").strip():
        return build_of(project.root, environ, build_ref)
    return reading.build or models.Build(ref="unknown")


def _reading(source: Source, ids: Ids) -> Reading:
    if source.kind == "run":
        return RunRows(source, ids)
    readings: dict[Kind, type[Episodes] | type[JsonRows] | type[CsvRows]] = {
        "episodes": Episodes,
        "jsonl": JsonRows,
        "csv": CsvRows,
    }
    return readings[source.kind](source)
