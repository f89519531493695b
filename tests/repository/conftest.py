"""The built wheel, and an environment that holds it and nothing of this checkout."""

from __future__ import annotations

import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.repository.children import ROOT, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the pinned backend without network."""
    folder = tmp_path_factory.mktemp("dist")
    done = run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment: the wheel installed, its dependencies seen in the running one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    done = run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--quiet", wheel],
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (site,) = (folder / "lib").glob("python3.*/site-packages")
    seen = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(seen)) + "\n", "utf-8")
    return python
