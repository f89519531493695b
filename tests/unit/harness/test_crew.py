"""`Crew`: threads that do one job together, and a wait that always ends."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from evh.errors import UsageError
from evh.harness.crew import Crew


def test_all_threads_work_and_are_waited_for() -> None:
    met = threading.Barrier(4)
    done: list[int] = []

    def work() -> None:
        done.append(met.wait())

    crew = Crew(work, 4, "test")
    crew.start()
    crew.wait()
    assert sorted(done) == [0, 1, 2, 3]


def test_no_threads_are_waited_for_at_once() -> None:
    crew = Crew(lambda: pytest.fail("nothing was to be done"), 0, "test")
    crew.start()
    crew.wait()


@pytest.mark.parametrize("failing", [RuntimeError("can't start new thread"), KeyboardInterrupt()])
def test_threads_that_could_not_be_started_are_not_waited_for(
    failing: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, started, done = threading.Thread.start, [0], [0]

    def start(thread: Any) -> None:
        started[0] += 1
        if started[0] == 3:
            raise failing
        real(thread)

    def work() -> None:
        done[0] += 1

    monkeypatch.setattr(threading.Thread, "start", start)
    crew = Crew(work, 5, "test")
    if isinstance(failing, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            crew.start()
    else:
        crew.start()
    crew.wait()
    assert done == [2]


def test_a_system_that_starts_no_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    crew = Crew(lambda: None, 2, "test")
    with pytest.raises(UsageError, match="--concurrency"):
        crew.start()
    crew.wait()
