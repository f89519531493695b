"""Baselines: runs that others are compared with, promoted with a reason, one file each below `data/baselines`.

Promise: a baseline is a copy of what its run scored; the one it replaces is kept whole in `superseded/` before the new
one takes its place, so a crash in between loses neither. A run of an unknown or modified build, an unfinished run, a
reason of fewer than three words and a baseline of another dataset are refused.
Policy: the old file's name there is `<id>_<promoted_at without colons>.json`. Two promotions at the same instant are
not kept apart: the later one counts.
When it breaks: `UsageError` for a name, `SourceError` for a reason that says nothing, `RecordError` for a run that may
not be promoted.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from evh.errors import RecordError, SourceError, UsageError, WriteError, cut
from evh.harness.project import Project, make_folders
from evh.protocol import models
from evh.store.atomic import write_file
from evh.store.clock import now
from evh.store.outputs import read_regular
from evh.store.record import document_bytes
from evh.store.run_dir import RunDir, read_document

__all__ = ["FEWEST_WORDS", "Promoted", "baseline_path", "promote", "read_baseline"]

FEWEST_WORDS = 3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Promoted(NamedTuple):
    """The new baseline, its file, and where the one before it was kept."""

    baseline: models.Baseline
    path: Path
    before: models.Baseline | None
    kept: Path | None


def baseline_path(project: Project, baseline_id: str) -> Path:
    """The file of a baseline. Raises `UsageError` for an id that is no plain file name."""
    if not _NAME.fullmatch(baseline_id) or baseline_id.endswith("."):
        raise UsageError(
            f"the id of a baseline is 1 to 100 of A-Z a-z 0-9 . _ -, and begins with a letter or digit; "
            f"{cut(baseline_id)} is not"
        )
    return project.baselines / f"{baseline_id}.json"


def read_baseline(project: Project, baseline_id: str) -> models.Baseline | None:
    """A baseline by its id; None when there is none. Raises `SourceError`, `DecodeError` or `SchemaError`."""
    path = baseline_path(project, baseline_id)
    return read_document(path, models.Baseline) if os.path.lexists(path) else None


def promote(
    project: Project,
    run: RunDir,
    baseline_id: str,
    reason: str,
    *,
    unknown_build: bool = False,
    dirty_build: bool = False,
) -> Promoted:
    """Make a finished run a baseline. `unknown_build` and `dirty_build` allow what is refused otherwise."""
    path = baseline_path(project, baseline_id)
    if len(reason.split()) < FEWEST_WORDS:
        raise SourceError(f"a reason has at least {FEWEST_WORDS} words, so that it says something: {cut(reason)}")
    record = run.record
    if record is None:
        raise RecordError("is not finished: only a run with its record can be promoted", source=str(run.path))
    _check_build(run, record.build, unknown_build, dirty_build)
    before = read_baseline(project, baseline_id)
    if before is not None and before.dataset_id != record.dataset_id:
        raise RecordError(
            f"the baseline {baseline_id} is of the dataset {cut(before.dataset_id)}, and the run is of "
            f"{cut(record.dataset_id)}: give it another id",
            source=str(run.path),
        )
    baseline = models.Baseline(
        baseline_id=baseline_id,
        dataset_id=record.dataset_id,
        promoted_from=record.run_id,
        promoted_at=now(),
        scores=dict(record.scores),
        build=record.build,
        reason=reason,
        supersedes=None if before is None else before.promoted_from,
    )
    make_folders(project.baselines)
    kept = None if before is None else _keep(path, before)
    write_file(path, document_bytes(baseline))
    return Promoted(baseline, path, before, kept)


def _check_build(run: RunDir, build: models.Build, unknown: bool, dirty: bool) -> None:
    if build.ref == "unknown" and not unknown:
        raise RecordError(
            "the build is 'unknown': nobody can say which version was measured; measure again with EVAL_BUILD_REF, or "
            "allow it by --allow-unknown-build",
            source=str(run.path),
        )
    if build.dirty and not dirty:
        raise RecordError(
            f"the build {cut(build.ref)} had changes that were not committed: measure the committed state, or allow it "
            "by --allow-dirty-build",
            source=str(run.path),
        )


def _keep(path: Path, before: models.Baseline) -> Path:
    """Copy the baseline that is replaced to `superseded/`."""
    kept = (
        make_folders(path.parent, ["superseded"]) / f"{before.baseline_id}_{before.promoted_at.replace(':', '')}.json"
    )
    data = read_regular(path)
    if os.path.lexists(kept):
        if read_regular(kept) != data:
            raise WriteError("is there already, with other content: move it away", source=str(kept))
        return kept
    write_file(kept, data)
    return kept
