"""What a run owes, and rows set aside: whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from test_measured_rows import measured

from evh.harness.dataset import load_dataset
from evh.harness.plan import plan_run, set_aside
from evh.harness.project import Project
from evh.store import _os
from evh.store.atomic import clear_temporary
from tests.support.run_project import RunProject, listing


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    """A finished run of four items, the output of the first one gone and that of the third one another."""
    project = RunProject(tmp_path / "p", 4)
    monkeypatch.setenv("CALLS", project.environ["CALLS"])
    measured(project)
    project.run.output_path("i0").unlink()
    project.run.output_path("i2").write_text("another")
    return project


def planned(project: RunProject) -> Any:
    frozen = load_dataset(Project(project.root), "small")
    return plan_run(project.run.path, frozen, len(frozen))


def test_rows_whose_output_is_gone_or_another_are_owed_and_told(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "readv", raising=False)  # not every system has it
    plan = planned(project)
    assert (plan.owed, plan.done) == ([0, 2], 2)
    assert plan.lost == [("i0", "its output is missing"), ("i2", "its output was changed")]


def test_an_output_longer_than_a_buffer_is_compared_to_its_end(project: RunProject) -> None:
    for size in (1 << 16, 3 << 16, (1 << 16) + 1):
        project.run.output_path("i1").write_bytes(b"x" * size)
        assert ("i1", "its output was changed") in planned(project).lost


def test_rows_that_are_set_aside_are_kept_beside_the_others(project: RunProject) -> None:
    rows = (project.run.path / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    by_id = {f"i{n}": next(row for row in rows if f'"i{n}"'.encode() in row) for n in range(4)}
    assert set_aside(project.run.path, planned(project)) == "predictions.jsonl.set-aside-1"
    kept = (project.run.path / "predictions.jsonl.set-aside-1").read_bytes()
    assert set(kept.splitlines(keepends=True)) == {by_id["i0"], by_id["i2"]}
    rest = (project.run.path / "predictions.jsonl").read_bytes()
    assert set(rest.splitlines(keepends=True)) == {by_id["i1"], by_id["i3"]}


@pytest.mark.parametrize("call", ["create", "write", "fsync", "replace"])
def test_a_fault_while_rows_are_set_aside_leaves_nothing_behind(
    project: RunProject, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, before, real = planned(project), listing(project.root), getattr(_os, call)
    for at in range(1, 10):
        made = 0

        def fault(*given: Any, at: int = at) -> Any:
            nonlocal made
            made += 1
            if made == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*given)

        with monkeypatch.context() as patch:
            patch.setattr(_os, call, fault)
            try:
                set_aside(project.run.path, plan)
                return
            except OSError:
                if call == "fsync" and at == 4:  # of the folder, after the rename: both files are in place
                    assert (project.run.path / "predictions.jsonl.set-aside-1").exists()
                    return
                assert listing(project.root) == before
    pytest.fail("more calls than were tried")


def test_what_a_kill_leaves_of_it_is_removed_with_the_other_half_written_files(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(project)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            set_aside(project.run.path, plan)
    assert clear_temporary(project.run.path) == 1
