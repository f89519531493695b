"""Imports of episodes: every run in the data folder, of every age, and what a row says of several rollouts."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evh
from evh.errors import EvhError
from evh.harness.adapters import load_adapter
from evh.harness.project import Project
from evh.store import open_run_dir
from evh.store.projection import item_id_of

DATA = Path(__file__).parents[3] / "data"
REAL = DATA / "verifiers"
RUNS = sorted(
    path.parent for path in REAL.glob("*/traces.jsonl") if path.stat().st_size and "torn" not in path.parent.name
)
Make = Callable[..., Any]


@pytest.mark.parametrize("folder", RUNS, ids=lambda path: path.name)
def test_every_real_run_becomes_a_run_of_its_items(folder: Path, freeze_tasks: Make, bring_in: Make) -> None:
    freeze_tasks(folder)
    episodes = list(evh.read_episodes(folder))
    made = bring_in(folder)
    run = open_run_dir(made.directory)
    items = {item_id_of(each) for each in episodes}
    assert made.kind == "episodes"
    assert made.n_items == len(items) == made.record.n_items
    assert made.n_episodes == len(episodes)
    assert [evh.encode(each) for each in run.episodes()] == [evh.encode(each) for each in episodes]
    for stored in run.rows():
        mine = [each for each in episodes if item_id_of(each) == stored.row.item_id]
        plain = stored.row.plain()
        assert plain["_extra"]["n_rollouts"] == len(mine)
        rewards = [
            each.traces[0].reward for each in mine if len(each.traces) == 1 and each.traces[0].reward is not None
        ]
        if len(rewards) == len(mine):
            assert plain["reward"] == pytest.approx(math.fsum(rewards) / len(rewards))
        assert ("_error" in plain) == (not any(each.ok for each in mine) and "reward" not in plain)
    imported = made.record.imported
    assert imported is not None
    assert imported.tool is None or imported.tool.startswith("verifiers ")
    beside = {path.name for path in folder.iterdir()} - {"traces.jsonl"}
    assert set(made.lossy) == beside


@pytest.mark.parametrize("name", ["built.jsonl", "built.msgpacks"])
@pytest.mark.parametrize("version", ["a60a606e", "v0.4.0"])
def test_a_single_file_of_episodes_is_enough(version: str, name: str, freeze_tasks: Make, bring_in: Make) -> None:
    path = REAL / f"{version}-built" / name
    freeze_tasks(path)
    made = bring_in(path)
    assert made.n_episodes == len(list(evh.read_episodes(path)))


def test_tensors_that_no_row_of_json_holds_are_named(freeze_tasks: Make, bring_in: Make) -> None:
    path = REAL / "v0.4.0-built" / "tensors.msgpack"
    freeze_tasks(path)
    lossy = bring_in(path).lossy
    assert lossy
    assert all(each.startswith("/traces/*/nodes/*/") for each in lossy)


def test_the_first_generation_comes_with_its_metadata(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    folder = tmp_path / "v0"
    shutil.copytree(DATA / "upgrade" / "v0", folder)
    rows = (folder / "results.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(row for row in rows if '"example_id": ' in row), "utf-8")
    episodes = [each for each in evh.read_episodes(folder) if isinstance(each.task.data.get("idx"), int)]
    kept = {item_id_of(each) for each in episodes}
    (folder / "results.jsonl").write_text(
        "".join(row for row in rows if any(f'"example_id": {item},' in row for item in kept)), "utf-8"
    )
    freeze(kept)
    made = bring_in(folder)
    assert made.n_items == len(kept)
    assert made.record.imported is not None
    assert made.record.imported.tool == "verifiers 0.1.14"
    assert made.lossy == []


def test_an_episode_that_names_no_item_is_refused_by_its_number(freeze: Make, bring_in: Make, project: Project) -> None:
    freeze(["0"])
    with pytest.raises(EvhError, match=r"episode 4 .*belongs to no item"):
        bring_in(DATA / "upgrade" / "v0", partial=True)
    assert not project.runs.exists()


def test_a_torn_row_is_refused_with_file_and_line(freeze_tasks: Make, bring_in: Make, project: Project) -> None:
    freeze_tasks(REAL / "v0.4.0-torn" / "traces.jsonl")
    with pytest.raises(EvhError, match=r"traces\.jsonl:18: torn"):
        bring_in(REAL / "v0.4.0-torn")
    assert not project.runs.exists()


def test_a_run_without_episodes_is_refused(freeze: Make, bring_in: Make) -> None:
    freeze(["a"])
    with pytest.raises(EvhError, match="holds no rows"):
        bring_in(REAL / "a60a606e-served-crashed")


def test_episodes_of_unknown_items_are_named(freeze: Make, bring_in: Make, project: Project) -> None:
    freeze(["a"])
    with pytest.raises(EvhError, match=r"18 of 18 rows.*\(episode 1\).*called 'a'"):
        bring_in(REAL / "v0.4.0-eval")
    assert not project.runs.exists()


def test_the_same_episode_twice_is_refused(freeze_tasks: Make, bring_in: Make, tmp_path: Path) -> None:
    text = (REAL / "v0.4.0-eval" / "traces.jsonl").read_bytes()
    path = tmp_path / "twice.jsonl"
    path.write_bytes(text + text)
    freeze_tasks(path)
    with pytest.raises(EvhError, match=r"episode 19 .*twice, as episode 1"):
        bring_in(path)


def test_rollouts_in_any_order_give_the_same_scores(freeze_tasks: Make, bring_in: Make, tmp_path: Path) -> None:
    source = REAL / "v0.4.0-branches" / "traces.jsonl"
    freeze_tasks(source)
    lines = source.read_bytes().splitlines(keepends=True)
    path = tmp_path / "turned.jsonl"
    path.write_bytes(b"".join(reversed(lines)))
    one, other = bring_in(source), bring_in(path)
    assert one.record.scores == other.record.scores
    assert one.record.scores["n_rollouts"] == 2
    assert one.record.metric_kinds["reward"] == "quality"


def test_an_adapter_scores_every_rollout(freeze_tasks: Make, bring_in: Make, project: Project) -> None:
    source = REAL / "v0.4.0-branches"
    freeze_tasks(source)
    code = "def score(output, reference):\n    return {'letters': len(output)}\n"
    (project.root / "scorer.py").write_text(code, "utf-8")
    with load_adapter("scorer.py", config_dir=project.root, root=project.root) as adapter:
        made = bring_in(source, adapter=adapter)
    episodes = list(evh.read_episodes(source))
    for stored in open_run_dir(made.directory).rows():
        mine = [each.traces[0] for each in episodes if item_id_of(each) == stored.row.item_id]
        assert stored.row.plain()["letters"] == sum(len(each.last_reply) for each in mine) / len(mine)
        assert "reward" not in stored.row.plain()
    assert "reward" in made.lossy


def test_secrets_of_an_episode_are_masked_in_it_its_output_and_its_row(
    freeze_tasks: Make, bring_in: Make, tmp_path: Path
) -> None:
    canary = "sk-canary-0123456789"
    answered = next(each for each in evh.read_episodes(REAL / "v0.4.0-eval") if each.traces[0].last_reply)
    episode = evh.upgrade(evh.encode(answered)).record
    trace = episode.traces[0]
    trace.info = {"request": {"headers": {"Authorization": f"Bearer {canary}"}}, "note": f"the key was {canary}"}
    trace.metrics = {canary: 1.0}
    replies = [node.message for node in trace.nodes if isinstance(node.message, evh.AssistantMessage)]
    replies[-1].content = f"it is {canary}"
    path = tmp_path / "secret.jsonl"
    path.write_bytes(evh.encode(episode) + b"\n")
    freeze_tasks(path)
    made = bring_in(path)
    held = b"".join(file.read_bytes() for file in made.directory.rglob("*") if file.is_file())
    assert canary.encode() not in held
    assert b"the key was ***" in held
    [row] = open_run_dir(made.directory).rows()
    assert open_run_dir(made.directory).output(row.item_id) == "it is ***"


def test_a_failed_episode_is_a_failed_row_whatever_it_counted(
    freeze_tasks: Make, bring_in: Make, tmp_path: Path
) -> None:
    episode = evh.upgrade(evh.encode(next(iter(evh.read_episodes(REAL / "v0.4.0-eval"))))).record
    trace = episode.traces[0]
    trace.rewards, trace.metrics, trace.ok, episode.ok = {}, {"turns": 3}, False, False
    path = tmp_path / "failed.jsonl"
    path.write_bytes(evh.encode(episode) + b"\n")
    freeze_tasks(path)
    made = bring_in(path)
    [stored] = open_run_dir(made.directory).rows()
    assert stored.row.error is not None
    assert "turns" not in stored.row.plain()
    assert (made.record.n_errors, made.unscored) == (1, 0)


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_e41_a_link_in_a_folder_is_not_read(freeze: Make, bring_in: Make, project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(REAL / "v0.4.0-eval", folder)
    (folder / "more.jsonl").symlink_to("/etc/passwd")
    freeze(["a"])
    with pytest.raises(EvhError, match=r"more\.jsonl: is a link or device"):
        bring_in(folder)
    assert not project.runs.exists()
