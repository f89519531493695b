"""A training run, registered on a platform once, as far as the platform can be asked.

Promise: after a try whose answer is lost the platform is asked for a run with our id before another one is registered.
A platform that cannot be asked may then hold an empty run as well: `doubts` of `sync/remote.json` counts them.
When it breaks: `PlatformError`; `Forbidden` for a team that may not register runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from evh.errors import Ambiguous, NotFound, PlatformError
from evh.live.patience import can_pass
from evh.live.sync_folder import SyncFolder
from evh.live.wire import Wire
from evh.platform import Call, training
from evh.platform.call import Answer
from evh.protocol import models

__all__ = ["open_training"]

PAGE = 100
NO_TEAM = "default"
"""The wire wants a team; a service without teams takes any."""


def open_training(
    folder: SyncFolder,
    remote: models.SyncRemote,
    manifest: models.RunManifest,
    environments: list[dict[str, str]],
    config: Mapping[str, Any],
    wire: Wire,
    *,
    in_doubt: bool,
) -> str:
    """The platform's id of the run. `config` has our id of it; `in_doubt`: an earlier try may have been done."""
    body = models.ExternalRunCreate(
        base_model=manifest.model or "unknown",
        max_steps=0,
        environments=environments,
        name=manifest.name or manifest.run_id,
        run_config=dict(config),
        team_id=wire.settings.team_id or NO_TEAM,
    )
    if manifest.rollouts_per_example is not None:
        body["rollouts_per_example"] = manifest.rollouts_per_example
    doubt = in_doubt

    def attempt() -> str:
        nonlocal doubt
        if doubt:
            known, found = _found(manifest.run_id, wire)
            if found is not None:
                return found
            if not known:
                remote.doubts += 1
                folder.write_remote(remote)
            doubt = False
        try:
            return wire.once(training.create(body)).id
        except PlatformError as error:
            doubt = can_pass(error) and (isinstance(error, Ambiguous) or type(error) is PlatformError)
            raise

    return wire.patience.run(attempt)


def _found(run_id: str, wire: Wire) -> tuple[bool, str | None]:
    """Whether the platform could say, and its id of the run with ours."""
    skip = 0
    while True:
        params = (("skip", str(skip)), ("limit", str(PAGE)))
        call = Call("list the training runs", "GET", "/rft/external-runs", _runs, params)
        try:
            runs = wire.once(call)
        except PlatformError as error:
            if isinstance(error, NotFound) or (error.status == 405):
                return False, None
            raise
        if not runs:
            return True, None
        for each in runs:
            config = each.get("run_config")
            ours = config.get("evh") if isinstance(config, dict) else None
            if isinstance(ours, dict) and ours.get("run_id") == run_id and isinstance(each.get("id"), str):
                return True, each["id"]
        skip += len(runs)


def _runs(answer: Answer) -> list[dict[str, Any]]:
    try:
        runs = msgspec.json.decode(answer.body)["runs"]
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError, RecursionError):
        runs = None
    if not isinstance(runs, list):
        raise NotFound("the platform lists no training runs", status=answer.status)
    return [each for each in runs if isinstance(each, dict)]
