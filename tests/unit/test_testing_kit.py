"""What `evh.testing` gives to the tests of others: episodes, run directories, assertions, and the pytest plugin."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import evh
from evh import testing
from evh.errors import UsageError
from evh.testing import (
    EpisodeMaker,
    assert_roundtrip,
    assert_valid,
    document_types,
    make_run_directory,
    records,
    sample,
)
from tests.repository.children import clean_environment

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"turns": 3, "traces": 2, "streams": True},
        {"reward": None, "ok": False},
        {"turns": 0},
        {"traces": 0, "ok": False},
    ],
)
def test_made_episodes_are_valid_and_come_back(options: dict[str, Any]) -> None:
    episode = EpisodeMaker()(**options)
    assert_valid(episode)
    assert_roundtrip(episode)
    assert len(episode.traces) == options.get("traces", 1)


def test_made_episodes_are_the_same_each_time_and_told_apart() -> None:
    first, second = EpisodeMaker(), EpisodeMaker()
    assert [evh.encode(first()) for _ in range(3)] == [evh.encode(second()) for _ in range(3)]
    assert len({first().id for _ in range(3)}) == 3
    with pytest.raises(UsageError, match="no member 'reword'"):
        first(reword=1)


def test_a_made_run_directory_is_read_by_the_reader_and_the_commands(tmp_path: Path) -> None:
    make = EpisodeMaker()
    run = evh.open_run_dir(make_run_directory(tmp_path / "one", 4, episodes=[make(), make(ok=False)]))
    assert run.record is not None and run.record.n_items == 4 and run.record.scores == {"exact": 0.5}
    assert [row.row.item_id for row in run.rows()] == [f"item-{n}" for n in range(4)]
    assert [episode.ok for episode in run.episodes()] == [True, False]
    rows = [{"item_id": "a", "exact": 1.0, "_extra": {}}, {"item_id": "b", "_error": "Timeout: slow", "_extra": {}}]
    open_run = evh.open_run_dir(make_run_directory(tmp_path / "two", rows, finished=False))
    assert open_run.record is None and len(list(open_run.rows())) == 2
    from evh.cli import main

    assert main(["check", str(tmp_path)]) == 0


@pytest.mark.parametrize("name", document_types())
def test_records_of_every_type_come_back(name: str) -> None:
    if not hasattr(evh.protocol.models, name):
        pytest.skip("a definition without a class")
    for record in sample(records(name), 3, seed=1):
        assert_roundtrip(record)


@given(records("Episode", coherent=True))
def test_coherent_records_are_valid(record: evh.Episode) -> None:
    assert_valid(record)


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        ({"id": 1}, "Episode", "/id: expected text"),
        ('{"id": "a", "id": "b"', "Episode", "not valid"),
        ({"run_id": "x"}, evh.RunRecord, "required"),
        ({}, None, "say which type"),
        ({}, "Epsode", "no type 'Epsode'"),
        ({"x": {1, 2}}, "Episode", "not valid"),
    ],
)
def test_a_failed_assertion_says_where(value: Any, kind: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        assert_valid(value, kind)


def test_rules_between_members_count() -> None:
    episode = EpisodeMaker()()
    episode.traces[0].nodes[0].parent = 7
    with pytest.raises(AssertionError, match="parent"):
        assert_valid(episode)
    episode = EpisodeMaker()(traces=0)
    with pytest.raises(AssertionError, match="ok-without-traces"):
        assert_valid(episode)


CONSUMER = """
import pytest, evh
from evh.testing import assert_valid

def test_fixtures(make_episode, run_directory):
    folder = run_directory("mine", 2, episodes=[make_episode(), make_episode(reward=None)])
    assert evh.open_run_dir(folder).record.run_id == "mine"
    assert_valid(make_episode(turns=2))
    assert run_directory(finished=False).name == "run"
"""


def test_the_plugin_works_in_a_suite_of_others(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(CONSUMER, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "evh.testing.plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path, env=clean_environment() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_pytest_finds_the_plugin_by_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"evh": "evh.testing.plugin", "evh_live": "evh.testing.live.plugin"}


def test_every_name_of_the_kit_is_told_in_its_page() -> None:
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    assert [name for name in testing.__all__ if f"`{name}" not in page] == []
    for option in ("--evh-contract", "--evh-contract-name", "make_episode", "run_directory"):
        assert f"### `{option}" in page, option
