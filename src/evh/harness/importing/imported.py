"""`import_run`: a measured run out of outputs or episodes that were made elsewhere.

Promise
    The source is only read, and looked at as a whole before anything is made: an item that the dataset does not know, a
    second row of an item, items without a row (unless `partial`), an output that is missing or hostile, and any bad
    row are refused, with file and line, and the runs directory is as it was. Then the run appears at once and whole,
    or not at all. Rows in any order give the same record. What no file of a run has a place for stands in
    `imported.lossy`. Secrets of the source are masked.

Policy
    The source is read twice, so memory is bounded by the items' ids and the numbers of rollouts that wait for others of
    their item. Latency and money are there when the source has them; there is no warm-up.

When it breaks: `SourceError`, `RecordError`, `DecodeError`, `SchemaError`, `UsageError` or `WriteError`.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import RecordError, SourceError, UsageError, cut
from evh.harness.adapters import Adapter
from evh.harness.build import build_of
from evh.harness.dataset import Frozen, load_dataset
from evh.harness.importing.draft import Draft, taken
from evh.harness.importing.episodes import Episodes
from evh.harness.importing.found import Reading
from evh.harness.importing.manifest import import_manifest
from evh.harness.importing.rows import JsonRows
from evh.harness.importing.run_folder import RunRows
from evh.harness.importing.scoring import Scorer
from evh.harness.importing.source import STANDARD, Kind, Source, open_source
from evh.harness.importing.table import CsvRows
from evh.harness.project import Project
from evh.harness.projection import REWARD, Projected, project_rollouts
from evh.harness.secret_values import masker_for
from evh.protocol import models
from evh.store.clock import now, run_stamp
from evh.store.journal import FsyncPolicy
from evh.store.masking import Masker
from evh.store.record import run_record
from evh.store.run_dir import open_run_dir
from evh.store.run_writer import RunWriter

__all__ = ["Imported", "import_run"]

Progress = Callable[[str, int], None]
SHOWN = 5
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
    lossy: list[str]
    notices: list[str]


class _Checked(NamedTuple):
    """What the first reading found: for each item of the dataset how many rows or rollouts it has."""

    counts: array[int]
    total: int
    missing: int


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
    scorer = Scorer(project, frozen, adapter)
    with open_source(project, source, kind) as opened:
        digest = opened.digest()
        reading = _reading(opened, dataset_id)
        masker = masker_for(dict(params or {}), environ)
        checked = _check(reading, opened, frozen, scorer, masker, partial=partial, progress=progress)
        imported = models.Imported(
            from_=STANDARD if opened.path is None else project.portable(opened.path),
            at=now(),
            sha256=digest,
            tool=reading.tool,
            lossy=sorted(reading.lossy | (scorer.replaced if scorer.counts else set())),
        )
        knobs = dict(reading.params if params is None else params)
        masker.learn(knobs)
        manifest = import_manifest(frozen, config_id, wanted, reading.labels, scorer, masker.value(knobs))
        manifest.build = _build(project, reading, build_ref, environ)
        manifest.imported = imported
        manifest.n_items_planned = len(frozen) - checked.missing
        draft = Draft(project.runs, manifest)
        try:
            with RunWriter(draft.directory, masker=masker, fsync=fsync) as writer:
                _write(reading, checked.counts, frozen, scorer, writer, progress)
                writer.sync()
            if opened.digest() != digest:
                raise SourceError("was changed while it was imported: nothing was made of it", source=opened.label)
            record = run_record(
                manifest,
                open_run_dir(draft.directory).count(),
                declared=scorer.declared(reading.declared),
                adapter=None if adapter is None else adapter.id,
                reference_tier=None if scorer.used is None else scorer.used.tier,
                coverage=scorer.covered(index for index, count in enumerate(checked.counts) if count),
            )
            directory = draft.publish(record, exact=run_id is not None)
        finally:
            draft.discard()
    return Imported(
        directory,
        record,
        opened.kind,
        record.n_items,
        checked.total if reading.several else 0,
        checked.missing,
        list(imported.lossy),
        reading.notices,
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


def _reading(source: Source, dataset_id: str) -> Reading:
    if source.kind == "run":
        return RunRows(source, dataset_id)
    readings: dict[Kind, type[Episodes] | type[JsonRows] | type[CsvRows]] = {
        "episodes": Episodes,
        "jsonl": JsonRows,
        "csv": CsvRows,
    }
    return readings[source.kind](source)


def _check(
    reading: Reading,
    source: Source,
    frozen: Frozen,
    scorer: Scorer,
    masker: Masker,
    *,
    partial: bool,
    progress: Progress | None,
) -> _Checked:
    """The first reading: every row, before anything is made."""
    counts = array("q", bytes(8 * len(frozen)))
    lines = array("q", bytes(8 * len(frozen)))
    unknown = total = 0
    strangers: list[str] = []
    for found in reading.items(masker):
        total += 1
        index = frozen.position.get(found.row.item_id)
        if index is None:
            unknown += 1
            if len(strangers) < SHOWN:
                strangers.append(f"{cut(found.row.item_id)} ({found.place})")
            continue
        if counts[index] and not reading.several:
            raise RecordError(
                f"the item {cut(found.row.item_id)} has two rows, on lines {lines[index]} and {found.line}: one item "
                "has one row in a run, repeats are runs of their own",
                source=found.source,
                line=found.line,
            )
        counts[index] += 1
        lines[index] = found.line or 0
        scorer.look(found)
        if progress is not None:
            progress("checked", total)
    if unknown:
        more = ", …" if unknown > len(strangers) else ""
        raise SourceError(
            f"{unknown} of {total} rows are of items that the dataset {frozen.dataset_id} does not have: "
            f"{', '.join(strangers)}{more}; its own are called {cut(frozen.item_ids[0])} and the like",
            source=source.label,
        )
    if not total:
        raise SourceError("holds no rows: there is nothing to import", source=source.label)
    missing = [frozen.item_ids[index] for index, count in enumerate(counts) if not count]
    if missing and not partial:
        more = ", …" if len(missing) > SHOWN else ""
        raise SourceError(
            f"has no row for {len(missing)} of the {len(frozen)} items of {frozen.dataset_id}: "
            f"{', '.join(map(cut, missing[:SHOWN]))}{more}; say --partial to import it without them",
            source=source.label,
        )
    return _Checked(counts, total, len(missing))


def _write(
    reading: Reading,
    counts: array[int],
    frozen: Frozen,
    scorer: Scorer,
    writer: RunWriter,
    progress: Progress | None,
) -> None:
    """The second reading: episodes as they come, an item's row with its last rollout."""
    waiting: dict[int, list[Projected]] = {}
    for number, found in enumerate(reading.items(), 1):
        index = frozen.position.get(found.row.item_id)
        if index is None or not counts[index]:
            raise SourceError("was changed while it was imported: nothing was made of it", source=found.source)
        row = scorer.scored(found, writer.masker)
        if found.episode is not None:
            writer.write_episode(found.episode)
        if reading.several:
            held = waiting.setdefault(index, [])
            if held:
                row.output = ""  # the row's output is the first one's
            held.append(row)
            if len(held) < counts[index]:
                continue
            row = project_rollouts(row.item_id, waiting.pop(index))
            if row.error is not None and REWARD not in row.metrics and not scorer.counts:
                row.metrics = {}  # counted on the way, but nothing scored it
        members = row.members()
        if "_error" in members:
            members["_error"] = writer.masker.text(members["_error"])
        writer.write_item(row.item_id, row.output, members)
        if progress is not None:
            progress("written", number)
