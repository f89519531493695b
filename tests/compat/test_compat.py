"""`python -m codegen compat`: what it finds, where it says so, and what it lets pass."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.compat import Finding, Version, command, compare, released, tree, versions
from codegen.compat.acknowledged import acknowledgements, idle, unacknowledged
from tests.compat.edits import Files, schemas

ROOT = Path(__file__).parents[2]
Change = Callable[[Files], None]


def differences(change: Change, *, number: str | None = None, changes: str = "") -> list[Finding]:
    files = schemas()
    change(files)
    return compare(Version("old", schemas(), number=number), Version("new", files, changes=changes))


def definition(files: Files, name: str) -> dict[str, Any]:
    for document in files.values():
        if document.get("title") == name and "properties" in document:
            return document  # type: ignore[no-any-return]
        if name in document.get("$defs", {}):
            return document["$defs"][name]  # type: ignore[no-any-return]
    raise KeyError(name)


def one(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def test_a_difference_in_a_shared_definition_is_told_once_where_it_is() -> None:
    def change(files: Files) -> None:
        files["common.json"]["$defs"]["Count"]["minimum"] = 1

    found = one(differences(change))
    assert (found.place, found.kind) == ("common.json#/$defs/Count", "breaks writers")
    assert "minimum 0 → 1" in found.what


def test_a_reference_to_another_definition_is_told_where_it_stands() -> None:
    def change(files: Files) -> None:
        definition(files, "Lease")["properties"]["beat_at"]["$ref"] = "common.json#/$defs/Identifier"

    assert {each.place for each in differences(change)} == {"lease.json#/properties/beat_at"}


def test_the_same_meaning_at_another_place_is_safe() -> None:
    def change(files: Files) -> None:
        files["common.json"]["$defs"]["Moment"] = files["common.json"]["$defs"].pop("Timestamp")
        text = json.dumps(files).replace("common.json#/$defs/Timestamp", "common.json#/$defs/Moment")
        files.update(json.loads(text))

    found = differences(change)
    assert {each.kind for each in found} == {"safe"}
    assert {"new type Moment", "type Timestamp is gone"} <= {each.what for each in found}


def test_a_recursive_type_is_compared_once() -> None:
    def change(files: Files) -> None:
        for name in ("RescoreDerived", "JudgeDerived", "ReparseDerived"):
            definition(files, name)["properties"]["brand_new"] = {"description": "New.", "type": ["string", "null"]}

    assert sum(each.what == "new optional member" for each in differences(change)) == 3


def test_what_a_left_out_member_means_is_part_of_the_contract() -> None:
    def change(files: Files) -> None:
        definition(files, "Episode")["properties"]["ok"]["default"] = True

    found = one(differences(change))
    assert found.place == "episode.json#/properties/ok" and found.kind == "breaks readers and writers"


def test_a_member_that_json_leaves_out_from_now_on_breaks_readers() -> None:
    def change(files: Files) -> None:
        definition(files, "Reward")["properties"]["score"]["x-computed"] = True

    assert [each.kind for each in differences(change) if each.breaks] == ["breaks readers"]


def test_a_removed_member_says_whether_advice_is_there() -> None:
    def change(files: Files) -> None:
        del definition(files, "Episode")["properties"]["is_timeout"]

    def with_advice(files: Files) -> None:
        change(files)
        entry = {
            "class": "Episode",
            "member": "is_timeout",
            "since": "2.0",
            "instead": "read errors",
            "retired_by": "x",
        }
        files["retired.json"]["retired"].append(entry)

    assert "no advice" in one(differences(change)).why
    found = differences(with_advice)
    assert [each.place for each in found if each.breaks] == ["episode.json#/properties/is_timeout"]
    assert all("no advice" not in each.why for each in found)
    assert any(each.file == "retired.json" and not each.breaks for each in found)


@pytest.mark.parametrize(
    ("since", "said"),
    [
        (None, "new member without x-since"),
        ("1.0", "1.0 was released without it"),
        ("1.2", "no heading `## 1.2`"),
        ("1.1", None),
    ],
)
def test_a_new_member_says_its_version(since: str | None, said: str | None) -> None:
    def change(files: Files) -> None:
        member = {"description": "New.", "type": ["string", "null"]} | ({"x-since": since} if since else {})
        definition(files, "Trace")["properties"]["brand_new"] = member

    found = differences(change, number="1.0", changes="## 1.1\n\n## 1.0\n")
    rules = [f"{each.what} {each.why}" for each in found if each.kind == "against the rules of versions"]
    assert len(rules) == (said is not None)
    assert said is None or said in rules[0]


def test_an_acknowledgement_covers_its_place_and_below_for_those_it_names() -> None:
    def change(files: Files) -> None:
        definition(files, "EvalRunInfo")["properties"]["type"]["const"] = "measure"

    found = differences(change)
    places = sorted({each.place for each in found})
    assert places == ["run_info.json#/$defs/EvalRunInfo/properties/type", "run_info.json#/$defs/RunInfo"]
    told = "- Break for readers and writers: `run_info.json#/$defs/EvalRunInfo`: measured,\n  not evaluated.\n"
    half = "- Break for readers: `run_info.json#/$defs/RunInfo`: a new tag.\n"
    lines = acknowledgements(told + half)
    assert [line.reason for line in lines] == ["measured, not evaluated.", "a new tag."]
    left = unacknowledged(found, lines)
    assert [(each.place, each.kind) for each in left] == [("run_info.json#/$defs/RunInfo", "breaks writers")]
    assert idle(found, acknowledgements("- Break for writers: `goal.json#`: none such.\n"))
    assert acknowledgements(told, before=told) == [], "an old reason excuses no new break"


class Sandbox:
    """A repository with schemas, a release of them, and a list of changes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.changes = root / "schema" / "CHANGELOG.md"
        (root / "schema" / "v1").mkdir(parents=True)
        self.changes.write_text("# Changes\n\n## 1.0\n\nFirst.\n", "utf-8")
        self.write(schemas())

    def write(self, files: Files) -> None:
        for name, document in files.items():
            (self.root / "schema" / "v1" / name).write_text(json.dumps(document), "utf-8")

    def edit(self, change: Change) -> None:
        files = schemas()
        change(files)
        self.write(files)


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setattr(versions, "REPOSITORY", tmp_path)
    made = Sandbox(tmp_path)
    assert command.main(["--release"]) == 0
    return made


def required(files: Files) -> None:
    definition(files, "Goal")["required"].append("requires")


PLACE = "goal.json#/properties/requires"


def test_an_unacknowledged_break_is_refused_and_says_how(sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    assert "release 1.0: no difference" in capsys.readouterr().out
    sandbox.edit(required)
    assert command.main(["--quiet"]) == 1
    said = capsys.readouterr().out
    assert PLACE in said and "breaks writers" in said and "- Break for readers: `file.json#/pointer`" in said


def test_an_acknowledged_break_passes_and_an_idle_one_does_not(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"- Break for writers: `{PLACE}`: nobody left it out.\n"
    sandbox.edit(required)
    sandbox.changes.write_text(f"# Changes\n\n## 1.1\n\n{line}\n## 1.0\n\nFirst.\n", "utf-8")
    assert command.main([]) == 0
    assert "(acknowledged)" in capsys.readouterr().out
    sandbox.changes.write_text(f"# Changes\n\n## 1.1\n\n## 1.0\n\n{line}", "utf-8")
    assert command.main([]) == 1, "a line below the released version does not count"
    sandbox.edit(lambda files: None)
    sandbox.changes.write_text(f"# Changes\n\n## 1.1\n\n{line}\n## 1.0\n", "utf-8")
    assert command.main([]) == 1
    assert "there is none" in capsys.readouterr().out


def test_the_data_say_the_same(sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.edit(required)
    capsys.readouterr()
    assert command.main(["--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] is False and data["compared_with"] == "release 1.0"
    [found] = data["differences"]
    assert found["file"] == "goal.json" and found["pointer"] == "/properties/requires" and found["in"] == "new"
    assert found["breaks"] == ["writers"] and found["acknowledged"] is False and found["what"] and found["why"]


def test_a_commit_and_a_folder_can_be_compared_with(
    sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "init.defaultBranch=main"]
    for step in (["init", "-q"], ["add", "schema"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *step], cwd=tmp_path, check=True, capture_output=True)
    copied = tmp_path / "before"
    copied.mkdir()
    for name, document in schemas().items():
        (copied / name).write_text(json.dumps(document), "utf-8")
    sandbox.edit(required)
    for reference in ("HEAD", str(copied)):
        assert command.main([reference]) == 1
        assert f"compared with {reference}" in capsys.readouterr().out


@pytest.mark.parametrize("reference", ["no-such-commit", "--output=x", "-h x"])
def test_what_cannot_be_compared_with_is_usage(sandbox: Sandbox, reference: str) -> None:
    with pytest.raises(Exception, match="neither a folder nor a commit"):
        versions.at_reference(reference)


def test_an_unknown_reference_is_2_and_a_broken_folder_1(
    sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["no-such-commit"]) == 2
    (tmp_path / "bad").mkdir()
    assert command.main([str(tmp_path / "bad")]) == 1
    (tmp_path / "bad" / "x.json").write_text("{", "utf-8")
    assert command.main([str(tmp_path / "bad")]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_the_tree_breaks_nobody_since_its_last_release() -> None:
    """What `make check` asks: the record of the release is in the repository, so a clone without history can say."""
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "compat", "--quiet"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert released().roots.keys() <= tree().roots.keys()
