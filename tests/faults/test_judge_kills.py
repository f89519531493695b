"""Judging passes that are killed: no half-made run is ever read, nothing that was paid for is paid again."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evh.store import list_runs, open_run_dir
from tests.support.chat_server import ChatServer
from tests.support.launches import Launched, Launcher
from tests.support.run_project import RunProject, listing

ROUNDS = {"dev": 8, "ci": 40, "deep": 500}[os.environ.get("EVH_TEST_PROFILE", "dev")]
ITEMS = 6
SCORER = """
SCORER_ID = "echo"
PARAMS = {"model": "m", "base_url": "URL"}


def prompt(output):
    return output


def parse(reply):
    return {"length": len(reply)}
"""


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


def prepared(launcher: Launcher, root: Path, server: ChatServer) -> RunProject:
    project = RunProject(root, ITEMS)
    assert launcher.launch(project, "run", "--config", project.config, "--run-id", "arm-x").status == 0
    (root / "judge.py").write_text(SCORER.replace("URL", server.url), "utf-8")
    return project


def judge(launcher: Launcher, project: RunProject, concurrency: int, **how: int) -> Launched:
    return launcher.launch(
        project, "judge-score", "--scorer", "judge.py", "--resume", "--concurrency", str(concurrency), **how
    )


def test_kills_at_random_calls_leave_no_half_run_and_pay_for_nothing_twice(tmp_path: Path, launcher: Launcher) -> None:
    seed = random.SystemRandom().randrange(2**31)
    chance = random.Random(seed)
    kills = 0
    with ChatServer() as server:
        calm = prepared(launcher, tmp_path / "calm", server)
        whole = judge(launcher, calm, 1, kill_at=10**6)
        assert whole.status == 0, whole.said
        expected = rows_of(calm)
        for number in range(ROUNDS):
            project = prepared(launcher, tmp_path / f"p{number}", server)
            before = listing(project.runs)
            del server.requests[:]
            concurrency = chance.choice([1, 1, 3])
            killed_here = 0
            ended = judge(launcher, project, concurrency, kill_at=chance.randint(1, whole.calls))
            while ended.status == -9:
                killed_here += 1
                half_made(project)
                ended = judge(launcher, project, concurrency, kill_at=chance.randint(1, 2 * whole.calls))
            where = f"round {number}, seed {seed}: {ended.said}"
            assert ended.status == 0, where
            assert rows_of(project) == expected, where
            assert listing(project.runs) == before, where
            paid = Counter(each.body["messages"][-1]["content"] for each in server.requests)
            assert len(paid) == ITEMS, where
            assert sum(paid.values()) - ITEMS <= killed_here * concurrency, where
            kills += killed_here
    print(f"{ROUNDS} rounds, {kills} kills (seed {seed})")
    assert kills >= ROUNDS // 2


def half_made(project: RunProject) -> None:
    """What a reader sees after a kill: nothing, or a whole run."""
    listed = list_runs(project.root / "data" / "runs-judged" / "echo")
    assert not listed.unfinished and not listed.skipped
    for run in listed.finished:
        assert run.record is not None and run.record.n_items == ITEMS
        assert run.count().n_items == ITEMS


def rows_of(project: RunProject) -> dict[str, tuple[object, ...]]:
    run = open_run_dir(project.root / "data" / "runs-judged" / "echo" / "arm-x")
    assert run.record is not None and run.record.scores["length"] == 6
    found = {}
    for stored in run.rows():
        row = stored.value.plain()
        found[row["item_id"]] = (
            row["length"],
            row["judge_unparsed"],
            row["_output_sha256"],
            run.output(row["item_id"]),
        )
    assert not [path for path in run.path.parent.iterdir() if path.name.endswith(".judging") or "partial" in path.name]
    return found
