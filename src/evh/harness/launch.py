"""Launching an arm: its passes one after the other, and going on with one that stopped.

Promise
    A run directory is made with everything that a resume needs before the first call. A pass that ends with a row for
    every item gets its record; one that stops early gets none, and says which run, after how many items, and how to go
    on. A resume pays for no item that has its row, refuses when what it would measure with is not what the run began
    with (each differing path is named), and then makes the repeats that are left.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from evh.errors import WriteError
from evh.harness.dataset import refuse_changed
from evh.harness.progress import Guarded, Listener, Quiet
from evh.harness.project import Project
from evh.harness.resuming import check_same, manifest_of, run_to_resume, setup_of_run, sibling
from evh.harness.run_attempt import Finished, Options, RunAttempt
from evh.harness.setup import planned, prepare
from evh.store.run_dir import open_run_dir
from evh.store.run_names import repeat_ids, run_base
from evh.store.run_writer import make_run_directory

__all__ = ["Finished", "Options", "measure", "resume"]


def measure(
    project: Project,
    config_path: Path,
    *,
    repeats: int = 1,
    limit: int | None = None,
    run_id: str | None = None,
    options: Options | None = None,
    environ: Mapping[str, str] | None = None,
    listener: Listener | None = None,
) -> list[Finished]:
    """Measure an arm: `repeats` passes over (the first `limit` items of) its dataset, one run directory each.

    The passes come one after the other and end with the first that stops early. Raises `UsageError`, `SourceError` or
    `WriteError` when nothing could begin; nothing is paid then.
    """
    environ = os.environ if environ is None else environ
    options = options or Options()
    listener = Guarded(listener or Quiet())
    with prepare(project, config_path, environ) as setup:
        items = planned(len(setup.frozen), limit)
        base = run_base(setup.config.config_id) if run_id is None else run_id
        ids = repeat_ids(base, repeats)
        if setup.build.ref == "unknown":
            listener.notice(
                "the build is unknown, and `evh validate` will say so: measure in a git tree, or set EVAL_BUILD_REF"
            )
        refuse_changed(project, setup.frozen, range(items))
        _refuse_taken(project.runs, ids, exact=run_id is not None)
        setup.warm_up(listener)
        done: list[Finished] = []
        spent = 0.0
        for number, each in enumerate(ids, start=1):
            manifest = setup.manifest(
                each,
                limit=items,
                repeat_index=number if repeats > 1 else None,
                repeats=repeats if repeats > 1 else None,
            )
            directory = make_run_directory(project.runs, manifest, exact=run_id is not None or number > 1)
            if number == 1 and repeats > 1:
                ids[1:] = repeat_ids(manifest.run_id.removesuffix("_r1"), repeats)[1:]
            attempt = RunAttempt(setup, directory, options, listener, spent=spent, fresh=True)
            finished = attempt.go()
            spent += finished.cost_usd
            done.append(finished._replace(repeats_left=repeats - number))
            if finished.record is None:
                break
        return done


def resume(
    project: Project,
    run: str | Path | None = None,
    *,
    config_path: Path | None = None,
    options: Options | None = None,
    environ: Mapping[str, str] | None = None,
    listener: Listener | None = None,
) -> list[Finished]:
    """Go on with a stopped run (the only one there is, when none is named), then with the repeats that are left.

    Empty when there is nothing to resume. Raises `RecordError` for a run that can't be gone on from, `LockedError` for
    one that somebody holds, `UsageError` when several could be meant.
    """
    environ = os.environ if environ is None else environ
    options = options or Options()
    listener = Guarded(listener or Quiet())
    found = run_to_resume(project, run)
    if found is None:
        return []
    with setup_of_run(project, found, config_path, environ) as setup:
        manifest = manifest_of(found)
        changed = check_same(setup, manifest, force=options.force)
        done: list[Finished] = []
        spent = 0.0
        repeats, first = manifest.repeats or 1, manifest.repeat_index or 1
        for index in range(first, repeats + 1):
            path = found.path if index == first else sibling(found, index)
            if path.exists():
                run_dir = open_run_dir(path)
                if run_dir.record is not None:
                    continue
                if index != first:
                    changed = check_same(setup, manifest_of(run_dir), force=options.force)
                attempt = RunAttempt(setup, path, options, listener, changed=changed, spent=spent)
            else:
                setup.warm_up(listener)
                made = setup.manifest(path.name, limit=manifest.n_items_planned, repeat_index=index, repeats=repeats)
                make_run_directory(path.parent, made, exact=True)
                attempt = RunAttempt(setup, path, options, listener, spent=spent)
            done.append(attempt.go()._replace(repeats_left=repeats - index))
            spent += done[-1].cost_usd
            if done[-1].record is None:
                break
        return done


def _refuse_taken(runs_dir: Path, ids: list[str], *, exact: bool) -> None:
    """Refuse names that are taken before the first call: of a launch with a name of its own all of them."""
    for each in ids if exact else ():
        if os.path.lexists(runs_dir / each):
            raise WriteError("is there already: name another run, or resume this one", source=str(runs_dir / each))
