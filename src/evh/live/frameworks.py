"""A live run inside an evaluation framework: opened before its first rollout, shown in its dashboard, closed on every
way out of its runner.

    state = PushState()
    run = open_run(state, name=…, environments=[…], model=…, config=config_file_ref(argv))
    try:
        await gather_rollouts(rollout(slot) for slot in slots)      # each logs its episode to `run`
    except BaseException as error:
        await asyncio.to_thread(abort_run, state, error)
        raise
    await asyncio.to_thread(finish_run, state)

Promise
    `open_run`, `finish_run` and `abort_run` never end a framework's evaluation: what goes wrong is in `state.error`,
    and shown. The one exception is a mistake of the program (`UsageError`). `gather_rollouts` returns or raises only
    when no rollout runs any more, so that nothing is logged to a run that is being closed. What was lost or refused is
    always part of what `PushState` shows.
Policy
    The words and colours of the line: dim while the run goes on, white when all is sent, red for what is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from evh.errors import EvhError, UsageError, cut
from evh.live import opening
from evh.live.run import LiveRun

__all__ = [
    "PushState",
    "RunIdentity",
    "Styled",
    "abort_run",
    "adopt_id",
    "config_file_ref",
    "finish_run",
    "gather_rollouts",
    "open_run",
    "record_source",
]  # fmt: skip

T = TypeVar("T")
SIGN = "@"


class Styled(NamedTuple):
    """A piece of the line and its style: `dim`, `white` or `red`."""

    text: str
    style: str


@dataclass
class PushState:
    """What a dashboard shows of a run: it reads the live run each time and does nothing itself."""

    run: LiveRun | None = None
    error: str | None = None
    """Why there is no run, or why it could not be closed."""

    @property
    def url(self) -> str | None:
        return None if self.run is None else self.run.url

    @property
    def finished(self) -> bool:
        return self.run is not None and self.run.finished

    @property
    def started(self) -> bool:
        """Whether there is anything to show: a run that is or was to be online, or a reason why there is none."""
        if self.error is not None or self.incomplete is not None:
            return True
        return self.run is not None and (self.run.mode == "online" or self.run.reason is not None)

    @property
    def incomplete(self) -> str | None:
        """What is missing, while the run goes on and afterwards; None when nothing is."""
        run = self.run
        if run is None:
            return None
        lost, refused = run.lost, run.refused
        parts = [f"{lost} lost" if not lost.reasons else f"lost {lost}"] if lost else []
        if refused:
            parts.append(f"{refused} refused by the platform")
        if run.mode == "online" and run.reason is not None:
            parts.append(run.reason)
        return "; ".join(parts) or None

    @property
    def line(self) -> list[Styled]:
        """The line for the footer, in pieces; empty when there is nothing to show."""
        run = self.run
        if not self.started:
            return []
        if run is None:
            return [Styled(f"No run ({self.error})", "red")]
        place = run.url or str(run.dir)
        if run.mode != "online":
            pieces = [Styled(f"Kept on disk ({run.dir})" + (f": {run.reason}" if run.reason else ""), "dim")]
        elif not run.finished:
            pieces = [Styled(f"Pushing episodes ({place}), {run.pending} pending", "dim")]
        elif run.pending:
            pieces = [Styled(f"Pushing episodes ({place}), {run.pending} pending: the uploader goes on", "white")]
        else:
            pieces = [Styled(f"Episodes pushed ({place})", "white")]
        if self.error is not None:
            pieces.append(Styled(f"  not closed: {self.error}", "red"))
        if (missing := self.incomplete) is not None:
            pieces.append(Styled(f"  incomplete: {missing}", "red"))
        return pieces

    @property
    def text(self) -> str:
        """The line as plain text."""
        return "".join(piece.text for piece in self.line)

    @property
    def colour(self) -> str:
        """The style of the line as a whole: the one that matters most."""
        styles = [piece.style for piece in self.line]
        return next((style for style in ("red", "white", "dim") if style in styles), "dim")


def open_run(state: PushState, *, push: bool = True, identity: RunIdentity | None = None, **how: Any) -> LiveRun | None:
    """Open the run of an evaluation, with the arguments of `evh.open_run`; `push=False` keeps it on disk.

    `identity` is the framework's own idea of its run: the run is opened under its id, with its source as config where
    none is given. Returns None, with `state.error`, when not even the disk takes the run.
    """
    if not push:
        how["mode"] = "offline"
    if identity is not None:
        how.setdefault("run_id", identity.id)
        how.setdefault("name", identity.name)
        if how.get("config") is None:
            how["config"] = identity.source
        elif identity.source is not None and isinstance(how["config"], Mapping):
            how["config"] = (identity.source, how["config"])
    try:
        state.run = opening.open_run(**how)
    except UsageError:
        raise
    except EvhError as error:
        state.error = str(error)
        return None
    if identity is not None:
        adopt_id(identity, state.run)
    return state.run


def finish_run(state: PushState, summary: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> None:
    """Close the run of an evaluation that went through. Blocks: call it off the event loop."""
    _close(state, summary=summary, status="completed", timeout=timeout)


def abort_run(state: PushState, error: BaseException, *, timeout: float | None = None) -> None:
    """Close the run of an evaluation that broke. One that is closed, or is being closed, keeps the end it has."""
    stopped = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    _close(state, status="cancelled" if stopped else "failed", error=error, timeout=timeout)


def _close(state: PushState, **how: Any) -> None:
    if state.run is None:
        return
    try:
        state.run.finish(**how)
    except EvhError as error:
        if state.error is None:
            state.error = str(error)


async def gather_rollouts(rollouts: Iterable[Awaitable[T]]) -> list[T]:
    """The results of rollouts that run side by side. When one fails, or the whole is cancelled, the others are
    cancelled and waited for before its error is raised as it is."""
    tasks = [asyncio.ensure_future(rollout) for rollout in rollouts]
    try:
        # Not `gather`, which hands every cancellation on: a second Ctrl-C would break off how rollouts clean up.
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        failed = [task for task in tasks if task.done() and not task.cancelled() and task.exception() is not None]
        return [task.result() for task in failed or tasks]
    finally:
        for task in tasks:
            task.cancel()
        while pending := [task for task in tasks if not task.done()]:
            with contextlib.suppress(asyncio.CancelledError):  # out of impatience: they have to be gone first
                await asyncio.wait(pending)
        for task in tasks:
            if not task.cancelled():
                task.exception()  # seen, though only one is raised


class RunIdentity:
    """A framework's own idea of its run: an id of its own until it adopts one, a name, the file it was launched
    from."""

    def __init__(self, name: str | None = None, *, id: str | None = None) -> None:
        self.name = name
        self.source: str | None = None
        self._id = uuid.uuid4().hex if id is None else id
        self._adopted = False

    @property
    def id(self) -> str:
        return self._id

    def adopt_id(self, run_id: str) -> None:
        """Take the id of a run, once. Raises `UsageError` for another one after that."""
        if self._adopted and run_id != self._id:
            raise UsageError(f"the run has the id {cut(self._id)} already; it cannot become {cut(run_id)}")
        self._id, self._adopted = run_id, True


def adopt_id(identity: RunIdentity, run: LiveRun) -> str:
    """Take over the id of a run that is online; one that stays local leaves the identity as it is. Returns its id."""
    if run.mode == "online":
        identity.adopt_id(run.id)
    return identity.id


def record_source(identity: RunIdentity, argv: Sequence[str]) -> str | None:
    """Note the file that a command line launches from (`config_file_ref`) on an identity, and return it."""
    identity.source = config_file_ref(argv)
    return identity.source


def config_file_ref(argv: Sequence[str]) -> str | None:
    """The file of a root-level `@ file` on a command line; None when there is none, or several, of which none is the
    one file the run was launched from. `--flag @ file` is a value of its flag and does not count."""
    found = [
        argv[at + 1]
        for at, word in enumerate(argv[:-1])
        if word == SIGN and (at == 0 or not argv[at - 1].startswith("--"))
    ]
    return found[0] if len(found) == 1 else None
