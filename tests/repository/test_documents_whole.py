"""Documents that cannot lag: a command, option, rule, error, exit code, setting or type without an entry of its own
fails
here, and so does an entry for something that there is not."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evh.errors
from codegen.shapes import Contract
from evh.cli import _args
from evh.protocol import engine
from evh.protocol.tables import CLASSES, FILES, ROOTS
from evh.rules import RULES
from tests.repository.test_exports import packages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SETTING = re.compile(r"\b(?:EVH|EVAL|PRIME)_[A-Z][A-Z0-9_]*[A-Z0-9]\b")
PLAIN_SETTINGS = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI"}
CONTRACT = Contract(ROOT / "schema" / "v1")


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def headings(name: str) -> set[str]:
    return {each.strip() for each in re.findall(r"^#+ (.*)$", page(name), re.MULTILINE)}


def exported(package: str) -> list[str]:
    return list(getattr(importlib.import_module(package), "__all__", []))


def test_every_command_has_its_heading_and_no_other_has() -> None:
    found = {each.removeprefix("evh ") for each in headings("cli.md") if each.startswith("evh ")}
    assert found == set(_args.COMMANDS)


@pytest.mark.parametrize("command", _args.COMMANDS)
def test_every_option_stands_in_the_page_of_commands(command: str) -> None:
    section = page("cli.md").partition(f"\n## evh {command}\n")[2].partition("\n## ")[0]
    parser = importlib.import_module(f"evh.cli.{command.replace('-', '_')}").parser()
    names = [name for action in parser._actions for name in action.option_strings]
    assert names and [name for name in names if not re.search(rf"(^|[ ,]){re.escape(name)}\b", section, re.M)] == []


@pytest.mark.parametrize("command", _args.COMMANDS)
def test_every_exit_code_that_a_command_ends_with_is_told(command: str) -> None:
    """The codes are constants of one module: which of them a command's module names, its help must list."""
    module = importlib.import_module(f"evh.cli.{command.replace('-', '_')}")
    codes = {"DONE": 0, "FAILED": 1, "USAGE": 2, "STOPPED": 3, "INTERRUPTED": 130}
    named = {codes[name] for name in codes if re.search(rf"\b{name}\b", Path(str(module.__file__)).read_text("utf-8"))}
    told = module.HELP.partition("\nExit codes\n")[2].partition("\n\n")[0]
    assert named - {int(code) for code in re.findall(r"^ +(\d+)  ", told, re.MULTILINE)} == set()


def test_every_exit_code_is_in_the_page_of_errors() -> None:
    told = page("errors.md").partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    codes = (_args.DONE, _args.FAILED, _args.USAGE, _args.STOPPED, _args.INTERRUPTED)
    assert [code for code in codes if not re.search(rf"\b{code}\b", told)] == []


def test_every_rule_has_its_heading_and_no_other_has() -> None:
    found = {each.partition(":")[0].split(" ")[0] for each in headings("rules.md") if re.match(r"[A-Z][0-9]+\b", each)}
    assert found == {rule.name for rule in RULES} and found


def test_every_error_has_its_row_and_no_other_has() -> None:
    table = page("errors.md").partition("| class | means | has |")[2].partition("\n\n")[0]
    found = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    public = [getattr(importlib.import_module(each), name) for each in packages() for name in exported(each)]
    classes = {each.__name__ for each in public if isinstance(each, type) and issubclass(each, evh.errors.EvhError)}
    assert {"DecodeError", "UsageError", "AdapterError"} <= classes
    assert found == classes - {"EvhError"}
    for name in set(evh.errors.__all__) & classes - {"EvhError", "UsageError", "SourceError"}:
        own = set(vars(getattr(evh.errors, name)).get("__init__", lambda: None).__code__.co_varnames)
        row = next(line for line in table.splitlines() if line.startswith(f"| `{name}` |"))
        assert [each for each in own & {"offset", "pointer", "violations"} if f"`{each}`" not in row] == []


def test_every_setting_has_its_heading_and_no_other_has() -> None:
    found = {each.strip("`") for each in headings("settings.md") if each.startswith("`")}
    there = set(PLAIN_SETTINGS)
    for folder, kind in (("src", "*.py"), ("tests", "conftest.py"), (".ci", "run"), ("scripts", "*")):
        for path in (ROOT / folder).rglob(kind):
            if path.is_file() and "__pycache__" not in path.parts:
                there |= set(SETTING.findall(path.read_text("utf-8")))
    assert found == there


def test_every_type_is_told_in_the_reference() -> None:
    for name, (file, schema) in CONTRACT.definitions.items():
        text = page(f"reference/{Path(file).stem}.md")
        section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert schema["description"] in section and "Since schema " in section, name
        for member in schema.get("properties", {}):
            assert f"| `{member}`" in section, (name, member)


def test_every_file_of_records_says_who_writes_and_who_reads_it() -> None:
    pages = {stem: page(f"reference/{stem}.md") for stem in CONTRACT.roots()}
    missing = [stem for stem, text in pages.items() if "Written by " not in text or "Read by " not in text]
    assert missing == [], "add x-written-by and x-read-by to the schema"


def test_examples_in_the_reference_are_valid_and_every_record_has_one() -> None:
    shown = set()
    for path in (DOCS / "reference").glob("*.md"):
        for section in path.read_text("utf-8").split("\n## ")[1:]:
            name = section.partition("\n")[0]
            for text in re.findall(r"^```json\n(.*?)^```$", section, re.DOTALL | re.MULTILINE):
                address = ROOTS.get(name) or f"{FILES[name]}#{name}"
                assert engine.reference_violations(address, json.loads(text)) == [], name
                shown.add(name)
    assert set(ROOTS) & set(CLASSES) - shown == set()
    assert len(shown) > 0.8 * len(CLASSES)


def test_the_site_is_built_of_every_page_and_its_links_hold(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "scripts/build_site.py", "--to", str(site)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for path in DOCS.rglob("*.md"):
        name = path.relative_to(ROOT)
        folder = name.parent if name.name == "README.md" else name.with_suffix("")
        assert (site / folder / "index.html").exists(), name
    assert (site / "index.html").exists()
    fetched = re.compile(r"(?:src|href)=\"(?:https?:)?//[^\"]+\.(?:js|css)")
    assert [path for path in site.rglob("*.html") if fetched.search(path.read_text("utf-8"))] == []
