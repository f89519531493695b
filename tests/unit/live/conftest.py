"""Live runs without a network, a home folder or a word of the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, which is the current one and the home."""
    for name in list(os.environ):
        if name.startswith(("PRIME_", "EVH_MODE", "EVAL_")) or name.endswith(("_KEY", "_TOKEN", "_SECRET")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EVAL_BUILD_REF", "a-build")
    monkeypatch.setattr("sys.argv", ["a-program"])
    monkeypatch.chdir(tmp_path)
    return tmp_path
