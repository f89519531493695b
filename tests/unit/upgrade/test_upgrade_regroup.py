"""Traces that were written one a line go back into their episodes, when they stand next to each other."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from evh.protocol.upgrade import neighbours, regroup, upgrade_document
from tests.support.leaves import leaves_accounted
from tests.unit.upgrade.conftest import DATA

TRACE = json.loads((DATA / "upgrade" / "S18.json").read_text("utf-8"))["source"]
EPISODE = json.loads((DATA / "upgrade" / "S20.json").read_text("utf-8"))["source"]


def trace(identity: str, episode: str | None, **members: Any) -> dict[str, Any]:
    row = {**copy.deepcopy(TRACE), "id": identity, **members}
    if episode is None:
        del row["info"]["episode_id"]
    else:
        row["info"]["episode_id"] = episode
    return row


def test_neighbours_of_one_episode_become_one(violations: Callable[[Any], list[str]]) -> None:
    source = [trace("a", "e-1"), trace("b", "e-1", ok=False), trace("c", "e-2")]
    first, second = regroup(copy.deepcopy(source))
    assert (first.rows, second.rows) == (2, 1)
    assert (first.episode["id"], second.episode["id"]) == ("e-1", "e-2")
    assert [member["id"] for member in first.episode["traces"]] == ["a", "b"]
    assert first.episode["ok"] is False
    assert first.episode["run"]["work"] == {"type": "train", "step": 3, "policy": {"start": 2, "end": 2}}
    assert first.episode["group"] == {"id": "g-4"}
    assert violations(first.episode) == violations(second.episode) == []
    leaves_accounted(source[:2], first.episode, first.steps)
    leaves_accounted(source[2], second.episode, second.steps)
    assert upgrade_document(copy.deepcopy(first.episode)) == (first.episode, [])


def test_rows_that_stand_apart_stay_apart_under_one_identity() -> None:
    found = list(regroup([trace("a", "e-1"), trace("c", "e-2"), trace("b", "e-1")]))
    assert [(episode.episode["id"], episode.rows) for episode in found] == [("e-1", 1), ("e-2", 1), ("e-1", 1)]


def test_rows_that_name_no_episode_are_upgraded_by_themselves() -> None:
    found = list(regroup([trace("a", None), trace("b", None), copy.deepcopy(EPISODE), copy.deepcopy(EPISODE)]))
    assert [episode.rows for episode in found] == [1, 1, 1, 1]
    assert found[2].steps == []


def test_notes_that_differ_stay_on_their_traces() -> None:
    rows = [trace("a", "e-1"), trace("b", "e-1")]
    rows[1]["info"]["policy_version"] = 5
    (found,) = regroup(copy.deepcopy(rows))
    assert "policy" not in found.episode["run"]["work"]
    assert [member["info"]["policy_version"] for member in found.episode["traces"]] == [2, 5]
    leaves_accounted(rows, found.episode, found.steps)


def test_no_more_than_one_episode_is_held() -> None:
    taken = 0

    def endless() -> Iterator[dict[str, Any]]:
        nonlocal taken
        while True:
            taken += 1
            yield trace(f"t{taken}", f"e{taken // 2}")

    groups = neighbours(endless())
    assert [len(next(groups)) for _ in range(3)] == [1, 2, 2]
    assert taken <= 7
