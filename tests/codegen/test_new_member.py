"""A new optional member on Trace: one edit in a schema and one `make generate`; everything else follows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.children import clean_environment

ROOT = Path(__file__).parents[2]
NEEDED = ("codegen", "schema", "src", "clients", "docs/reference", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", "dist", "*.egg-info")
MEMBER = """"room_temperature": {"description": "Degrees Celsius in the machine room when the trace began.", \
"type": ["number", "null"], "minimum": -90, "x-since": "1.1"},
    "nodes": {"""
PROGRAM = """
import evh
from evh.testing import EpisodeMaker, assert_roundtrip, assert_valid, check_contract, recording
episode = EpisodeMaker()()
trace = episode.traces[0]
assert trace.room_temperature is None
trace.room_temperature = 21.5
assert_valid(episode)
assert b'"room_temperature":21.5' in assert_roundtrip(episode)
trace.room_temperature = -100
try:
    evh.encode(episode)
except evh.NotWritable as error:
    assert error.violations[0].pointer == "/traces/0/room_temperature"
else:
    raise AssertionError("the bound is not held")
"""


FOLLOWS = (
    ("src/evh/protocol/models/trace.py", "room_temperature: "),
    ("src/evh/protocol/tables.py", '"room_temperature": MemberTable('),
    ("src/evh/protocol/schemas/trace.json", '"room_temperature"'),
    ("src/evh/protocol/schemas/bundled/episode.json", '"room_temperature"'),
    ("docs/reference/trace.md", "| `room_temperature` | number ≥ -90 |"),
    ("docs/reference/trace.md", "Degrees Celsius in the machine room when the trace began. Since schema 1.1."),
    ("clients/typescript/src/types/trace.ts", "room_temperature?:"),
    ("schema/v1/vectors/trace.jsonl", "room_temperature"),
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout, with the one edit, and a heading for its version."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=LEFT_OUT)
        else:
            shutil.copyfile(ROOT / name, tmp_path / name)
    schema = tmp_path / "schema" / "v1" / "trace.json"
    text = schema.read_text("utf-8")
    assert text.count('"nodes": {') == 1
    schema.write_text(text.replace('"nodes": {', MEMBER), "utf-8")
    changes = tmp_path / "schema" / "CHANGELOG.md"
    heading = "\n## 1.1\n\n- `Trace.room_temperature`: new.\n\n## 1.0\n"
    changes.write_text(changes.read_text("utf-8").replace("\n## 1.0\n", heading, 1), "utf-8")
    return tmp_path


def run(root: Path, *arguments: str) -> str:
    path = os.pathsep.join((str(root), str(root / "src")))
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=clean_environment() | {"PYTHONPATH": path},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_one_edit_and_one_generate_and_everything_follows(checkout: Path) -> None:
    """One test, because generating takes a while."""
    run(checkout, "-m", "codegen")
    for file, said in FOLLOWS:
        assert said in (checkout / file).read_text("utf-8"), file
    vectors = (checkout / "schema/v1/vectors/trace.jsonl").read_text("utf-8").splitlines()
    assert sum("room_temperature" in str(json.loads(line)["name"]) for line in vectors) >= 4, "the bound is tried"
    run(checkout, "-c", PROGRAM)
    data = json.loads(run(checkout, "-m", "codegen", "compat", "--json"))
    [found] = [each for each in data["differences"] if "room_temperature" in each["pointer"]]
    assert found["class"] == "safe" and found["what"] == "new optional member"
