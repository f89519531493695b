"""One launch of one run, from its lease to its record.

Promise
    What is owed is found under the lease, and the launch is noted in `attempts.jsonl`, before the first call. The
    record is computed from all rows, whichever launch wrote them, and written only when every item has its row. A
    launch that stops, whatever stopped it once it began, returns a `Finished` that says why; the rows stand.
When it breaks: what is raised was raised before anything of this launch was called.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from evh._version import __version__
from evh.errors import EvhError, Notice, SourceError, WriteError
from evh.harness.dataset import refuse_changed
from evh.harness.measuring import Pass, Stop
from evh.harness.orphans import recover_episodes
from evh.harness.plan import Plan, plan_run, set_aside
from evh.harness.progress import Listener
from evh.harness.resuming import manifest_of
from evh.harness.setup import Setup
from evh.protocol import models
from evh.store.atomic import why
from evh.store.clock import now
from evh.store.host import host_name
from evh.store.journal import FsyncPolicy
from evh.store.lease import Lease
from evh.store.record import run_record
from evh.store.run_dir import RunDir, open_run_dir
from evh.store.run_writer import RunWriter

__all__ = ["Finished", "Options", "RunAttempt"]


class Options(NamedTuple):
    """How a launch goes. `concurrency` None: as many calls at once as suit the adapter."""

    concurrency: int | None = None
    keep_going: bool = False
    max_cost_usd: float | None = None
    fsync: FsyncPolicy = "group"
    accept_failures: bool = False
    take_over: bool = False
    force: bool = False


class Finished(NamedTuple):
    """How the launch of one run ended: `record` when it is complete, else `stop` and perhaps what the `fault` behind it
    says, secrets masked.

    `done` of `planned` items have rows; `failed` items of this launch failed; `cost_usd` is what this launch paid;
    `counts` says over how many rows each metric's mean is, `sources` where the items' costs came from.
    """

    directory: Path
    record: models.RunRecord | None
    counts: Mapping[str, int]
    done: int
    planned: int
    failed: int
    cost_usd: float
    sources: Mapping[str | None, int]
    stop: Stop | None = None
    fault: str | None = None
    repeats_left: int = 0


class RunAttempt:
    """A launch of the run in `directory`, first or not. `go` does it, once. Of a `fresh` one the items were looked at
    before its directory was made."""

    def __init__(
        self,
        setup: Setup,
        directory: Path,
        options: Options,
        listener: Listener,
        *,
        changed: list[str] | None = None,
        spent: float = 0.0,
        fresh: bool = False,
    ) -> None:
        self._setup = setup
        self._options = options
        self._listener = listener
        self._changed = changed or []
        self._warmup_ms: float | None = None
        self._spent = spent
        self._fresh = fresh
        self._run = open_run_dir(directory)
        self._manifest = manifest_of(self._run)
        self._repairs: list[str] = []
        self._counts: Mapping[str, int] = {}
        self._pass: Pass | None = None
        self._record: models.RunRecord | None = None
        self._plan = Plan(setup.frozen, 0)

    def go(self) -> Finished:
        """Measure what is owed. Raises `EvhError` (or KeyboardInterrupt) only while nothing of it was called and, for
        the first launch, nothing kept."""
        lease = Lease(self._run.path, take_over=self._options.take_over)
        try:
            self._look(lease)
        except OSError as error:
            lease.release()
            raise SourceError(f"the rows cannot be read: {why(error)}", source=str(self._run.path)) from None
        except BaseException:
            lease.release()
            raise
        stop: Stop | None = None
        fault: str | None = None
        try:
            with RunWriter(self._run.path, masker=self._setup.masker, fsync=self._options.fsync, lease=lease) as writer:
                self._measure(writer)
        except (EvhError, OSError, KeyboardInterrupt) as error:
            interrupted = isinstance(error, KeyboardInterrupt)
            if self._pass is None and not (interrupted and self._plan.done):
                raise
            if self._run.state == "finished":
                if not interrupted:
                    raise  # the record is in place, and what was refused is said
                self._record = open_run_dir(self._run.path).record
            else:  # the rows stand; the record was refused or interrupted
                stop = "interrupted" if interrupted else "disk" if isinstance(error, WriteError | OSError) else "fault"
                fault = None if interrupted else self._setup.masker.text(str(error))
                self._record = None
        return self._finished(self._record, stop, fault)

    def _look(self, lease: Lease) -> None:
        """Find what is owed, and take out rows whose outputs are gone."""
        frozen, directory = self._setup.frozen, self._run.path
        notices: list[Notice] = []
        limit = min(self._manifest.n_items_planned or len(frozen), len(frozen))
        self._plan = plan = plan_run(directory, frozen, limit, notices=notices)
        self._repairs += [f"{item_id}: {reason}, so it is owed again" for item_id, reason in plan.lost]
        if plan.spoilt:
            self._repairs.append(f"{len(plan.spoilt)} rows were moved to {set_aside(directory, plan)}")

    def _measure(self, writer: RunWriter) -> None:
        """The launch itself, and the record when every item has its row."""
        setup, plan, options = self._setup, self._plan, self._options
        self._repairs += writer.repairs
        for text in self._repairs:
            self._listener.notice(text)
        attempts = self._run.attempts()
        number = attempts[-1].attempt + 1 if attempts else 1
        failures = _failures(self._run, plan) if options.accept_failures else {}
        began = self._note(writer, number)
        resumed = plan.done
        owed = [index for index in plan.owed if index not in failures]
        if not self._fresh:
            refuse_changed(setup.project, setup.frozen, owed)
        if owed:
            self._warmup_ms = setup.warm_up(self._listener)
        self._pass = Pass(
            setup,
            writer,
            params=setup.params_for(self._manifest.repeat_index),
            run=models.EvalRunInfo(id=self._manifest.run_id, name=self._manifest.config_id),
            attempt=number,
            concurrency=self._concurrency,
            keep_going=options.keep_going or options.accept_failures,
            max_cost_usd=options.max_cost_usd,
            spent=self._spent,
            listener=self._listener,
        )
        owed = recover_episodes(setup, self._run, writer, owed, self._listener, self._pass.failed)
        there = len(plan.state) - len(owed) - len(failures) - len(self._pass.failures)
        self._pass.owe(owed, there)
        self._listener.begun(str(self._run.path), self._pass.snapshot)
        self._pass.run()
        if options.accept_failures and self._pass.stop == "items-failed":
            failures |= self._pass.failures
            self._pass.stop = None
        if self._pass.stop is not None:
            return
        for index, message in failures.items():
            writer.write_accepted(setup.frozen.item_ids[index], message)
        writer.sync()
        counted = self._run.count()
        self._counts = counted.counts
        references = setup.references
        record = run_record(
            self._manifest,
            counted,
            declared=setup.declared,
            adapter=setup.adapter.id,
            reference_tier=None if references is None else references.tier,
            coverage=setup.coverage(len(plan.state)),
            resume=models.Resume(resumed_items=resumed, attempts=number, last_at=began) if number > 1 else None,
            warmup_ms=self._warmup_ms,
        )
        writer.finish(record)
        self._record = record

    def _note(self, writer: RunWriter, number: int) -> str:
        """Write the line of this launch; returns when it began."""
        began = now()
        writer.begin(
            models.Attempt(
                attempt=number,
                started_at=began,
                harness_version=__version__,
                items_done=self._plan.done,
                items_owed=len(self._plan.owed),
                config_path=self._setup.project.portable(self._setup.config_path),
                concurrency=self._concurrency,
                fsync=self._options.fsync,
                accept_failures=self._options.accept_failures,
                changed=self._changed,
                repairs=[self._setup.masker.text(text) for text in self._repairs],
                host=host_name(),
                pid=os.getpid(),
            )
        )
        return began

    @property
    def _concurrency(self) -> int:
        """Calls at once: as asked, else 8 for endpoints and async adapters, 1 for code that may not bear threads."""
        return self._options.concurrency or (8 if self._setup.adapter.is_concurrent else 1)

    def _finished(self, record: models.RunRecord | None, stop: Stop | None, fault: str | None) -> Finished:
        going = self._pass
        planned = len(self._plan.state)
        if going is None:
            return Finished(self._run.path, None, {}, self._plan.done, planned, 0, 0.0, {}, stop, fault)
        told = going.snapshot
        return Finished(
            self._run.path,
            record,
            self._counts,
            told.done if record is None else planned,
            planned,
            told.failed,
            told.cost_usd,
            going.sources,
            going.stop or stop,
            going.said if going.stop is not None else fault,
        )


def _failures(run: RunDir, plan: Plan) -> dict[int, str]:
    """The owed items that failed before, with what was said last."""
    owed = set(plan.owed)
    found: dict[int, str] = {}
    for error in run.errors():
        index = plan.frozen.position.get(error.item_id)
        if index is not None and index in owed:
            found[index] = f"{error.type}: {error.message}"
    return found
