"""A pass of a judge over the rows that it owes: a bounded number of calls at a time, each reply kept as it comes.

Promise
    At most `concurrency` calls run at once. When the pass stops (an interrupt, the cap, the disk, a fault of the
    scorer's file), no call begins any more, and those that run are waited for and kept: they are paid. Only a second
    interrupt gives them up. The cap is checked before each call, counting the calls that run at the price of the
    dearest so far; until a first reply has told what a call costs, one runs at a time.
    A call that failed after all retries is a failure of that row alone, counted and told; the row is owed still.
Policy: after `IN_A_ROW` failures with no reply in between the pass stops: the endpoint refuses everything.
When it breaks: what was paid is in the working folder.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from evh.errors import EvhError, WriteError
from evh.harness.adapters.errors import AdapterError, Stopped
from evh.harness.crew import Crew
from evh.harness.judging.scorer import JudgeScorer
from evh.harness.judging.verdicts import Verdict, Verdicts
from evh.harness.retry import GaveUp, RetryPolicy
from evh.protocol import models

__all__ = ["Asking", "Budget", "Stop", "Task"]

Stop = Literal["interrupted", "cap", "failing", "disk", "fault"]
POLL_SECONDS = 0.5
IN_A_ROW = 20


class Task(NamedTuple):
    """One row to judge: what the judge is shown is fetched when its turn comes."""

    item_id: str
    fetch: Callable[[], tuple[str | models.Episode, str | None, str | None]]


class Budget:
    """What all passes of a launch may spend, and have spent. Used under the pass's own lock."""

    def __init__(self, cap: float | None) -> None:
        self.cap = cap
        self.spent = 0.0
        self.unpriced = 0
        self._dearest = 0.0
        self._told = False

    def allows(self, running: int) -> bool:
        """Whether one more call may begin."""
        if self.cap is None:
            return True
        return (self._told or not running) and self.spent + running * self._dearest < self.cap

    def paid(self, cost: float | None) -> None:
        self._told = True
        if cost is None:
            self.unpriced += 1
            return
        self.spent += cost
        self._dearest = max(self._dearest, cost)


class Asking:
    """One pass. `run` does it; `stop`, `fault` and `failures` say how it ended."""

    def __init__(
        self,
        scorer: JudgeScorer,
        verdicts: Verdicts,
        tasks: Iterator[Task],
        *,
        taken: frozenset[str],
        retries: RetryPolicy,
        budget: Budget,
        concurrency: int,
        told: Callable[[int, int], None],
        notice: Callable[[str], None],
    ) -> None:
        self.stop: Stop | None = None
        self.fault: BaseException | None = None
        self.failures: dict[str, str] = {}
        """The rows whose call failed, with what was said."""
        self.replies = 0
        self._scorer = scorer
        self._verdicts = verdicts
        self._tasks = tasks
        self._taken = taken
        self._retries = retries
        self._budget = budget
        self._concurrency = concurrency
        self._told = told
        self._notice = notice
        self._guard = threading.Condition()
        self._stopping = threading.Event()
        self._abandoned = False
        self._running = 0
        self._in_a_row = 0

    def run(self) -> None:
        """Ask about every task; returns when all replies are kept or given up. An interrupt stops it, unraised.

        Raises `UsageError` when not a single thread can be started.
        """
        crew = Crew(self._work, self._concurrency, "judge")
        try:
            crew.start()
            crew.wait()
        except KeyboardInterrupt:
            self._halt("interrupted")
            try:
                with contextlib.suppress(OSError, ValueError):  # a terminal that is gone takes no paid reply along
                    self._notice("stopping: calls that run are waited for and kept; interrupt again to give up on them")
                crew.wait()
            except KeyboardInterrupt:
                self._abandoned = True
                self._scorer.cancel()
                crew.wait_briefly()

    def _halt(self, why: Stop, fault: BaseException | None = None) -> None:
        with self._guard:
            if self.stop is None:
                self.stop, self.fault = why, fault
            self._stopping.set()
            self._guard.notify_all()

    def _work(self) -> None:
        try:
            while (task := self._next()) is not None:
                try:
                    self._ask(task)
                finally:
                    with self._guard:
                        self._running -= 1
                        self._guard.notify_all()
        except WriteError as error:
            self._halt("disk", error)
        except BaseException as error:
            self._halt("fault", error)

    def _next(self) -> Task | None:
        """The next row, once the cap allows another call; None when there is none, or the pass stops."""
        with self._guard:
            while not self._stopping.is_set():
                if self._budget.allows(self._running):
                    task = next(self._tasks, None)
                    if task is not None:
                        self._running += 1
                    return task
                if not self._running:
                    if next(self._tasks, None) is None:
                        return None  # everything was asked: the cap kept nothing back
                    self.stop = self.stop or "cap"
                    self._stopping.set()
                    return None
                self._guard.wait(POLL_SECONDS)
        return None

    def _ask(self, task: Task) -> None:
        shown, reference, source_text = task.fetch()
        question = self._scorer.prompt(shown, reference, source_text)
        try:
            result = self._retries.run(lambda: self._scorer.ask(question), wait=self._stopping.wait)
        except Stopped:
            return
        except GaveUp as error:
            if isinstance(error.error, EvhError) and not isinstance(error.error, AdapterError):
                raise error.error from None  # settings that make no sense: every call would fail alike
            self._failed(task.item_id, error)
            return
        if self._abandoned:
            return
        cost = self._scorer.cost(result)
        masker = self._scorer.masker.knowing(result.meta)
        reply = masker.text(result.output)
        meta: dict[str, Any] = masker.value(
            {**result.meta, **({"truncated": 1} if result.extra.get("truncated") else {})}
        )
        model = result.meta.get("model")
        self._verdicts.add(
            Verdict(task.item_id, reply, cost, masker.text(model) if isinstance(model, str) else None, meta)
        )
        with self._guard:
            self._budget.paid(cost)
            self.replies += 1
            self._in_a_row = 0
            self._tell()
        self._scorer.read(reply, task.item_id, self._taken)  # a parser that fails is told at the first reply

    def _tell(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._told(self.replies, len(self.failures))

    def _failed(self, item_id: str, error: GaveUp) -> None:
        inner = error.error
        text = inner.message if isinstance(inner, EvhError) else str(error)
        with self._guard:
            self.failures[item_id] = self._scorer.masker.text(text)
            self._in_a_row += 1
            self._tell()
            failing = self._in_a_row >= IN_A_ROW
        if failing:
            self._halt("failing", inner)
