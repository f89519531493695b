"""A run held open: every record it is given is on disk before the call returns, and the run is closed on every way out.

Promise
    `log_episodes` returns when its episodes are written as far as the fsync policy goes, and never waits for the
    network. What could not be written is counted and named in `lost`, told at once, and raised with `on_error="raise"`.
    Nothing is written before it is masked. After `finish` nothing is written any more (`RunFinishedError`).
    The `with` block closes the run: as `completed`, on an exception as `failed`, on Ctrl-C or a cancelled task as
    `cancelled`. A process that ends without closing it leaves it `crashed`. `finish` may be called from several
    threads: the first says how the run ends, all return when it has ended; it is closed once.
    In a forked child, or a process that joined, the same object writes a segment of its own; only the run's owner
    closes the run. A disabled run stamps what it is given and writes nothing.
Policy
    The default way to be told is one line on standard error.
When it breaks
    What is no record, or belongs to another run, is a `UsageError` always: it is the program's mistake. When the disk
    refuses the end, the run stays open and `finish` can be called again.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, cast, get_args

from evh.errors import EvhError, RecordError, RunFinishedError, UsageError, cut
from evh.live import exits
from evh.live.ending import Asked, plain_summary
from evh.live.gate import Gate
from evh.live.identity import Work, episode_of
from evh.live.standing import Standing, Status
from evh.protocol import models
from evh.store.numbers import finite

__all__ = ["LiveRun", "Status"]

STATUSES = tuple(each for each in get_args(Status) if each != "running")


class LiveRun(Standing):
    """One run, held open by this process (see the module for what it promises). Made by `open_run` and `join_run`."""

    def __init__(self, *given: Any, **how: Any) -> None:
        super().__init__(*given, **how)
        self._gate = Gate(f"the run {self.id}")
        self._ending = threading.Lock()
        self._asked: Asked | None = None
        self._told_to_end: str | None = None
        self._upload_error: str | None = None
        exits.watch(self)

    # --- what it is given --------------------------------------------------------------------------------------------

    def log_episodes(self, episodes: Iterable[Any], *, work: Work | None = None) -> list[models.Episode]:
        """Stamp and write episodes; returns those that are on disk now, as the objects that were written.

        Taken: an `Episode` (the object itself is stamped), a `Trace` (wrapped once), a mapping, or an object whose
        `to_record()` gives one. `work` is for episodes of a training run that carry no stamp yet. Raises
        `RunFinishedError` after the end, `UsageError` for what is no record or belongs to another run, and, with
        `on_error="raise"`, what keeps a record from being written.
        """
        if isinstance(episodes, Mapping | models.Episode | models.Trace | str | bytes) or not isinstance(
            episodes, Iterable
        ):
            raise UsageError(f"log_episodes takes several episodes, such as [episode], not {cut(type(episodes))}")
        with self._gate.admitted("log_episodes"):
            pass  # before a lazy iterable is begun
        written = []
        for record in episodes:
            with self._gate.admitted("log_episodes"):
                episode = self._log_one(record, work)
            if episode is not None:
                written.append(episode)
        return written

    async def alog_episodes(self, episodes: Iterable[Any], *, work: Work | None = None) -> list[models.Episode]:
        """`log_episodes` for coroutines: the disk is waited for in another thread."""
        return await asyncio.to_thread(self.log_episodes, episodes, work=work)

    def log_traces(self, traces: Iterable[Any], *, work: Work | None = None) -> list[models.Episode]:
        """Write bare traces, each wrapped in an episode of its own (`Episode.of`), which are returned."""
        return self.log_episodes(traces, work=work)

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Write metrics, as a rule those of a step. A number that is not finite is left out, counted in `lost` and
        told; with `on_error="raise"` it is raised and nothing is written."""
        if not isinstance(metrics, Mapping):
            raise UsageError(f"log_metrics takes names and numbers, not {cut(metrics)}")
        if step is not None and (not isinstance(step, int) or isinstance(step, bool)):
            raise UsageError(f"a step is a whole number, not {cut(step)}")
        with self._gate.admitted("log_metrics"):
            kept: dict[str, int | float] = {}
            for name, value in metrics.items():
                try:
                    kept[str(name)] = finite(
                        value, f"metric {cut(name)}" + ("" if step is None else f" of step {step}")
                    )
                except RecordError as error:
                    self._teller.lose(error)
            if self._disk is not None and (kept or not metrics):
                try:
                    self._disk.write_step(step, kept)
                except RunFinishedError:
                    raise
                except EvhError as error:
                    self._teller.lose(error, f"the metrics of step {step} were not written: ")

    def flush(self, timeout: float | None = 30.0) -> bool:
        """Make everything durable and, online, wait until it was sent; False when the time was too short for that."""
        if self._disk is None:
            return True
        try:
            self._disk.sync()
        except EvhError as error:
            self._teller.fail(error)
        if self._mode == "online" and self._uploads is not None:
            self._uploads.wait(self._disk.directory, self._finish_timeout if timeout is None else max(0.0, timeout))
            self._raise_upload_error()
            return self._progress().pending == 0
        return True

    # --- its end -----------------------------------------------------------------------------------------------------

    def finish(
        self,
        summary: Mapping[str, Any] | None = None,
        status: str = "completed",
        error: str | BaseException | None = None,
        timeout: float | None = None,
    ) -> None:
        """Close the run, then, online, give the upload `timeout` seconds (`finish_timeout` of `open_run`) to be done.

        What is not sent by then is sent by the uploader, which outlives this process, or by `evh sync`. In a process
        that does not own the run only its own files are closed. Raises `UsageError` for a status that is none; with
        `on_error="raise"`, what went wrong.
        """
        if status not in STATUSES:
            raise UsageError(f"a run ends as one of {', '.join(STATUSES)}, not {cut(status)}")
        said = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
        try:
            asked = Asked(status, said, plain_summary(summary))
        except (EvhError, TypeError, ValueError) as fault:
            raise UsageError(f"a summary is an object of JSON: {fault}") from None
        with self._ending:
            if self._ended:
                return
            self._asked = self._asked or asked
            self._gate.close()
            if not self._close_disk():
                return
            self._ended = True
            self._status = cast("Status", self._asked.status)
            exits.forget(self)
            self._wait_for_upload(self._finish_timeout if timeout is None else max(0.0, timeout))

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish()
            return
        with contextlib.suppress(EvhError):  # the error that ends the block is the one to be seen
            self.finish(status=self._status_of(error), error=self._told_to_end or error)

    def _status_of(self, error: BaseException) -> str:
        stopped = isinstance(error, KeyboardInterrupt | asyncio.CancelledError) or self._told_to_end is not None
        return "cancelled" if stopped else "failed"

    def process_ends(self) -> None:
        """Nobody closed the run, and the process ends now."""
        with contextlib.suppress(EvhError):
            if self._told_to_end is not None:
                self.finish(status="cancelled", error=self._told_to_end, timeout=0)
            else:
                self.finish(status="crashed", error="the process ended without closing the run", timeout=0)

    def process_is_told_to_end(self, signal_name: str) -> None:
        """A signal asks the process to end; the handler goes on to end it."""
        self._told_to_end = f"the process was told to end ({signal_name})"

    def process_was_forked(self) -> None:
        """This is a child: it writes a segment of its own, and its parent closes the run."""
        self._gate = self._gate.anew()
        self._ending = threading.Lock()
        self._teller = self._teller.anew()
        if self._disk is not None:
            self._parents_disk = self._disk  # held: its files are the parent's to close
            self._disk = self._disk.of_child()

    def __reduce__(self) -> Any:
        """In another process: this run, joined."""
        from evh.live.joining import rejoin

        secrets = () if self._disk is None else self._disk.masker.values
        return rejoin, (self.dir, tuple(self._identity), secrets, self._teller.on_error)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _log_one(self, record: Any, work: Work | None) -> models.Episode | None:
        name = ""
        try:
            episode = episode_of(record)
            name = f"the episode {cut(episode.id)} "
            self._identity.stamp(episode, work)
            if self._disk is not None:
                self._disk.write_episode(episode)
        except (UsageError, RunFinishedError):
            raise
        except EvhError as error:
            self._teller.lose(error, f"{name or 'a record '}was not written: ")
            return None
        return episode

    def _close_disk(self) -> bool:
        if self._disk is None or self._asked is None:
            return True
        try:
            for note in self._disk.close(self._asked, self.lost):
                self._teller.note(note)
        except EvhError as error:
            self._teller.fail(error)
            return False
        return True

    def _wait_for_upload(self, timeout: float) -> None:
        if self._mode != "online" or self._uploads is None or self._disk is None or not self._disk.owns:
            return
        if timeout:
            self._uploads.wait(self._disk.directory, timeout)
        found = self._progress()
        if found.pending:
            self._teller.tell(
                f"{found.pending} records are not sent yet; `evh sync {self._disk.directory}` goes on if need be"
            )
        self._raise_upload_error()

    def _raise_upload_error(self) -> None:
        why = self._progress().error
        if why is not None and why != self._upload_error:
            self._upload_error = why
            self._teller.fail(EvhError(f"the upload stands still: {why}", source=str(self.dir)))
