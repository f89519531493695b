"""What the documentation says is so: its Python and its commands run, its links lead somewhere, its lists are whole."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evh.errors
from codegen.pages import reference_pages
from codegen.shapes import Contract
from evh.protocol import sources, verify
from scripts.docs import pages

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "schema").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FLAGS = doctest.ELLIPSIS
errors_page = (ROOT / "docs" / "errors.md").read_text("utf-8")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path) -> list[tuple[str, str]]:
    return FENCE.findall(path.read_text("utf-8"))


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output that is shown for it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, and `evh` on the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "work" / "examples")
    program = tmp_path / "bin" / "evh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evh "$@"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def run_commands(block: str, where: str) -> None:
    checker = doctest.OutputChecker()
    for command, expected in commands(block):
        done = subprocess.run(
            command,
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # a terminal shows both
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert checker.check_output(expected, done.stdout, FLAGS), f"{where}: $ {command}\n{done.stdout}"


def run_session(block: str, where: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block, names, where, where, 0)
    outcome = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, clear_globs=False)
    assert outcome.failed == 0, where


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if blocks(path)], ids=name_of)
def test_what_is_shown_works(path: Path, workplace: Path) -> None:
    names: dict[str, Any] = {"__name__": "documentation"}
    for number, (language, text) in enumerate(blocks(path), 1):
        where = f"{name_of(path)}, block {number}"
        match language:
            case "python":
                exec(compile(text, where, "exec"), names)
            case "pycon":
                run_session(text, where, names)
            case "console":
                run_commands(text, where)
            case "text" | "json":
                pass
            case _:
                raise AssertionError(f"{where}: {language} is neither run nor shown as text")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    missing = []
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text("utf-8")))
    for target in LINK.findall(prose):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        if not goal.exists() or (anchor and anchor not in anchors(goal)):
            missing.append(target)
    assert missing == []


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_made_from_the_code_are_in_step() -> None:
    assert {path: (ROOT / path).read_text("utf-8") for path in pages()} == pages()


def test_reference_pages_are_in_step_with_the_schemas() -> None:
    made = reference_pages(Contract(ROOT / "schema" / "v1"))
    assert {path: (ROOT / path).read_text("utf-8") for path in made} == made
    assert {path.relative_to(ROOT) for path in (ROOT / "docs" / "reference").iterdir()} == made.keys()


def test_every_exception_class_is_explained() -> None:
    classes = set(evh.errors.__all__) - {"EvhError", "Notice", "Violation"}
    assert {name for name in classes if f"| `{name}` |" not in errors_page} == set()


def test_every_rule_of_verify_is_explained() -> None:
    rules = set(re.findall(r"(?: {4})([a-z]+(?:-[a-z]+)*) +", verify.__doc__ or "", re.MULTILINE))
    assert len(rules) > 10
    assert {rule for rule in rules if f"`{rule}`" not in errors_page} == set()


def test_every_kind_of_notice_and_fault_is_explained() -> None:
    kinds: set[str] = set()
    for path in (ROOT / "src" / "evh").rglob("*.py"):
        kinds |= set(re.findall(r"(?:Notice|Fault)\(\s*\"([a-z-]+)\"", path.read_text("utf-8")))
    assert {"unknown", "bom", "duplicate-key"} <= kinds
    assert {kind for kind in kinds if f"`{kind}`" not in errors_page} == set()


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        wanted += [each for each in extra if not each.startswith("evh[")]
    for name in ("dev", "bench"):
        asked = (
            (ROOT / "requirements" / f"{name}.txt")
            .read_text("utf-8")
            .partition("# asked for\n")[2]
            .partition("\n\n")[0]
        )
        wanted += asked.splitlines()
    names = {re.split(r"[<>=\[;]", each)[0] for each in wanted}
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", page)} == set()


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=name_of)
def test_requirements_are_exact_and_name_no_host(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            assert re.fullmatch(
                r"-r [a-z]+\.txt|[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*(; [a-z_]+ [<=>]+ \"[\w.]+\")?", line
            ), line


def test_every_make_target_explains_itself() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", text, re.MULTILINE))
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"help", "demo", "test", "check", "generate"} <= targets
    assert {name for name in targets if not re.search(rf"^  make {name} +\S", said, re.MULTILINE)} == set()


def test_the_module_docs_speak_of_real_files() -> None:
    """A docstring that names a document of this repository names one that is there."""
    missing = set()
    for path in (ROOT / "src" / "evh").rglob("*.py"):
        for name in re.findall(r"\bdocs/[\w./-]+\.md\b", path.read_text("utf-8")):
            if not (ROOT / name).exists():
                missing.add((name_of(path), name))
    assert missing == set()
    assert sources.__doc__
