"""The hidden folder of an import: what is left over is removed, what is somebody's is not."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evh.errors import WriteError
from evh.harness.project import Project
from evh.store import _os, open_run_dir

Make = Callable[..., Any]


@pytest.fixture
def source(freeze: Make, tmp_path: Path) -> Path:
    freeze(["a"])
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"id": "a", "output": "x"}) + "\n", "utf-8")
    return path


def aged(folder: Path, seconds: float) -> Path:
    """A folder in which nothing changed for so long."""
    at = time.time() - seconds
    for path in sorted(folder.rglob("*"), reverse=True):
        os.utime(path, (at, at))
    os.utime(folder, (at, at))
    return folder


def hidden(project: Project, name: str, inner: str = "arm_1") -> Path:
    folder = project.runs / name
    (folder / inner).mkdir(parents=True)
    (folder / inner / "run.json").write_text("{}", "utf-8")
    return folder


def test_a_hidden_folder_without_a_lease_goes_after_an_hour(bring_in: Make, project: Project, source: Path) -> None:
    old = aged(hidden(project, ".importing-old"), 3700)
    empty = project.runs / ".importing-empty"
    empty.mkdir()
    aged(empty, 3700)
    young = aged(hidden(project, ".importing-young"), 3500)
    closing = aged(hidden(project, ".importing-closing"), 3700)
    os.utime(closing / "arm_1")  # its lease was given back a moment ago
    bring_in(source)
    assert [each.exists() for each in (old, empty, young, closing)] == [False, False, True, True]


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_among_hidden_folders_is_left_alone(
    bring_in: Make, project: Project, source: Path, tmp_path: Path
) -> None:
    kept = aged(hidden(project, "kept"), 9999).rename(tmp_path / "kept")
    link = project.runs / ".importing-link"
    link.symlink_to(kept)
    bring_in(source)
    assert link.is_symlink()
    assert (kept / "arm_1" / "run.json").exists()


def test_a_folder_that_cannot_be_synced_says_that_the_run_is_in_place(
    bring_in: Make, project: Project, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = _os.fsync

    def refused(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), project.runs.stat()) and (project.runs / "mine").exists():
            raise OSError(5, "Input/output error")
        sync(descriptor)

    project.runs.mkdir(parents=True)
    monkeypatch.setattr(_os, "fsync", refused)
    with pytest.raises(WriteError, match=r"the run is in place, complete.*Input/output error"):
        bring_in(source, run_id="mine")
    assert [each.name for each in project.runs.iterdir()] == ["mine"]
    assert open_run_dir(project.runs / "mine").state == "finished"
