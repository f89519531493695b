"""A contract recorded from what a program reads: what is noted, what is not, and by whom it can be asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import evh
from evh.errors import SchemaError, SourceError, UsageError
from evh.testing import EpisodeMaker, check_contract, contract_text, load_contract, recording
from tests.repository.children import clean_environment, run

CONSUMER = """
import evh
from evh import EvalRunInfo

def test_reads(make_episode):
    episode = make_episode(turns=2, run=EvalRunInfo(id="r"))
    assert episode.ok and episode.run.type == "eval"

def test_reads_more(make_episode):
    trace = make_episode().traces[0]
    assert trace.reward == 1.0 and trace.rewards["correct"].score == 1.0
    assert trace.agent.config.model == "model-a"
    assert evh.Branch
"""


def noted_of(program: str, tmp_path: Path, *options: str) -> evh.protocol.models.Contract:  # type: ignore[name-defined]
    (tmp_path / "test_consumer.py").write_text(program, "utf-8")
    out = tmp_path / "contract.toml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "evh.testing.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--evh-contract={out}", "--evh-contract-name=mine", *options, "test_consumer.py"],
        cwd=tmp_path, env=clean_environment() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return load_contract(out)


def test_only_what_the_program_itself_reads_is_noted() -> None:
    episode = EpisodeMaker()(turns=2, streams=True)
    with recording("me", modules=[__name__]) as noted:
        assert episode.ok
        assert episode.traces[0].reward == 1.0  # the property reads rewards, we do not
        evh.encode(episode)
        evh.verify(episode)
    contract = noted.contract()
    assert {each.type: [member.path for member in each.reads] for each in contract.types} == {
        "Episode": ["/ok", "/traces"]
    }
    assert "evh:Trace.reward" in contract.names and "evh:encode" in contract.names
    assert check_contract(contract) == [], "what was just recorded holds"


def test_after_a_recording_records_are_as_before() -> None:
    episode = EpisodeMaker()()
    with recording("me") as noted:
        pass
    before = dict(noted.reads)
    assert episode.ok and noted.reads == before
    with recording("one"), pytest.raises(UsageError, match="running already"), recording("two"):
        pass
    with recording("three") as again:
        assert episode.ok
    assert again.reads


def test_tags_are_noted_and_free_text_is_not() -> None:
    episode = EpisodeMaker()()
    episode.record_run(evh.EvalRunInfo(id="secret-name"))
    with recording("me", modules=[__name__]) as noted:
        assert isinstance(episode.run, evh.EvalRunInfo)
        assert episode.run.id and episode.run.type == "eval"
    text = contract_text(noted.contract())
    assert '"eval"' in text and "secret-name" not in text


def test_the_two_forms_say_the_same(tmp_path: Path) -> None:
    contract = load_contract(Path(__file__).with_name("trainer.toml"))
    for name, toml in (("a.json", False), ("b.toml", True)):
        (tmp_path / name).write_text(contract_text(contract, toml=toml), "utf-8")
    assert load_contract(tmp_path / "a.json") == load_contract(tmp_path / "b.toml") == contract


def test_a_test_suite_records_its_contract(tmp_path: Path) -> None:
    contract = noted_of(CONSUMER, tmp_path)
    assert contract.name == "mine"
    reads = {each.type: {member.path: member for member in each.reads} for each in contract.types}
    assert {"/ok", "/run", "/traces"} <= reads["Episode"].keys() and "/score" in reads["Reward"]
    assert reads["EvalRunInfo"]["/type"].values == ["eval"] and "/model" in reads["AgentConfig"]
    assert {"evh:EvalRunInfo", "evh:Branch", "evh:Trace.reward"} <= set(contract.names)
    assert check_contract(contract) == []


def test_the_workers_of_xdist_record_one_contract(tmp_path: Path) -> None:
    contract = noted_of(CONSUMER, tmp_path, "-p", "xdist", "-n", "2")
    assert {"Episode", "EvalRunInfo", "Reward"} <= {each.type for each in contract.types}
    assert "evh:Trace.reward" in contract.names


def test_a_script_is_recorded_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "viewer.py").write_text(
        "import sys, evh\nfor episode in evh.read_episodes(sys.argv[1]):\n    print(episode.id)\nsys.exit(3)\n", "utf-8"
    )
    (tmp_path / "traces.jsonl").write_bytes(evh.encode(EpisodeMaker()()) + b"\n")
    command = [sys.executable, "-m", "evh.testing.recorder", "-o", "c.json", "--name", "viewer", "viewer.py"]
    done = run([*command, "traces.jsonl"], cwd=tmp_path)
    assert done.returncode == 3 and "0" * 32 in done.stdout
    assert json.loads((tmp_path / "c.json").read_text("utf-8")) == {
        "name": "viewer",
        "schema_version": "1.0",
        "types": [{"type": "Episode", "reads": [{"path": "/id", "types": ["string"]}]}],
        "names": ["evh:read_episodes"],
    }
    done = run([*command[:-1], "no_such.py"], cwd=tmp_path)
    assert done.returncode == 1 and "no_such.py" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("no.toml", None, SourceError),
        ("bad.toml", "name = ", evh.DecodeError),
        ("dates.toml", "name = 2024-01-01", evh.DecodeError),
        ("wrong.toml", "name = 1", SchemaError),
        ("bad.json", "{", evh.DecodeError),
        ("extra.json", '{"name": "x", "zzz": 1}', SchemaError),
    ],
)
def test_a_contract_that_cannot_be_read_is_told_with_its_file(
    tmp_path: Path, name: str, text: str | None, error: type[Exception]
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(error, match=name):
        load_contract(tmp_path / name)


def test_the_plugin_loads_nothing_heavy() -> None:
    """What every test run pays where the package is installed."""
    program = "import sys, evh.testing.plugin; print(*sorted(m for m in sys.modules if m in HEAVY))"
    heavy = [
        "msgspec",
        "hypothesis",
        "jsonschema",
        "jsonschema_rs",
        "httpx",
        "evh.protocol.models",
        "evh.protocol.codec",
    ]
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {heavy!r}\n{program}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_the_function_is_never_hidden_by_a_module_of_its_name() -> None:
    code = (
        "import evh.testing, pkgutil, importlib\n"
        "modules = {each.name for each in pkgutil.iter_modules(evh.testing.__path__)}\n"
        "assert not modules & set(evh.testing.__all__), modules & set(evh.testing.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
