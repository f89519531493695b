"""Runs that are killed: at random moments with eight calls at a time, and after every write, sync and rename."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.store import list_runs, open_run_dir
from tests.soak import runs as soak
from tests.support.launches import Launched, Launcher
from tests.support.run_project import ADAPTER, RunProject

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
ROUNDS = {"dev": 6, "ci": 60, "deep": 1000}[PROFILE]
EVERY = {"dev": 3, "ci": 1, "deep": 1}[PROFILE]


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


def test_b008_b095_kills_at_random_moments_lose_nothing_and_double_nothing() -> None:
    seed = secrets.randbelow(2**31)
    told, faults = soak.soak(ROUNDS, seed)
    print(
        f"{len(told)} rounds, {sum(each.kills for each in told)} kills, {sum(each.twice for each in told)} calls paid "
        f"twice, {sum(each.recovered for each in told)} rows made from episodes"
    )
    assert not faults, f"again by: python -m tests.soak.runs --rounds {ROUNDS} --seed {seed}\n" + "\n".join(faults)
    assert len(told) == ROUNDS
    assert sum(each.kills for each in told) >= 2 * ROUNDS


def test_a_round_that_loses_a_row_is_found(tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that could not fail would prove nothing."""
    real = soak.whole_lines

    def shortened(path: Path) -> bytes:
        found = real(path)
        if (path.parent / "metrics.json").exists() and path.name == "predictions.jsonl":
            return found[found.find(b"\n") + 1 :]
        return found

    monkeypatch.setattr(soak, "whole_lines", shortened)
    with pytest.raises(AssertionError):
        soak.disturbed(launcher, tmp_path, 1)


# After every call


def plainly(project: RunProject, policy: str) -> list[str]:
    return ["run", "--config", str(project.config), "--fsync", policy, "--run-id", "arm-x"]


def resumed(policy: str) -> list[str]:
    return ["run", "--resume", "--fsync", policy]


def begun(launcher: Launcher, project: RunProject, policy: str) -> list[str]:
    """A run killed with a torn row at its end and an output that is gone; what resumes it."""
    killed = launcher.launch(project, *plainly(project, policy), kill_at=45)
    assert killed.status == -9
    run = open_run_dir(project.runs / "arm-x")
    rows = run.path / "predictions.jsonl"
    assert len(rows.read_bytes().splitlines()) >= 2
    rows.write_bytes(rows.read_bytes() + b'{"item_id":"i')
    run.output_path("i0").unlink()
    project.calls_file.unlink()
    return resumed(policy)


def first(launcher: Launcher, project: RunProject, policy: str) -> list[str]:
    return plainly(project, policy)


CASES = [
    ("a run", first, ADAPTER, "always"),
    ("a run in groups", first, ADAPTER, "group"),
    ("a run of episodes", first, soak.ADAPTER, "always"),
    ("a resume that has to mend", begun, ADAPTER, "always"),
]


@pytest.mark.parametrize(
    ("prepare", "adapter", "policy"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_b049_e32_a_kill_after_any_call_is_gone_on_from(
    prepare: Callable[..., list[str]], adapter: str, policy: str, tmp_path: Path, launcher: Launcher
) -> None:
    def made(name: str) -> RunProject:
        return RunProject(tmp_path / name, 3, adapter=adapter, params={"episodes": True, "longest": 0})

    calm = made("calm")
    assert launcher.launch(calm, *plainly(calm, policy)).status == 0
    kills, point, ended = 0, 0, None
    while ended is None or ended.status != 0:
        point += 1 if EVERY == 1 or ended is None else EVERY
        project = made(f"{point}")
        arguments = prepare(launcher, project, policy)
        ended = launcher.launch(project, *arguments, "--concurrency", "1", kill_at=point)
        assert ended.status in (0, -9), ended.said
        kills += ended.status != 0
        recovers(launcher, project, calm, policy, ended)
    print(f"{policy}: killed {kills} times, the last call is number {ended.calls}")
    assert kills >= 36 // EVERY


def recovers(launcher: Launcher, project: RunProject, calm: RunProject, policy: str, ended: Launched) -> None:
    """Check what a kill left, go on, and check that it came to the same end."""
    listing = list_runs(project.runs) if project.runs.exists() else None
    found = [] if listing is None else listing.finished + listing.unfinished
    before = len(project.calls)
    if not found:
        assert not before, "something was paid before there was a run"
        assert launcher.launch(project, "run", "--resume").said.startswith("nothing to resume")
        again = launcher.launch(project, *plainly(project, policy))
    else:
        assert found[0].manifest is not None
        had = soak.whole_lines(found[0].path / "predictions.jsonl")
        again = launcher.launch(project, *resumed(policy))
        now = soak.whole_lines(found[0].path / "predictions.jsonl")
        assert now.startswith(had) or set(had.splitlines()) <= set(kept_beside(found[0].path)) | set(now.splitlines())
    assert again.status == 0, again.said
    assert "Traceback" not in again.said
    run = open_run_dir(project.runs / "arm-x")
    for path in run.path.glob("*.set-aside-*"):
        path.unlink()
    soak.same_as_calm(run, calm.run)
    assert max(project.calls.count(text) for text in project.calls or [""]) <= 2
    assert len(set(project.calls[before:])) == len(project.calls[before:])
    assert len(project.calls) <= len(project.items) + 1, "one call at a time: one may be paid twice"


def kept_beside(directory: Path) -> list[bytes]:
    return [line for path in directory.glob("*.set-aside-*") for line in path.read_bytes().splitlines()]


def test_b076_a_resume_in_a_fresh_process_finds_the_same_identity(tmp_path: Path, launcher: Launcher) -> None:
    project = RunProject(tmp_path / "p", 5)
    assert launcher.launch(project, "run", "--config", project.config, kill_at=40).status == -9
    assert project.run.state == "unfinished"
    done = len((project.run.path / "predictions.jsonl").read_bytes().splitlines())
    assert 0 < done < 5
    ended = project.process("run", "--resume", "--json")
    assert ended.returncode == 0, ended.stderr
    (told,) = json.loads(ended.stdout)["runs"]
    assert told["done"] == 5
    record = project.run.record
    assert record is not None
    assert record.resume is not None
    assert (record.resume.resumed_items, record.resume.attempts) == (done, 2)


def test_e33_e34_what_a_kill_leaves_at_the_end_of_the_rows(tmp_path: Path, launcher: Launcher) -> None:
    for number, (end, kept) in enumerate({b"": 2, b'{"item_id":"i2","_ex': 2, b"\x00\x00": 2}.items()):
        project = RunProject(tmp_path / f"p{number}", 3)
        rows = two_of_three(launcher, project)
        rows.write_bytes(rows.read_bytes() + end)
        whole = rows.read_bytes().splitlines()[:kept]
        ended = launcher.launch(project, "run", "--resume")
        assert ended.status == 0, ended.said
        assert rows.read_bytes().splitlines()[:kept] == whole
        assert len(rows.read_bytes().splitlines()) == 3
        torn = [path.read_bytes() for path in project.run.path.glob("*.torn-*")]
        assert torn == ([end] if end else [])
        assert ("torn last line" in ended.said) == bool(end)
        assert project.run.attempts()[-1].repairs == [line for line in ended.said.splitlines() if "torn" in line]
    project = RunProject(tmp_path / "whole", 3)
    rows = two_of_three(launcher, project)
    rows.write_bytes(rows.read_bytes().rstrip(b"\n"))
    assert launcher.launch(project, "run", "--resume").status == 0
    assert len(rows.read_bytes().splitlines()) == 3
    assert len(project.calls) == 3


def two_of_three(launcher: Launcher, project: RunProject, **how: Any) -> Path:
    """The rows of a run that was stopped when it had paid for two of its three items."""
    assert launcher.launch(project, "run", "--config", project.config, "--max-cost-usd", "0.5", **how).status == 3
    rows = project.run.path / "predictions.jsonl"
    assert len(rows.read_bytes().splitlines()) == 2
    return rows
