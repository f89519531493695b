"""Rescores that are killed: no half-made derived run is ever read, sources stay, and the next one completes."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.store import list_runs
from tests.soak import runs as soak
from tests.support.launches import Launcher
from tests.support.run_project import ADAPTER, RunProject, listing

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
ROUNDS = {"dev": 8, "ci": 40, "deep": 500}[PROFILE]
RESCORE = ("rescore", "--dataset-id", "small")


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


def made(launcher: Launcher, folder: Path, adapter: str, items: Any = 3) -> RunProject:
    project = RunProject(folder, items, adapter=adapter, params={"episodes": True, "longest": 0})
    assert (
        launcher.launch(project, "run", "--config", project.config, "--run-id", "arm-x", "--fsync", "never").status == 0
    )
    return project


def settled(folder: Path) -> dict[str, Any]:
    """A derived run without its record, which says when it was made."""
    return {name: data for name, data in listing(folder).items() if name != "metrics.json"}


@pytest.mark.parametrize("adapter", [ADAPTER, soak.ADAPTER], ids=["outputs", "episodes"])
def test_e67_a_kill_after_any_call_leaves_a_whole_run_or_none(adapter: str, tmp_path: Path, launcher: Launcher) -> None:
    project = made(launcher, tmp_path / "p", adapter)
    before = listing(project.runs)
    out = project.root / "data" / "runs-rescored"
    calm = launcher.launch(project, *RESCORE, "--out", "calm", kill_at=1_000_000)
    assert calm.status == 0, calm.said
    whole = settled(project.root / "calm" / "arm-x")
    seed = secrets.randbelow(2**31)
    chance = random.Random(seed)
    for number in range(ROUNDS // 2):
        force = ["--force"] if number % 2 else []
        killed = launcher.launch(project, *RESCORE, *force, kill_at=chance.randint(1, calm.calls + 8 * len(force)))
        assert killed.status in (0, 1, -9), f"seed {seed}: {killed.said}"
        check(out, whole, seed)
        assert listing(project.runs) == before, f"seed {seed}"
    again = launcher.launch(project, *RESCORE, "--force")
    assert again.status == 0, f"seed {seed}: {again.said}"
    check(out, whole, seed)
    assert [path.name for path in out.iterdir()] == ["arm-x"], f"seed {seed}"


def check(out: Path, whole: dict[str, Any], seed: int) -> None:
    """What readers find is whole."""
    if not out.exists():
        return
    found = list_runs(out)
    assert not found.unfinished and not found.skipped, f"seed {seed}"
    for run in found.finished:
        assert settled(run.path) == whole, f"seed {seed}"
        assert run.record is not None and run.count().n_items == run.record.n_items


def test_e67_kills_with_workers_leave_a_whole_run_or_none(tmp_path: Path, launcher: Launcher) -> None:
    items = {f"i{n}": f"text {n} " + "x" * 300 for n in range(600)}
    project = made(launcher, tmp_path / "p", soak.ADAPTER, items)
    before = listing(project.runs)
    out = project.root / "data" / "runs-rescored"
    seed = secrets.randbelow(2**31)
    chance = random.Random(seed)
    assert launcher.launch(project, *RESCORE, "--out", "calm").status == 0
    whole = settled(project.root / "calm" / "arm-x")
    for _ in range(max(2, ROUNDS // 8)):
        launcher.launch(project, *RESCORE, "--force", kill_after=chance.random() * 0.8)
        check(out, whole, seed)
    again = launcher.launch(project, *RESCORE, "--force")
    assert again.status == 0, f"seed {seed}: {again.said}"
    check(out, whole, seed)
    assert [path.name for path in out.iterdir()] == ["arm-x"], f"seed {seed}"
    assert listing(project.runs) == before
