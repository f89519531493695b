"""What every stop of a run must say and leave, and its command as a person would use it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from evh.store import RunDir
from tests.support.run_project import SECONDS, RunProject


def stopped(run: RunDir, said: str, project: RunProject) -> str:
    """Check what a stop says and leaves; returns the command that goes on."""
    assert run.record is None
    assert not (run.path / "metrics.json").exists()
    assert run.state == "unfinished"
    assert "Traceback" not in said
    rows = len(list(run.rows()))
    assert f"after {rows} of {len(project.items)} items" in said
    assert run.path.name in said
    (command,) = re.findall(r"go on with: +(.+)", said)
    return command


def paste(command: str, project: RunProject, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a person would who pastes it into a shell."""
    programs = Path(f"{project.root}-bin")
    programs.mkdir(exist_ok=True)
    (programs / "evh").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evh "$@"\n')
    (programs / "evh").chmod(0o755)
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=project.child_environment(**environ) | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=SECONDS,
        check=False,
    )
