"""`open_run` begins a live run, or takes up one that was left open.

Promise: a run that is returned is on disk, with its `run.json` durable in it and its lease held; its id never changes.
What only keeps it from being uploaded (no key, an unreachable server, an environment that nobody knows) makes it an
offline run with the reason, never an error. Nothing of a secret table, of a variable that holds a key, or of the key
itself is in the first byte.
Policy: the folder is `data/runs`, or `EVAL_RUNS_DIR`. A run's id is its name, the second, and four random bytes, so
that runs of several machines have different ids.
When it breaks: `UsageError` for an argument that makes no sense, `SourceError` for a launch file or a run that cannot
be read, `WriteError` when the disk refuses, `LockedError` for a run that somebody else holds.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evh._version import __version__
from evh.errors import EvhError, UsageError, cut
from evh.live.arguments import StrPath, check, live_run, masker_of, on_stderr, settings_of
from evh.live.config_upload import Snapshot, snapshot
from evh.live.disk import Disk
from evh.live.identity import Identity
from evh.live.modes import NO_KEY, Resolved, resolve_mode
from evh.live.run import LiveRun
from evh.live.telling import OnError
from evh.live.uploading import Uploads, default_uploads
from evh.protocol import models
from evh.store.build import build_of
from evh.store.clock import now
from evh.store.host import host_name
from evh.store.journal import FsyncPolicy
from evh.store.masking import Masker
from evh.store.new_run import make_run_directory
from evh.store.run_names import checked_run_id, run_base

if TYPE_CHECKING:
    from evh.platform.settings import Settings

__all__ = ["open_run"]

RUNS = Path("data") / "runs"
Kind = Literal["eval", "train"]


def open_run(
    *,
    name: str | None = None,
    environments: Sequence[str] = (),
    model: str | None = None,
    config: Any = None,
    num_examples: int = -1,
    rollouts_per_example: int | None = None,
    kind: Kind = "eval",
    mode: str | None = None,
    dir: StrPath | None = None,
    on_error: OnError = "warn",
    framework: str | None = None,
    description: str | None = None,
    tags: Sequence[str] = (),
    dataset_id: str | None = None,
    config_id: str | None = None,
    run_id: str | None = None,
    team_id: str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    finish_timeout: float = 300.0,
    fsync: FsyncPolicy = "group",
    resume: bool = False,
    take_over: bool = False,
    secrets: Iterable[str] = (),
    notify: Callable[[str], None] | None = None,
    uploads: Uploads | None = None,
) -> LiveRun:
    """Open a live run before its first rollout; use it in a `with` block.

    `config` is the path of the file the run was launched from, a mapping (or an object with `model_dump`), or a pair of
    both. `mode` is `online`, `offline` or `disabled`; without it `EVH_MODE` counts, then whether there is a key. `dir`
    is the folder of runs (`EVAL_RUNS_DIR`, else `data/runs`); with `resume=True` it is the directory of a run that was
    left open, which goes on under its id, and `take_over` says that its silent writer is gone. With `on_error="warn"`
    what cannot be written or sent is counted and told to `notify` (one line on standard error); with `"raise"` it is
    raised. `secrets` are texts that must not be written, beside those of tables and variables that are found.
    """
    check(kind, on_error, fsync, environments, tags, num_examples, rollouts_per_example)
    notify = on_stderr if notify is None else notify
    settings, fault = settings_of(api_key, team_id, base_url)
    resolved = resolve_mode(mode, os.environ, settings)
    if fault is not None and (resolved.mode == "online" or resolved.reason == NO_KEY):
        resolved = Resolved("offline", fault)
    if resolved.mode == "disabled":
        return LiveRun(
            Identity(run_id or _new_id(name or kind), kind, name),
            None,
            mode="disabled",
            on_error=on_error,
            notify=notify,
        )
    masker = masker_of(settings, secrets)
    found = snapshot(config, masker, os.environ)
    if resume:
        disk = _taken_up(dir, name, run_id, masker, fsync, take_over)
    else:
        manifest = models.RunManifest(
            schema="evh:1.0:run_manifest",
            run_id=_new_id(masker.text(name or "") or kind) if run_id is None else checked_run_id(run_id),
            kind=kind,
            started_at=now(),
            harness_version=__version__,
            config=_recorded(found, _masked(model, masker), num_examples, rollouts_per_example),
            build=build_of(Path.cwd(), os.environ),
            name=_masked(name, masker),
            environments=[masker.text(each) for each in environments],
            model=_masked(model, masker),
            framework=_masked(framework, masker),
            description=_masked(description, masker),
            tags=[masker.text(tag) for tag in tags],
            num_examples=num_examples,
            rollouts_per_example=rollouts_per_example,
            config_source=found.source,
            host=host_name(),
            pid=os.getpid(),
        )
        if kind == "eval":
            manifest.dataset_id = _masked(dataset_id or "+".join(environments) or name or kind, masker)
            manifest.config_id = _masked(config_id or name or model or manifest.dataset_id, masker)
        directory = make_run_directory(_runs_folder(dir), manifest, exact=run_id is not None)
        disk = Disk.own(directory, manifest, masker, fsync)
    return _opened(disk, resolved, settings, [*found.warnings, *disk.notes], on_error, finish_timeout, notify, uploads)


def _opened(
    disk: Disk,
    resolved: Resolved,
    settings: Settings,
    notes: list[str],
    on_error: OnError,
    finish_timeout: float,
    notify: Callable[[str], None],
    uploads: Uploads | None,
) -> LiveRun:
    """The run over a directory that is held, its uploader started when it is online."""
    manifest = disk.manifest
    mode, reason = resolved
    if mode == "online":
        try:
            uploads = default_uploads() if uploads is None else uploads
            uploads.start(disk.directory, settings)
        except ImportError as error:
            mode, reason = "offline", f"the uploader cannot be loaded: {error}"
        except EvhError as error:
            mode, reason = "offline", disk.masker.text(str(error))
    if mode == "offline" and reason is not None:
        notes.append(f"stays on this disk: {reason}; `evh sync {disk.directory}` sends it later")
    for note in notes:
        notify(f"run {manifest.run_id}: {note}")
    return LiveRun(
        Identity(manifest.run_id, manifest.kind, manifest.name),
        disk,
        mode=mode,
        reason=reason,
        uploads=uploads if mode == "online" else None,
        on_error=on_error,
        finish_timeout=finish_timeout,
        notify=notify,
    )


def _taken_up(
    dir: StrPath | None,
    name: str | None,
    run_id: str | None,
    masker: Masker,
    fsync: FsyncPolicy,
    take_over: bool,
) -> Disk:
    if dir is None:
        raise UsageError("resume=True needs dir=…, the directory of the run that is taken up")
    run = live_run(dir)
    manifest = run.manifest
    assert manifest is not None
    for what, given, held in (
        ("run_id", run_id, manifest.run_id),
        ("name", name, manifest.name),
    ):
        if given is not None and given != held:
            raise UsageError(
                f"the run in {run.path} has the {what} {cut(held)}, not {cut(given)}: it goes on as it began"
            )
    return Disk.own(run.path, manifest, masker, fsync, take_over=take_over)


def _runs_folder(dir: StrPath | None) -> Path:
    """Where runs lie, from the root on: the program may change its folder while the run is open."""
    named = os.environ.get("EVAL_RUNS_DIR", "") if dir is None else os.fspath(dir)
    return Path(os.path.abspath(Path(named or RUNS).expanduser()))  # noqa: PTH100 (links stay as they are named)


def _recorded(found: Snapshot, model: str | None, num_examples: int, rollouts: int | None) -> dict[str, Any]:
    """The configuration as `run.json` has it: what lists of runs read stands in it too."""
    said = {"model": model, "num_examples": num_examples, "rollouts_per_example": rollouts}
    return {**found.fields, **{name: value for name, value in said.items() if value is not None}}


def _masked(text: str | None, masker: Masker) -> str | None:
    return None if text is None else masker.text(text)


def _new_id(name: str) -> str:
    return f"{run_base(name)}_{secrets.token_hex(4)}"
