"""The command line in this process: `evh("check", path)` gives the exit code and what was printed."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from cli_support import REAL, Evh, Ran
from compared_support import Compared

from evh.cli import main


@pytest.fixture
def evh(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evh:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str | Path, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of eleven rows of an older shape (S15, S16)."""
    made = tmp_path / "old.jsonl"
    shutil.copyfile(REAL / "v0.3.0-eval-trace-run" / "traces.jsonl", made)
    return made


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    """Seventeen whole rows and a torn one."""
    made = tmp_path / "traces.jsonl"
    shutil.copyfile(REAL / "v0.4.0-torn" / "traces.jsonl", made)
    return made


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compared:
    """A project without runs yet, entered."""
    return Compared(tmp_path / "project", monkeypatch)
