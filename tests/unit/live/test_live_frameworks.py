"""A live run inside a framework's runner: it never ends the evaluation, and its footer always says what is missing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from live_support import Told, Uploader, episode

import evh
from evh import UsageError
from evh.live.frameworks import (
    PushState,
    RunIdentity,
    abort_run,
    adopt_id,
    config_file_ref,
    finish_run,
    gather_rollouts,
    open_run,
    record_source,
)


def begun(state: PushState, **how: Any) -> evh.LiveRun:
    run = open_run(state, **{"name": "r", "notify": Told(), "api_key": "k-123456789", "mode": "online", **how})
    assert run is not None
    return run


def test_the_footer_follows_the_run() -> None:
    state, uploader = PushState(), Uploader(url="http://127.0.0.1/7", pending=4)
    assert (state.started, state.line, state.text) == (False, [], "")
    run = begun(state, uploads=uploader)
    assert (state.text, state.colour) == ("Pushing episodes (http://127.0.0.1/7), 4 pending", "dim")
    uploader.says = uploader.says._replace(refused=2)
    assert state.text.endswith("  incomplete: 2 refused by the platform")
    assert state.colour == "red"
    run.log_metrics({"a": float("nan")})
    assert "lost 1: metric 'a'" in state.text or "lost 1: the metric 'a'" in state.text
    uploader.says = uploader.says._replace(refused=0)
    finish_run(state, {"avg_reward": 1.0}, timeout=0)
    assert state.text.startswith("Pushing episodes (http://127.0.0.1/7), 4 pending: the uploader goes on")
    uploader.says = uploader.says._replace(pending=0)
    assert state.line[0] == ("Episodes pushed (http://127.0.0.1/7)", "white")
    assert "lost 1" in state.text
    assert (state.finished, state.url, run.status) == (True, "http://127.0.0.1/7", "completed")


def test_a_run_that_stays_local_says_where_and_why() -> None:
    state = PushState()
    run = begun(state, push=False, mode=None)
    assert run.mode == "offline"
    assert state.started is False
    finish_run(state)
    state = PushState()
    run = begun(state, api_key="", mode="online")
    assert state.text == f"Kept on disk ({run.dir}): {run.reason}"
    assert state.colour == "dim"
    finish_run(state)


def test_a_disk_that_takes_no_run_is_shown_and_ends_nothing(alone: Any) -> None:
    (alone / "data").write_text("a file")
    state = PushState()
    assert open_run(state, name="r", mode="offline") is None
    assert state.error is not None and "no run can be made here" in state.error
    assert (state.colour, state.started) == ("red", True)
    finish_run(state)
    abort_run(state, ValueError("x"))


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError("x"), "failed"), (KeyboardInterrupt(), "cancelled"), (asyncio.CancelledError(), "cancelled")],
)
def test_an_evaluation_that_broke_closes_its_run(error: BaseException, status: str) -> None:
    state = PushState()
    run = begun(state, mode="offline")
    abort_run(state, error)
    assert run.status == status
    finish_run(state)
    assert run.status == status


def test_a_failing_rollout_cancels_its_siblings_before_the_run_is_closed() -> None:
    async def evaluation() -> list[str]:
        state = PushState()
        run = begun(state, mode="offline")
        done: list[str] = []

        async def rollout(number: int) -> int:
            try:
                await asyncio.sleep(0 if number == 0 else 30)
                if number == 0:
                    raise ValueError("the first one breaks")
            finally:
                await asyncio.sleep(0.01)  # unwinding takes its time
                await run.alog_episodes([episode(number)])
                done.append(str(number))
            return number

        try:
            await gather_rollouts(rollout(number) for number in range(4))
        except ValueError as error:
            assert len(done) == 4
            abort_run(state, error)
        found = evh.open_run_dir(run.dir)  # type: ignore[arg-type]
        assert found.end is not None
        assert (found.end.status, found.end.counts.episodes) == ("failed", 4)
        return done

    assert sorted(asyncio.run(evaluation())) == ["0", "1", "2", "3"]


def test_rollouts_that_go_through_come_back_in_order_and_a_cancelled_whole_waits_for_all() -> None:
    async def value(number: int) -> int:
        await asyncio.sleep(0.01 * (3 - number))
        return number

    assert asyncio.run(gather_rollouts(value(number) for number in range(3))) == [0, 1, 2]

    async def cancelled_twice() -> int:
        gone = 0

        async def stubborn() -> None:
            nonlocal gone
            try:
                await asyncio.sleep(30)
            finally:
                await asyncio.sleep(0.05)
                gone += 1

        whole = asyncio.create_task(gather_rollouts(stubborn() for _ in range(3)))  # noqa: RUF006 (awaited below)
        await asyncio.sleep(0.01)
        whole.cancel()
        await asyncio.sleep(0.01)
        whole.cancel()
        with pytest.raises(asyncio.CancelledError):
            await whole
        return gone

    assert asyncio.run(cancelled_twice()) == 3


def test_an_id_is_adopted_once_and_only_from_a_run_that_is_online() -> None:
    identity = RunIdentity("r")
    own = identity.id
    local = begun(PushState(), mode="offline")
    assert adopt_id(identity, local) == own
    online = begun(PushState(), uploads=Uploader())
    assert adopt_id(identity, online) == online.id == identity.id
    assert adopt_id(identity, online) == online.id
    other = begun(PushState(), uploads=Uploader())
    with pytest.raises(UsageError, match="it cannot become"):
        adopt_id(identity, other)
    for run in (local, online, other):
        run.finish()


def test_a_run_is_opened_under_the_identity_of_the_framework(alone: Any) -> None:
    (alone / "eval.toml").write_text("n = 1\n")
    identity = RunIdentity("named")
    assert record_source(identity, ["gsm8k", "@", "eval.toml"]) == "eval.toml"
    state = PushState()
    run = open_run(state, identity=identity, config={"n": 1}, mode="offline", notify=Told())
    assert run is not None
    assert (run.id, run.name) == (identity.id, "named")
    manifest = evh.open_run_dir(run.dir).manifest  # type: ignore[arg-type]
    assert manifest is not None and manifest.config_source is not None
    assert manifest.config_source.text == "n = 1\n"
    made = episode()
    made.record_run(evh.EvalRunInfo(id=identity.id, name="named"))
    assert run.log_episodes([made]) == [made]
    finish_run(state)


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (["@", "a.toml"], "a.toml"),
        (["gsm8k", "@", "a.toml", "--n", "3"], "a.toml"),
        (["--n", "3", "@", "a.toml"], "a.toml"),
        (["--env", "@", "a.toml"], None),
        (["--env", "@a.toml"], None),
        (["@", "a.toml", "@", "b.toml"], None),
        (["@"], None),
        ([], None),
    ],
)
def test_the_root_level_file_of_a_command_line(argv: list[str], found: str | None) -> None:
    assert config_file_ref(argv) == found
