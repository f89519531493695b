"""Which run is gone on from, and whether it still is the same measurement.

Promise: a resume measures with what the run began with, or refuses and names each path that differs: the dataset's
items, the references, the adapter's file, the parameters. What may differ is the machine and the harness's own state;
`force` passes over the rest and the attempt records it. A run that can't be told (no `run.json`), an import, a derived
run and one of a kind this harness does not measure are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evh.errors import EvhError, RecordError, SourceError, UsageError, cut
from evh.harness.config import find_config
from evh.harness.project import Project
from evh.harness.setup import Setup, prepare
from evh.protocol import models
from evh.store import layout
from evh.store.fingerprint import differences
from evh.store.run_dir import RunDir, open_run_dir
from evh.store.runs import find_runs

__all__ = ["check_same", "lacks_repeats", "manifest_of", "resumable", "run_to_resume", "setup_of_run", "sibling"]

GUARDED = ("instrument.adapter", "data", "arm")
"""What has to be the same; the model's own identity and the machine are told apart later, by the fingerprint."""
SHOWN = 6
OLDEST = (0, 4)


def run_to_resume(project: Project, run: str | Path | None) -> RunDir | None:
    """The run that is meant: by id, by path, or the only one that can be resumed (a finished one, when repeats after it
    were never begun); None when it is finished, or when there is none.

    Raises `UsageError`, `SourceError` or `RecordError`.
    """
    if run is None:
        return _only_one(project)
    path = Path(run) if isinstance(run, Path) or "/" in run else project.runs / run
    if not path.is_dir():
        first = path.with_name(f"{path.name}_r1")
        more = f"; there is {first.name}" if first.is_dir() else ""
        raise SourceError(f"there is no such run{more}: `evh runs` lists them", source=str(path))
    found = RunDir(path)
    if not (path / layout.MANIFEST).exists():
        raise SourceError(
            f"{_unknown(path)}: a run without run.json (crashed before it began, copied in part, or written before "
            "0.4.0) cannot be resumed; start a new one",
            source=str(path),
        )
    manifest = manifest_of(found)
    if manifest.imported is not None:
        raise RecordError("is an import, which is not resumed: import it again", source=str(path))
    if found.record is not None:
        if found.record.derived is not None:
            raise RecordError("is a derived run: derive it anew instead", source=str(path))
        return found if lacks_repeats(found) else _stopped_sibling(found)
    if manifest.kind != "measured" or manifest.fingerprint is None or manifest.dataset_id is None:
        raise RecordError(
            f"is a run of the kind {cut(manifest.kind)} made by version {cut(manifest.harness_version)}: "
            "only measured runs with a fingerprint are resumed",
            source=str(path),
        )
    if _version(manifest.harness_version) < OLDEST:
        raise RecordError(
            f"was made by version {cut(manifest.harness_version)} of the harness, before 0.4.0: it cannot be gone on "
            "from; start a new run (this one is left as it is)",
            source=str(path),
        )
    return found


def manifest_of(run: RunDir) -> models.RunManifest:
    """The manifest of a run that has to have one. Raises `SourceError`."""
    if run.manifest is None:
        raise SourceError("has no run.json, so nobody can say which run it is", source=str(run.path))
    return run.manifest


def _only_one(project: Project) -> RunDir | None:
    found = list(find_runs(project.runs))
    able = [each for each in found if resumable(each) or lacks_repeats(each)]
    if len(able) > 1:
        names = ", ".join(each.path.name for each in able[:SHOWN]) + (", …" if len(able) > SHOWN else "")
        raise UsageError(f"{len(able)} runs can be resumed, name one of them: {names}")
    if able:
        return able[0]
    for each in found:
        if not any((each.path / name).exists() for name in (layout.MANIFEST, layout.RECORD)):
            raise SourceError(
                f"{_unknown(each.path)}, and no other run is stopped: without run.json it cannot be resumed",
                source=str(each.path),
            )
    return None


def _unknown(path: Path) -> str:
    return "its run.json is missing" if (path / layout.PREDICTIONS).exists() else "nothing in it says which run it is"


def _stopped_sibling(run: RunDir) -> RunDir | None:
    """Another repeat of the same launch that stopped; None when there is none."""
    manifest = manifest_of(run)
    for index in range(1, (manifest.repeats or 1) + 1):
        path = sibling(run, index)
        if path.is_dir() and path != run.path and resumable(RunDir(path)):
            return RunDir(path)
    return None


def _version(text: str) -> tuple[int, ...]:
    """A version as numbers; one that is none is taken for an old one."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def resumable(run: RunDir) -> bool:
    """Whether a run is stopped and measured here, so that a resume can be tried."""
    try:
        manifest = run.manifest
        return (
            manifest is not None
            and manifest.kind == "measured"
            and manifest.imported is None
            and manifest.fingerprint is not None
            and run.state in ("unfinished", "stale")
        )
    except EvhError:
        return False


def lacks_repeats(run: RunDir) -> bool:
    """Whether a run is finished and was to have repeats after it that were never begun."""
    try:
        manifest = run.manifest
        if manifest is None or run.record is None or manifest.repeat_index is None:
            return False
        index = manifest.repeat_index
        return index < (manifest.repeats or 1) and not sibling(run, index + 1).exists()
    except EvhError:
        return False


def sibling(run: RunDir, index: int) -> Path:
    """The directory of another repeat of the launch that a run belongs to."""
    manifest = run.manifest
    own = 1 if manifest is None else manifest.repeat_index or 1
    return run.path.parent / f"{run.run_id.removesuffix(f'_r{own}')}_r{index}"


def setup_of_run(project: Project, run: RunDir, config_path: Path | None, environ: Mapping[str, str]) -> Setup:
    """The setup to go on with: of the config that the last launch used, or of the one that is named."""
    return prepare(project, config_path or _config_of(project, run), environ)


def _config_of(project: Project, run: RunDir) -> Path:
    manifest = open_run_dir(run.path).manifest
    for attempt in reversed(run.attempts()):
        if attempt.config_path is not None and (path := project.root / attempt.config_path).is_file():
            return path
    config_id = None if manifest is None else manifest.config_id
    found = None if config_id is None else find_config(project, config_id)
    if found is None:
        raise SourceError(
            f"the config {cut(config_id)} that the run was launched with is not there any more: "
            "name its file with --config",
            source=str(run.path),
        )
    return found


def check_same(setup: Setup, manifest: models.RunManifest, *, force: bool = False) -> list[str]:
    """The guarded paths that differ from what the run began with: none, unless `force` passes over them.

    Raises `RecordError` that names them.
    """
    for name, ours, theirs in (
        ("config_id", setup.config.config_id, manifest.config_id),
        ("dataset_id", setup.config.dataset_id, manifest.dataset_id),
    ):
        if ours != theirs:
            raise RecordError(
                f"the run is of the {name} {cut(theirs)}, the config says {cut(ours)}: it is another arm; "
                "resume with the config the run was launched with",
                source=str(setup.config_path),
            )
    paths = differences(manifest.fingerprint, setup.fingerprint(manifest.repeat_index))
    changed = [path for path in paths if path.startswith(GUARDED)]
    if changed and not force:
        raise RecordError(
            f"what the run {manifest.run_id} began with has changed: {_told(changed, manifest, setup)}; "
            "put it back, or start a new run (--force goes on and records what changed)",
            source=str(setup.config_path),
        )
    return changed


def _told(changed: list[str], manifest: models.RunManifest, setup: Setup) -> str:
    told = []
    for path in changed[:SHOWN]:
        if path == "instrument.adapter.sha256" and manifest.fingerprint is not None:
            before = manifest.fingerprint.instrument.adapter.sha256 or "none"
            told.append(f"{path} (the adapter's file: {before[:12]}… then, {setup.adapter.sha256[:12]}… now)")
        else:
            told.append(path.removeprefix("arm."))
    return ", ".join(told) + (f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else "")
