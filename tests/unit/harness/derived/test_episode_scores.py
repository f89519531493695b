"""The scores of episodes, found again by the rows that were made from them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from evh.errors import EvhError
from evh.harness.episode_scores import EpisodeScore, EpisodeScores, encode_scores, means_of_episodes

ALIKE = ("plumless", "buckeroo")
"""Two ids of one hash."""


def found(folder: Path, *shards: list[EpisodeScore]) -> EpisodeScores:
    scores = EpisodeScores()
    for number, shard in enumerate(shards):
        (folder / str(number)).write_bytes(encode_scores(shard))
        scores.add(folder / str(number))
    scores.settle()
    return scores


def score(episode_id: str, item_id: str, value: float, **more: Any) -> EpisodeScore:
    return EpisodeScore(episode_id, item_id, own={"m": value}, **more)


def row(item_id: str, *episode_ids: str) -> dict[str, Any]:
    named = {"episode_id": episode_ids[0]} if len(episode_ids) == 1 else {"episode_ids": list(episode_ids)}
    return {"item_id": item_id, "_meta": named if episode_ids else {}}


def values(scores: EpisodeScores, of: dict[str, Any]) -> list[float]:
    return [each.own["m"] for each in scores.of_row(of)]


def test_rows_find_their_episodes_in_whatever_order_they_stand(tmp_path: Path) -> None:
    shards = [[score(f"e{n}", f"i{n}", n) for n in range(at, at + 5)] for at in range(0, 100, 5)]
    scores = found(tmp_path, *shards)
    for number in [*range(99, -1, -1), 50, 3]:
        assert values(scores, row(f"i{number}", f"e{number}")) == [number]
    assert values(scores, row("i1", "e1", "e70", "e2")) == [1, 70, 2]


def test_ids_of_one_hash_are_told_apart(tmp_path: Path) -> None:
    first, second = ALIKE
    assert crc32(first.encode()) == crc32(second.encode())
    scores = found(tmp_path, [score(second, "b", 2)], [score(first, "a", 1)])
    assert values(scores, row("a", first)) == [1] and values(scores, row("b", second)) == [2]


def test_of_two_episodes_with_one_id_the_first_counts(tmp_path: Path) -> None:
    scores = found(tmp_path, [score("e", "a", 1)], [score("e", "a", 2), score("f", "a", 3)])
    assert values(scores, row("a", "e")) == [1]
    assert values(scores, row("a")) == [1, 3]


def test_a_row_that_names_no_episode_that_is_there_gets_those_of_its_item(tmp_path: Path) -> None:
    scores = found(tmp_path, [score("e", "a", 1), score("f", "b", 2)], [score("g", "a", 3)])
    assert values(scores, row("a", "e", "gone")) == [1, 3]
    assert values(scores, row("nothing", "gone")) == [] and values(EpisodeScores(), row("a", "e")) == []


def test_rollouts_make_means_over_those_that_have_the_number() -> None:
    given = [
        EpisodeScore("e", "a", {"m": 1, "n": 5}, {"reward": 1.0, "left out": 1}, 10),
        EpisodeScore("f", "a", {"m": 2}, {"reward": 0.0}, 20),
        EpisodeScore("g", "a", {}, {}, None, failed=True, fault="never told"),
    ]
    metrics, words = means_of_episodes("a", {"reward": 1.0}, given)
    assert metrics == {"reward": 0.5, "m": 1.5, "n": 5} and words == 15


def test_an_episode_that_could_not_be_scored_names_the_item() -> None:
    with pytest.raises(EvhError, match="item 'a': it broke"):
        means_of_episodes("a", {}, [EpisodeScore("e", "a", fault="it broke")])
    huge = [score("e", "a", 1e308), score("f", "a", 1e308)]
    with pytest.raises(EvhError, match="item 'a': the sum of 'm' is beyond"):
        means_of_episodes("a", {}, huge)
    assert math.isfinite(means_of_episodes("a", {}, huge[:1])[0]["m"])
