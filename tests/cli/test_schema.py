"""`evh schema`: types listed, schemas printed, near misses named."""

from __future__ import annotations

import json

import pytest
from cli_support import Evh

import evh as library
from evh.protocol.tables import ROOTS


def test_every_root_type_is_listed_with_a_description(evh: Evh) -> None:
    text = evh("schema").out
    data = evh("schema", "--json").json
    assert {each["type"] for each in data["types"]} >= set(ROOTS)
    for each in data["types"]:
        assert each["description"] and each["file"] in text and each["description"].replace("`", "") in text
    episode = next(each for each in data["types"] if each["type"] == "Episode")
    assert set(episode["definitions"]) == {"EnvInfo", "GroupInfo"}


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("Episode", "episode"),
        ("episode", "episode"),
        ("episode.json", "episode"),
        ("RunRecord", "run_record"),
        ("run_record", "run_record"),
        ("trace", "trace"),
        ("MessageNode", "trace#MessageNode"),
        ("messagenode", "trace#MessageNode"),
        ("trace#Reward", "trace#Reward"),
    ],
)
def test_a_schema_is_found_by_type_and_by_file(evh: Evh, name: str, address: str) -> None:
    assert evh("schema", name).json == library.json_schema(address)
    assert evh("schema", name, "--bundle").json == library.json_schema(address, bundle=True)


def test_every_definition_can_be_asked_for(evh: Evh) -> None:
    for each in evh("schema", "--json").json["types"]:
        for name in each["definitions"]:
            assert evh("schema", name).code == 0, name


def test_a_bundle_needs_no_other_file(evh: Evh) -> None:
    text = json.dumps(evh("schema", "RunRecord", "--bundle").json)
    assert ".json#" not in text


@pytest.mark.parametrize(("name", "close"), [("Epsiode", "'Episode'"), ("MesageNode", "'MessageNode'")])
def test_a_near_miss_is_usage_and_names_what_is_close(evh: Evh, name: str, close: str) -> None:
    ran = evh("schema", name)
    assert ran.code == 2 and close in ran.err and not ran.out
    assert evh("schema", "zzzz").code == 2
    assert evh("schema", "--bundle").code == 2
