"""The tests of the TypeScript package, run from its sources: no build, no network."""

from __future__ import annotations

import json

import pytest

from evh import __version__
from tests.support.node import PACKAGE, run_node


def test_the_package_passes_its_own_tests() -> None:
    names = sorted(str(path.relative_to(PACKAGE)) for path in (PACKAGE / "tests").glob("*.test.ts"))
    # As under a content security policy that forbids code from strings.
    done = run_node("--disallow-code-generation-from-strings", "--test", *names)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_reading_is_not_much_slower_than_parsing() -> None:
    done = run_node("bench/episodes.mjs", "--megabytes", "8", "--rounds", "1", "--json")
    assert done.returncode == 0, done.stderr
    # `make ts` holds the bar of 0.5 on a large file; a busy machine and a short file say less.
    assert json.loads(done.stdout)["ratio"] > 0.25, done.stdout


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="clients/typescript is not part of this distribution")
def test_the_version_is_that_of_the_python_package() -> None:
    assert json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"] == __version__


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="clients/typescript is not part of this distribution")
def test_nothing_names_a_place_to_download_from() -> None:
    assert not (PACKAGE / "package-lock.json").exists()
    assert "http" not in (PACKAGE / "package.json").read_text("utf-8")
