"""The contracts of known consumers hold at HEAD, and a break planted in what each relies on is found and placed.

A consumer's contract is a `.toml` file in this folder; a new one is held from then on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evh.testing import Broken, SchemaSet, check_contract, load_contract
from tests.compat.edits import Files, schemas

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.toml"))
Change = Callable[[Files], None]


def broken(name: str, change: Change) -> list[Broken]:
    files = schemas()
    change(files)
    return check_contract(load_contract(HERE / name), SchemaSet(files, "planted"))


def definition(files: Files, name: str) -> dict[str, Any]:
    documents = [document for document in files.values() if document.get("title") == name and "properties" in document]
    return documents[0] if documents else next(d["$defs"][name] for d in files.values() if name in d.get("$defs", {}))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_contract_holds_at_head(path: Path) -> None:
    contract = load_contract(path)
    assert check_contract(contract, SchemaSet(schemas(), "schema/v1")) == []
    assert check_contract(contract) == [], "the installed schemas are those of the tree"


def rename_policy(files: Files) -> None:
    for name in ("TrainWorkInfo", "EvalWorkInfo"):
        members = definition(files, name)["properties"]
        members["policies"] = members.pop("policy")


def new_work(files: Files) -> None:
    work = copy.deepcopy(definition(files, "EvalWorkInfo"))
    work["properties"]["type"]["const"] = "distil"
    files["run_info.json"]["$defs"]["DistilWorkInfo"] = work
    definition(files, "WorkInfo")["oneOf"].append({"$ref": "#/$defs/DistilWorkInfo"})


def name_is_required(files: Files) -> None:
    definition(files, "TrainRunInfo")["required"].append("cluster")
    definition(files, "TrainRunInfo")["properties"]["cluster"] = {"description": "Where.", "type": "string"}


def step_is_a_text(files: Files) -> None:
    for name in ("TrainWorkInfo", "EvalWorkInfo"):
        definition(files, name)["properties"]["step"] = {"description": "Step.", "type": "string"}


def score_moves(files: Files) -> None:
    members = definition(files, "Reward")["properties"]
    members["value"] = members.pop("score")


def start_is_optional(files: Files) -> None:
    definition(files, "Timing")["required"].remove("start")


def another_role(files: Files) -> None:
    message = copy.deepcopy(definition(files, "UserMessage"))
    message["properties"]["role"]["const"] = "critic"
    files["trace.json"]["$defs"]["CriticMessage"] = message
    definition(files, "Message")["oneOf"].append({"$ref": "#/$defs/CriticMessage"})


def text_is_gone(files: Files) -> None:
    definition(files, "ContentPart")["oneOf"] = [
        each for each in definition(files, "ContentPart")["oneOf"] if "TextPart" not in each["$ref"]
    ]


def count_may_be_null(files: Files) -> None:
    definition(files, "RunRecord")["properties"]["n_items"] = {
        "description": "Items.", "anyOf": [{"$ref": "common.json#/$defs/Count"}, {"type": "null"}],
    }  # fmt: skip


def episodes_are_gone(files: Files) -> None:
    files["episode.json"]["title"] = "Attempted"


@pytest.mark.parametrize(
    ("name", "change", "kind", "place", "said"),
    [
        ("trainer", rename_policy, "gone", "run_info.json#/$defs/TrainWorkInfo", "did you mean policies?"),
        ("trainer", new_work, "new-value", "run_info.json#/$defs/TrainWorkInfo/properties/type", "'distil'"),
        ("trainer", name_is_required, "required", "run_info.json#/$defs/TrainRunInfo", "cluster"),
        ("trainer", step_is_a_text, "types", "run_info.json#/$defs/TrainWorkInfo/properties/step", "string"),
        ("sample_table", score_moves, "gone", "trace.json#/$defs/Reward", "rewards/*/score is gone"),
        ("sample_table", start_is_optional, "optional", "trace.json#/$defs/Timing/properties/start", "left out"),
        ("sample_table", another_role, "new-value", "trace.json#/$defs/SystemMessage/properties/role", "'critic'"),
        ("viewer", text_is_gone, "gone", "trace.json#/$defs/ImageUrlPart", "/content/*/text is gone"),
        ("viewer", count_may_be_null, "types", "run_record.json#/properties/n_items", "null"),
        ("viewer", episodes_are_gone, "type", "", "there is no type Episode"),
    ],
)
def test_a_planted_break_is_found_and_placed(name: str, change: Change, kind: str, place: str, said: str) -> None:
    found = broken(f"{name}.toml", change)
    assert any(each.kind == kind and each.place == place and said in each.message for each in found), found
    assert all(each.pointer.startswith("/types/") for each in found)


def test_a_name_that_is_gone_is_told_with_its_place() -> None:
    contract = load_contract(HERE / "trainer.toml")
    contract.names = [*contract.names, "evh:Epsode", "evh.nowhere:X", "evh:Branch.no_such_attribute"]
    found = check_contract(contract)
    count = len(contract.names)
    assert [(each.pointer, each.kind) for each in found] == [(f"/names/{count - n}", "name") for n in (3, 2, 1)]
    assert "did you mean Episode?" in found[0].message
    assert check_contract(contract, names=False) == []
