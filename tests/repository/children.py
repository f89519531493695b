"""Child processes that must see an installed package and nothing of this checkout."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def clean_environment() -> dict[str, str]:
    """The environment of a child that must not find this checkout."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MYPYPATH"}
    return {name: value for name, value in os.environ.items() if name not in hidden} | {
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def run(command: list[str | Path], *, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(each) for each in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
