"""A pass: the owed items of one run, measured by a bounded number of threads, each row written as its item finishes.

Promise
    At most `concurrency` calls run at once. When a pass stops (an item failed, the cap was reached, a signal came, the
    disk refused), no call begins any more, and those that run are waited for and recorded: they are paid. Only a second
    signal gives them up; then at most `concurrency` items are paid twice.
    The cap is checked before each call, counting calls that run at the price of the dearest so far.
    A failure is noted in `errors.jsonl` with its type, message and place, secrets masked.

Policy
    Plain threads: adapters are called from them, async ones through the adapter's own loop. They are daemons, so that a
    call nobody can interrupt does not keep the process from ending.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from evh.errors import EvhError, LockedError, RecordError, UsageError, WriteError, cut
from evh.harness.adapters import Stopped
from evh.harness.crew import Crew
from evh.harness.item import Measured, measure_item
from evh.harness.progress import Listener, Snapshot, Tally
from evh.harness.retry import GaveUp
from evh.harness.setup import Setup
from evh.protocol import models
from evh.store.clock import now
from evh.store.masking import Masker
from evh.store.run_writer import RunWriter

__all__ = ["Pass", "Stop"]

Stop = Literal["interrupted", "cap", "item-failed", "items-failed", "disk", "taken-over", "fault"]
"""Why a pass stopped before all items had rows."""

TELL_SECONDS = 0.05
LONGEST_TRACE = 6000
OURS = Path(__file__).parents[1]


class Pass:
    """One launch over the owed items of one run. `run` does it; `stop` and `fault` say how it ended."""

    def __init__(
        self,
        setup: Setup,
        writer: RunWriter,
        *,
        params: Mapping[str, Any],
        run: models.EvalRunInfo,
        attempt: int,
        concurrency: int,
        keep_going: bool = False,
        max_cost_usd: float | None = None,
        spent: float = 0.0,
        listener: Listener,
    ) -> None:
        self.stop: Stop | None = None
        self.fault: BaseException | None = None
        self.failures: dict[int, str] = {}
        """The items that failed in this launch, by their places in the dataset, with what was said."""
        self._setup = setup
        self._writer = writer
        self._owed: deque[int] = deque()
        self._params = params
        self._run = run
        self._attempt = attempt
        self._concurrency = concurrency
        self._keep_going = keep_going
        self._cap = max_cost_usd
        self._spent_before = spent
        self._listener = listener
        self._tally = Tally(0, 0)
        self._guard = threading.Condition()
        self._stopping = threading.Event()
        self._abandoned = False
        self._failed_item: str | None = None
        self._next_telling = 0.0
        self._retry_told = False
        self._unpriced_told = False

    @property
    def snapshot(self) -> Snapshot:
        with self._guard:
            return self._tally.snapshot()

    @property
    def said(self) -> str | None:
        """What the fault behind a stop says, under its type unless it is one of ours; secrets masked."""
        if self.fault is None:
            return None
        kind = type(self.fault)
        text = _said(self.fault)
        if kind.__module__.split(".")[0] != "evh":
            text = f"{kind.__name__}: {text}"
        if self._failed_item is not None and cut(self._failed_item) not in text:
            text = f"item {cut(self._failed_item)}: {text}"
        return self._setup.masker.text(text)

    @property
    def sources(self) -> dict[str | None, int]:
        """How many items of this launch had their cost from where."""
        with self._guard:
            return dict(self._tally.sources)

    def owe(self, indexes: Iterable[int], resumed: int) -> None:
        """Say what is to be measured, and how many items have their rows already."""
        self._owed.extend(indexes)
        failed = self._tally.failed
        self._tally = Tally(resumed + failed + len(self._owed), resumed, failed)

    def run(self) -> None:
        """Measure; returns when everything is recorded or given up. An interrupt stops the pass and is not raised.

        Raises `UsageError` when not a single thread can be started.
        """
        crew = Crew(self._work, min(self._concurrency, len(self._owed)), "measure")
        try:
            crew.start()
            crew.wait()
        except KeyboardInterrupt:
            self._interrupted(crew)
        if self._owed and self.stop is None:
            self.stop = "fault"
        if self.stop is None and self._tally.failed:
            self.stop = "items-failed"

    def _interrupted(self, crew: Crew) -> None:
        self._stop("interrupted")
        try:
            running = self.snapshot.running
            if running:
                self._listener.notice(
                    f"stopping: {running} running call{'s are' if running > 1 else ' is'} waited for and recorded; "
                    "interrupt again to give up on them"
                )
            crew.wait()
        except KeyboardInterrupt:
            self._abandoned = True
            self._setup.adapter.cancel()
            crew.wait_briefly()

    def _stop(self, why: Stop, fault: BaseException | None = None) -> None:
        with self._guard:
            if self.stop is None:
                self.stop, self.fault = why, fault
            self._stopping.set()
            self._guard.notify_all()

    def _work(self) -> None:
        try:
            while (index := self._next()) is not None:
                try:
                    self._measure(index)
                finally:
                    with self._guard:
                        self._tally.running -= 1
                        self._guard.notify_all()
        except BaseException as error:
            self._stop("fault", error)

    def _next(self) -> int | None:
        """The next item to call, once the cap allows it; None when there is none or the pass is stopping."""
        with self._guard:
            while self._owed and not self._stopping.is_set():
                tally = self._tally
                if self._cap is not None:
                    spent = self._spent_before + tally.cost
                    if spent >= self._cap:
                        self._stop("cap")
                        return None
                    if tally.running and spent + tally.running * tally.largest >= self._cap:
                        self._guard.wait()  # what runs may use the rest up: its price is known when it ends
                        continue
                tally.running += 1
                return self._owed.popleft()
            return None

    def _measure(self, index: int) -> None:
        try:
            measured = measure_item(
                self._setup, index, self._params, self._run, self._stopping.wait, self._paid, self._retried
            )
            if self._abandoned:
                return
            self._write(index, measured)
        except Stopped:
            with self._guard:
                self._owed.append(index)
        except LockedError as error:
            self._stop("taken-over", error)
        except WriteError as error:
            self._stop("disk", error)
        except Exception as error:
            if not self._abandoned:
                self.failed(index, error)

    def _paid(self, cost: float | None, source: str | None) -> None:
        with self._guard:
            self._tally.paid(cost, source)
            if source is None and self._cap is not None and not self._unpriced_told:
                self._unpriced_told = True
                self._listener.notice("a call whose cost nobody says: the cap cannot count those without prices")

    def _write(self, index: int, measured: Measured) -> None:
        self._writer.write_item(
            self._setup.frozen.item_ids[index],
            measured.output,
            measured.members,
            measured.episode,
            masker=measured.masker,
        )
        with self._guard:
            self._tally.done += 1
            self._tell()

    def failed(self, index: int, error: Exception) -> None:
        """Note that an item failed. What would fail for every item (a setting that makes no sense, a score that is no
        number) stops the pass, be it to keep going or not: going on would pay for answers that cannot count."""
        cause = error.error if isinstance(error, GaveUp) else error
        note = models.ItemError(
            item_id=self._setup.frozen.item_ids[index],
            attempt=self._attempt,
            at=now(),
            tries=error.attempts if isinstance(error, GaveUp) else None,
            type=type(cause).__name__,
            message=_said(cause),
            traceback=_trace(cause, self._setup.project.root, self._setup.masker),
        )
        with self._guard:
            self._tally.failed += 1
            self.failures[index] = f"{note.type}: {note.message}"
            self._tally.last_error = self._setup.masker.text(f"{note.item_id}: {note.type}: {note.message}")
        try:
            self._writer.write_error(note)
        except WriteError as fault:
            self._stop("disk", fault)
            return
        if not self._keep_going or isinstance(cause, UsageError | RecordError):
            self._failed_item = note.item_id
            self._stop("item-failed", cause)
        with self._guard:
            self._tell()

    def _retried(self, error: BaseException, attempt: int, seconds: float) -> None:
        with self._guard:
            said = self._setup.masker.text(_said(error))
            self._tally.last_error = f"attempt {attempt} failed, again in {seconds:.0f} s: {said}"
            if self._retry_told:
                self._tell()
            else:  # the first one at once: it may be a typing error in an address
                self._retry_told = True
                self._listener.notice(self._tally.last_error)

    def _tell(self) -> None:
        """Let the listener know, the guard held: not more often than anybody can read."""
        at = time.monotonic()
        if at < self._next_telling:
            return
        self._next_telling = at + TELL_SECONDS
        self._listener.item(self._tally.snapshot())


def _said(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the adapter asked to exit ({error.code})"
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def _trace(error: BaseException, root: Path, masker: Masker) -> str | None:
    """The places of an adapter's error, secrets masked; of ours, whose messages say enough, none."""
    if isinstance(error, EvhError) and error.__cause__ is None:
        return None
    frames = error.__traceback__
    while frames is not None and OURS in Path(frames.tb_frame.f_code.co_filename).parents:
        frames = frames.tb_next  # the way through the harness helps nobody
    try:
        text = "".join(traceback.format_exception(type(error), error, frames))
    except Exception:
        return None
    text = masker.text(text)  # before it is cut: half a key is a key
    text = text.replace(f"{root}/", "").replace(str(Path.home()), "~")
    if len(text) > LONGEST_TRACE:
        half = LONGEST_TRACE // 2
        text = f"{text[:half]}\n  …\n{text[-half:]}"
    return text
