"""The wheel carries what it must, nothing else, and works installed: `py.typed`, the schemas, the command."""

from __future__ import annotations

import json
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from evh._version import __version__
from tests.repository.children import ROOT, run

HEAVY = ("numpy", "httpx", "jsonschema", "jsonschema_rs", "referencing", "rich", "zstandard", "hypothesis", "rfc8785")
ROWS = ROOT / "tests" / "data" / "verifiers" / "v0.4.0-eval" / "traces.jsonl"


def test_it_carries_the_package_the_schemas_and_the_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for schema in (ROOT / "schema" / "v1").glob("*.json"):
        assert f"evh/protocol/schemas/{schema.name}" in names
    assert {"evh/py.typed", f"evh-{__version__}.dist-info/licenses/LICENSE"} <= names
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "evh").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources


def test_it_carries_nothing_but_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if not name.startswith(("evh/", f"evh-{__version__}.dist-info/"))] == []
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []


def test_it_is_built_from_what_the_source_archive_holds(tmp_path: Path, wheel: Path) -> None:
    done = run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path], cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        # Python before 3.11.4 has no such filter; the archive is our own.
        opened.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        opened.extractall(tmp_path / "unpacked")
    (folder,) = (tmp_path / "unpacked").iterdir()
    done = run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (again,) = tmp_path.glob("*.whl")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_the_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    done = run([installed.parent / "evh", "--version"], cwd=tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, f"evh {__version__}", "")


def test_it_is_the_installed_package_that_is_imported(installed: Path, tmp_path: Path) -> None:
    done = run([installed, "-c", "import evh; print(evh.__file__)"], cwd=tmp_path)
    assert done.stdout.strip().startswith(str(installed.parents[1])), done


def test_the_installed_package_reads_checks_and_writes(installed: Path, tmp_path: Path) -> None:
    program = f"""
import evh, json
row = open({str(ROWS)!r}, "rb").readline()
episode = evh.decode(row)
evh.decode_strict(evh.encode(episode))
try:
    evh.decode_strict(b'{{"id": 1}}')
except evh.SchemaError as error:
    print(len(error.violations) > 1, evh.json_schema("episode")["title"])
"""
    done = run([installed, "-c", program], cwd=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["True", "Episode"]), done.stderr


@pytest.mark.parametrize("statement", ["import evh", "import evh; evh.decode; evh.Episode; evh.EpisodeWriter"])
def test_importing_loads_no_heavy_library(installed: Path, tmp_path: Path, statement: str) -> None:
    program = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = run([installed, "-c", program], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name.partition(".")[0] for name in json.loads(done.stdout)} & set(HEAVY) == set()
