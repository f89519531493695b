"""`evh promote`: what may be a baseline, and what becomes of the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Evh
from compared_support import Compared, values

from evh.errors import WriteError
from evh.harness import baselines
from evh.harness.project import Project
from evh.store import open_run_dir

WHY = ("--reason", "ahead of all others")


def files(compared: Compared) -> list[str]:
    folder = compared.root / "data" / "baselines"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_baseline_is_a_copy_and_the_one_before_is_kept(evh: Evh, compared: Compared) -> None:
    compared.arm("one", values(0.0), scores={"score": 0.5})
    compared.arm("two", values(0.2), scores={"score": 0.75})
    data = evh("promote", "one", "--as", "main", *WHY, "--json").json
    assert data["path"] == "data/baselines/main.json" and data["kept"] is None
    first = json.loads((compared.root / data["path"]).read_text("utf-8"))
    assert first == data["baseline"] and "supersedes" not in first
    assert (first["promoted_from"], first["scores"], first["reason"]) == ("one", {"score": 0.5}, WHY[1])
    data = evh("promote", "two", "--as", "main", *WHY, "--json").json
    assert data["baseline"]["supersedes"] == "one" and data["changes"] == {"score": "better"}
    kept = f"superseded/main_{first['promoted_at'].replace(':', '')}.json"
    assert files(compared) == ["main.json", kept]
    assert json.loads((compared.root / data["kept"]).read_text("utf-8")) == first
    ran = evh("promote", "one", "--as", "main", *WHY)
    assert ran.code == 0 and "replaces two, kept as data/baselines/superseded/main_" in ran.out and "worse" in ran.out


@pytest.mark.parametrize(
    ("build", "option"),
    [({"ref": "unknown"}, "--allow-unknown-build"), ({"ref": "abc", "dirty": True}, "--allow-dirty-build")],
)
def test_a_build_that_nobody_can_name_needs_its_own_word(
    evh: Evh, compared: Compared, build: dict[str, Any], option: str
) -> None:
    compared.arm("run", values(0.0), build=build)
    other = {"--allow-unknown-build": "--allow-dirty-build", "--allow-dirty-build": "--allow-unknown-build"}[option]
    for more in ([], [other]):
        ran = evh("promote", "run", "--as", "main", *WHY, *more)
        assert ran.code == 1 and option in ran.err and not (compared.root / "data" / "baselines").exists()
    assert evh("promote", "run", "--as", "main", *WHY, option).code == 0


@pytest.mark.parametrize("reason", ["two words", "  one  ", "a  b"])
def test_a_reason_has_three_words(evh: Evh, compared: Compared, reason: str) -> None:
    compared.arm("run", values(0.0))
    ran = evh("promote", "run", "--as", "main", "--reason", reason)
    assert ran.code == 1 and "at least 3 words" in ran.err


@pytest.mark.parametrize("name", ["../out", "a/b", ".hidden", "a.", "a b"])
def test_an_id_is_a_plain_file_name(evh: Evh, compared: Compared, name: str) -> None:
    compared.arm("run", values(0.0))
    assert evh("promote", "run", "--as", name, *WHY).code == 2
    assert not (compared.root / "data" / "baselines").exists()


def test_unfinished_runs_and_other_datasets_are_refused(evh: Evh, compared: Compared) -> None:
    compared.arm("run", values(0.0))
    compared.arm("else", values(0.0), dataset_id="e")
    compared.arm("half", values(0.0))
    (compared.runs / "half" / "metrics.json").unlink()
    ran = evh("promote", "half", "--as", "main", *WHY)
    assert ran.code == 1 and "not finished" in ran.err
    assert evh("promote", "nobody", "--as", "main", *WHY).code == 1
    assert evh("promote", "run", "--as", "main", *WHY).code == 0
    ran = evh("promote", "else", "--as", "main", *WHY)
    assert ran.code == 1 and "give it another id" in ran.err and files(compared) == ["main.json"]


def test_a_fault_in_between_loses_neither(evh: Evh, compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    compared.arm("one", values(0.0))
    compared.arm("two", values(0.2))
    assert evh("promote", "one", "--as", "main", *WHY).code == 0
    before = (compared.root / "data" / "baselines" / "main.json").read_bytes()
    write = baselines.write_file

    def refuse(path: Path, data: bytes) -> None:
        if path.name == "main.json":
            raise WriteError("the disk is full")
        write(path, data)

    monkeypatch.setattr(baselines, "write_file", refuse)
    project = Project(compared.root)
    with pytest.raises(WriteError):
        baselines.promote(project, open_run_dir(compared.runs / "two"), "main", WHY[1])
    assert (compared.root / "data" / "baselines" / "main.json").read_bytes() == before
    monkeypatch.undo()
    monkeypatch.chdir(compared.root)
    assert evh("promote", "two", "--as", "main", *WHY).code == 0
    assert len(files(compared)) == 2
