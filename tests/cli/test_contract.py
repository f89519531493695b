"""`evh contract`: breaks with their places, exit codes, data, and programs that are recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Evh

import evh as library
from evh.testing import EpisodeMaker

ROOT = Path(__file__).parents[2]
CONTRACTS = sorted(str(path) for path in (ROOT / "tests" / "contracts").glob("*.toml"))


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """Schemas in which an episode has no id."""
    for path in (ROOT / "schema" / "v1").glob("*.json"):
        document = json.loads(path.read_text("utf-8"))
        if path.name == "episode.json":
            del document["properties"]["id"]
            document["required"].remove("id")
        (tmp_path / path.name).write_text(json.dumps(document), "utf-8")
    return tmp_path


def test_contracts_that_hold_are_0(evh: Evh) -> None:
    ran = evh("contract", "check", *CONTRACTS)
    assert ran.code == 0 and ran.out.count("✓") == len(CONTRACTS) and not ran.err
    release = ROOT / "schema" / "released" / "1.0.json"
    assert evh("contract", "check", *CONTRACTS, "--schema", str(release)).code == 0


def test_a_break_is_1_with_both_places(evh: Evh, schemas: Path) -> None:
    ran = evh("contract", "check", *CONTRACTS, "--schema", str(schemas))
    assert ran.code == 1
    assert "/types/0/reads/0/path: Episode/id is gone" in ran.out and "episode.json#\n" in ran.out
    data = evh("contract", "check", *CONTRACTS, "--schema", str(schemas), "--json")
    assert data.code == 1 and data.json["ok"] is False
    found = {each["name"]: each["broken"] for each in data.json["contracts"]}
    assert {each["kind"] for each in found["viewer"]} == {"gone"} and found["viewer"][0]["place"] == "episode.json#"


def test_names_can_be_left_alone(evh: Evh, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"name": "x", "names": ["evh:Nothing"]}', "utf-8")
    assert evh("contract", "check", str(tmp_path / "c.json")).code == 1
    assert evh("contract", "check", str(tmp_path / "c.json"), "--no-names").code == 0


def test_show_lists_what_is_relied_on(evh: Evh) -> None:
    [viewer] = [each for each in CONTRACTS if "viewer" in each]
    ran = evh("contract", "show", viewer)
    assert ran.code == 0 and "Episode/run/type" in ran.out and "only eval, train" in ran.out
    assert evh("contract", "show", viewer, "--json").json["contracts"][0]["contract"]["name"] == "viewer"


def test_a_program_is_recorded(evh: Evh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    lines = ["import sys, evh", "for each in evh.read_episodes(sys.argv[2]):", "    print(each.ok)"]
    lines.append("sys.exit(sys.argv[1] != '-q')")
    (tmp_path / "viewer.py").write_text("\n".join(lines), "utf-8")
    (tmp_path / "traces.jsonl").write_bytes(library.encode(EpisodeMaker()()) + b"\n")
    start = ["contract", "record", "-o", "c.toml", "--name", "viewer"]
    ran = evh(*start, "viewer.py", "--", "-q", "traces.jsonl")
    assert ran.code == 0 and "1 member of 1 type" in ran.err
    assert evh("contract", "check", "c.toml").code == 0
    assert evh(*start, "viewer.py", "x", "traces.jsonl", "--json").json["program_exit"] == 1
    assert evh(*start, "no_such_module").code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["contract"], "check, show or record"),
        (["contract", "chek", "x"], "did you mean 'check'?"),
        (["contract", "check"], "name the contract"),
        (["contract", "record", "x.py"], "say where to write"),
        (["contract", "show", "x", "--schema", "y"], "--schema belongs to `evh contract check`"),
        (["contract", "check", "x", "--name", "y"], "--name belongs to `evh contract record`"),
    ],
)
def test_wrong_usage_is_2(evh: Evh, arguments: list[str], said: str) -> None:
    ran = evh(*arguments)
    assert ran.code == 2 and said in ran.err


@pytest.mark.parametrize("schema", ["nowhere", "."])
def test_what_holds_no_schemas_is_1(evh: Evh, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = evh("contract", "check", CONTRACTS[0], "--schema", schema)
    assert ran.code == 1 and "schemas" in ran.err and "Traceback" not in ran.err
