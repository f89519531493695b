"""Where the stash stands, and how it comes back after a release has written the row again."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from evh.protocol.convert import TARGETS, convert_document, restore_document
from tests.support.leaves import leaves_accounted

OLD, NEW = "verifiers-0.3.1", "verifiers-0.4"


def evh(row: dict[str, Any]) -> dict[str, Any]:
    return row["traces"][0]["info"]["evh"]


def test_the_stash_stands_under_the_reserved_key_with_pointers_in_order(newer) -> None:
    newer["info"] = {"split": "test"}
    result, _ = convert_document(newer, OLD)
    assert evh(result)["episode"] == {"/info": {"split": "test"}, "/is_timeout": True}
    assert list(evh(result)["stash"]) == sorted(evh(result)["stash"])
    assert result["info"] == {"split": "test"}


def test_nothing_is_added_when_nothing_is_taken(newer) -> None:
    result, steps = convert_document(newer, NEW)
    assert "evh" not in result["traces"][0]["info"]
    assert steps == []


def test_a_re_save_by_0_3_1_is_undone(newer) -> None:
    converted, _ = convert_document(newer, OLD)
    resaved = copy.deepcopy(converted)
    trace = resaved["traces"][0]
    for name in ("root_reply", "is_timeout"):
        del trace[name]
    del resaved["is_timeout"]
    del trace["nodes"][0]["tools"]
    del trace["nodes"][4]["semantic_parents"]
    trace["agent"]["config"]["retries"] = {"max_retries": 0, "include": [], "exclude": []}
    back, steps = restore_document(resaved)
    leaves_accounted(resaved, back, steps)
    assert back["is_timeout"] is True
    assert back["traces"][0]["nodes"] == newer["traces"][0]["nodes"]
    assert back["traces"][0]["root_reply"] == "done"


def test_defaults_that_a_release_put_in_place_give_way_and_are_reported(newer) -> None:
    newer["traces"][0]["agent"]["config"]["runtime"] = {"type": "e2b", "cpu": 4.0}
    converted, _ = convert_document(newer, OLD)
    assert converted["traces"][0]["agent"]["config"]["runtime"] == {"type": "subprocess"}
    back, steps = restore_document(converted)
    assert back["traces"][0]["agent"]["config"]["runtime"] == {"type": "e2b", "cpu": 4.0}
    dropped = [step for step in steps if step.action == "dropped"]
    assert ("/traces/0/agent/config/runtime", {"type": "subprocess"}) in [(s.pointer, s.value) for s in dropped]


def test_what_has_lost_its_place_stays_in_the_stash(newer) -> None:
    converted, _ = convert_document(newer, OLD)
    trace = converted["traces"][0]
    del trace["nodes"][4:]
    back, steps = restore_document(converted)
    assert evh(back)["stash"] == {"/nodes/4/semantic_parents": [{"node": 2, "type": "subagent_return"}]}
    assert [step.action for step in steps if "semantic_parents" in step.pointer] == ["kept"]
    leaves_accounted(converted, back, steps)


@pytest.mark.parametrize(
    "foreign", ["mine", None, 3, [1], {"stash": 3}, {"stash_encoded": {"/x": "{"}}, {"episode": {"x": 1}}]
)
def test_a_stranger_s_evh_comes_back(newer, convert, foreign) -> None:
    newer["traces"][0]["info"] = {"evh": foreign, "other": 1}
    result, _ = convert(newer, OLD)
    assert "/agent/config/retries" not in evh(result)["stash"]
    assert evh(result)["stash"]["/info/evh"] == foreign


def test_what_an_upgrade_kept_stays_beside_the_stash(newer, convert) -> None:
    newer["traces"][0]["info"] = {"evh": {"kept": {"/run": {"id": 1}}}}
    result, _ = convert(newer, OLD)
    assert evh(result)["kept"] == {"/run": {"id": 1}}


@pytest.mark.parametrize("info", [{}, {"a": 1}])
def test_an_info_that_was_made_for_the_stash_goes_with_it(newer, convert, info) -> None:
    newer["traces"][0]["info"] = info
    convert(newer, OLD)
    del newer["traces"][0]["info"]
    result, _ = convert(newer, OLD)
    assert "info" not in restore_document(result)[0]["traces"][0]


def test_a_stash_reads_the_same_through_json(newer) -> None:
    newer["traces"][0]["nodes"][1]["message"]["content"] = "\ud800"
    newer["traces"][0]["x"] = {"evh:bytes": "no bytes", "evh:object": {"evh:bytes": 1}}
    for target in TARGETS:
        converted, _ = convert_document(newer, target)
        assert restore_document(json.loads(json.dumps(converted)))[0] == newer


@pytest.mark.parametrize("first", TARGETS)
@pytest.mark.parametrize("second", TARGETS)
def test_a_chain_of_conversions_ends_where_one_does(newer, older, first, second) -> None:
    for row in (newer, older):
        through, _ = convert_document(row, first)
        assert convert_document(through, second)[0] == convert_document(row, second)[0]


def test_a_row_without_a_stash_comes_back_equal(newer) -> None:
    assert restore_document(newer) == (newer, [])
