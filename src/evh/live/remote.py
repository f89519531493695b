"""A run as a platform has it: opened there once, and closed on every way out.

Promise
    The run is opened after `sync/remote.json` says that it is about to be; when the answer is lost, or the program died
    before it came, the platform is asked for a run with our id before another one is made. Nothing of a run goes to
    another platform than the one it was opened on. A run that is closed there already is closed.
Policy
    An evaluation belongs to the run's environments, found (or made) by name; a measured run to the one named like its
    dataset. Where training runs cannot be asked for, a lost answer may leave an empty one behind: it is counted.
When it breaks
    `UsageError` for another platform, `PlatformError` for a platform that will not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh._version import __version__
from evh.errors import PlatformError, Refused, UsageError
from evh.live.config_upload import upload_view
from evh.live.run_ending import Ending
from evh.live.sync_folder import SyncFolder, read_remote
from evh.live.training_remote import open_training
from evh.live.wire import Wire
from evh.platform import evaluations, hub, training
from evh.protocol import models
from evh.store.clock import now

if TYPE_CHECKING:
    from evh.platform import Settings

__all__ = ["check_platform", "close_remote", "identity_of", "note_stopped", "open_remote", "run_info"]

EVALUATION, TRAINING = "evaluation", "training"


def run_info(remote: models.SyncRemote) -> models.EvalRunInfo | models.TrainRunInfo:
    """The run that uploaded documents belong to. Those of a training run keep what they were dispatched for."""
    assert remote.remote_id is not None
    if remote.kind == TRAINING:
        return models.TrainRunInfo(id=remote.remote_id, work=models.TrainWorkInfo(step=0))
    return models.EvalRunInfo(id=remote.remote_id)


def check_platform(directory: Path, remote: models.SyncRemote, settings: Settings) -> None:
    """Raise `UsageError` when the settings name another platform or team than the run was opened on."""
    if remote.base_url != settings.base_url:
        raise UsageError(
            f"was opened on {remote.base_url}, and the settings say {settings.base_url}: set PRIME_API_BASE_URL to the "
            "first, with its key",
            source=str(directory),
        )
    if (remote.team_id or "") != settings.team_id:
        raise UsageError(
            f"was opened for the team {remote.team_id or '(none)'}, and the settings say "
            f"{settings.team_id or '(none)'}: set PRIME_TEAM_ID to the first",
            source=str(directory),
        )


def open_remote(folder: SyncFolder, manifest: models.RunManifest, wire: Wire) -> models.SyncRemote:
    """The run on the platform, opened there unless it is."""
    settings = wire.settings
    remote = read_remote(folder.directory)
    if remote is not None:
        check_platform(folder.directory, remote, settings)
        if remote.remote_id is not None:
            return remote
    doubt = remote is not None
    if remote is None:
        remote = models.SyncRemote(
            state="creating",
            kind=TRAINING if manifest.kind == "train" else EVALUATION,
            base_url=settings.base_url,
            team_id=settings.team_id or None,
            at=now(),
            transport="samples" if settings.traces_opt_out else "traces",
        )
    environments = [{"id": _environment(wire, name)} for name in _environments(manifest)]
    if not doubt:
        folder.write_remote(remote)
    if remote.kind == TRAINING:
        found = open_training(folder, remote, manifest, environments, metadata_of(manifest), wire, in_doubt=doubt)
        return _opened(folder, remote, found, None)
    body = _evaluation(manifest, environments, settings)

    def attempt() -> models.EvaluationCreated:
        nonlocal doubt
        was, doubt = doubt, True
        return wire.once(evaluations.open_once(body, in_doubt=was))

    made = wire.patience.run(attempt)
    return _opened(folder, remote, made.evaluation_id, made.viewer_url)


def close_remote(
    folder: SyncFolder,
    remote: models.SyncRemote,
    manifest: models.RunManifest,
    ending: Ending,
    metrics: Mapping[str, Any],
    wire: Wire,
) -> models.SyncRemote:
    """Say on the platform how the run ended; returns what it has then."""
    assert remote.remote_id is not None
    name = remote.remote_id
    if remote.kind == TRAINING:
        wire.run(lambda: training.close(name, ending.word, error_message=ending.message))
        status = "COMPLETED" if ending.word == "completed" else "FAILED"
    else:
        metadata = metadata_of(manifest, ending)
        try:
            status = wire.run(lambda: _closing(name, ending, metrics, metadata))
        except Refused:  # what is told of it is at fault: it is closed all the same
            status = wire.run(lambda: _closing(name, ending, {}, None))
    remote.state, remote.status, remote.at = "closed", status, now()
    folder.write_remote(remote)
    return remote


def note_stopped(remote: models.SyncRemote, manifest: models.RunManifest, wire: Wire) -> None:
    """Say of an evaluation that stays open that its run stopped and can be resumed. A word for people: a refusal of it
    changes nothing."""
    if remote.kind == EVALUATION and remote.remote_id is not None:
        metadata = metadata_of(manifest, Ending("stopped"))
        try:
            wire.once(evaluations.update(remote.remote_id, models.EvaluationUpdate(metadata=metadata)))
        except PlatformError:
            return


def identity_of(manifest: models.RunManifest) -> str:
    """Our id of the run among the runs of all machines. That of a measured run names its config and second alone, so
    two machines may make the same one: when, where and by which process it began tells them apart."""
    if manifest.kind != "measured":
        return manifest.run_id
    begun = f"{manifest.started_at}|{manifest.host}|{manifest.pid}|{json.dumps(manifest.config, sort_keys=True)}"
    return f"{manifest.run_id}@{hashlib.sha256(begun.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def metadata_of(manifest: models.RunManifest, ending: Ending | None = None) -> dict[str, Any]:
    """What the platform is told of the run's configuration, with our id of the run."""
    view = upload_view(manifest)
    if manifest.kind == "measured" and manifest.n_items_planned is not None and manifest.num_examples is None:
        view["num_examples"] = manifest.n_items_planned
    view["framework"] = manifest.framework or "evh"
    ours: dict[str, Any] = {"run_id": identity_of(manifest), "version": __version__, "kind": manifest.kind}
    if ending is not None:
        ours["ended"] = ending.word
        if ending.end is not None:
            ours |= {"episodes": ending.end.counts.episodes, "lost": ending.end.lost}
            if ending.end.summary:
                view["summary"] = ending.end.summary
    view["evh"] = ours
    return view


def _closing(name: str, ending: Ending, metrics: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> Any:
    return evaluations.close(
        name, ending.status, metrics=metrics or None, metadata=metadata, error_message=ending.message
    )


def _environments(manifest: models.RunManifest) -> list[str]:
    if manifest.environments:
        return list(dict.fromkeys(manifest.environments))
    return [manifest.dataset_id or manifest.name or "evh"]


def _environment(wire: Wire, name: str) -> str:
    return wire.run(lambda: hub.find(name, team_id=wire.settings.team_id or None))


def _evaluation(
    manifest: models.RunManifest, environments: list[dict[str, str]], settings: Settings
) -> models.EvaluationCreate:
    metadata = metadata_of(manifest)
    body = models.EvaluationCreate(
        name=manifest.name or manifest.run_id,
        environments=environments,
        tags=list(manifest.tags),
        framework=manifest.framework or "evh",
        metadata=metadata,
    )
    model = metadata.get("model")
    optional = {
        "model_name": model if isinstance(model, str) else None,
        "dataset": manifest.dataset_id,
        "description": manifest.description,
        "team_id": settings.team_id or None,
    }
    body.update({name: value for name, value in optional.items() if value})
    return body


def _opened(folder: SyncFolder, remote: models.SyncRemote, remote_id: str, url: str | None) -> models.SyncRemote:
    remote.state, remote.remote_id, remote.at = "open", remote_id, now()
    remote.url = url
    folder.write_remote(remote)
    return remote
