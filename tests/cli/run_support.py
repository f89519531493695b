"""Working in a small project, and runs in it that stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Evh

from evh.store import open_run_dir
from tests.support.run_project import RunProject


def entered(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    """Work in the project from now on, as a user does."""
    monkeypatch.chdir(project.root)
    for name in ("EVAL_RUNS_DIR", "EVAL_MAX_COST_USD", "EVAL_RETRY_MAX_DELAY", "EVAL_HOST_LABEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in project.environ.items():
        monkeypatch.setenv(name, value)
    return project


def stopped_after(evh: Evh, project: RunProject, count: int, *more: str) -> Path:
    """A run that the cap stopped when that many of its items had rows."""
    ran = evh("run", "--config", project.config, "--max-cost-usd", str(count * 0.25), *more)
    assert ran.code == 3, ran
    path = sorted(project.runs.iterdir())[-1]
    assert len(list(open_run_dir(path).rows())) == count
    return path
