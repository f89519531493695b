"""`kill -9` between every two steps of ingest: nothing that was acknowledged is lost, nothing is stored twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kill_rounds import BATCHES
from server_support import key

from evh.server.filters import Compare
from evh.server.storage import open_storage
from evh.server.verification import verify_store

HERE = Path(__file__).parent
STRIDE = {"dev": 11, "ci": 1, "deep": 1}[os.environ.get("EVH_TEST_PROFILE", "dev")]
FEW = 3 if STRIDE > 1 else 1


@pytest.fixture(scope="module")
def kill_at() -> Iterator[Callable[[Path, str | None, int], str]]:
    """Runs one round and says how it ended."""
    paths = os.pathsep.join([str(HERE), str(HERE.parents[2] / "src")])
    with subprocess.Popen(
        [sys.executable, str(HERE / "kill_rounds.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None

        def run(directory: Path, database: str | None, step: int) -> str:
            assert process.stdin is not None and process.stdout is not None
            order = {"directory": str(directory), "database": database, "step": step}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        yield run
        process.stdin.close()


def rounds(kill_at: Any, make: Callable[[int], tuple[Path, str | None]], stride: int) -> int:
    """A kill at every `stride`-th step until the work outlives its kill; how many there were."""
    killed, step = 0, 1
    while True:
        directory, database = make(step)
        said = kill_at(directory, database, step)
        check(directory, database)
        shutil.rmtree(directory)
        if said != "killed":
            assert said == "done 0"
            return killed
        killed += 1
        step += stride


def check(directory: Path, database: str | None) -> None:
    noted = directory / "acknowledged"
    acknowledged = [int(each) for each in noted.read_text().split()] if noted.exists() else []
    with open_storage(directory, database=database, reserve=0) as storage:
        who = storage.access.local()
        heads = storage.catalog.heads
        assert verify_store(storage).damages == []
        for number in acknowledged:
            receipt = heads.receipt(who, key(BATCHES[number]))
            assert receipt is not None and receipt.status == "committed"
        committed = {head.episode_id for head in heads.episodes(who, limit=100).items}
        assert ({"a", "b"} <= committed or not acknowledged) and (committed in ({*()}, {*"ab"}, {*"abc"}))
        for data in BATCHES:
            storage.ingest.upload(who, data, key=key(data), line_format="episode")
        shown = heads.episodes(who, limit=100).items
        assert sorted(head.episode_id for head in shown) == ["a", "b", "c"]
        assert [len(heads.episode_versions(who, name, "r1")) for name in "abc"] == [2, 1, 1]
        lines = {each for data in BATCHES for each in data.splitlines()}
        stored = [
            b"".join(storage.documents.line(head)) for name in "abc" for head in heads.episode_versions(who, name, "r1")
        ]
        assert sorted(stored) == sorted(lines)
        assert len(heads.traces(who, Compare("run_id", "eq", "r1"), limit=100).items) == 3
        assert verify_store(storage).damages == []


def test_kills_between_all_steps_on_sqlite(kill_at: Any, make_sqlite: Any, tmp_path: Path) -> None:
    def make(step: int) -> tuple[Path, str | None]:
        directory = tmp_path / str(step)
        directory.mkdir()
        shutil.copy(make_sqlite(), directory / "catalog.db")
        return directory, None

    assert rounds(kill_at, make, STRIDE) * STRIDE > 60


def test_kills_between_all_steps_on_postgres(kill_at: Any, make_postgres: Any, tmp_path: Path) -> None:
    def make(step: int) -> tuple[Path, str | None]:
        directory = tmp_path / str(step)
        directory.mkdir()
        return directory, make_postgres()

    assert rounds(kill_at, make, STRIDE * FEW) * STRIDE * FEW > 60
