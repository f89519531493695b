"""`make demo`: a complete evaluation, in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from example_modules import EXAMPLES

ROOT = EXAMPLES.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The parts of a checkout that the demo uses, and `evh` in an environment's place."""
    root = tmp_path / "a checkout"
    for name in ("examples", "scripts"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    binaries = root / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name, words in (("evh", "-m evh "), ("python", "")):
        (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', "utf-8")
        (binaries / name).chmod(0o755)
    return root


def test_the_demo_runs_to_its_end_and_writes_below_its_folder_alone(checkout: Path) -> None:
    def files() -> set[Path]:
        return {path for path in checkout.rglob("*") if ".cache" not in path.parts}

    before = files()
    # Settings that people have in their environment, and which the demo must not heed.
    mine = {"EVAL_RUNS_DIR": "/nonexistent", "EVAL_MAX_COST_USD": "0", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["scripts/demo", ".venv/bin/evh"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], **mine},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    expected = (
        "12 items frozen",
        "mean of runs",
        "12 shared items",
        "the cost cap was reached",
        "3 rows there already",
    )
    for said in expected:
        assert said in done.stdout
    assert done.stdout.count("no findings") == 2
    assert files() == before


def test_the_demo_ends_with_the_first_exit_code_that_is_another(checkout: Path) -> None:
    (checkout / ".venv" / "bin" / "evh").write_text("#!/bin/sh\nexit 1\n", "utf-8")
    done = subprocess.run(["scripts/demo", ".venv/bin/evh"], cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "evh dataset ended with 1, not 0\n"


@pytest.mark.parametrize("page", sorted(EXAMPLES.rglob("README.md")), ids=lambda path: path.parent.name)
def test_links_of_the_examples_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
