"""Canaries: secrets of a config's tables and of the environment are in nothing that a run writes or prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.cli import main
from tests.support.run_project import RunProject

CANARIES = {
    "header": "canary-header-0001",
    "env": "canary-env-00002",
    "named": "canary-named-0003",
    "variable": "canary-variable-4",
    "provider": "canary-provider-5",
    "mutated": "canary-mutated-06",
}

ADAPTER = f'''
import os

from evh import AgentConfig, AgentInfo, AssistantMessage, Episode, MessageNode, Trace, TraceTask, UserMessage
from evh.harness.result import Result

ALL = {list(CANARIES.values())!r}
KNOWN = ALL[:4]


def call_system(text, params):
    params["headers"]["Authorization"] = "Bearer {CANARIES["mutated"]}"
    everything = " ".join(each for each in ALL if "mutated" not in each)
    if "fail" in text:  # what only another answer's tables held is known to nobody here
        raise ValueError(" ".join(KNOWN) + text)
    if "episode" in text:
        trace = Trace(
            task=TraceTask(type="T", data={{"prompt": text, "env": {{"X": ALL[1]}}}}),
            agent=AgentInfo(config=AgentConfig({{"model": "m"}})),
            nodes=[
                MessageNode(message=UserMessage(content=text + everything)),
                MessageNode(message=AssistantMessage(content=everything), parent=0, sampled=True),
            ],
            info={{"request": {{"headers": {{"key": "{CANARIES["provider"]}"}}}}, everything: everything}},
            ok=True,
        )
        return Episode(task=trace.task, traces=[trace], ok=True)
    meta = {{"request": {{"headers": {{"x-key": "{CANARIES["provider"]}"}}}}, "raw": everything, everything: 1}}
    return Result(text + everything, meta=meta)


def score(output, reference):
    assert not any(each in output for each in ALL if "provider" not in each), output
    return {{"size": len(output)}}


def fingerprint(params):
    return {{"model": "m", "seen": ALL[0], "headers": params["headers"]}}
'''


@pytest.mark.parametrize("keep_going", [False, True])
def test_e43_b046_b070_b071_no_secret_is_written_or_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keep_going: bool
) -> None:
    texts = {
        "plain": f"use {CANARIES['header']} and {CANARIES['env']} and {CANARIES['named']}",
        "episode": f"an episode with {CANARIES['variable']}",
        "fail": f"fail with {CANARIES['named']}",
    }
    params = {
        "headers": {"X-Innocent": CANARIES["header"]},
        "deep": {"env": {"COLOUR": CANARIES["env"]}},
        "api_key_env": "MY_SERVICE",
    }
    project = RunProject(tmp_path / "p", texts, adapter=ADAPTER, params=params)
    monkeypatch.chdir(project.root)
    for name, value in {
        **project.environ, "MY_SERVICE": CANARIES["named"], "SOME_API_KEY": CANARIES["variable"], "CALLS": "unused",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    codes = [
        main(["run", "--config", str(project.config), *(["--keep-going"] if keep_going else [])]),
        main(["runs"]),
        main(["run", "--resume", "--json"]),
        main(["run", "--resume", "--accept-failures"]),
    ]
    assert codes == [3, 0, 3, 0]
    out, error = capsys.readouterr()
    written = {path: path.read_bytes() for path in project.run.path.rglob("*") if path.is_file()}
    assert {path.name for path in written} >= {"run.json", "errors.jsonl", "traces.jsonl", "metrics.json", "plain.txt"}
    for name, canary in CANARIES.items():
        assert canary not in out + error, name
        for path, data in written.items():
            assert canary.encode() not in data, (name, path.name)
    assert "***" in (project.run.path / "errors.jsonl").read_text()
    record = json.loads((project.run.path / "metrics.json").read_bytes())
    assert record["params"]["headers"] == {"X-Innocent": "***"}
    assert record["params"]["deep"]["env"] == {"COLOUR": "***"}
    assert record["params"]["api_key_env"] == "MY_SERVICE"


def test_b076_masked_settings_still_tell_one_resume_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = RunProject(tmp_path / "p", 3, params={"headers": {"K": "canary-one-00001"}, "temperature": 0})
    monkeypatch.chdir(project.root)
    for name, value in project.environ.items():
        monkeypatch.setenv(name, value)
    assert main(["run", "--config", str(project.config), "--max-cost-usd", "0.25"]) == 3
    project.configure(headers={"K": "canary-two-00002"}, temperature=1)
    assert main(["run", "--resume"]) == 1
    assert "params.temperature" in capsys.readouterr().err
    project.configure(headers={"K": "canary-two-00002"}, temperature=0)
    assert main(["run", "--resume"]) == 0  # a key that was renewed is no other measurement


def test_e43_a_warm_up_that_fails_tells_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    adapter = ADAPTER + "\n\ndef warmup(params):\n    raise RuntimeError(ALL[0])\n"
    project = RunProject(tmp_path / "p", 3, adapter=adapter, params={"headers": {"K": CANARIES["header"]}})
    monkeypatch.chdir(project.root)
    assert main(["run", "--config", str(project.config)]) == 1
    error = capsys.readouterr().err
    assert "nothing was run and nothing spent: " in error
    assert "***" in error
    assert CANARIES["header"] not in error
