"""Every reader agrees with every vector: ours in Python, and an outsider's in Go; faults planted in ours are found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evh.testing import reader
from evh.testing.conformance import Outcome, check, hold
from evh.testing.vectors import load_vectors

ROOT = Path(__file__).parents[2]
GO = ROOT / "examples" / "conformance-go"
BUNDLED = ROOT / "src" / "evh" / "protocol" / "schemas" / "bundled"
FEWEST_PLANTS = 15


def told(outcome: Outcome) -> str:
    lines = [
        f"{each.vector} {each.mode}: expected {each.expected}, said {each.said}" for each in outcome.disagreements[:20]
    ]
    return "\n".join([*lines, *(f"{fall.vector}: {fall.why}" for fall in outcome.falls)])


def test_the_python_reader_agrees_with_every_vector() -> None:
    outcome = hold(reader.answer, load_vectors(), reader.HELLO)
    assert outcome.agrees, told(outcome)
    assert not outcome.unsupported
    layers = {layer for _, layer in outcome.agreed}
    assert layers == {"json", "schema", "semantic", "lenient", "canonical", "upgrade"}
    print(f"{outcome.agreed.total():,} questions")


def test_the_python_reader_is_a_program() -> None:
    outcome = check([sys.executable, "-m", "evh.testing.reader"], load_vectors(only=["Goal", "Baseline", "Config"]))
    assert outcome.agrees, told(outcome)


def test_the_python_reader_ends_at_what_is_no_request() -> None:
    command = [sys.executable, "-m", "evh.testing.reader"]
    for line in ("no request\n", "{}\n", '{"id":1,"mode":"guess","type":"Goal","input":"{}"}\n'):
        done = subprocess.run(command, input=line, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "no request that this reader knows" in done.stderr
        assert "Traceback" not in done.stderr and done.stdout.count("\n") == 1


def test_planted_faults_are_found_by_a_vector() -> None:
    """Each in a process of its own, which has one fault and is sound otherwise."""
    driver = Path(__file__).with_name("planting.py")
    done = subprocess.run([sys.executable, str(driver)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    caught = sum(each["caught"] is not None for each in found)
    print(f"{len(found)} planted, {caught} found")
    assert [each["name"] for each in found if each["caught"] is None] == []
    assert len({each["name"] for each in found}) == len(found) >= FEWEST_PLANTS


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the Go reader built in it."""
    if shutil.which("go") is None:
        pytest.skip("no `go` on PATH: the Go reader is not tested (apt install golang-go, or go.dev/dl; 1.19 or newer)")
    folder = tmp_path_factory.mktemp("go")
    environment = os.environ | {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    environment |= {"GOCACHE": str(folder / "cache"), "GOPATH": str(folder / "path"), "GOWORK": "off"}
    for command in (["go", "vet", "."], ["go", "build", "-o", str(folder / "reader"), "."]):
        done = subprocess.run(command, cwd=GO, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def bundled_types() -> set[str]:
    """The types of the files that have a root: a bundle is made for each root, and the Go reader reads bundles."""
    bundles = [json.loads(path.read_text("utf-8")) for path in BUNDLED.glob("*.json")]
    return {name for each in bundles for name in (each["title"], *each["$defs"])}


def test_the_go_reader_agrees_with_every_vector(go: Path) -> None:
    bundled = bundled_types()
    asked = [each for each in load_vectors() if each["type"] in bundled]
    outcome = check([str(go / "reader"), str(BUNDLED)], asked, timeout=60)
    assert outcome.agrees, told(outcome)
    assert outcome.hello.modes == ("strict",) and outcome.hello.layers == ("json", "schema")
    assert set(outcome.unsupported) == {"lenient", "canonical", "upgrade"}


def test_the_go_reader_uses_the_standard_library_alone() -> None:
    assert "require" not in (GO / "go.mod").read_text("utf-8")
    assert not (GO / "go.sum").exists()
