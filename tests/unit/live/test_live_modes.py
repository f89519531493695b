"""Where a run goes, by argument, environment and settings; a disabled run writes nothing anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from live_support import Told, Uploader, episode, opened

import evh
from evh import UsageError
from evh.live.modes import Resolved, resolve_mode
from evh.platform.settings import Settings

KEY = Settings(api_key="k-123456789")
KILLED = "PRIME_RUNS_MODE=disabled"
NO_KEY = "there is no API key (PRIME_API_KEY, or api_key=)"


@pytest.mark.parametrize(
    ("argument", "environ", "settings", "expected"),
    [
        (None, {}, KEY, Resolved("online")),
        (None, {}, Settings(), Resolved("offline", NO_KEY)),
        (None, {}, Settings(base_url="http://127.0.0.1:8000"), Resolved("online")),
        (None, {}, Settings(base_url="http://localhost:8000"), Resolved("online")),
        ("online", {}, Settings(), Resolved("offline", NO_KEY)),
        ("offline", {"EVH_MODE": "online"}, KEY, Resolved("offline")),
        ("disabled", {}, KEY, Resolved("disabled")),
        (None, {"EVH_MODE": " Offline "}, KEY, Resolved("offline")),
        (None, {"EVH_MODE": "disabled"}, KEY, Resolved("disabled")),
        (None, {"EVH_MODE": ""}, KEY, Resolved("online")),
        (None, {"PRIME_RUNS_MODE": "online"}, KEY, Resolved("online")),
        ("online", {"PRIME_RUNS_MODE": "disabled"}, KEY, Resolved("offline", KILLED)),
        ("disabled", {"PRIME_RUNS_MODE": "DISABLED"}, KEY, Resolved("offline", KILLED)),
        (None, {"PRIME_RUNS_MODE": "disabled", "EVH_MODE": "online"}, KEY, Resolved("offline", KILLED)),
        (None, {"PRIME_RUNS_MODE": "disabled", "EVH_MODE": "disabled"}, KEY, Resolved("disabled")),
    ],
)  # fmt: skip
def test_the_mode(argument: str | None, environ: dict[str, str], settings: Settings, expected: Resolved) -> None:
    assert resolve_mode(argument, environ, settings) == expected


@pytest.mark.parametrize(
    ("argument", "environ"), [("on", {}), ("", {}), (None, {"EVH_MODE": "of"}), (None, {"PRIME_RUNS_MODE": "offline"})]
)
def test_a_word_that_is_no_mode_is_refused(argument: str | None, environ: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"mode|MODE"):
        resolve_mode(argument, environ, KEY)


def test_a_disabled_run_stamps_and_writes_nothing_anywhere(alone: Path) -> None:
    with opened(mode="disabled", config={"a": 1}) as run:
        (made,) = run.log_episodes([episode()])
        assert made.run is not None and made.run.id == run.id  # type: ignore[union-attr]
        run.log_metrics({"a": 1}, step=1)
        assert run.flush()
        assert (run.dir, run.url, run.pending, run.lost, run.mode) == (None, None, 0, 0, "disabled")
    assert run.status == "completed"
    assert list(alone.iterdir()) == []


def test_the_kill_switch_keeps_the_run_on_disk_under_its_own_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIME_RUNS_MODE", "disabled")
    uploader = Uploader()
    with opened(mode="online", api_key="k-123456789", uploads=uploader) as run:
        run.log_episodes([episode()])
        assert (run.mode, run.reason, uploader.started) == ("offline", "PRIME_RUNS_MODE=disabled", [])
    assert evh.open_run_dir(run.dir).state == "finished"  # type: ignore[arg-type]


def test_without_a_key_a_run_is_offline_and_says_so() -> None:
    told = Told()
    with opened(mode=None, notify=told) as run:
        assert (run.mode, run.reason) == ("offline", NO_KEY)
    assert told == [f"run {run.id}: stays on this disk: {NO_KEY}; `evh sync {run.dir}` sends it later"]


def test_settings_of_the_environment_that_make_no_sense_keep_it_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIME_API_KEY", "k-1234567890")
    monkeypatch.setenv("PRIME_API_BASE_URL", "not an address")
    with opened(mode=None) as run:
        assert run.mode == "offline"
        assert run.reason is not None and "PRIME_API_BASE_URL" in run.reason
    with pytest.raises(UsageError, match="base_url"):
        opened(base_url="not an address")


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "measured"}, {"on_error": "ignore"}, {"environments": "gsm8k"}, {"environments": [{"id": "x"}]},
        {"tags": "x"}, {"num_examples": -2}, {"rollouts_per_example": 0}, {"config": 7}, {"run_id": "../x"},
        {"config": ("a.toml", "b.toml")}, {"resume": True}, {"fsync": "sometimes"}, {"num_examples": True},
    ],
)  # fmt: skip
def test_an_argument_that_makes_no_sense_is_refused(wrong: dict[str, object], alone: Path) -> None:
    with pytest.raises(UsageError):
        opened(**wrong)


def test_a_refused_argument_leaves_nothing_behind(alone: Path) -> None:
    for wrong in ({"kind": "measured"}, {"fsync": "sometimes"}, {"config": 7}, {"run_id": "../x"}):
        with pytest.raises(UsageError):
            opened(**wrong)
    assert list(alone.iterdir()) == []
