"""What tests of live runs share: episodes, runs that tell into a list, and an uploader that is only noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evh
from evh import AgentInfo, Episode, Reward, Trace, TraceTask
from evh.live.uploading import Progress


def trace(index: int = 0, reward: float | None = 1.0, **config: Any) -> Trace:
    """A trace of the task number `index`."""
    return Trace(
        task=TraceTask(type="t", data={"idx": index}),
        agent=AgentInfo(name="a", config=config),
        rewards={} if reward is None else {"score": Reward(score=reward)},
        ok=True,
    )


def episode(index: int = 0, reward: float | None = 1.0, **config: Any) -> Episode:
    """An episode of the task number `index`."""
    return Episode.of(trace(index, reward, **config))


class Uploader:
    """Notes what it was asked; `progress_` is what it says."""

    def __init__(self, *, fault: Exception | None = None, **progress: Any) -> None:
        self.started: list[Path] = []
        self.waited: list[float] = []
        self.settings: Any = None
        self.says = Progress(**progress)
        self._fault = fault

    def start(self, run_dir: Path, settings: Any) -> object:
        self.settings = settings
        if self._fault is not None:
            raise self._fault
        self.started.append(run_dir)
        return None

    def progress(self, run_dir: Path) -> Progress:
        return self.says

    def wait(self, run_dir: Path, timeout: float) -> object:
        self.waited.append(timeout)
        return None


class Told(list[str]):
    """Listens."""

    def __call__(self, text: str) -> None:
        self.append(text)


def opened(**how: Any) -> evh.LiveRun:
    """A run of its own name, offline unless told otherwise, that tells nobody unless told otherwise."""
    return evh.open_run(**{"name": "a-run", "environments": ["gsm8k"], "mode": "offline", "notify": Told(), **how})


def ids(run: evh.LiveRun) -> list[str]:
    """The episodes on disk."""
    assert run.dir is not None
    return [each.id for each in evh.open_run_dir(run.dir).episodes()]
