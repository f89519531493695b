"""`evh dataset`: what is frozen, referenced and listed, as text and as data, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evh.cli import dataset
from evh.errors import SourceError, UsageError


class Ran:
    """Runs the command in a project; what was printed is in `out`."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys
        self.out = ""

    def __call__(self, *arguments: str | Path) -> int:
        code = dataset.run(dataset.parser().parse([*map(str, arguments), "--root", str(self.root)]))
        self.out = self._capsys.readouterr().out
        return code

    def data(self, *arguments: str | Path) -> Any:
        assert self(*arguments, "--json") in (0, 1)
        return json.loads(self.out)


@pytest.fixture
def ran(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ran:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("EVAL_RUNS_DIR", raising=False)
    for folder, text in (("questions", "?"), ("answers", "!")):
        (tmp_path / folder).mkdir()
        for name in ("q1.txt", "q2.txt"):
            (tmp_path / folder / name).write_text(f"{name}{text}")
    (tmp_path / "questions" / ".hidden").write_text("")
    return Ran(tmp_path, capsys)


def test_a_dataset_is_created_referenced_and_listed(ran: Ran) -> None:
    assert ran("create", ran.root / "questions", "--id", "d") == 0
    assert "data/datasets/d.json: 2 items frozen" in ran.out and "1 hidden entry passed over" in ran.out
    assert ran("create", ran.root / "questions", "--id", "d") == 0
    assert "identical" in ran.out and "copied" not in ran.out
    (ran.root / "data" / "materialized" / "d" / "q1.txt").unlink()
    assert ran("create", ran.root / "questions", "--id", "d") == 0
    assert "1 file restored in data/materialized/d" in ran.out
    (ran.root / "answers" / "other.txt").write_text("")
    assert ran("reference", "d", "--tier", "gold", "--from", ran.root / "answers") == 0
    assert "references for 2 of 2 items" in ran.out and "1 file named like no item: other.txt" in ran.out
    assert ran("list") == 0
    assert re.search(r"^d +2 +\S+Z +gold 2$", ran.out, re.MULTILINE)


def test_json_says_the_same_as_data(ran: Ran) -> None:
    made = ran.data("create", ran.root / "questions", "--id", "d", "--glob", "q1*", "--description", "some")
    assert (made["ok"], made["new"], made["n_items"], made["hidden"], made["path"]) == (
        True, True, 1, 1, "data/datasets/d.json",
    )  # fmt: skip
    given = ran.data("reference", "d", "--tier", "silver", "--from", ran.root / "answers")
    assert (given["reference_id"], given["covered"], given["unmatched"]) == ("silver/d", 1, ["q2.txt"])
    [listed] = ran.data("list")["datasets"]
    assert listed["references"] == {"silver": 1} and listed["materialized"] and listed["description"] == "some"
    assert listed["items_sha256"] == made["items_sha256"] and listed["error"] is None


def test_a_list_names_datasets_that_cannot_be_read_and_exits_with_1(ran: Ran) -> None:
    assert ran("list") == 0 and "no datasets" in ran.out
    ran("create", ran.root / "questions", "--id", "d")
    (ran.root / "data" / "datasets" / "bad.json").write_text("{}")
    (ran.root / "data" / "datasets" / "Other-name.json").write_text("{}")
    assert ran("list") == 1
    assert re.search(r"^bad +– .*not a valid Dataset", ran.out, re.MULTILINE) and "\nd " in ran.out
    listed = ran.data("list")
    assert not listed["ok"] and [each["error"] is None for each in listed["datasets"]] == [False, False, True]


def test_items_that_are_no_text_are_said_when_they_are_frozen(ran: Ran) -> None:
    (ran.root / "questions" / "q3.bin").write_bytes(b"\xff")
    assert ran("create", ran.root / "questions", "--id", "d") == 0
    assert "1 item not UTF-8, which runs refuse: q3" in ran.out


def test_what_exists_is_refused(ran: Ran) -> None:
    ran("create", ran.root / "questions", "--id", "d")
    ran("reference", "d", "--tier", "gold", "--from", ran.root / "answers")
    with pytest.raises(SourceError, match="--force"):
        ran("reference", "d", "--tier", "gold", "--from", ran.root / "answers")
    assert ran("reference", "d", "--tier", "gold", "--from", ran.root / "answers", "--force") == 0
    (ran.root / "questions" / "q1.txt").write_text("changed")
    with pytest.raises(SourceError, match="new --id"):
        ran("create", ran.root / "questions", "--id", "d")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "create, reference or list"),
        (["crate"], "did you mean 'create'"),
        (["create"], "DIR --id ID"),
        (["create", "x"], "DIR --id ID"),
        (["create", "missing", "--id", "d"], "not a folder"),
        (["create", ".", "--id", "d", "--tier", "gold"], "--tier belongs to `evh dataset reference`"),
        (["create", ".", "--id", "d", "--from", "x"], "--from belongs to `evh dataset reference`"),
        (["create", ".", "--id", "d", "--id", "e"], "given twice"),
        (["create", ".", "more", "--id", "d"], "unexpected argument 'more'"),
        (["reference", "d"], "DATASET --tier TIER"),
        (["reference", "d", "--tier", "glod", "--from", "x"], "did you mean 'gold'"),
        (["reference", "../d", "--tier", "gold", "--from", "x"], "cannot name a dataset"),
        (["list", "d"], "takes no name"),
        (["list", "--force"], "--force belongs to"),
    ],
)
def test_wrong_usage_is_explained(ran: Ran, arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        ran(*arguments)


def test_a_source_that_is_neither_folder_nor_config_is_refused(ran: Ran) -> None:
    ran("create", ran.root / "questions", "--id", "d")
    with pytest.raises(UsageError, match="neither a folder nor a config"):
        ran("reference", "d", "--tier", "gold", "--from", ran.root / "missing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("config_id: c\ndataset_id: d\nparms: {}\n", "did you mean 'params'"),
        ("config_id: c\ndataset_id: d\nparams: {when: 2026-01-01}\n", "is a date"),
        ("config_id: c\ndataset_id: d\nparams: {api_key: 0123456789abcdef}\n", "seems to hold"),
        ("config_id: c\ndataset_id: d\nadapter: gone.py\n", "no adapter file"),
    ],
)
def test_a_fault_in_a_config_is_a_fault_of_a_file(ran: Ran, text: str | None, said: str) -> None:
    ran("create", ran.root / "questions", "--id", "d")
    config = ran.root / "author.yaml"
    if text is not None:
        config.write_text(text)
    with pytest.raises(SourceError, match=said):
        ran("reference", "d", "--tier", "silver", "--from", config)


def test_a_root_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        dataset.run(dataset.parser().parse(["list", "--root", str(tmp_path / "missing")]))
