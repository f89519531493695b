"""Episodes into a run directory: nothing of a table is left, and what holds none is untouched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh import AgentConfig, AgentInfo, Episode, Reward, Trace, TraceTask, decode_strict, encode
from evh.store import Masker, episode_masking
from evh.store.episode_masking import mask_episode, masked_line

CANARY = "sk-canary-0123456789"


def episode(**data: Any) -> Episode:
    made = Episode(task=TraceTask(type="t", data=data))
    made.env.id = "gsm8k-environment"
    return made


def test_an_episode_without_secrets_is_the_same_object_and_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(episode_masking, "parse")
    made = episode(prompt="headers, env: nothing", note='"headers":{')
    masked, line, knowing = mask_episode(made, Masker([CANARY]))
    assert masked is made
    assert line == encode(made)
    assert knowing.text(CANARY) == "***"


@pytest.mark.parametrize("table", ["env", "Headers", "request_headers"])
def test_its_tables_are_masked_and_taught_for_this_episode_alone(table: str) -> None:
    made = episode(prompt=f"use {CANARY}", **{table: {"KEY": CANARY, "PIN": 1234567890}}, pin=1234567890)
    before, masker = encode(made), Masker()
    masked, line, knowing = mask_episode(made, masker)
    assert CANARY.encode() not in line
    plain = json.loads(line)
    assert plain["task"]["data"] == {"prompt": "use ***", table: {"KEY": "***", "PIN": "***"}, "pin": "***"}
    assert encode(masked) == line == encode(decode_strict(line))
    assert (masked.id, masked.env.id) == (made.id, "gsm8k-environment")
    assert encode(made) == before
    assert knowing.text(CANARY) == "***"
    assert masker.text(CANARY) == CANARY


def test_masking_again_changes_nothing() -> None:
    masked, line, knowing = mask_episode(episode(prompt=CANARY), Masker([CANARY]))
    assert mask_episode(masked, knowing)[:2] == (masked, line)


def test_its_own_env_is_no_table() -> None:
    made = episode(prompt="gsm8k-environment", headers={"k": "other-secret"})
    _, line, knowing = mask_episode(made, Masker())
    assert json.loads(line)["env"] == {"id": "gsm8k-environment"}
    assert knowing.text("gsm8k-environment") == "gsm8k-environment"


def test_a_number_that_the_episode_needs_stays_one() -> None:
    made = episode(env={"SEED": 1759565730, "KEY": CANARY}, said=CANARY)
    made.traces = [Trace(task=TraceTask(type="t", data={}), agent=AgentInfo(config=AgentConfig({"model": "m"})))]
    made.traces[0].timing.start = 1759565730.0
    masked, line, _ = mask_episode(made, Masker())
    assert masked.traces[0].timing.start == 1759565730.0
    assert CANARY.encode() not in line
    assert json.loads(line)["task"]["data"]["env"] == {"SEED": "***", "KEY": "***"}


NAMES = st.sampled_from(["env", "headers", "Cookies", "place", "note", "score"])
VALUES = st.sampled_from([CANARY, "other-secret-99", "short", "", 12345678, 0.5, None, True])
DATA = st.recursive(
    VALUES,
    lambda below: st.dictionaries(NAMES, below, max_size=3) | st.lists(below, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, DATA, max_size=4), st.dictionaries(NAMES, DATA, max_size=3), st.booleans())
def test_masking_tables_in_their_places_says_what_masking_the_whole_says(
    data: dict[str, Any], config: dict[str, Any], rewarded: bool
) -> None:
    rewards = {"headers": Reward(score=1.0), "env": None} if rewarded else {}
    trace = Trace(task=TraceTask(type="t", data=data), agent=AgentInfo(name="a", config=config), rewards=rewards)
    made = Episode.of(trace)
    masker = Masker(["other-secret-99"])
    masked, line, knowing = mask_episode(made, masker)
    assert masked_line(made, masker) == line == encode(masked)
    said = json.loads(line)
    assert (said["env"], said["id"]) == ({"id": ""}, made.id)
    assert said["traces"][0]["rewards"].keys() == rewards.keys()
    for found, made_of in ((said["task"]["data"], data), (said["traces"][0]["agent"]["config"], config)):
        assert found in (knowing.value(made_of), knowing.texts_only().value(made_of))
    assert set(masker.knowing([data, config]).values) == set(knowing.values)
